"""The feedback on a failed check: where the difference is, the names of both sides, and the slip."""

import sys

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from authoring.reference import AuthoredCheck, Reference, encode_case
from gradlab.checks.observe import call, observe
from gradlab.checks.record import CheckRecord, Record
from gradlab.checks.verdict import Verdict, judge_check


def made(answer, scenario=call, *, cases=None, slips=(), judge=None, wrong) -> tuple[CheckRecord, Verdict]:
    """The record of a check of `answer`, and its verdict on `wrong`."""
    reference = Reference(cases or (lambda rng: ({"says": "x is 2", "x": 2.0} for _ in range(1))), answer, list(slips))
    check = AuthoredCheck("90.1 a check", answer, scenario, judge, reference=reference)
    record = check.record([1])
    return record, judge_check(record, check.observe(wrong, record.cases), judge)


def says(answer, scenario=call, **more) -> str:
    return made(answer, scenario, **more)[1].feedback.text


def walked_twice(answer, case):
    leaf = torch.tensor([case["x"], 3.0], requires_grad=True)
    for which in ("first", "second"):
        (leaf**2).sum().backward()
        answer(leaf)
        yield {f"grad after the {which} backward": leaf.grad}


def test_a_label_tells_where_the_difference_is():
    def halved(leaf):
        leaf.grad = leaf.grad / 2 if leaf.grad[0] > 4 else leaf.grad

    text = says(lambda leaf: None, walked_twice, wrong=halved)
    assert "First difference at index [0] (2 of 2 elements differ) in 'grad after the second backward'.\n" in text
    assert "value 2" not in text


def test_a_label_that_comes_again_is_counted():
    def same_label(answer, case):
        for number in (1.0, 2.0):
            yield {"y": answer(number)}

    assert "First difference at 'y' in value 2 of 2." in says(lambda x: x, same_label, wrong=lambda x: 1.0)


OBJECTS = np.empty(1, dtype=object)
OBJECTS[0] = torch.ones(1)
INFINITE = torch.full((2,), float("inf"), dtype=torch.float64)
BEGIN = 400 * "a"
SAID = {  # the right value, a wrong one, and parts of what is said; those after "not: " do not occur in it
    "parts are named as in Python": ({"losses": [[1, 2], [3, 4]]}, {"losses": [[1, 2], [3, 5]]}, ["at losses[1][1]."]),
    "a part of what is returned": ((1, 2), (1, 3), ["First difference at returned[1]."]),
    "what is only rounding is not a number": (
        torch.tensor([4.0, 0.0, 0.0], dtype=torch.float64),
        torch.tensor([5.0, 1e-17, 1e-9], dtype=torch.float64),
        ["5   in tensor([5, ≈0, 1e-09])"],
    ),
    "no pattern is sought in a mask": (
        torch.tensor([True, False]),
        torch.tensor([True, True]),
        ["First difference at index [1] (1 of 2 elements differ)."],
    ),
    "no pattern is sought in infinities": (
        torch.tensor([1.0, 2.0], dtype=torch.float64),
        INFINITE,
        ["First difference at index [0] (2 of 2 elements differ).", "not: Each of your values"],
    ),
    "a list of words is shown as a whole": (
        ["a", "b"],
        ["a", "c"],
        ["at returned[1].\n    yours    'c'   in ['a', 'c']\n    expected 'b'   in ['a', 'b']"],
    ),
    "a list of another length": (["a", "b"], ["b"], ["yours    list of 1: ['b']\n    expected list of 2: ['a', 'b']"]),
    "names in a different order": (["a", "b", "c"], ["b", "a", "c"], ["the right items in a different order.\n"]),
    "names in reverse order": (["a", "b", "c"], ["c", "b", "a"], ["You have the right items in reverse order.\n"]),
    "a name that is missing": (["a", "b", "c"], ["a", "c"], ["Missing: 'b'.\n"]),
    "a name too many": (["a", "b", "c"], ["a", "b", "c", "c"], ["Not expected: 'c'.\n"]),
    "where two long texts differ": (
        f"{BEGIN}, freed",
        f"{BEGIN}, kept",
        [f"yours    … {38 * 'a'}, kept'", f"expected … {38 * 'a'}, freed'"],
    ),
    "what an array of objects holds": (
        np.ones(1),
        OBJECTS,
        ["yours    <numpy.ndarray of objects of type torch.Tensor>"],
    ),
    "the keys of a learner's own dict": (
        {"a": 1, "b": 2},
        {"a": 1, "c": 2},
        ["Your dict's keys differ from the expected ones.", "    yours    missing: 'b'; not expected: 'c'\n"],
    ),
    "where float32 comes from": (
        torch.ones(2, dtype=torch.float64),
        torch.ones(2),
        ["In torch, .float() returns float32, and so do zeros, ones, eye and tensor of floats without dtype=."],
    ),
    "float32 where no float belongs": (
        torch.ones(2, dtype=torch.bool),
        torch.ones(2),
        ["The dtype differs from the expected one.", "not: In torch"],
    ),
    "an array's float32": (
        np.ones(2),
        np.ones(2, np.float32),
        ["The dtype differs from the expected one.", "not: In torch"],
    ),
}


