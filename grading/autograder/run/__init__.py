"""A grading run: choose submissions, grade them on a cluster, and continue after an interruption."""
