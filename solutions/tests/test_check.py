"""The checker: the answers it must reject, the answers it must accept, and its messages."""

import html
import os
import random
import re
import subprocess
import sys
import warnings

import msgspec
import nbformat
import numpy as np
import pytest
import torch
from dutch_words import dutch_words
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from IPython.utils.capture import capture_output
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from torch.nn.modules import module as nn_module

import gradlab
from authoring import reference
from authoring.reference import AuthoredCheck, Reference, numbers
from gradlab import notebook, own_pictures, words
from gradlab.checks import card as showing
from gradlab.checks import check as checking
from gradlab.checks import results
from gradlab.checks.cells import Chapter
from gradlab.checks.check import Check, CheckFailed, check
from gradlab.checks.encoding import TooLarge
from gradlab.checks.observe import observe
from gradlab.checks.record import Record, RecordError
from gradlab.checks.results import memory
from gradlab.checks.summary import _overview, passed, summary


def cube_cases(rng):
    for shape in [(2,), (4,), (2, 3)]:
        yield {"says": f"x of shape {shape}", "x": numbers(rng, shape), "v": numbers(rng, shape)}


def cube(x, v):
    return 3 * x**2 * v


def a_case():
    return reference.encode_case(next(cube_cases(np.random.default_rng(0)))).inputs


def stub(x, v):
    raise NotImplementedError


def external_gradient_alone(x, v):
    """It still has to be multiplied by dy/dx."""
    return v


@pytest.fixture
def exercise(monkeypatch):
    """A function that registers a Reference under 02.1, for this test only."""
    monkeypatch.setattr(memory, "stands", {})

    def register(cases=cube_cases, answer=cube, **more):
        monkeypatch.setitem(reference.references, "02.1", Reference(cases, answer, **more))

    register(slips=[external_gradient_alone])
    return register


def says(answer, *args, **kwargs) -> str:
    """What the learner reads when the check of `answer` fails."""
    with pytest.raises(CheckFailed) as caught:
        check("02.1 the gradient at x", answer, *args, **kwargs)
    (text,) = caught.value._render_traceback_()
    return text


def test_a_right_answer_passes_and_says_what_was_compared(exercise, capsys):
    check("02.1 the gradient at x", cube)
    assert capsys.readouterr().out == "02.1 the gradient at x: passed. 6 cases agree with torch.\n"


def test_a_value_is_copied_when_it_is_emitted():
    def twice(answer, case):
        x = case["x"].requires_grad_()
        (x**2 * case["v"]).sum().backward()
        yield answer(x)
        (x**2 * case["v"]).sum().backward()
        yield answer(x)

    first, second = observe(lambda x: x.grad, twice, a_case()).values
    assert second.values == [2 * number for number in first.values]


def test_prints_warnings_and_random_draws_cost_nothing(exercise, capsys):
    def chatty(x, v):
        print("thinking")
        warnings.warn("careful", stacklevel=1)
        return cube(x, v) + 0 * torch.rand(x.shape) * random.random() * np.random.rand()

    warnings.simplefilter("error")  # pytest restores the filters
    check("02.1 the gradient at x", chatty)
    shown = capsys.readouterr()
    start = "02.1 the gradient at x: passed. 6 cases agree with torch.\n\nYour code printed:\nthinking\n"
    assert shown.out == start + "thinking\n" * 5 + "UserWarning: careful\n"
    assert shown.err == "", "what is on stderr costs the points of Validate"


def test_a_flood_of_prints_is_cut(exercise):
    text = says(lambda x, v: print("flood " * 1000))
    assert len(text) < 4000
    assert text.index("Your function returned None") < text.index("Your code printed:") < text.index("flood")
    assert text.endswith("… and 34,006 more characters")


def test_what_an_answer_displays_comes_after_the_verdict(exercise, monkeypatch):
    """The card is read first; of a flood of displays ten are kept, and the others counted."""
    InteractiveShell.instance()
    monkeypatch.setattr(showing, "in_notebook", lambda: True)

    def loud(x, v):
        for _ in range(7):
            display({"text/plain": "loud"}, raw=True)
        return cube(x, v)

    try:
        with capture_output() as seen:
            check("02.1 the gradient at x", loud)
    finally:
        InteractiveShell.clear_instance()
    card, *displayed = [output.data for output in seen.outputs]
    assert "gl-card-passed" in card["text/html"]
    assert [data["text/plain"] for data in displayed] == ["loud"] * 10
    assert seen.stdout == "… and 32 more displays\n"


