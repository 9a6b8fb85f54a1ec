"""Set up the course: what it needs from a machine, and a student's own copy of the chapters."""
