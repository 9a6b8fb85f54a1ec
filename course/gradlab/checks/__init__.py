"""The check at the end of an exercise: observe, compare, judge, and explain."""