@pytest.mark.parametrize(("right", "wrong", "said"), SAID.values(), ids=SAID.keys())
def test_what_differs_is_said(right, wrong, said):
    text = says(lambda x: right, wrong=lambda x: wrong)
    for words in said:
        assert (words.removeprefix("not: ") in text) != words.startswith("not: "), text


@pytest.mark.parametrize(
    ("right", "wrong", "label"),
    [
        (torch.ones(2), torch.zeros(2), "torch's"),
        (2.5, 3.5, "torch's"),
        (3, 4, "expected"),
        (["x", "y"], ["y", "x"], "expected"),
        ([1, 2], [1], "expected"),
        (True, False, "expected"),
        (None, 3, "expected"),
        (torch.Size([2]), torch.Size([3]), "expected"),
    ],
)
def test_only_what_torch_computed_is_called_torchs(right, wrong, label):
    lines = [line.split()[0] for line in says(lambda x: right, wrong=lambda x: wrong).splitlines() if "    " in line]
    assert lines == ["x", "yours", label]


def test_the_cases_that_are_right_are_counted():
    cases = [{"says": f"x is {x}", "x": x} for x in (1.0, 2.0)]
    assert "1 of 2 cases is right." in says(lambda x: x, cases=lambda rng: cases, wrong=lambda x: 1.0)
    assert "0 of 2 cases are right." in says(lambda x: x, cases=lambda rng: cases, wrong=lambda x: 3.0)


def test_a_tensor_without_elements_shows_its_sizes():
    cases = [{"says": "x is empty", "x": np.zeros((0, 3))}]
    assert "    x = tensor([], size=(0, 3))\n" in says(lambda x: x, cases=lambda rng: cases, wrong=lambda x: 1)
    text = says(lambda x: np.zeros((2, 0)), wrong=lambda x: 1)
    assert "ndarray([], shape=(2, 0))" in text


def test_an_error_that_torch_raises_is_torchs():
    def refused(x):
        return torch.ones(2, requires_grad=True).backward()

    def another(x):
        raise ValueError("no")

    assert "    torch's  RuntimeError: grad can be" in says(refused, wrong=another)
    assert "expected" not in says(lambda x: 1, wrong=another)


def test_empty_inputs_are_not_shown():
    def cases(rng):
        yield {"x": 2.0, "constants": {}, "events": [], "gradient": None}

    text = says(lambda x, **rest: x, cases=cases, wrong=lambda x, **rest: 3.0)
    assert "    x = 2\n" in text
    assert "    gradient = None\n" in text  # None as an argument still counts as a value
    assert "constants" not in text
    assert "events" not in text


def test_a_single_value_is_judged_without_brackets_around_it():
    def judge(case, observed, expected):
        return None if observed == expected else "It is not right."

    text = says(lambda x: ["a", "b"], judge=judge, wrong=lambda x: ["a"])
    assert "    yours    ['a']\n" in text
    assert text.endswith("    expected ['a', 'b'] is one right answer")


def test_what_was_left_changed_is_told_where_a_judge_accepts_other_values():
    def left_off(x):
        torch.set_grad_enabled(False)
        return ["b"]

    text = says(lambda x: ["a"], judge=lambda case, observed, expected: None, wrong=left_off)
    assert "gradients are switched off" in text


