"""A verdict on a wrong answer: its kind, its slip, and in `explanations.txt` the words that a learner reads.

To write that file again, run this one as a program, and read what has changed.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from authoring.reference import AuthoredCheck, Reference, encode_case, numbers
from gradlab.checks.observe import call, observe
from gradlab.checks.record import CheckRecord
from gradlab.checks.verdict import Verdict, judge_check

TEXTS = Path(__file__).with_name("explanations.txt")


def one(rng):
    yield {"says": "x is 2", "x": 2.0}


@dataclass
class Answer:
    """A wrong answer, or a right one of another style, to an exercise with the answer `right`."""

    right: Callable
    wrong: Callable
    scenario: Callable = call
    cases: Callable = one
    slips: Sequence[Callable] = ()
    judge: Callable | None = None
    autograd: bool = True

    def verdict(self) -> tuple[CheckRecord, Verdict]:
        """The record of the check, and its verdict on the answer."""
        reference = Reference(self.cases, self.right, list(self.slips))
        check = AuthoredCheck(
            "90.1 a check", self.right, self.scenario, self.judge, autograd=self.autograd, reference=reference
        )
        record = check.record([1])
        return record, judge_check(record, check.observe(self.wrong, record.cases), self.judge)


def values(right, wrong, **more) -> Answer:
    """Two values that are returned, whatever the case is."""
    return Answer(lambda **case: right, lambda **case: wrong, **more)


def raising(error):
    def answer(*args, **case):
        raise error

    return answer


def yielding(*labels):
    """A scenario that yields what the answer returns, once for each label."""

    def scenario(answer, case):
        for label in labels:
            yield {label: answer(**case)}

    return scenario


def in_turn(*results):
    """An answer that returns these values, one after the other, again and again."""
    left = []

    def answer(**case):
        left.extend(results if not left else [])
        return left.pop(0)

    return answer


def float64(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


# Answers to one exercise: the gradient of a cube.


def cube_cases(rng):
    for shape in [(2,), (2, 3)]:
        yield {"says": f"x of shape {shape}", "x": numbers(rng, shape), "v": numbers(rng, shape)}


def right_cube(x, v):
    return 3 * x**2 * v


def cube(wrong, **more) -> Answer:
    return Answer(right_cube, wrong, cases=cube_cases, **more)


def with_grad(x, v):
    (x.requires_grad_() ** 3).backward(v)
    return x.requires_grad_(False).grad.clone()


def nearly(x, v):
    out = right_cube(x, v)
    out.view(-1)[-1] *= 1.001
    return out


class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True


class Lazy:
    def __getattr__(self, name):
        raise RuntimeError("late")

    __repr__ = __getattr__


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def backward_later(answer, case):
    x = case["x"].requires_grad_()
    (x**3).backward(answer(**case))
    return x.grad


def use_its_shape(answer, case):
    out = answer(**case)
    yield out
    yield case["x"].reshape(out.shape)


def then_an_error(answer, case):
    yield answer(**case)
    raise RuntimeError("and then this")


def in_a_hook(answer, case):
    leaf = torch.tensor(case["x"], requires_grad=True)
    answer(leaf)
    (leaf**2).backward()


def hooks_badly(x):
    x.register_hook(lambda gradient: gradient / missing)  # noqa: F821


def in_a_comparison(x, v):
    raise RecursionError("maximum recursion depth exceeded in comparison")


def by_recursion(x, v):
    "It calls itself."
    raise RecursionError("maximum recursion depth exceeded")


def external_gradient_alone(x, v):
    """It still has to be multiplied by dy/dx."""
    return v


def by_another_name(x, v):
    return getattr(torch, "auto" + "grad").grad((x.requires_grad_() ** 3), x, v)[0]


CUBES = {
    "all right, in another style": ("passed", cube(lambda x, v: x * v * x + (x * v + x * v) * x)),
    "rounding": ("passed", cube(lambda x, v: right_cube(x, v) * (1 + 1e-12))),
    "a known slip": ("value", cube(lambda x, v: v.clone(), slips=[external_gradient_alone])),
    "one element wrong by a tenth of a percent": ("value", cube(nearly)),
    "no return": ("type", cube(lambda x, v: None)),
    "a list": ("type", cube(lambda x, v: right_cube(x, v).tolist())),
    "a NumPy array": ("type", cube(lambda x, v: right_cube(x, v).numpy())),
    "a generator": ("type", cube(lambda x, v: (yield right_cube(x, v)))),
    "another shape": ("shape", cube(lambda x, v: right_cube(x, v).reshape(-1, 1))),
    "another dtype": ("dtype", cube(lambda x, v: right_cube(x, v).float())),
    "part of a graph": ("graph", cube(lambda x, v: right_cube(x.requires_grad_(), v))),
    "a dtype": ("type", cube(lambda x, v: x.dtype)),
    "nan": ("nan", cube(lambda x, v: right_cube(x, v) * float("nan"))),
    "another sign": ("value", cube(lambda x, v: -right_cube(x, v))),
    "a factor": ("value", cube(lambda x, v: 1000 * right_cube(x, v))),
    "a factor that nobody would look for": ("value", cube(lambda x, v: -1.7e16 * right_cube(x, v))),
    "an offset": ("value", cube(lambda x, v: right_cube(x, v) + 1)),
    "zeros": ("value", cube(lambda x, v: torch.zeros_like(x))),
    "zeros for some": ("value", cube(lambda x, v: right_cube(x, v).clamp(min=0))),
    "absolute values": ("value", cube(lambda x, v: right_cube(x, v).abs())),
    "a change in place": ("mutated", cube(lambda x, v: right_cube(x, v.mul_(2)) / 2)),
    "a tuple": ("type", cube(lambda x, v: (right_cube(x, v),))),
    "a Parameter": ("type", cube(lambda x, v: torch.nn.Parameter(right_cube(x, v)))),
    "a subclass that agrees with everything": ("type", cube(lambda x, v: v.as_subclass(Agreeable))),
    "an object that cannot be read": ("type", cube(lambda x, v: Lazy())),
    "an iterator": ("type", cube(lambda x, v: iter([right_cube(x, v)]))),
    "an error": ("raised", cube(lambda x, v: 1 / 0)),
    "an error that cannot be read": ("raised", cube(raising(Unspeakable()))),
    "StopIteration": ("raised", cube(raising(StopIteration()), scenario=yielding("returned"))),
    "a misspelled attribute": ("raised", cube(lambda x, v: torch.sigmod(x))),
    "a misspelled name": ("raised", cube(lambda x, v: right_cub(x, v))),  # noqa: F821
    "an error in what follows": ("raised", cube(lambda x, v: v.flatten()[:1], scenario=backward_later)),
    "not solved": ("unsolved", cube(raising(NotImplementedError()))),
    "the error that is expected": ("passed", cube(right_cube, scenario=then_an_error)),
    "a value before the error that is expected": ("value", cube(lambda x, v: v, scenario=then_an_error)),
    "a value before the error to which it led": ("shape", cube(lambda x, v: v.flatten()[:1], scenario=use_its_shape)),
    "too deep somewhere else": ("raised", cube(in_a_comparison, slips=[by_recursion])),
    "autograd where it is allowed": ("passed", cube(lambda x, v: with_grad(x.clone(), v))),
    "autograd by one name": ("shortcut", cube(with_grad, autograd=False)),
    "autograd by another name": ("shortcut", cube(by_another_name, autograd=False)),
    "no autograd": ("passed", cube(right_cube, autograd=False)),
    "an input that requires grad": ("left", cube(by_another_name)),
    "an input with a .grad": ("left", cube(with_grad)),
    "an error in a hook": ("raised", Answer(lambda x: None, hooks_badly, scenario=in_a_hook)),
}

# Errors that are expected

REFUSED = raising(RuntimeError("no matrices, please"))
FORGED = type("RuntimeError", (Exception,), {})


def with_words(rng):
    yield {"x": 2.0, "words": ["matrices"]}


def refused(wrong, **more) -> Answer:
    return Answer(REFUSED, wrong, **more)


def traced(answer, case):
    try:
        yield {"returned": answer(case["x"])}
    finally:
        yield {"hooks": 1}
    yield {"calls": 1}


def ends(answer, case):
    yield {"first": 1}
    try:
        yield {"returned": answer(case["x"])}
    except RuntimeError as error:
        yield {"the error": str(error)}


def slope(x):
    leaf = torch.tensor(x, requires_grad=True)
    (leaf**2).backward()
    return leaf.grad


def slope_switching_off(x):
    found = slope(x)
    torch.set_grad_enabled(False)
    return found


def helper(x):
    raise NotImplementedError()


def operation(formula):
    """As of the engine: the answer is a function that calls a formula."""
    return lambda x: formula(x)


ERRORS = {
    "the same error": ("passed", refused(raising(RuntimeError("no matrices, please")))),
    "another type of error": ("error type", refused(raising(ValueError("no matrices, please")))),
    "a class of the same name": ("error type", refused(raising(FORGED("no matrices, please")))),
    "another message": ("error message", refused(raising(RuntimeError("no")))),
    "the words that are required": ("passed", refused(raising(RuntimeError("I take no Matrices")), cases=with_words)),
    "other words": ("error message", refused(raising(RuntimeError("no")), cases=with_words)),
    "not solved where an error is expected": ("unsolved", refused(raising(NotImplementedError()))),
    "no error": ("silent", refused(lambda x: x)),
    "no error, and a trace": ("silent", refused(lambda x: x, scenario=traced)),
    "an error, and a trace": ("raised", Answer(lambda x: x, lambda x: reslt, scenario=traced)),  # noqa: F821
    "what happened instead": ("happened", refused(lambda x: x, scenario=ends)),
    "a state that led to an error": ("raised", Answer(slope, slope_switching_off, yielding("first", "second"))),
    "a key of the only value": ("raised", Answer(lambda x: {"a": 1}, lambda x: {}["a"])),
    "another function that is not solved": ("unsolved", Answer(lambda x: x, lambda x: helper(x))),
    "a formula that the answer holds": ("raised", Answer(lambda x: x, operation(lambda x: reslt))),  # noqa: F821
}

# Values

OBJECTS = np.empty(1, dtype=object)
OBJECTS[0] = torch.ones(1)
BEGIN = 400 * "a"


def two(rng):
    yield from ({"says": f"x is {x}", "x": x} for x in (1.0, 2.0))


def three_by_two(rng):
    yield from ({"says": f"{n} and {x}", "n": n, "x": x} for n in (None, 1, 2) for x in (2.5, 3.5))


def some_empty(rng):
    yield {"x": 2.0, "constants": {}, "events": [], "gradient": None}


def no_rows(rng):
    yield {"x": np.zeros((0, 3))}


def walked_twice(answer, case):
    leaf = torch.tensor([case["x"], 3.0], requires_grad=True)
    for which in ("first", "second"):
        (leaf**2).sum().backward()
        answer(leaf)
        yield {f"grad after the {which} backward": leaf.grad}


def halved(leaf):
    leaf.grad = leaf.grad / 2 if leaf.grad[0] > 4 else leaf.grad


def both_seen(answer, case):
    yield {"first": torch.tensor([1.5, 2.5])}
    yield {"second": answer(case["x"])}


def same_items(case, observed, expected):
    return None if sorted(observed[0]) == sorted(expected[0]) else "It is not an order of all the items."


def same_order(case, observed, expected):
    return None if sorted(observed[0]["order"]) == sorted(expected[0]["order"]) else "It is no order."


def maybe_nothing(answer, case):
    found = answer(**case)
    yield {"nothing came" if found is None else "order": found}
    yield {"numbers": 2}


def judged(wrong, **more) -> Answer:
    return values(["a", "b"], wrong, judge=same_items, **more)


def left_off(x):
    torch.set_grad_enabled(False)
    return ["b", "a"]


ONES, INF = torch.ones(2), float("inf")
AFTERWARDS = yielding("returned", "weight.grad afterwards")
VALUES = {
    "a label tells where": ("value", Answer(lambda leaf: None, halved, scenario=walked_twice)),
    "a label that comes again is counted": ("value", Answer(in_turn(1, 2), in_turn(1, 1), yielding("y", "y"))),
    "parts are named as in Python": ("value", values({"losses": [[1, 2], [3, 4]]}, {"losses": [[1, 2], [3, 5]]})),
    "a part of what is returned": ("value", values((1, 2), (1, 3))),
    "a tensor in a tuple": ("value", values((ONES, ONES), (ONES, 2 * ONES))),
    "only rounding is not a number": ("value", values(float64(4, 0, 0), float64(5, 1e-17, 1e-9))),
    "no pattern in a mask": ("value", values(torch.tensor([True, False]), torch.tensor([True, True]))),
    "no pattern in infinities": ("value", values(float64(1, 2), float64(INF, INF))),
    "infinity": ("passed", values(float64(INF, 1), float64(INF, 1))),
    "a large number for infinity": ("value", values(float64(INF, 1), float64(1e308, 1))),
    "infinity with another sign": ("value", values(float64(INF, 1), float64(-INF, 1))),
    "a list of words": ("value", values(["a", "b"], ["a", "c"])),
    "names in a different order": ("value", values(["a", "b", "c"], ["b", "a", "c"])),
    "names in reverse order": ("value", values(["a", "b", "c"], ["c", "b", "a"])),
    "a name that is missing": ("length", values(["a", "b", "c"], ["a", "c"])),
    "a name too many": ("length", values(["a", "b", "c"], ["a", "b", "c", "c"])),
    "where two long texts differ": ("value", values(f"{BEGIN}, freed", f"{BEGIN}, kept")),
    "more than can be compared": ("raised", values(ONES, torch.zeros(200_000))),
    "an array of objects": ("type", values(np.ones(1), OBJECTS)),
    "the keys of a learner's own dict": ("keys", values({"a": 1, "b": 2}, {"a": 1, "c": 2})),
    "an array's float32": ("dtype", values(np.ones(2), np.ones(2, np.float32))),
    "a NumPy float": ("type", values(2.5, np.float64(2.5))),
    "a tensor instead of a float": ("type", values(2.5, float64(2.5).sum())),
    "a tuple's numbers are right": ("type", values((1.5, 2.5), [1.5, 2.5])),
    "sizes of an empty input": ("type", Answer(lambda x: x, lambda x: 1, cases=no_rows)),
    "empty inputs are not shown, but None is": ("value", values(2.0, 3.0, cases=some_empty)),
    "one case is right": ("value", Answer(lambda x: x, lambda x: 1.0, cases=two)),
    "a missing value": ("type", values(ONES, None, scenario=yielding("first slope"))),
    "no return under a label": ("type", Answer(in_turn(2.0, ONES), in_turn(None, ONES), AFTERWARDS)),
    "a missing gradient": ("type", Answer(in_turn(2.0, ONES), in_turn(2.0, None), AFTERWARDS)),
    "a number instead of None": ("type", Answer(in_turn(None, ONES), in_turn(2.0, ONES), AFTERWARDS)),
    "None where it is right in another case": (
        "type",
        Answer(lambda x: "y" if x == 2 else None, lambda x: None, cases=two),
    ),
    "a value expected elsewhere": (
        "value",
        Answer(lambda x: torch.tensor([4.5, 3.25]), lambda x: torch.tensor([1.5, 2.5]), both_seen),
    ),
    "the only wrong case": (
        "value",
        Answer(lambda n, x: x, lambda n, x: 0.5 if n == 2 and x == 2.5 else x, cases=three_by_two),
    ),
    "what the wrong cases share": ("value", Answer(lambda n, x: x, lambda n, x: x if n else 0.5, cases=three_by_two)),
    "another order, judged": ("passed", judged(["b", "a"])),
    "no order, judged": ("judged", judged(["a"])),
    "another form, judged": ("form", judged(3)),
    "something else happened, not judged": ("happened", values([1, 2], None, scenario=maybe_nothing, judge=same_order)),
    "what was left, where a judge accepts": ("left", Answer(lambda x: ["a", "b"], left_off, judge=same_items)),
}
ANSWERS = CUBES | ERRORS | VALUES


def told() -> dict[str, str]:
    """The texts in `explanations.txt`, by the name of the answer."""
    blocks = TEXTS.read_text(encoding="utf-8").split("\n=== ")[1:]
    return dict(block.rstrip("\n").split("\n", 1) for block in blocks)


def text_of(verdict: Verdict) -> str:
    """What a learner reads, without what depends on this file's name and lines."""
    return re.sub(r"line \d+: ", "line N: ", verdict.feedback.text.replace(f"{__name__}.", ""))


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_gets_its_verdict_and_its_words(name):
    kind, answer = ANSWERS[name]
    verdict = answer.verdict()[1]
    assert (verdict.difference.kind if verdict.difference else verdict.feedback.state) == kind
    assert verdict.passed or text_of(verdict) == told()[name]


