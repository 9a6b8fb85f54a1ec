"""Payoffs: shown once an exercise is solved, one line until then, one line if the answer fails."""

import shutil
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from ipywidgets.widgets.widget import _instances

from gradlab import drawing, notebook, own_pictures, payoff
from gradlab.checks import results
from gradlab.pictures.plot import plot

CHAPTERS = Path(__file__).parents[1] / "chapters"


@pytest.fixture(autouse=True)
def shell(tmp_path, monkeypatch):
    """A notebook's shell that says it has a kernel, and a chapter in which nothing is solved."""
    folder = tmp_path / "02_external_gradients"
    folder.mkdir()
    shutil.copy(CHAPTERS / folder.name / f"{folder.name}.record.json", folder)
    monkeypatch.setattr(notebook, "FOLDER", folder)
    made = InteractiveShell.instance()
    monkeypatch.setattr(made, "kernel", object(), raising=False)
    yield made
    InteractiveShell.clear_instance()


def shown(function, exercise="02.1", **controls):
    """Return the mimebundles that a payoff displays."""
    with capture_output() as seen:
        payoff(exercise, "your function at work", **controls)(function)
    return [output.data for output in seen.outputs]


def test_before_the_check_passed_one_line_says_what_will_be_seen():
    results.remember("02.1", "tried")
    (line,) = shown(lambda: 1 / 0)
    assert line["text/plain"] == (
        "You will see your function at work: solve exercise 02.1 until its check passes, then run this cell again."
    )
    assert "gl-waiting" in line["text/html"]


def raising(name):
    """A function of this name that raises NotImplementedError."""
    made = {}
    exec(f"def {name}():\n    raise NotImplementedError()", made)
    return lambda: made[name]()


def not_run():
    return pull_back(1)  # noqa: F821 the answer's cell was not run in this session


def lesson_not_run():
    return trained(1)  # noqa: F821 nor was a lesson's


def wrong():
    raise ValueError("too many\nlines")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raising("pull_back"), "once pull_back no longer raises NotImplementedError."),
        (raising("starting_gradient"), "You will see your function at work: solve exercise 02.2"),
        (raising("helper"), "once helper no longer raises NotImplementedError."),
        (not_run, "name 'pull_back' is not defined. Run the cell with your answer to 02.1, then this one again."),
        (lesson_not_run, "name 'trained' is not defined. Run the cell that defines it, or choose Run All Above"),
        (wrong, "With your answer to 02.1, this cell raised ValueError: too many"),
    ],
)
def test_an_error_in_the_answer_is_one_line(function, words):
    results.remember("02.1", "passed")
    (line,) = shown(function)
    assert words in line["text/plain"]
    assert "\n" not in line["text/plain"]


def test_what_is_printed_and_returned_is_shown():
    results.remember("02.1", "passed")

    def works():
        print("printed")
        return plot([(0.0, 1.0), (1.0, 2.0)], title="a line")

    (picture,) = shown(works)
    assert picture["text/plain"].startswith("You see your function at work.\nprinted\na line")
    assert "<pre>printed</pre>" in picture["text/html"]
    assert "data:image/svg+xml" in picture["text/html"]


def test_a_moved_control_calls_the_function_again():
    """The widget holds a control for each parameter; beside it stands what can be read without a kernel."""
    results.remember("02.1", "passed")
    calls = []

    def works(weight=1.0, kind="a"):
        calls.append((weight, kind))
        if weight > 2:
            raise ValueError("too heavy")
        return f"{kind} {weight}"

    widget, still = shown(works, weight=(0.0, 3.0, 0.5), kind=["a", "b"])
    assert calls == [(1.0, "a")]
    assert still["text/plain"] == "You see your function at work.\na 1.0"
    assert "Run this cell to move: weight, kind." in still["text/html"]

    model = model_of(widget)
    weight, kind = model.controls
    values = ["0", "0.5", "1", "1.5", "2", "2.5", "3"]
    assert weight == {"kind": "slider", "name": "weight", "play": "Play weight", "values": values, "at": 2}
    assert kind == {"kind": "list", "name": "kind", "values": ["a", "b"], "at": 0}
    assert "a 1.0" in model.html
    assert "a 1.5" in moved(model, at=[3, 0])
    assert "this cell raised ValueError: too heavy" in moved(model, at=[6, 0])
    assert "b 0.5" in moved(model, at=[1, 1])


def model_of(widget):
    return _instances[widget["application/vnd.jupyter.widget-view+json"]["model_id"]]


def moved(model, buffers=(), **asked):
    """Return the HTML that a payoff sends when its page asks for it."""
    sent = []
    model.send = sent.append
    model._handle_custom_msg(asked, buffers)
    (reply,) = sent
    assert reply["at"] == asked["at"]
    return reply["html"]


def test_a_drawing_arrives_as_strokes_and_a_milestone_keeps_its_first_picture():
    results.remember("02.1", "passed")

    def works(mine=()):
        return f"{len(mine)} strokes" if mine else plot([(0.0, 1.0), (1.0, 2.0)], title="a line")

    widget, _ = shown(works, mine=drawing("Draw a digit"), milestone="first digit")
    assert model_of(widget).controls == [{"name": "Draw a digit", "kind": "drawing", "clear": "Clear", "at": 0}]
    assert "2 strokes" in moved(model_of(widget), at=[1], control=0, value=[[[0.5, 0.5]], [[0.1, 0.2], [0.3, 0.4]]])
    assert {"02.1", "milestone-first-digit"} == {*own_pictures.kept()}


def test_a_control_needs_a_parameter_with_a_default():
    with pytest.raises(TypeError, match="needs the same controls as parameters, each with a default"):
        payoff("02.1", "x", weight=(0, 1))(lambda weight: weight)
    with pytest.raises(TypeError, match="needs the same controls as parameters"):
        payoff("02.1", "x", weight=(0, 1))(lambda: 1)
