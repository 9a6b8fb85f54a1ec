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
from .checks.messages import run_above
from .checks.results import read
from .checks.stale_cells import missing_name
from .checks.summary import passed
from .own_drawing import Drawing
from .own_image import ImageError, ImageFile
from .own_pictures import MILESTONE
from .pictures.picture import Picture
from .predict.kinds import shown
from .words import _, of_chapter


def payoff(exercise, shows, copies=False, milestone="", **controls):
    """Show what the decorated function returns for the learner's answer to `exercise`, and again when a control moves.

    exercise: the check's id, such as "02.4". shows: what appears, in words that can follow "You will see".
    controls: for each parameter of the function, a slider (lowest, highest, step), a list of choices, a bool, a string
    `image_file()` or `drawing()`; it starts at the parameter's default. The function returns or shows a picture, a
    figure or text.
    copies: whether a button beside the controls copies the figure.
    milestone: what the learner's engine did here, in words, if the start page should show the picture as a milestone.

    Until the check has passed, and if the answer raises an error, one line says so. Tag the cell `after-exercises`.

        @payoff("02.4", "how a square is mapped", turn=(0.0, 3.1, 0.1))
        def mapped(turn=0.5):
            return heat(jacobian(rotation, torch.tensor([turn])))
    """

    shows = of_chapter(exercise, shows)

    def decorate(function):
        text = checking.given_here()

        def released(**values):
            with in_place_of_yours(function, text):
                return as_released(function, text)(**values)

        start = _start(function, controls)
        earned = Payoff(exercise, shows, released, controls, start, copies)
        counts = passed(exercise) or (live.page and live.page.every_payoff)
        made = earned.made(start) if counts else _unsolved(exercise, shows)
        if made.stopped:
            _display(live.style() + made.html, made.text)
            return function
        if read():  # a workspace in which checks have run
            own_pictures.keep(exercise, made.html)
            if milestone:
                own_pictures.keep(MILESTONE + milestone.replace(" ", "-"), made.html)
        if controls and live.page:
            live.page.payoff(earned, made)
        elif controls and live.in_notebook():
            _show_live(earned, made)
        elif controls:
            print(_("Payoff of {exercise}", exercise=exercise))
        says = _("Run this cell to move: {names}.", names=", ".join(_spoken(exercise, name) for name in controls))
        note = f"<p><em>{html.escape(says)}</em></p>" if controls else ""
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
        # Translators: {shows} is what a payoff shows: "how a square is mapped" or the like
        return _("You see {shows}.", shows=self.shows)

    def made(self, values: dict) -> PayoffOutput:
        """Return the output for these values of the controls; an error becomes one line."""
        captured = Captured().start()
        try:
            result = self.function(**values)
        except Exception as error:
            return _stopped(error, self.exercise, self.shows)
        finally:
            captured.stop()
        if type(result).__module__.startswith("matplotlib"):
            from matplotlib import pyplot

            pyplot.close(result)  # so that the figure is not shown twice
        if result is not None:
            captured.add(result)
        body = captured.html(self.shows)
        return PayoffOutput(body, captured.text(), result.svg if isinstance(result, Picture) else body)

    def values(self) -> dict[str, list]:
        """Return the values that each control can take, in order; none for a text, a file or a drawing."""
        return {name: _values(control, self.start[name]) for name, control in self.controls.items()}

    def controls_at_start(self) -> list[dict]:
        """Return each control as static/moving.js expects it."""
        return [
            {"name": _spoken(self.exercise, name), **_described(self.exercise, name, control, values, self.start[name])}
            for (name, control), values in zip(self.controls.items(), self.values().values(), strict=True)
        ]


def _spoken(exercise: str, name: str) -> str:
    return of_chapter(exercise, name.replace("_", " "))


def _values(control, start) -> list:
    if isinstance(control, tuple):
        low, high, step = control
        count = round((high - low) / step)
        return sorted({start, *(type(start)(round(low + k * step, 10)) for k in range(count + 1))})
    if isinstance(control, bool):
        return [False, True]
    return list(control) if isinstance(control, list) else []


def _described(exercise: str, name: str, control, values: list, start) -> dict:
    if isinstance(control, ImageFile):
        return {"kind": "file", "name": control.says, "accept": control.accept, "at": 0}
    if isinstance(control, Drawing):
        says = of_chapter(exercise, control.says)
        return {"kind": "drawing", "name": says, "clear": _("Clear"), "at": 0}
    if isinstance(control, str):
        return {"kind": "text", "value": start, "at": 0}
    texts, at = [shown(value) for value in values], values.index(start)
    if isinstance(control, tuple):
        # Translators: the name of a button that moves the slider {name} by itself
        return {"kind": "slider", "play": _("Play {name}", name=_spoken(exercise, name)), "values": texts, "at": at}
    if isinstance(control, bool):
        return {"kind": "tick", "values": texts, "at": at}
    return {"kind": "list", "values": [of_chapter(exercise, text) for text in texts], "at": at}


