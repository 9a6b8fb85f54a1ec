"""The commands, one per module, each with add_arguments and with run, which returns an exit code or None for 0."""
