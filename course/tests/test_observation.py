"""An observation: every value survives encoding and decoding, and hostile data does no harm."""

import json
import math

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradlab.checks.delta import applied, delta
from gradlab.checks.encoding import TooLarge, decode, encode
from gradlab.checks.observation import DTYPES, MAX_VALUES, Dict, Error, Observation, Other, read_observation
from gradlab.checks.record import Case, CheckRecord, Record, Slip
from gradlab.checks.verdict import judge_check

VALUES = [
    None,
    True,
    3,
    2.5,
    -(2**63),
    float("nan"),
    -float("inf"),
    "word",
    "half a character: \ud800",
    [1, (2.0,)],
    {"a": torch.Size([2])},
    torch.float32,
    torch.tensor([1.0, float("nan")]),
    torch.tensor(3),
    torch.tensor([True]),
    torch.zeros(0, 2),
    torch.ones(2, requires_grad=True) * 2,
    np.arange(3),
    object(),
    np.float32(1),
    10**5000,
    {torch.nn.Linear(1, 1): 3},
    torch.ones(2, dtype=torch.complex64),
]


def sent(value) -> object:
    """What grading reads of a value that was observed: through JSON, as a kernel sends it."""
    return json.loads(msgspec.json.encode(Observation([encode(value)])))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_every_kind_of_value_survives_the_way_out(value):
    assert read_observation(sent(value)) == Observation([encode(value)])


def test_what_cannot_be_read_is_named():
    assert encode({torch.nn.Linear(1, 1): 3}) == Other("dict with keys of type torch.nn.modules.linear.Linear")
    assert encode(10**30) == Other("int of 100 bits")


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        10**30,
        "x" * 10_000,
        [1],
        {},
        {1: 2},
        {"is": "tensor", "of": [1.0], "shape": [2]},
        {"is": "tensor", "of": ["1.0"]},
        {"is": "tensor", "of": [1.0], "shape": [-1]},
        {"is": "tensor", "of": [], "shape": [10**6, 0]},
        {"is": "tensor", "of": [], "shape": [10**5, 0, 10**5]},
        {"is": "tensor", "of": [1.0], "dtype": "cuda"},
        {"is": "tensor", "of": [1.0], "requires_grad": "yes"},
        {"is": "torch.dtype", "name": "__class__"},
        {"is": "tuple", "of": 3},
        {"is": "what", "of": []},
        {"is": "tuple", "of": [], "more": 1},
        {"is": "float", "value": "0"},
        {"is": "dict", "of": {1: 2}},
    ],
)
def test_what_encode_cannot_have_made_is_no_observation(value):
    assert read_observation({"values": [value]}) is None


def test_a_value_that_is_nested_without_end_is_no_observation():
    value = None
    for _ in range(100_000):
        value = {"is": "list", "of": [value]}
    assert read_observation({"values": [value]}) is None


@pytest.mark.parametrize("value", [torch.zeros(10**5, 0, 10**5), [torch.zeros(60_000)] * 2, [[0] * 400] * 400])
def test_more_than_an_observation_may_hold_is_refused(value):
    with pytest.raises(TooLarge):
        encode(value)


@pytest.mark.parametrize("value", [torch.zeros(MAX_VALUES - 1), [0] * (MAX_VALUES - 1)], ids=["tensor", "list"])
def test_as_much_as_an_observation_may_hold_survives_the_way_out(value):
    assert read_observation(sent(value)) == Observation([encode(value)])


def test_a_case_is_made_afresh_each_time():
    case = encode({"x": torch.tensor([[1.0, -math.inf]]), "words": [("a", None)], "kind": torch.int64})
    made = decode(case)
    made["x"].fill_(0)
    again = decode(case)
    assert again["x"].tolist() == [[1.0, -math.inf]]
    assert (again["words"], again["kind"]) == ([("a", None)], torch.int64)


