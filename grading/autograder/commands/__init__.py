"""The commands that show a term, one in each module: what it is called in a line, its arguments, and what it does."""
