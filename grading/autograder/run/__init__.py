"""A grading run: choose submissions, grade them on a cluster, and resume after an interruption."""
