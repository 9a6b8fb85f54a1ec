"""How a record is kept small: of a slip it holds only what is not as expected, for slips are right in most parts."""

import json
from typing import Any


def delta(new: Any, old: Any) -> Any:
    """What makes `new` of `old`, both JSON data; None if they are the same.

    {"to": new data}, or of a dict or list {"at": deltas of its parts}, whichever is shorter. A part is named by its key
    or index, or by several that lead to it, as in a JSON pointer. "of" is the length of a list that had another.
    """
    if _same(new, old):
        return None
    whole = {"to": new}
    if type(new) is type(old) is list:
        shared = {str(i): delta(one, other) for i, (one, other) in enumerate(zip(new, old, strict=False))}
        changed = shared | {str(i): {"to": new[i]} for i in range(len(old), len(new))}
    elif type(new) is type(old) is dict and new.keys() == old.keys():
        changed = {_escaped(key): delta(part, old[key]) for key, part in new.items()}
    else:
        return whole
    inside = {"at": dict(_joined(key, part) for key, part in changed.items() if part is not None)}
    inside |= {"of": len(new)} if len(new) != len(old) else {}
    return min(inside, whole, key=lambda form: len(json.dumps(form)))


def applied(change: Any, old: Any) -> Any:
    """Undo `delta`; raises KeyError, TypeError or ValueError if `change` is no delta of `old`."""
    if change is None:
        return old
    if "to" in change:
        return change["to"]
    parts = dict(old) if isinstance(old, dict) else {str(index): part for index, part in enumerate(old)}
    if "of" in change:
        parts = {str(index): parts.get(str(index)) for index in range(change["of"])}
    for key, part in change["at"].items():
        first, slash, rest = key.partition("/")
        name = first.replace("~1", "/").replace("~0", "~")
        parts[name] = applied({"at": {rest: part}} if slash else part, parts[name])
    return parts if isinstance(old, dict) else list(parts.values())


def _joined(key: str, part: dict) -> tuple[str, dict]:
    """A part in which only one part has changed is named together with that one."""
    if part.keys() == {"at"} and len(part["at"]) == 1:
        ((inner, change),) = part["at"].items()
        return f"{key}/{inner}", change
    return key, part


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _same(one: Any, other: Any) -> bool:
    """Equal in type too, where Python's == takes 1 for True and for 1.0."""
    return one == other and repr(one) == repr(other)