@pytest.mark.parametrize("device", ["meta", None])
def test_a_default_device_is_the_cpu_inside_and_comes_back(device):
    torch.set_default_device(device)
    try:
        seen = observe(lambda x: torch.ones(2), call, encode_case({"x": 2.0}).inputs)
        assert seen == observe(lambda x: torch.ones(2, device="cpu"), call, encode_case({"x": 2.0}).inputs)
        assert torch.get_default_device() == torch.device(device or "cpu")
    finally:
        torch.set_default_device(None)
    text = says(lambda x: 1, wrong=lambda x: torch.set_default_device("meta") or 1)
    assert "the default device is meta" in text
    assert torch.get_default_device() == torch.device("cpu")


def doubled(x):
    """Twice as much."""
    return 2 * x


def doubled_above_three(x):
    """Twice as much above 3."""
    return 2 * x if x > 3 else x


def six_numbers(rng):
    for number in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        yield {"x": number}


def slip_of(wrong, *slips) -> str:
    return made(lambda x: x, cases=six_numbers, slips=slips, wrong=wrong)[1].slip


def doubled_above_two(x):
    """Twice as much above 2."""
    return 2 * x if x > 2 else x


def doubled_above_three_and_two_negated(x):
    """Twice as much above 3, and 2 has another sign."""
    return -x if x == 2 else doubled_above_three(x)


def refused(x):
    """It is refused."""
    raise RuntimeError("no")


@pytest.mark.parametrize(
    ("wrong", "slips", "named"),
    [
        (doubled_above_two, [doubled], "doubled"),  # in most of its cases
        (doubled_above_three, [doubled], ""),  # half of its cases are too few
        (lambda x: refused(x) if x > 1 else x, [refused], ""),  # an error alone tells nothing
        (doubled_above_three, [doubled, doubled_above_three], "doubled above three"),  # all cases come before most
        (doubled_above_three, [doubled_above_two], "doubled above two"),
        (doubled_above_three, [doubled_above_two, doubled_above_three_and_two_negated], ""),  # two fit in most
    ],
)
def test_a_slip_is_named_if_it_alone_explains_most_of_its_cases(wrong, slips, named):
    assert slip_of(wrong, *slips) == named


def test_of_two_mistakes_the_one_in_the_first_wrong_case_is_named():
    """But not counted as the answer's slip; and not if another fault, or an error, comes first."""
    other_first, slip_first = (lambda x: 2 * x if x > 1 else 7.0), (lambda x: 7.0 if x > 1 else 2 * x)
    assert slip_of(slip_first, doubled) == slip_of(other_first, doubled) == ""
    text = says(lambda x: x, cases=six_numbers, slips=[doubled], wrong=slip_first)
    assert "Likely slip in this case: doubled. Twice as much.\nOther cases are wrong in a different way.\n" in text
    assert "Likely" not in says(lambda x: x, cases=six_numbers, slips=[doubled], wrong=other_first)


def yields(answer, case):
    yield from answer(**case)


@pytest.mark.parametrize(
    "slip",
    [
        [{"a": torch.ones(2), "b": 2}, 3, (1, [2, 3])],  # as expected
        [{"a": torch.ones(2), "b": 4}, 3, (1, [2, 5])],
        [{"a": torch.ones(2), "b": 2.0}, 3.0, (True, [2, 3])],
        [{"a": torch.ones(2), "b": 2}, 3, (1, [2, 3, 4]), {"d": []}],
        [{"a": torch.ones(2, requires_grad=True), "b": 2}, 3, [1, [2, 3]]],
        [{"a": torch.ones(1, 2), "c": 2}, None],
        [{"b": 2, "a": torch.ones(2)}, torch.zeros(0), (1, [2, 3]), "more"],
        [{"a": {"tensor": torch.tensor(1), "as": {}}, "b": torch.Size([2])}, float("nan"), (1,)],
        [],
    ],
)
def test_a_slip_comes_out_of_a_record_as_it_went_in(slip):
    def right(x):
        return [{"a": torch.ones(2), "b": 2}, 3, (1, [2, 3])]

    def wrong(x):
        """It is wrong."""
        return slip

    def broken(x):
        """It raises."""
        raise ValueError("after all")

    record, _ = made(right, yields, slips=[wrong, broken], wrong=wrong)
    written = Record.from_json(Record("90_test", {"90.1": record}).to_json()).checks["90.1"]
    assert written == record
    for answer, stored in zip([wrong, broken], written.slips, strict=True):
        seen = observe(answer, yields, written.cases[0].inputs)
        (back,) = stored.observations(written.expected)
        assert back == replace(seen, error=seen.error and replace(seen.error, at="", line=0))


