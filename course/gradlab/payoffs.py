"""Payoffs: interactive pictures driven by the learner's own function, shown once its exercise is solved."""

import html
import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from IPython import get_ipython
from IPython.display import display

from . import live, own_pictures
from .captured import Captured
from .checks import check as checking
from .checks.given import as_released, in_place_of_yours
from .checks.known_state import known_state
from .checks.messages import OR_ALL
from .checks.results import read
from .checks.stale_cells import missing_name
from .checks.summary import passed
from .own_drawing import Drawing
from .own_image import ImageError, ImageFile
from .own_pictures import MILESTONE
from .pictures.picture import Picture
from .predict.kinds import shown


def payoff(exercise, shows, ask=None, copies=False, milestone="", **controls):
    """Show what the decorated function returns for the learner's answer to `exercise`, and again when a control moves.

    exercise: the check's id, such as "02.4". shows: what appears, in words that can follow "You will see".
    controls: for each parameter of the function, a slider (lowest, highest, step), a list of choices, a bool, a string
    `image_file()` or `drawing()`; it starts at the parameter's default. The function returns or shows a picture, a
    figure or text.
    ask: a prediction. The function takes the guess and calls its `compare`; the output appears after the guess.
    copies: whether a button beside the controls copies the figure.
    milestone: what the learner's engine did here, in words, if the start page should show the picture as a milestone.

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
        earned = Payoff(exercise, shows, released, controls, start, copies)
        made = earned.made(start) if _passed(exercise) else _unsolved(exercise, shows)
        if made.stopped:
            _display(live.style() + made.html, made.text)
            return function
        if read():  # a workspace in which checks have run
            own_pictures.keep(exercise, made.html)
            if milestone:
                own_pictures.keep(MILESTONE + milestone.replace(" ", "-"), made.html)
        if controls and live.page:
            live.page.payoff(earned, made)
        elif controls and live.has_widgets():
            _show_live(earned, made)
        elif controls:
            print(f"Payoff of {exercise}")
        names = ", ".join(_spoken(name) for name in controls)
        note = f"<p><em>Run this cell to move: {html.escape(names)}.</em></p>" if controls else ""
        _display(live.kept(f"<p>{html.escape(earned.title)}</p>{made.html}{note}"), f"{earned.title}\n{made.text}")
        return function

    return decorate


@dataclass(frozen=True)
class PayoffOutput:
    """A payoff's output as HTML, as text, and as HTML inside a widget; stopped: whether it is only one line."""

    html: str
    text: str
    alive: str
    stopped: bool = False


@dataclass(frozen=True)
class Payoff:
    """A payoff whose exercise has passed. start: the value of each control at the start."""

    exercise: str
    shows: str
    function: Callable
    controls: dict
    start: dict
    copies: bool = False

    @property
    def title(self) -> str:
        """The sentence above the output."""
        return f"You see {self.shows}."

    def made(self, values: dict) -> PayoffOutput:
        """Return the output for these values of the controls; an error becomes one line."""
        return _made(self.function, values, self.exercise, self.shows)

    def values(self) -> dict[str, list]:
        """Return the values that each control can take, in order; none for a text, a file or a drawing."""
        return {name: _values(control, self.start[name]) for name, control in self.controls.items()}

    def controls_at_start(self) -> list[dict]:
        """Return each control as static/moving.js expects it."""
        return [
            {"name": _spoken(name), **_described(control, values, self.start[name])}
            for (name, control), values in zip(self.controls.items(), self.values().values(), strict=True)
        ]


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _values(control, start) -> list:
    if isinstance(control, tuple):
        low, high, step = control
        count = round((high - low) / step)
        return sorted({start, *(type(start)(round(low + k * step, 10)) for k in range(count + 1))})
    if isinstance(control, bool):
        return [False, True]
    return list(control) if isinstance(control, list) else []


def _described(control, values: list, start) -> dict:
    if isinstance(control, ImageFile):
        return {"kind": "file", "name": control.says, "accept": control.accept, "at": 0}
    if isinstance(control, Drawing):
        return {"kind": "drawing", "name": control.says, "at": 0}
    if isinstance(control, str):
        return {"kind": "text", "value": start, "at": 0}
    kind = "slider" if isinstance(control, tuple) else "tick" if isinstance(control, bool) else "list"
    return {"kind": kind, "values": [shown(value) for value in values], "at": values.index(start)}


