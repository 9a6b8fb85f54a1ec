"""The commands, one per module; each has add_arguments, and run, which returns an exit code or None for 0."""