def test_the_state_is_known_inside_and_restored_outside():
    seen, limit = [], sys.getrecursionlimit()

    def meddle(x, v):
        drawn = torch.rand(()).item(), random.random(), np.random.rand()
        seen.append((torch.get_default_dtype(), torch.is_grad_enabled(), sys.getrecursionlimit(), *drawn))
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.autograd.set_detect_anomaly(True)
        nn_module.register_module_forward_hook(lambda *args: None)
        sys.setrecursionlimit(limit + 500)
        np.random.seed(5)
        return cube(x, v)

    torch.manual_seed(11)
    random.seed(11)
    np.random.seed(11)
    expected = torch.rand(3), random.random(), np.random.rand()
    torch.manual_seed(11)
    random.seed(11)
    np.random.seed(11)
    with torch.no_grad(), nn_module.register_module_forward_hook(lambda *args: None) as mine:
        sys.setrecursionlimit(limit + 100)
        left = [observe(meddle, checking.call, a_case()).left for _ in range(2)]
        assert not torch.is_grad_enabled()
        assert list(nn_module._global_forward_hooks) == [mine.id]
    assert sys.getrecursionlimit() == limit + 100
    sys.setrecursionlimit(limit)
    changed = ["grad_mode_off", "anomaly_mode_on", "default_dtype:torch.float64", "module_hooks"]
    assert left == [[*changed, f"recursion_limit:{limit + 500}"]] * 2
    assert seen == [seen[0]] * 2
    first = torch.rand((), generator=torch.Generator().manual_seed(0)).item()
    assert seen[0] == (torch.float32, True, limit, first, random.Random(0).random(), np.random.RandomState(0).rand())
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert not torch.is_anomaly_enabled()
    assert not nn_module._global_forward_hooks
    assert torch.equal(torch.rand(3), expected[0])
    assert (random.random(), np.random.rand()) == expected[1:]


def interrupted(x, v):
    if x.shape == (4,):
        raise KeyboardInterrupt
    return cube(x, v)


def test_an_interrupted_check_says_in_which_case_it_was_and_leaves_what_was_passed(beside):
    check("02.1 the gradient at x", cube)
    assert says(interrupted).splitlines() == [
        "02.1 the gradient at x: not checked.",
        "Case 2 of 6: x of shape (4,). The check was interrupted here. Does a loop in your answer never end?",
    ]
    assert passed("02.1")
    beside.write_text(Record.from_json(beside.read_text()).of_cell("").to_json())
    with pytest.raises(KeyboardInterrupt):  # in grading
        check("02.1 the gradient at x", interrupted)


def stored_record() -> Record:
    """A record of 02.1 as `make notebooks` would write it."""
    made = AuthoredCheck.of(Check("02.1 the gradient at x", cube))
    return Record("02_test", {"02.1": made.record()})


@pytest.fixture
def beside(exercise, monkeypatch, tmp_path):
    """A student's folder: a record beside the notebook and no reference in the process."""
    record = stored_record()
    monkeypatch.setattr(notebook, "FOLDER", tmp_path)
    monkeypatch.setattr(memory, "authored", None)
    monkeypatch.delitem(reference.references, "02.1")
    path = tmp_path / "02_test.record.json"
    path.write_text(record.to_json())
    return path


def change_record(path, **changes) -> None:
    """Change what the record at this path says of 02.1."""
    record = Record.from_json(path.read_text())
    record.checks["02.1"] = msgspec.structs.replace(record.checks["02.1"], **changes)
    path.write_text(record.to_json())


def test_the_students_run_uses_the_record_beside_the_notebook(beside, capsys):
    check("02.1 the gradient at x", cube)
    assert "passed" in capsys.readouterr().out
    assert "Likely slip: external gradient alone." in says(external_gradient_alone)


