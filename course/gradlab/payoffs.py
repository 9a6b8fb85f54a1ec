"""Payoffs: interactive pictures driven by the learner's own function, shown once its exercise is solved."""

import html
import inspect
import os
import traceback
from dataclasses import dataclass
from functools import cache, reduce
from importlib import resources
from types import FrameType

from IPython import get_ipython
from IPython.display import display

from . import live
from .captured import Captured
from .checks import check as checking
from .checks.given import as_released, in_place_of_yours
from .checks.messages import OR_ALL
from .checks.stale_cells import missing_name
from .checks.summary import passed
from .own_image import ImageError
from .pictures.picture import Picture


def payoff(exercise, shows, ask=None, **controls):
    """Show what the decorated function returns for the learner's answer to `exercise`, and again when a control moves.

    exercise: the check's id, such as "02.4". shows: what appears, in words that can follow "You will see".
    controls: for each parameter of the function, a slider (lowest, highest, step), a list of choices, a bool, a string
    or `image_file()`; it starts at the parameter's default. The function returns or shows a picture, a figure or text.
    ask: a prediction. The function takes the guess and calls its `compare`; the output appears after the guess.

    Until the check has passed, and if the answer raises an error, one line says so. Tag the cell `after-exercises`.

        @payoff("02.4", "how a square is mapped", turn=(0.0, 3.1, 0.1))
        def mapped(turn=0.5):
            return heat(jacobian(rotation, torch.tensor([turn])))
    """

    def decorate(function):
        text = checking.given_here()

        def released(*guess, **values):
            with in_place_of_yours(function, text):
                return as_released(function, text)(*guess, **values)

        if ask is not None and _passed(exercise):
            _asked(released, ask, exercise, shows)
            return function
        start = {} if ask is not None else _start(function, controls)
        made = _made(released, start, exercise, shows) if _passed(exercise) else _unsolved(exercise, shows)
        if made.stopped:
            _display(live.style() + made.html, made.text)
            return function
        title = f"You see {shows}."
        if controls and live.has_widgets():
            _show_live(released, controls, start, exercise, shows, made)
        elif controls:
            print(f"Payoff of {exercise}")
        names = ", ".join(_spoken(name) for name in controls)
        note = f"<p><em>Run this cell to move: {html.escape(names)}.</em></p>" if controls else ""
        _display(live.kept(f"<p>{html.escape(title)}</p>{made.html}{note}"), f"{title}\n{made.text}")
        return function

    return decorate


@dataclass(frozen=True)
class Made:
    """A payoff's output as HTML, as text, and as HTML inside a widget; stopped: whether it is only one line."""

    html: str
    text: str
    alive: str
    stopped: bool = False


def _passed(exercise: str) -> bool:
    """Return whether the last run of this exercise's check passed, in any kernel."""
    return passed(exercise)


def _start(function, controls) -> dict:
    """Return the start value of each control: the default of the parameter with the control's name."""
    parameters = inspect.signature(function).parameters
    given = {name: one.default for name, one in parameters.items() if one.default is not one.empty}
    if set(parameters) != set(controls) or set(given) != set(controls):
        raise TypeError(
            f"{function.__name__}() has the parameters {', '.join(parameters) or 'none'} and the controls "
            f"{', '.join(controls) or 'none'}: each control needs a parameter with its name and a default."
        )
    return given


def _made(function, values: dict, exercise: str, shows: str) -> Made:
    """Return the function's output for these values; an error becomes one line."""
    captured = Captured().start()
    try:
        result = function(**values)
    except Exception as error:
        return _stopped(error, exercise, shows)
    finally:
        captured.stop()
    if result is not None:
        captured.add(_closed(result))
    before, text = captured.html(shows), captured.text()
    return Made(before, text, result.svg if isinstance(result, Picture) else before)


def _stopped(error: Exception, exercise: str, shows: str) -> Made:
    """Return the line that describes the error."""
    if isinstance(error, NotImplementedError):
        return _still_open(error, exercise, shows)
    if isinstance(error, NameError):
        return _line(f"{error}. {_cell_to_run(exercise, missing_name(error))}")
    if isinstance(error, ImageError):
        return _line(str(error), ' role="alert"')
    first = (str(error).splitlines() or [""])[0]
    return _line(f"With your answer to {exercise}, this cell raised {type(error).__name__}: {first}")


