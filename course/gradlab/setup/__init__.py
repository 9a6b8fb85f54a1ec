"""What the course needs of a machine, and a student's own copy of it."""