def labelled(answer, case):
    yield {"first slope": answer(case["x"])}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (lambda x: None, "There is None where a value belongs: was it never computed, or not returned?"),
        (lambda x: (torch.ones(2),), "There is a tuple: take the tensor out of it."),
    ],
)
def test_what_a_label_stands_for_gets_a_hint_too(wrong, hint):
    assert hint in says(lambda x: torch.ones(2), labelled, wrong=wrong)


def gradient_labelled(answer, case):
    yield {"returned": answer(case["x"])}
    yield {"weight.grad afterwards": answer(case["x"])}


@pytest.mark.parametrize(
    ("right", "wrong", "hint"),
    [
        (
            [2.0, torch.ones(2)],
            [None, torch.ones(2)],
            "Your function returned None: is the return statement missing?\n",
        ),
        ([2.0, torch.ones(2)], [2.0, None], "There is None where a gradient belongs: "),
        ([None, torch.ones(2)], [2.0, torch.ones(2)], "The type differs from the expected one.\n"),
    ],
)
def test_what_is_said_of_none_depends_on_where_it_stands(right, wrong, hint):
    text = says(lambda x: right.pop(0), gradient_labelled, wrong=lambda x: wrong.pop(0))
    assert hint in text
    assert "backward() itself" not in text


def test_gradients_under_one_label_are_gradients_too():
    def labelled(answer, case):
        answer(**case)
        yield {"gradients": answer(**case)}

    text = says(lambda x: torch.ones(2), labelled, wrong=lambda x: None)
    assert "There is None where a gradient belongs: " in text


def test_where_none_is_an_answer_no_return_is_missed():
    def cases(rng):
        yield {"x": 2.0}
        yield {"x": 3.0}

    text = says(lambda x: None if x == 2 else "y", cases=cases, wrong=lambda x: None)
    assert "    yours    None\n    expected str: 'y'\n" in text
    assert "return statement" not in text


V = [1.5, -0.25, 4.0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda x, v: v, "Your values equal v."),
        (lambda x, v: x * v + x, "Your values are the expected ones plus x."),
        (lambda x, v: x, "Your values equal x."),
        (lambda x, v: x * v * v, "Your values are the expected ones times v."),
        (lambda x, v: (x * v) ** 2, "Your values are the squares of the expected ones."),
        (lambda x, v: (x * v).abs(), "Your values are the absolute values of the expected ones."),
        (lambda x, v: (x * v).sum(), "Your values are the sum of the expected ones."),
        (lambda x, v: (x * v).expand(2, 3) / 2, "The expected values are the sum of yours over dimension 0."),
        (lambda x, v: (x * v)[:, None], "The values are right, but in a different shape."),
        (lambda x, v: tuple((x * v).tolist()), "Your numbers are right. Return them as a tensor of dtype float64."),
        (lambda x, v: (x * v).clamp(min=0), "The elements that differ are 0 in your result."),
        (lambda x, v: x * v * torch.tensor([1, 1, -1]), "The elements that differ have the wrong sign."),
    ],
)
def test_what_a_wrong_value_has_to_do_with_the_right_one_is_said(wrong, sentence):
    def cases(rng):
        yield {"x": np.array([0.5, 3.25, -2.125]), "v": np.array(V)}

    text = says(lambda x, v: x * v, cases=cases, wrong=wrong)
    assert f"{sentence}\n" in text


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ((1.5, 2.5), [1.5, 2.5], "Your numbers are right. Return them as a tuple."),
        ([1.5, 2.5], torch.tensor([1.5, 2.5]), "Your numbers are right. Return them as a list."),
        (2.5, torch.tensor(2.5), "Your number is right. Return it as a Python float."),
        (("a", "b"), ["a", "b"], "Your items are right. Return them as a tuple."),
    ],
)
def test_right_numbers_in_a_wrong_container_are_called_right_first(right, wrong, sentence):
    assert says(lambda x: right, wrong=lambda x: wrong).splitlines()[1] == sentence