@pytest.fixture
def cards(monkeypatch):
    """What is displayed, as in a notebook."""
    shown = []
    monkeypatch.setattr(showing, "in_notebook", lambda: True)
    monkeypatch.setattr(showing, "display", lambda data, raw: shown.append(data))
    return shown


def test_a_wrong_array_is_shown_as_a_picture_in_the_card(beside, cards):
    says(external_gradient_alone)
    says(lambda x, v: None)
    with_picture, without = [card["text/html"] for card in cards]
    assert 'alt="2 of 2 elements differ' in with_picture
    assert "<img" not in without
    for card in (with_picture, without):
        seen, details = re.sub(r"<style>.*?</style>", "", card, flags=re.DOTALL).split("<details>")
        assert ("<table>" in seen) == (card is without), "one picture, or yours and the expected one"
        assert details.startswith("<summary>Case 1 of 6: x of shape (2,). Details</summary>")
        assert "0 of 6 cases are right." in details


def numbers_drawn(case, observed, expected):
    """A picture of what came back, as a check can bring one of its own."""
    x = case["x"].requires_grad_()
    return gradlab.draw(x * 2, notes={x: f"yours {observed[0][0]}, torch's {expected[0][0]}"}, wrong=[x])


def test_a_checks_own_picture_is_in_the_card_and_in_the_text(beside, cards):
    """It takes the place of the difference; a screen without pictures gets it in words; what passes has none."""
    text = says(external_gradient_alone, picture=numbers_drawn)
    assert re.search(r"x \(2,\) leaf  ✗ yours (\S+), torch's (\S+)", text)
    assert text.index("yours ") < text.index("Backward graph of") < text.index("cases are right")
    (card,) = (shown["text/html"] for shown in cards)
    assert 'alt="Backward graph of' in card
    assert 'alt="2 of 2 elements differ' not in card
    check("02.1 the gradient at x", cube, picture=numbers_drawn)
    assert "<img" not in cards[-1]["text/html"]


@pytest.mark.parametrize("fault", ["raises", "nothing"])
def test_the_verdict_stands_without_its_picture(beside, cards, fault):
    """Whatever drawing does, the words are the same, no number of the student's own run moves, and arrays are shown."""
    without = says(external_gradient_alone)

    def drawn(case, observed, expected):
        torch.set_grad_enabled(False)
        torch.rand(3)
        case["x"].zero_()
        observed[0][0] = expected[0][0]
        if fault == "raises":
            raise ValueError("no picture today")

    before = torch.get_rng_state()
    assert says(external_gradient_alone, picture=drawn) == without
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before)
    assert 'alt="2 of 2 elements differ' in cards[-1]["text/html"]


def test_an_answer_of_another_form_and_an_unsolved_one_are_not_drawn(beside, cards):
    called = []
    for answer in (stub, lambda x, v: None, lambda x, v: 1 / 0):
        says(answer, picture=lambda *args: called.append(args))
    assert called == []
    states = [re.search(r'class="gl-card gl-card-(\w+)"', card["text/html"])[1] for card in cards]
    assert states == ["unsolved", "wrong", "wrong"]


def test_progress_remembers_what_was_passed_or_tried_but_not_a_stub(beside):
    says(stub)
    assert results.read(beside.parent) == {}
    says(external_gradient_alone)
    assert results.read(beside.parent) == {"02.1": "tried"}
    check("02.1 the gradient at x", cube)
    assert results.read(beside.parent) == {"02.1": "passed"}
    says(stub)
    assert results.read(beside.parent) == {"02.1": "tried"}, "an exercise that is reset is passed no more"


def summary_after_a_restart(monkeypatch, capsys) -> str:
    monkeypatch.setattr(memory, "stands", {})
    capsys.readouterr()
    summary()
    return capsys.readouterr().out


