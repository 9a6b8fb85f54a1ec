"""Keep records small: store a slip's observations, which mostly agree with the expected ones, as differences."""

import json
from typing import Any


def delta(new: Any, old: Any) -> Any:
    """Return the change from `old` to `new`, both JSON data; None if they are equal.

    The change is {"to": new data} or, for a dict or list, {"at": changes by part}, whichever is shorter. A part is
    named by its key or index, or by a JSON pointer. "of" is a list's new length.
    """
    if new == old and repr(new) == repr(old):  # for Python's ==, 1, True and 1.0 are equal
        return None
    whole = {"to": new}
    if type(new) is type(old) is list:
        shared = {str(i): delta(part, former) for i, (part, former) in enumerate(zip(new, old, strict=False))}
        changed = shared | {str(i): {"to": new[i]} for i in range(len(old), len(new))}
    elif type(new) is type(old) is dict and new.keys() == old.keys():
        changed = {key.replace("~", "~0").replace("/", "~1"): delta(part, old[key]) for key, part in new.items()}
    else:
        return whole
    inside: dict[str, Any] = {"at": dict(_joined(key, part) for key, part in changed.items() if part is not None)}
    inside |= {"of": len(new)} if len(new) != len(old) else {}
    return min(inside, whole, key=lambda form: len(json.dumps(form)))


def applied(change: Any, old: Any) -> Any:
    """Return `old` with the change applied; raises KeyError, TypeError or ValueError if the change does not fit."""
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
    """Return a part's name and change; if only one inner part changed, the name is a pointer to that inner part."""
    if part.keys() == {"at"} and len(part["at"]) == 1:
        ((inner, change),) = part["at"].items()
        return f"{key}/{inner}", change
    return key, part