# Data that a student's process may send instead of an observation: any JSON, and data that is nearly right.

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("nan"))
KEYS = st.sampled_from(["is", "of", "values", "shape", "dtype", "error", "mutated", "type", "message", "name", "x"])
TAGS = st.sampled_from(["tensor", "ndarray", "list", "tuple", "dict", "object", "float", "torch.dtype", "torch.Size"])
JSON = st.recursive(
    SCALARS | st.text(max_size=5) | TAGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3) | st.integers(), inner),
    max_leaves=12,
)
FORMS = st.recursive(
    SCALARS
    | st.fixed_dictionaries(
        {"is": st.sampled_from(["tensor", "ndarray"]), "of": st.lists(SCALARS, max_size=4)},
        optional={
            "shape": st.lists(st.integers(), max_size=3),
            "dtype": st.sampled_from(["float64", "float32", "int64", "bool", "float16", "cuda"]),
            "requires_grad": st.booleans(),
            "grad_fn": st.text(max_size=3),
        },
    ),
    lambda inner: (
        st.fixed_dictionaries({"is": TAGS, "of": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"is": st.just("dict"), "of": st.dictionaries(st.text(max_size=3), inner, max_size=3)})
    ),
    max_leaves=8,
)
NEARLY = st.fixed_dictionaries(
    {"values": st.lists(FORMS | JSON, max_size=3)},
    optional={
        "error": st.none() | st.fixed_dictionaries({"type": st.text(), "message": st.text()}) | JSON,
        "mutated": st.lists(st.text(max_size=3)) | JSON,
        "left": st.lists(st.text(max_size=3) | st.sampled_from(["left:{0}", "requires_grad:{0}", "requires_grad"])),
    },
)

EXPECTED = [
    Observation([encode(value)])
    for value in [torch.tensor([[1.0, 2.0]]), {"a": [1, 2.5]}, (3, "b"), torch.Size([2]), float("nan"), None]
] + [Observation([], Error("ValueError", "no"))]


def careless(case, observed, expected):
    return None if sorted(observed[0])[0] < expected[0][0] and observed[0]["a"] else "no"


def record_of(expected: Observation) -> CheckRecord:
    """A record of one case in which this is expected, with a slip that returned nothing."""
    slip = Slip.of("nothing returned", "It returns nothing.", [Observation([None])], [expected])
    return CheckRecord("90.1 a check", "digest", [Case(Dict({"x": 1.0}), "one")], expected=[expected], slips=[slip])


@given(data=JSON | NEARLY, expected=st.sampled_from(EXPECTED), judge=st.sampled_from([None, careless]))
def test_nothing_that_is_sent_can_make_judging_raise_or_pass(data, expected, judge):
    verdict = judge_check(record_of(expected), [data], judge)
    right = read_observation(data)
    assert isinstance(verdict.feedback.text, str)
    assert not verdict.passed or judge or (right and right.error == expected.error)


@given(new=JSON, old=JSON)
def test_a_delta_makes_the_new_of_the_old(new, old):
    new, old = json.loads(json.dumps(new)), json.loads(json.dumps(old))
    assert json.dumps(applied(delta(new, old), old)) == json.dumps(new)


def test_a_record_comes_back_as_it_was_written():
    record = Record("90_test", {f"90.{n}": record_of(expected) for n, expected in enumerate(EXPECTED)})
    assert Record.from_json(record.to_json()) == record
    assert record.to_json().count("\n") == len(EXPECTED) + 2


LEFT = [
    ("gradients are switched off", "grad_mode_off"),
    ("the default dtype is torch.float64", "default_dtype:torch.float64"),
    ("the recursion limit is 20000", "recursion_limit:20000"),
    ("x requires grad", "requires_grad:x"),
    ("two words has a .grad", "has_grad:two words"),
    ("a name that the check uses is changed", "name_changed"),
]


@pytest.mark.parametrize(("said", "code"), LEFT)
def test_a_record_that_says_in_words_what_was_left_changed_judges_as_before(said, code):
    """Both if it is expected and if a slip leaves it; made again, the record decides the same."""
    left, clean = Observation([2.0], left=[code]), Observation([2.0])
    slip = Slip.of("a slip", "It leaves something.", [left, clean], [clean, left])
    new = CheckRecord("90.1 a check", "digest", [Case(Dict({"x": 1.0}))] * 2, expected=[clean, left], slips=[slip])
    text = Record("90_test", {"90.1": new}).to_json()
    earlier = Record.from_json(text.replace(code, said)).checks["90.1"]
    assert said in text.replace(code, said)
    assert msgspec.json.encode(earlier.expected) == msgspec.json.encode(new.expected)
    assert judge_check(earlier, [clean, left]).passed
    assert judge_check(earlier, [left, clean]).slip == "a slip"
    assert f"yours    {said}\n    expected nothing" in judge_check(earlier, [left, left]).feedback.text


def test_the_names_of_dtypes_are_torchs_own():
    kinds = {kind for kind in vars(torch).values() if isinstance(kind, torch.dtype) and not kind.is_complex}
    assert {str(kind).removeprefix("torch.") for kind in kinds} == DTYPES