def test_the_summary_remembers_across_restarts_and_knows_the_points(beside, monkeypatch, capsys):
    cell = new_code_cell('check("02.1 the gradient at x", cube)', metadata={"nbgrader": {"grade": True, "points": 3}})
    nbformat.write(new_notebook(cells=[cell]), beside.parent / "02_test.ipynb")
    line = "02.1 the gradient at x ...."
    out = summary_after_a_restart(monkeypatch, capsys)
    assert out == f"{line} not tried 0 of 3\n0 of 1 checks passed, 0 of 3 points.\n"
    check("02.1 the gradient at x", cube)
    out = summary_after_a_restart(monkeypatch, capsys)
    assert out == f"{line} passed    3 of 3\n1 of 1 checks passed, 3 of 3 points.\n"
    own_pictures.keep("02.1", '<img src="data:image/png;base64,cG5n">')
    shown = _overview(Chapter(notebook.FOLDER))[0]["text/html"].partition("You now own")[2]
    assert '<img alt="" src="data:image/png;base64,cG5n"><code>cube</code>' in shown
    cell.metadata["tags"] = ["extra"]
    nbformat.write(new_notebook(cells=[cell]), beside.parent / "02_test.ipynb")
    assert "1 of 1 checks passed, 0 of 0 on the core path, 3" in summary_after_a_restart(monkeypatch, capsys)
    says(external_gradient_alone)
    capsys.readouterr()
    summary()
    assert capsys.readouterr().out.startswith(f"{line} not yet   0 of 3\n0 of 1"), "the tick is taken back"


ANOTHER_KERNEL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in ("from gradlab import check", "check('02.1 the gradient at x', pull_back)"):
    shell.run_cell(cell, store_history=True)