def _asked(function, question, exercise: str, shows: str) -> None:
    """Ask for a guess, then show the function's output; an error becomes a line."""
    try:
        with question as guess:
            result = function(guess)
            if isinstance(result, str):
                print(result)
            elif result is not None:
                display(_closed(result))
    except Exception as error:
        made = _stopped(error, exercise, shows)
        _display(live.style() + made.html, made.text)


def _cell_to_run(exercise: str, name: str) -> str:
    """Return which cell to run, in words, if a payoff uses an undefined name: the answer's, or a cell above."""
    if name == checking.answer_name(exercise):
        return f"Run the cell with your answer to {exercise}, then this one again."
    return f"Run the cell above that defines it, {OR_ALL}"


def _closed(result):
    """Return the result; a matplotlib figure is closed first, so that it is not shown twice."""
    if type(result).__module__.startswith("matplotlib"):
        from matplotlib import pyplot

        pyplot.close(result)
    return result


def _unsolved(exercise: str, shows: str) -> Made:
    return _line(f"You will see {shows}: solve exercise {exercise} until its check passes, then run this cell again.")


def _still_open(error: NotImplementedError, exercise: str, shows: str) -> Made:
    """Return a line that names the function that raised NotImplementedError and says what to do about it.

    It may be this exercise's answer, another function, or an earlier version that a cell has kept, as in
    `Tensor.backward = backward`.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    code = frame.f_code
    name = code.co_qualname.partition(".")[0]
    if _redefined(frame):
        return _line(
            f"An earlier version of your {name} ran here. Run the cells between its definition and this one, {OR_ALL}"
        )
    if name == checking.answer_name(exercise):
        return _line(f"Your {name} raised NotImplementedError here. Run its cell and the check of {exercise} again.")
    if other := checking.check_of_answer(name):
        return _unsolved(other, shows)
    where = f"{name} in {os.path.basename(code.co_filename)}" if os.path.exists(code.co_filename) else f"your {name}"
    raised = traceback.format_exception_only(error)[0].strip()
    return _line(f"You will see {shows} once {where} no longer raises {raised}.")


def _redefined(frame: FrameType) -> bool:
    """Return whether the function that runs here has since been redefined."""
    first, *rest = frame.f_code.co_qualname.split(".")
    now = reduce(lambda value, name: getattr(value, name, None), rest, frame.f_globals.get(first))
    return getattr(now, "__code__", frame.f_code) is not frame.f_code


def _line(words: str, role: str = "") -> Made:
    body = f'<div class="gl-waiting"{role}>{html.escape(words)}</div>'
    return Made(body, words, body, stopped=True)


def _show_live(function, controls, start, exercise, shows, made: Made) -> None:
    """Show the controls and, below them, the function's output for their values."""
    from ipywidgets import HTML, HBox, Layout, VBox, interactive

    moving = {}
    for name, abbreviation in controls.items():
        moving[name] = interactive.widget_from_abbrev(abbreviation, start[name])
        moving[name].description = moving[name].description or _spoken(name)
        if isinstance(abbreviation, str):
            moving[name].continuous_update = False  # text takes effect once it is entered
        if hasattr(moving[name].style, "description_width"):
            moving[name].style.description_width = "initial"
    picture = HTML(made.alive, layout=Layout(width="auto"))  # at 100%, its margin would make the page scroll

    def moved(_):
        values = {name: control.value for name, control in moving.items()}
        picture.value = _made(function, values, exercise, shows).alive

    for control in moving.values():
        control.observe(moved, "value")
    title = HTML(f"<p>{html.escape(f'You see {shows}.')}</p>")
    moved_by = HBox(list(moving.values()), layout=Layout(flex_flow="row wrap"))
    whole = VBox([title, moved_by, picture, _names_of_sliders()()])
    whole.add_class("gl-live")
    live.show_widget(whole, f"Payoff of {exercise}")


@cache
def _names_of_sliders():
    """Return the class of an invisible widget that gives names to the sliders beside it."""
    import anywidget

    class Names(anywidget.AnyWidget):
        _esm = resources.files(__package__).joinpath("static", "names.js").read_text(encoding="utf-8")

    return Names


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _display(body: str, text: str) -> None:
    if get_ipython() is None:
        print(text)
    else:
        display({"text/html": body, "text/plain": text}, raw=True)