def _passed(exercise: str) -> bool:
    """Return whether the last run of this exercise's check passed, in any kernel."""
    return bool(live.page and live.page.every_payoff) or passed(exercise)


def _start(function, controls) -> dict:
    """Return the start value of each control: the default of the parameter with the control's name."""
    parameters = inspect.signature(function).parameters
    given = {
        name: parameter.default for name, parameter in parameters.items() if parameter.default is not parameter.empty
    }
    if set(parameters) != set(controls) or set(given) != set(controls):
        raise TypeError(
            f"{function.__name__}() has the parameters {', '.join(parameters) or 'none'} and the controls "
            f"{', '.join(controls) or 'none'}: each control needs a parameter with its name and a default."
        )
    return given


def _made(function, values: dict, exercise: str, shows: str) -> PayoffOutput:
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
    return PayoffOutput(before, text, result.svg if isinstance(result, Picture) else before)


def _stopped(error: Exception, exercise: str, shows: str) -> PayoffOutput:
    """Return the line that describes the error."""
    if isinstance(error, NotImplementedError):
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        name = frame.f_code.co_qualname.partition(".")[0]
        raised = checking.check_of_answer(name)
        if raised and not passed(raised):
            return _unsolved(raised, shows)
        if raised:
            return _line(f"Your {name} raised NotImplementedError here. Run its cell and those below it again.")
        return _line(f"You will see {shows} once {frame.f_code.co_qualname} no longer raises NotImplementedError.")
    if isinstance(error, NameError):
        of = checking.check_of_answer(missing_name(error))
        where = (
            f"Run the cell with your answer to {of}, then this one again."
            if of
            else f"Run the cell above that defines it, {OR_ALL}"
        )
        return _line(f"{error}. {where}")
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


def _closed(result):
    """Return the result; a matplotlib figure is closed first, so that it is not shown twice."""
    if type(result).__module__.startswith("matplotlib"):
        from matplotlib import pyplot

        pyplot.close(result)
    return result


def _unsolved(exercise: str, shows: str) -> PayoffOutput:
    return _line(f"You will see {shows}: solve exercise {exercise} until its check passes, then run this cell again.")


def _line(words: str, role: str = "") -> PayoffOutput:
    body = f'<div class="gl-waiting"{role}>{html.escape(words)}</div>'
    return PayoffOutput(body, words, body, stopped=True)


def _show_live(earned: Payoff, made: PayoffOutput) -> None:
    """Show the payoff's controls and, below them, its output for their values."""
    widget = _widget_class()(
        title=earned.title, html=made.alive, controls=earned.controls_at_start(), copies=earned.copies
    )
    values = dict(earned.start)

    def asked(_, content, buffers):
        """Send the output for some places of the controls; a text or a file that was entered keeps its value."""
        if "control" in content:
            name, entered = list(earned.controls)[content["control"]], content["value"]
            values[name] = ({"name": entered, "content": buffers[0]},) if buffers else entered
        values.update(
            (name, every[place])
            for (name, every), place in zip(earned.values().items(), content["at"], strict=True)
            if every
        )
        with known_state():  # a picture that is made ahead changes nothing that another cell can see
            moved = earned.made(values)
        widget.send({"at": content["at"], "html": moved.alive})

    widget.on_msg(asked)
    live.show_widget(widget, f"Payoff of {earned.exercise}")


@cache
def _widget_class():
    import anywidget  # imported here: a sandbox or a plain Python may lack it
    import traitlets

    static = resources.files(__package__).joinpath("static")

    class Moving(anywidget.AnyWidget):
        """A payoff with controls. It sends {"at"} and, if something was entered, {"control", "value"} with a buffer."""

        _esm = "".join(static.joinpath(name).read_text(encoding="utf-8") for name in ("moving.js", "payoff.js"))
        _css = static.joinpath("moving.css").read_text(encoding="utf-8")
        title = traitlets.Unicode().tag(sync=True)
        html = traitlets.Unicode().tag(sync=True)  # the output for the controls' start values
        copies = traitlets.Bool().tag(sync=True)  # whether a button copies the picture
        controls = traitlets.List().tag(sync=True)  # as `Payoff.controls_at_start` returns them

    return Moving


def _display(body: str, text: str) -> None:
    if get_ipython() is None:
        print(text)
    else:
        display({"text/html": body, "text/plain": text}, raw=True)