"""


def test_a_missing_answer_is_named_in_a_kernel_that_gradlab_did_not_start(tmp_path):
    command = [sys.executable, "-c", ANOTHER_KERNEL]
    env = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=env).stdout
    assert "pull_back is not defined, because the cell that defines it has not run to its end" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("owns", "lead"),
    [("", "Yours now: <code>cube</code>"), ("Your function walks any cube backwards.",) * 2],
)
def test_the_card_of_a_pass_begins_with_what_is_owned(beside, cards, owns, lead):
    change_record(beside, answer="cube", owns=owns)
    check("02.1 the gradient at x", cube)
    assert f'<p class="gl-card-lead">{lead}</p>' in cards[0]["text/html"]
    assert cards[0]["text/plain"].endswith(f"6 cases agree with torch.\n{owns}".rstrip())


def fold(title) -> str:
    return f"<details>\n<summary>{title}</summary>\n\nwords\n\n</details>\n"


def test_each_further_failure_of_a_kind_offers_the_next_fold_of_its_own_exercise(beside, cards, monkeypatch):
    """At once the help that quotes it; also if the learner has put cells between the folds and the check."""
    monkeypatch.setattr(memory, "repeated", {})
    change_record(beside, cell="check")
    quoting = "Help: I get <code>It still has to be multiplied by dy/dx.</code>"
    cells = [
        new_markdown_cell("## 02.0"),
        new_markdown_cell(fold("Hint"), id="before"),
        new_markdown_cell("## 02.1"),
        new_markdown_cell(fold("Hint") + fold("Approach") + fold(quoting), id="helps"),
        new_markdown_cell("a note"),
        new_code_cell("# an attempt"),
        new_code_cell("check(…)", metadata={"nbgrader": {"grade_id": "check"}}),
    ]
    nbformat.write(new_notebook(cells=cells), beside.parent / "02_test.ipynb")
    for answer in (*[external_gradient_alone] * 4, lambda x, v: v / v, external_gradient_alone):
        says(answer)
    link = re.compile(r'ipynb#cell-id=helps" data-fold="\d">Open the ([\w ]+)<')
    offered = [link.findall(shown["text/html"]) for shown in cards]
    helped = ["help for this message"]
    assert offered == [helped, ["hint"], ["approach"], ["approach"], [], helped]


@pytest.fixture
def dutch():
    """A small Dutch catalogue; afterwards, English again."""
    messages = {
        "not yet": "nog niet",
        "passed": "geslaagd",
        "yours": "die van u",
        "Likely slip: {name}.": "Waarschijnlijk: {name}.",
        "{passed} of {total} checks passed": "{passed} van {total} geslaagd",
        "Open the hint": "Open de tip",
        "Open the help for this message": "Open de hulp",
        "You can now": "U kunt nu",
    }
    of_check = {
        "the gradient at x": "de gradiënt bij x",
        "external gradient alone": "alleen de externe gradiënt",
        "It still has to be multiplied by dy/dx.": "Vermenigvuldig nog met dy/dx.",
        "x of shape ({},)": "x heeft vorm ({},)",
    }
    words.use(dutch_words({None: messages, "02.1": of_check}))
    yield
    words.use(b"")


def test_a_card_its_folds_and_the_summary_are_in_the_readers_language(beside, cards, dutch, monkeypatch, capsys):
    """The title of a fold quotes the card in that language, and what is remembered is in none."""
    monkeypatch.setattr(memory, "repeated", {})
    folder = beside.parent / "02_test"
    folder.mkdir()
    beside.rename(folder / beside.name)
    monkeypatch.setattr(notebook, "FOLDER", folder)
    change_record(folder / beside.name, cell="check")
    cells = [
        new_markdown_cell("# 02 Test\n\n**U kunt straks**\n\n- vermenigvuldigen\n\n**Tijd**: kort."),
        new_markdown_cell("## 02.1"),
        new_markdown_cell(
            fold("Tip") + fold("Aanpak") + fold("Hulp: <code>Vermenigvuldig nog met dy/dx.</code>"),
            id="helps",
        ),
        new_code_cell('check("02.1 the gradient at x", cube)', metadata={"nbgrader": {"grade_id": "check"}}),
    ]
    nbformat.write(new_notebook(cells=cells), folder / "02_test.ipynb")
    text = says(external_gradient_alone)
    assert text.startswith(
        "02.1 de gradiënt bij x: nog niet.\nWaarschijnlijk: alleen de externe gradiënt. Vermenigvuldig nog met dy/dx.\n"
    )
    assert "\nCase 1 of 6: x heeft vorm (2,).\n" in text
    assert "    die van u " in text
    says(external_gradient_alone)
    assert [re.search("data-fold=.*?>(.*?)<", card["text/html"])[1] for card in cards] == [
        "Open de hulp",
        "Open de tip",
    ]
    assert (*memory.stands, *memory.repeated) == ("02.1 the gradient at x",) * 2
    assert memory.repeated["02.1 the gradient at x"][0] == ("external gradient alone", "")
    check("02.1 the gradient at x", cube)
    table, end = _overview(Chapter(folder))
    assert table["text/plain"] == "02.1 de gradiënt bij x .... geslaagd\n1 van 1 geslaagd."
    assert end["text/plain"].startswith("**U kunt nu**\n\n- vermenigvuldigen")


def test_a_card_says_what_the_text_says_and_runs_nothing(beside, cards, monkeypatch):
    """Without its picture, whose script only puts the drawing into the page, a card holds no script and no heading."""
    text = says(lambda x, v: print("<b>loud</b>") or external_gradient_alone(x, v))
    (shown,) = cards
    assert shown["text/plain"] == "02.1 the gradient at x: not yet."
    page = re.sub(r"<style>.*?</style>|<img.*?</script>", "", shown["text/html"], flags=re.DOTALL)
    assert "<script" not in page
    assert not re.search(r"<h\d", page), "headings in outputs would stand in the table of contents"
    assert 'role="heading"' in page
    read = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    for line in text.replace("not yet.", "not yet").replace("   in ", "\n").splitlines():
        for part in re.split(r"^ +(?:yours|torch's)? +| = ", line):
            assert " ".join(part.split()) in read


def test_a_missing_record_is_explained_in_an_error_and_in_a_card(beside, cards):
    beside.unlink()
    with pytest.raises(RecordError, match=r"ends in \.record\.json.*Open the notebook in its own chapter folder"):
        check("02.1 the gradient at x", cube)
    assert "Open the notebook in its own chapter folder" in cards[0]["text/html"]


UNREADABLE = (
    "",
    "[1]",
    '{"format": 1',
    '{"format": 1}',
    '{"format": "1"}',
    '{"format": 1, "chapter": 2, "checks": {}}',
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *((text, r"02_test\.record\.json .*Copy the file from the released chapter again") for text in UNREADABLE),
        ('{"format": 99, "checks": {}}', "has format 99, but this gradlab reads format 1.*make lab"),
        ('{"checks": {}}', "has format 0, but this gradlab reads format 1.*make lab"),
    ],
)
def test_a_record_that_cannot_be_read_is_explained(beside, text, says):
    beside.write_text(text)
    with pytest.raises(RecordError, match=says):
        check("02.1 the gradient at x", cube)


def test_a_record_for_another_check_cell_is_refused(beside):
    def scenario(answer, case):
        return answer(case["x"], case["v"])

    with pytest.raises(RecordError, match=r"was made for a different check cell of 02\.1"):
        check("02.1 the gradient at x", cube, scenario)
    with pytest.raises(RecordError, match=r"has no check 02\.9"):
        check("02.9 another", cube)


def scaled(answer, case):
    "Use the answer twice."
    return 2 * answer(**case)


def scaled_in_new_words():
    def scaled(answer, case):
        """Call it, and double what it returns."""
        return 2 * answer(**case)  # twice

    return scaled


@pytest.mark.parametrize("words", [False, True])
def test_new_words_need_no_new_record_and_an_earlier_record_still_fits(exercise, beside, monkeypatch, capsys, words):
    """words: whether the record was made when titles and docstrings were part of its digest."""
    stated = Check("02.1 the gradient at x", cube, scaled)
    monkeypatch.setitem(reference.references, "02.1", Reference(cube_cases, cube))
    beside.write_text(Record("02_test", {"02.1": AuthoredCheck.of(stated).record()}).to_json())
    change_record(beside, digest=stated.digest(words))
    check("02.1 the gradient at x", cube, scaled)
    monkeypatch.setattr(memory, "stands", {})  # a new kernel, after an edition with new words
    change_record(beside, title="02.1 from output to input")
    summary()
    assert "02.1 from output to input .... passed" in capsys.readouterr().out
    if not words:
        check("02.1 from output to input", cube, scaled_in_new_words())
    with pytest.raises(RecordError, match="made for a different check cell"):
        check("02.1 the gradient at x", cube, scaled, autograd=False)


def test_a_record_quotes_no_line_of_a_reference_cell(exercise):
    def refuse(x, v):
        raise RuntimeError("a secret line")  # only the message may be seen

    exercise(answer=refuse, slips=[])
    assert "only the message" not in stored_record().to_json()


def test_in_grading_nothing_is_judged_and_everything_is_shown_unless_it_is_too_large_together(beside, monkeypatch):
    shown = []
    monkeypatch.setattr(checking, "display", lambda data, raw: shown.append(data[checking.OBSERVATION_MIME]))
    record = Record.from_json(beside.read_text())
    beside.write_text(record.of_cell(record.checks["02.1"].cell).to_json())
    check("02.1 the gradient at x", external_gradient_alone, picture=lambda *args: pytest.fail("a picture in grading"))
    assert [(item["check"], len(item["observations"])) for item in shown] == [("02.1", 6)]
    expected = record.checks["02.1"].cases[0].inputs.items["v"].values
    assert shown[0]["observations"][0]["values"][0]["of"] == expected
    with pytest.raises(TooLarge, match="the results of all 6 cases exceed 4 MB"):
        check("02.1 the gradient at x", lambda x, v: torch.rand(90_000, dtype=torch.float64))
    assert len(shown) == 1


def test_numbers_are_distinct_clear_of_zero_and_repeatable():
    drawn = numbers(np.random.default_rng(3), (5, 6))
    assert drawn.dtype == np.float64
    assert len(np.unique(np.abs(drawn))) == 30
    assert np.abs(drawn).min() >= 0.3
    assert np.array_equal(drawn, numbers(np.random.default_rng(3), (5, 6)))
    with pytest.raises(ValueError, match="1000 different numbers were requested"):
        numbers(np.random.default_rng(3), (1000,))


def test_a_slip_without_a_sentence_is_refused(exercise):
    exercise(slips=[lambda x, v: v])
    with pytest.raises(ValueError, match="has no docstring"):
        check("02.1 the gradient at x", cube)
