"""The commands, one in each module: what it is called in a line, its arguments, and what it does."""