def test_values_expected_elsewhere_are_recognized():
    def both(answer, case):
        yield {"first": torch.tensor([1.5, 2.5])}
        yield {"second": answer(case["x"])}

    text = says(lambda x: torch.tensor([4.5, 3.25]), both, wrong=lambda x: torch.tensor([1.5, 2.5]))
    assert "Your values equal those expected at 'first'.\n" in text


def test_what_the_wrong_cases_have_in_common_is_said():
    cases = [{"says": f"{n} and {x}", "n": n, "x": x} for n in (None, 1, 2) for x in (2.5, 3.5)]
    one = says(lambda n, x: x, cases=lambda rng: cases, wrong=lambda n, x: 0.5 if n == 2 and x == 2.5 else x)
    assert one.endswith("5 of 6 cases are right. Only cases like this one are wrong.")
    some = says(lambda n, x: x, cases=lambda rng: cases, wrong=lambda n, x: 0.5 if n is None else x)
    assert some.endswith("4 of 6 cases are right. The wrong ones are exactly those where n = None.")


def test_the_keys_of_the_only_value_are_no_steps_of_the_check():
    text = says(lambda x: {"a": 1, "b": 2}, wrong=lambda x: {}["a"])
    assert "Your function raised KeyError: 'a'.\n" in text


def leaves_a_trace(answer, case):
    try:
        yield {"returned": answer(case["x"])}
    finally:
        yield {"hooks": 1}
    yield {"calls": 1}


def test_an_error_comes_before_what_was_seen_after_it():
    def misspells(x):
        return reslt  # noqa: F821

    def refuses(x):
        raise ValueError("no")

    text = says(lambda x: x, leaves_a_trace, wrong=misspells)
    assert "NameError: name 'reslt' is not defined.\nRaised at line" in text
    assert "The check expected 'returned' next.\n" in text
    text = says(refuses, leaves_a_trace, wrong=lambda x: x)
    assert "Your function returned, but should have raised an error." in text


def test_a_state_that_was_left_changed_is_told_with_the_error_that_it_led_to():
    def twice(answer, case):
        yield {"first": answer(case["x"])}
        yield {"second": answer(case["x"])}

    def slope(x):
        leaf = torch.tensor(x, requires_grad=True)
        (leaf**2).backward()
        return leaf.grad

    def switches_off(x):
        found = slope(x)
        torch.set_grad_enabled(False)
        return found

    text = says(slope, twice, wrong=switches_off)
    assert "The check expected 'second' next. Left behind: gradients are switched off.\n" in text


def test_what_happened_instead_is_told():
    def ends(answer, case):
        yield {"first": 1}
        try:
            yield {"returned": answer(case["x"])}
        except ValueError as error:
            yield {"the error": str(error)}

    def refuses(x):
        raise ValueError("no")

    text = says(refuses, ends, wrong=lambda x: x)
    assert "The events differ from the expected ones." in text
    assert "    yours    'returned': 2\n    expected 'the error': 'no'" in text


def helper(x):
    raise NotImplementedError()


def test_another_function_that_is_not_solved_is_named():
    text = says(lambda x: x, wrong=lambda x: helper(x))
    assert "Not solved yet: helper, which your function calls, still raises NotImplementedError." in text
    assert "\nNot solved yet: " in text


def test_the_line_of_a_function_that_the_answer_holds_is_shown():
    """As of the formula of an engine's operation: the answer is a function that calls it."""

    def operation(formula):
        return lambda x: formula(x)

    def formula(x):
        return reslt  # noqa: F821

    assert "return reslt" in says(lambda x: x, wrong=operation(formula))


def test_the_recursion_limit_that_a_cell_has_set_does_not_count():
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(limit + 500)
        text = says(lambda x: limit, wrong=lambda x: sys.getrecursionlimit() + 1)
        assert f"yours    {limit + 1}" in text
        assert sys.getrecursionlimit() == limit + 500
    finally:
        sys.setrecursionlimit(limit)