def test_a_default_device_is_the_cpu_inside_and_comes_back():
    case = encode_case({"x": 2.0}).inputs
    torch.set_default_device("meta")
    try:
        assert observe(lambda x: torch.ones(2).device.type, call, case).values == ["cpu"]
        assert torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)
    assert observe(lambda x: torch.set_default_device("meta"), call, case).left == ["default_device:meta"]
    assert torch.get_default_device().type == "cpu"


def six_numbers(rng):
    for number in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        yield {"x": number}


def doubled(x):
    """Twice as much."""
    return 2 * x


def doubled_above_three(x):
    """Twice as much above 3."""
    return 2 * x if x > 3 else x


def doubled_above_two(x):
    """Twice as much above 2."""
    return 2 * x if x > 2 else x


def doubled_above_three_and_two_negated(x):
    """Twice as much above 3, and 2 has another sign."""
    return -x if x == 2 else doubled_above_three(x)


def refuses(x):
    """It is refused."""
    raise RuntimeError("no")


@pytest.mark.parametrize(
    ("wrong", "slips", "named", "lead"),
    [
        (doubled_above_two, [doubled], "doubled", "Twice as much."),  # in most of its cases
        (doubled_above_three, [doubled], "", ""),  # half of its cases are too few
        (lambda x: refuses(x) if x > 1 else x, [refuses], "", ""),  # an error alone tells nothing
        (doubled_above_three, [doubled, doubled_above_three], "doubled above three", ""),  # all cases come before most
        (doubled_above_three, [doubled_above_two], "doubled above two", ""),
        (doubled_above_three, [doubled_above_two, doubled_above_three_and_two_negated], "", ""),  # two fit in most
        # Of two mistakes, the one in the first wrong case is named, but not counted as the answer's slip.
        (lambda x: 7.0 if x > 1 else 2 * x, [doubled], "", "Likely slip in this case: doubled. Twice as much."),
        (lambda x: 2 * x if x > 1 else 7.0, [doubled], "", "The values differ."),
        (lambda x: refuses(x) if x > 1 else 2 * x, [doubled], "", "Likely slip in this case: doubled. Twice as much."),
    ],
)
def test_a_slip_is_named_if_it_alone_explains_most_of_its_cases(wrong, slips, named, lead):
    feedback = Answer(lambda x: x, wrong, cases=six_numbers, slips=slips).verdict()[1].feedback
    assert feedback.name == named
    assert feedback.lead.startswith(lead)


if __name__ == "__main__":
    verdicts = {name: answer.verdict()[1] for name, (_, answer) in ANSWERS.items()}
    blocks = [f"\n=== {name}\n{text_of(verdict)}\n" for name, verdict in verdicts.items() if not verdict.passed]
    TEXTS.write_text("What a learner reads of each answer in test_explanations.py\n" + "".join(blocks), "utf-8")
