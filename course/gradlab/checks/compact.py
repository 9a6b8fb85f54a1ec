"""How a record is kept small: what is usual is left out, and of a slip only that is told which is not as expected."""


def shortened(observation: dict, expected: dict) -> dict:
    """What differs in an observation from the expected one, because slips are right in most parts.

    A list, tuple or dict in it becomes {"as": its parts that differ, by index or key, "keys": its own, if they differ}.
    """
    different = {key: part for key, part in observation.items() if not _same(part, expected[key])}
    if "values" in different:
        different["values"] = _shortened({"list": observation["values"]}, {"list": expected["values"]})
    return different


def _shortened(value, whole):
    parts, others = _parts(value), _parts(whole)
    if not parts or not others or value.keys() != whole.keys():
        return value
    different = {k: _shortened(part, others.get(k)) for k, part in parts.items() if not _same(part, others.get(k, ...))}
    return {"as": different} | ({} if parts.keys() == others.keys() else {"keys": list(parts)})


def expanded(different: dict, expected: dict) -> dict:
    """Undo `shortened`."""
    observation = expected | different
    if "values" in different:
        observation["values"] = _expanded(different["values"], {"list": expected["values"]})["list"]
    return observation


def _expanded(value, whole):
    if not (isinstance(value, dict) and "as" in value):
        return value
    (kind,) = whole
    others = _parts(whole)
    parts = others | {key: _expanded(part, others.get(key)) for key, part in value["as"].items()}
    parts = {key: parts[key] for key in value.get("keys", others)}
    return {kind: parts if kind == "dict" else list(parts.values())}


def _parts(data) -> dict:
    """The parts of an encoded container, by key or index; none of anything else."""
    for kind in ("dict", "list", "tuple"):
        if isinstance(data, dict) and kind in data:
            content = data[kind]
            return dict(content) if kind == "dict" else {str(index): part for index, part in enumerate(content)}
    return {}


def _same(one, other) -> bool:
    """Equal in type too, where Python's == takes 1 for True and for 1.0."""
    return one == other and repr(one) == repr(other)


def packed(data):
    """Plain data without what a tensor in a record usually is: float64, of one dimension, and not part of a graph."""
    if isinstance(data, dict) and isinstance(data.get("tensor"), list):
        usual = _usual(data["tensor"])
        return {key: part for key, part in data.items() if key == "tensor" or part != usual[key]}
    if isinstance(data, dict):
        return {key: packed(part) for key, part in data.items()}
    return [packed(part) for part in data] if isinstance(data, list) else data


def unpacked(data):
    """Undo `packed`."""
    if isinstance(data, dict) and isinstance(data.get("tensor"), list):
        return data | {key: data.get(key, part) for key, part in _usual(data["tensor"]).items()}
    if isinstance(data, dict):
        return {key: unpacked(part) for key, part in data.items()}
    return [unpacked(part) for part in data] if isinstance(data, list) else data


def _usual(numbers: list) -> dict:
    return {"dtype": "float64", "shape": [len(numbers)], "requires_grad": False, "grad_fn": None}