def _start(function, controls) -> dict:
    """Return the start value of each control: the default of the parameter with the control's name."""
    given = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    if given.keys() != controls.keys() or inspect.Parameter.empty in given.values():
        raise TypeError(
            _("{name}() needs the same controls as parameters, each with a default.", name=function.__name__)
        )
    return given


def _stopped(error: Exception, exercise: str, shows: str) -> PayoffOutput:
    """Return the line that describes the error."""
    if isinstance(error, NotImplementedError):
        *_callers, (frame, _line_number) = traceback.walk_tb(error.__traceback__)
        name = frame.f_code.co_qualname
        raised = checking.check_of_answer(name.partition(".")[0])
        if raised and not passed(raised):
            return _unsolved(raised, shows)
        return _line(
            _("You will see {shows} once {name} no longer raises NotImplementedError.", shows=shows, name=name)
        )
    if isinstance(error, NameError):
        text = run_above()
        if of := checking.check_of_answer(missing_name(error)):
            text = _("Run the cell with your answer to {exercise}, then this one again.", exercise=of)
        return _line(f"{error}. {text}")
    if isinstance(error, ImageError):
        return _line(str(error), ' role="alert"')
    first, *_rest = str(error).splitlines() or [""]
    parts = {"exercise": exercise, "error": type(error).__name__, "message": first}
    return _line(_("With your answer to {exercise}, this cell raised {error}: {message}", **parts))


def _unsolved(exercise: str, shows: str) -> PayoffOutput:
    parts = {"shows": shows, "exercise": exercise}
    text = _(
        "You will see {shows}: solve exercise {exercise} until its check passes, then run this cell again.", **parts
    )
    return _line(text)


def _line(words: str, role: str = "") -> PayoffOutput:
    body = f'<div class="gl-waiting"{role}>{html.escape(words)}</div>'
    return PayoffOutput(body, words, body, stopped=True)


def _show_live(earned: Payoff, made: PayoffOutput) -> None:
    """Show the payoff's controls and, below them, its output for their values."""
    refused = _("Your browser does not allow it: right-click the picture and copy it.")
    copies = {"copy": _("Copy picture"), "copied": _("Copied."), "refused": refused} if earned.copies else {}
    controls = earned.controls_at_start()
    widget = _widget_class()(title=earned.title, html=made.alive, controls=controls, copies=copies)
    values = dict(earned.start)

    def asked(widget, content, buffers):
        """Send the output for some places of the controls; a text or a file that was entered keeps its value."""
        if "control" in content:
            name, entered = list(earned.controls)[content["control"]], content["value"]
            values[name] = ({"name": entered, "content": buffers[0]},) if buffers else entered
        places = zip(earned.values().items(), content["at"], strict=True)
        values.update((name, every[place]) for (name, every), place in places if every)
        with known_state():  # a picture that is made ahead changes nothing that another cell can see
            moved = earned.made(values)
        widget.send({"at": content["at"], "html": moved.alive})

    widget.on_msg(asked)
    live.show_widget(widget, _("Payoff of {exercise}", exercise=earned.exercise))


@cache
def _widget_class():
    import anywidget  # imported here: only a notebook needs it
    import traitlets

    static = resources.files(__package__).joinpath("static")

    class Moving(anywidget.AnyWidget):
        """A payoff with controls. It sends {"at"} and, if something was entered, {"control", "value"} with a buffer."""

        _esm = "".join(static.joinpath(name).read_text(encoding="utf-8") for name in ("moving.js", "payoff.js"))
        _css = static.joinpath("moving.css").read_text(encoding="utf-8")
        title = traitlets.Unicode().tag(sync=True)
        html = traitlets.Unicode().tag(sync=True)  # the output for the controls' start values
        copies = traitlets.Dict().tag(sync=True)  # the words of the button that copies the picture, if there is one
        controls = traitlets.List().tag(sync=True)  # as `Payoff.controls_at_start` returns them

    return Moving


def _display(body: str, text: str) -> None:
    if get_ipython() is None:
        print(text)
    else:
        display({"text/html": body, "text/plain": text}, raw=True)
