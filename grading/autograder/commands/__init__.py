"""The commands, one per module; each has HELP, add_arguments and run."""
