"""The members of a learner's class."""


def own_members(cls: type) -> dict:
    """Return the members that a class and its bases in the same module define, as stored in their `__dict__`."""
    own = [owner for owner in reversed(cls.__mro__) if owner.__module__ == cls.__module__]
    return {name: member for owner in own for name, member in vars(owner).items()}
