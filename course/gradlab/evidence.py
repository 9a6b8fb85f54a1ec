"""Note what happens while a check runs an answer, so that the answer cannot take it back.

Checks use this module as it was at release, whatever a learner's cells make of it; see `checks.given`.
"""


def notes():
    """Return a generator that notes what is sent to it, in order; `next` returns a list of all of it.

    It only grows: what a generator has noted cannot be removed, replaced or copied. None is not noted. A function that
    an answer can reach holds it, or only its `send`, as a default: a variable that it shares with the check could be
    exchanged.

    >>> calls = notes()
    >>> def front(x, note=calls.send):
    ...     note("front")
    >>> front(2)
    >>> next(calls)
    ['front']
    """
    noting = _noting()
    next(noting)
    return noting


def _noting():
    noted, note = (), None
    while True:
        note = yield [*noted] if note is None else None
        if note is not None:
            noted = (*noted, note)
