"""What can go wrong that is not a mistake in the program."""


class ClassError(Exception):
    """The class folder or this machine is not ready; it concerns every submission, and the message says what to do."""


class SubmissionError(Exception):
    """This submission cannot be graded; the message is the reason, written for its student."""
