"""The fork server, a program by itself: see `__main__`."""
