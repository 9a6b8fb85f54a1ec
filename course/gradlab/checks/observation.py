"""An observation: what a check saw of an answer on one case, as typed plain data that can be stored as JSON.

`read_observation` reads data from a student's process and never raises: msgspec rejects anything but an observation.
"""

import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ..words import N_

OBSERVATION_MIME = "application/vnd.gradlab.observation+json"  # of the output that carries an observation
MAX_VALUES = 100_000
MAX_DEPTH = 20
MAX_TEXT = 2_000
MAX_BYTES = 4_000_000  # of all observations of a check, as JSON
MAX_LINE = 99_999
INT64 = 2**63

Nonfinite = Literal["nan", "inf", "-inf"]
Integer = Annotated[int, Meta(ge=-INT64, le=INT64 - 1)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Numbers = list[bool | Integer | float | Nonfinite]
Shape = Annotated[list[Annotated[int, Meta(ge=0, le=MAX_VALUES)]], Meta(max_length=64)]


class _Form(msgspec.Struct, tag_field="is", omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """The base class of all encoded values: in JSON, the key "is" names the type, and unknown keys are forbidden."""


class Float(_Form, tag="float", frozen=True):
    """A float that JSON cannot represent: NaN or an infinity."""

    value: Nonfinite


class Tensor(_Form, tag="tensor", frozen=True):
    """A tensor: its flattened values, and its link to a graph. Without a shape it has one dimension."""

    values: Numbers = msgspec.field(name="of")
    dtype: Text = "float64"
    shape: Shape | None = None
    requires_grad: bool = False
    grad_fn: Text | None = None


class Array(_Form, tag="ndarray", frozen=True):
    """A NumPy array, stored like a tensor."""

    values: Numbers = msgspec.field(name="of")
    dtype: Text = "float64"
    shape: Shape | None = None


class List(_Form, tag="list", frozen=True):
    """A list."""

    items: list["Value"] = msgspec.field(name="of")


class Tuple(_Form, tag="tuple", frozen=True):
    """A tuple."""

    items: list["Value"] = msgspec.field(name="of")


class Size(_Form, tag="torch.Size", frozen=True):
    """A torch.Size."""

    items: list["Value"] = msgspec.field(name="of")


class Dict(_Form, tag="dict", frozen=True):
    """A dict whose keys are strings."""

    items: dict[Text, "Value"] = msgspec.field(name="of")


class DType(_Form, tag="torch.dtype", frozen=True):
    """A torch dtype, by its name without "torch."."""

    name: Text


class Other(_Form, tag="object", frozen=True):
    """Any other value, by the name of its type."""

    type: Text


Value = None | bool | Integer | float | Text | Float | Tensor | Array | List | Tuple | Size | Dict | DType | Other

NUMERIC = (Tensor, Array)
CONTAINERS = (List, Tuple, Size, Dict)
_NAMES = (
    "bfloat16 bits16 bits1x8 bits2x4 bits4x2 bits8 bool float16 float32 float4_e2m1fn_x2 float64 float8_e4m3fn "
    "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int16 int2 int3 int32 int4 int5 int6 int64 "
    "int7 int8 qint32 qint8 quint2x4 quint4x2 quint8 uint1 uint16 uint2 uint3 uint32 uint4 uint5 uint6 uint64 uint7 "
    "uint8"
)
DTYPES = set(_NAMES.split())  # torch's dtypes except complex ones, by name, so that reading does not import torch


class Error(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """An error that the scenario raised.

    at, line: the last line of the learner's code in its traceback, and its number; without a number, the learner's
    function that is not solved. meant: a known name close to the one that was not found.
    """

    type: Text
    message: Text
    at: Text = ""
    meant: Text = ""
    line: Annotated[int, Meta(ge=0, le=MAX_LINE)] = 0


class Observation(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """What was observed on one case.

    values: what the scenario returned, or each value that it yielded. mutated: the names of the case's values that have
    changed. left: state that was left changed, as codes with what each is about: "grad_mode_off", "requires_grad:x".
    """

    values: list[Value]
    error: Error | None = None
    mutated: list[Text] = []
    left: list[Text] = []

    def __post_init__(self) -> None:
        if self.left:
            msgspec.structs.force_setattr(self, "left", list(map(_as_code, self.left)))


LEFT = {  # by the code of state that was left changed
    # Translators: the next texts say what an answer left changed, one after the other
    "grad_mode_off": N_("gradients are switched off"),
    "inference_mode_on": N_("inference mode is on"),
    "anomaly_mode_on": N_("anomaly detection is on"),
    "default_dtype": N_("the default dtype is {about}"),
    "default_device": N_("the default device is {about}"),
    "module_hooks": N_("hooks for all modules are registered"),
    "recursion_limit": N_("the recursion limit is {about}"),
    "name_changed": N_("a name that the check uses is changed"),
    "requires_grad": N_("{about} requires grad"),
    "has_grad": N_("{about} has a .grad"),
}
_EARLIER = {  # what records made earlier say instead of each code
    code: re.escape(says).replace(re.escape("{about}"), "(.*)") for code, says in LEFT.items()
}


def _as_code(text: str) -> str:
    matches = ((code, re.fullmatch(said, text)) for code, said in _EARLIER.items())
    return next((":".join([code, *match.groups()]) for code, match in matches if match), text)


# Traversal of values


def parts(value: Value) -> dict[Any, Value]:
    """Return the parts of a container by index or key; an empty dict for any other value."""
    if isinstance(value, Dict):
        return value.items
    if isinstance(value, CONTAINERS):
        return dict(enumerate(value.items))
    return {}


def tensors(value: Value) -> list[Tensor]:
    """Return the encoded tensors inside a value, in order."""
    return [value] if type(value) is Tensor else [tensor for part in parts(value).values() for tensor in tensors(part)]


def replace_leaves(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return the value with `change` applied to each part that is not a container; raises what `change` raises."""
    if isinstance(value, Dict):
        return Dict({key: replace_leaves(item, change) for key, item in value.items.items()})
    if isinstance(value, CONTAINERS):
        return type(value)([replace_leaves(item, change) for item in parts(value).values()])
    return change(value)


def replace_numbers(value: Value, change: Callable[[Any], Any]) -> Value:
    """Return the value with `change` applied to each number in it, even inside tensors; bools count as numbers."""

    def leaf(part: Value) -> Value:
        if isinstance(part, NUMERIC):
            return msgspec.structs.replace(part, values=[n if type(n) is str else change(n) for n in part.values])
        return change(part) if type(part) in (bool, int, float) else part

    return replace_leaves(value, leaf)


def without_graph(value: Value) -> Value:
    """Return the value without its tensors' graph attributes, so that a comparison sees only changed values."""

    def leaf(part: Value) -> Value:
        return msgspec.structs.replace(part, requires_grad=False, grad_fn=None) if type(part) is Tensor else part

    return replace_leaves(value, leaf)


def shape_of(value: Tensor | Array) -> tuple[int, ...]:
    """Return the shape of an encoded tensor or array."""
    return (len(value.values),) if value.shape is None else tuple(value.shape)


def kind_of(value: Value) -> str:
    """Return the type of an encoded value as learners know it: 'tensor', 'list', 'float', 'None', 'numpy.float64', …"""
    if isinstance(value, Other):
        return value.type
    if isinstance(value, _Form):
        return str(value.__struct_config__.tag)
    return "None" if value is None else type(value).__name__


def room(shape) -> int:
    """Return how many brackets or numbers to print for a shape: (10**6, 0) has a million rows, but no numbers."""
    return math.prod(max(1, int(length)) for length in shape)


# Data from student processes


def read_observation(data: Any) -> Observation | None:
    """Return the observation in `data`, which a student's process sent; None if it is anything else."""
    try:
        observation = msgspec.convert(data, Observation)
        budget = [2 * MAX_VALUES]
        return observation if all(_holds(value, budget, 0) for value in observation.values) else None
    except (msgspec.ValidationError, RecursionError):
        return None


def _holds(value: Value, budget: list[int], depth: int) -> bool:
    """Return whether `encode` could have produced this value: valid sizes and dtypes, within the limits."""
    budget[0] -= 1
    if isinstance(value, NUMERIC):
        shape = shape_of(value)
        size = room(shape)
        budget[0] -= size
        known = value.dtype in DTYPES
        return known and budget[0] >= 0 and size <= MAX_VALUES and math.prod(shape) == len(value.values)
    if isinstance(value, DType):
        return value.name in DTYPES
    if type(value) is float:
        return math.isfinite(value)
    return (
        budget[0] >= 0 and depth <= MAX_DEPTH and all(_holds(part, budget, depth + 1) for part in parts(value).values())
    )
