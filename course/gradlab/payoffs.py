"""Payoffs: the learner's own function at work on something worth seeing, as far as its exercise is solved."""

import html
import inspect
import os
import traceback
from dataclasses import dataclass

from IPython import get_ipython
from IPython.display import display

from . import live
from .captured import Captured
from .checks import check as checking
from .checks.session import missing_name
from .checks.words import OR_ALL
from .pictures.picture import Picture


def payoff(exercise, shows, **controls):
    """Show what the decorated function makes of the learner's answer to `exercise`, and again whenever a control moves.

    exercise: the check's id, such as "02.4". shows: what is to be seen, in words that can follow "You will see".
    controls: for each parameter of the function a slider (lowest, highest, step), a list to choose from, or a bool; the
    parameter's default is where it starts. The function returns a picture, a figure or a text, or shows it.

    Until the check has passed, and where the answer raises an error, one line says so. Give the cell the tag
    `after-exercises`.

        @payoff("02.4", "how a square is mapped", turn=(0.0, 3.1, 0.1))
        def mapped(turn=0.5):
            return heat(jacobian(rotation, torch.tensor([turn])))
    """

    def decorate(function):
        start = _start(function, controls)
        made = _made(function, start, exercise, shows) if _passed(exercise) else _unsolved(exercise, shows)
        if made.stopped:
            _display(live.style() + made.html, made.text)
            return function
        title = f"You see {shows}."
        if controls and live.has_widgets():
            _show_live(function, controls, start, exercise, shows, made)
        elif controls:
            print(f"Payoff of {exercise}")
        names = ", ".join(_spoken(name) for name in controls)
        note = f"<p><em>Run this cell to move: {html.escape(names)}.</em></p>" if controls else ""
        _display(live.kept(f"<p>{html.escape(title)}</p>{made.html}{note}"), f"{title}\n{made.text}")
        return function

    return decorate


@dataclass(frozen=True)
class Made:
    """What a payoff shows: as HTML, as text, as HTML inside a widget; stopped: it is a line that says why not."""

    html: str
    text: str
    alive: str
    stopped: bool = False


def _passed(exercise: str) -> bool:
    """Whether the check of this exercise passed when it ran last, in this kernel or before it."""
    return checking.passed(exercise)


def _start(function, controls) -> dict:
    """Where each control starts: the default of the parameter of its name."""
    parameters = inspect.signature(function).parameters
    given = {name: one.default for name, one in parameters.items() if one.default is not one.empty}
    if set(parameters) != set(controls) or set(given) != set(controls):
        raise TypeError(
            f"{function.__name__}() has the parameters {', '.join(parameters) or 'none'} and the controls "
            f"{', '.join(controls) or 'none'}: each control needs a parameter of its name with a default."
        )
    return given


def _made(function, values: dict, exercise: str, shows: str) -> Made:
    """What the function shows for these values; an error is a line."""
    captured = Captured().start()
    try:
        result = function(**values)
    except NotImplementedError as error:
        return _still_open(error, exercise, shows)
    except NameError as error:
        return _line(f"{error}. {_cell_to_run(exercise, missing_name(error))}")
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        return _line(f"With your answer to {exercise} this ended in {type(error).__name__}: {first}")
    finally:
        captured.stop()
    if result is not None:
        captured.add(_closed(result))
    before, text = captured.html(shows), captured.text()
    return Made(before, text, result.svg if isinstance(result, Picture) else before)


def _cell_to_run(exercise: str, name: str) -> str:
    """Which cell has not run where a payoff misses a name: that of the answer, or one of those above."""
    if name == checking.answer_name(exercise):
        return f"Run the cell with your answer to {exercise}, then this one again."
    return f"Run the cell above that defines it, {OR_ALL}"


def _closed(result):
    """The result; a figure of matplotlib is closed, so that it is not shown a second time."""
    if type(result).__module__.startswith("matplotlib"):
        from matplotlib import pyplot

        pyplot.close(result)
    return result


def _unsolved(exercise: str, shows: str) -> Made:
    return _line(f"You will see {shows}: solve exercise {exercise} until its check passes, then run this cell again.")


def _still_open(error: NotImplementedError, exercise: str, shows: str) -> Made:
    """Say which function raised NotImplementedError: the answer to this exercise, to another one, or neither."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    code = frame.f_code
    name = code.co_qualname.partition(".")[0]
    if name == checking.answer_name(exercise):
        return _line(f"Your {name} raised NotImplementedError here. Run it and the check of {exercise} again.")
    if other := checking.check_of_answer(name):
        return _unsolved(other, shows)
    where = f"{name} in {os.path.basename(code.co_filename)}" if os.path.exists(code.co_filename) else f"your {name}"
    raised = traceback.format_exception_only(error)[0].strip()
    return _line(f"You will see {shows} once {where} no longer raises {raised}.")


def _line(words: str) -> Made:
    body = f'<div class="gl-waiting">{html.escape(words)}</div>'
    return Made(body, words, body, stopped=True)


def _show_live(function, controls, start, exercise, shows, made: Made) -> None:
    """Show the controls and, below them, what the function makes of their values."""
    from ipywidgets import HTML, HBox, Layout, VBox, interactive

    moving = {}
    for name, abbreviation in controls.items():
        moving[name] = interactive.widget_from_abbrev(abbreviation, start[name])
        moving[name].description = _spoken(name)
        moving[name].style.description_width = "initial"
    picture = HTML(made.alive, layout=Layout(width="100%"))

    def moved(_):
        values = {name: control.value for name, control in moving.items()}
        picture.value = _made(function, values, exercise, shows).alive

    for control in moving.values():
        control.observe(moved, "value")
    title = HTML(f"<p>{html.escape(f'You see {shows}.')}</p>")
    whole = VBox([title, HBox(list(moving.values()), layout=Layout(flex_flow="row wrap")), picture])
    whole.add_class("gl-live")
    live.show_widget(whole, f"Payoff of {exercise}")


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _display(body: str, text: str) -> None:
    if get_ipython() is None:
        print(text)
    else:
        display({"text/html": body, "text/plain": text}, raw=True)
