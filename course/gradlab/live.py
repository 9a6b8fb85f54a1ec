"""Show widgets robustly: the live widget while its kernel runs, else the output that was kept beside it.

There are two outputs: the widget, and an output of class `gl-kept` that shows the same content without a kernel. CSS
hides that output while the widget is alive, and hides JupyterLab's message for a widget without a kernel ("model not
found").
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from IPython import get_ipython
from IPython.display import display

WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Page:
    """A page other than a notebook's, such as the site's, which shows in its own way what a widget shows in a notebook.

    payoff: is called with a `payoffs.Payoff` that has controls, and its `PayoffOutput` at the start. prediction: is
    called with a `Prediction` and the earlier `Guess`, if there is one. every_payoff: whether payoffs also show before
    a pass.
    """

    payoff: Callable[[Any, Any], None]
    prediction: Callable[[Any, Any], None] | None = None
    every_payoff: bool = False


page: Page | None = None  # None: a notebook


def in_notebook() -> bool:
    """Return whether a kernel runs this code, so that a notebook shows what it displays and widgets can be alive."""
    return getattr(get_ipython(), "kernel", None) is not None


@cache
def style() -> str:
    """Return the CSS that decides which of the two outputs is visible."""
    text = resources.files(__package__).joinpath("static", "live.css").read_text(encoding="utf-8")
    return f"<style>{text.strip()}</style>"


def kept(body: str) -> str:
    """Return `body` as HTML that is visible only while there is no live widget beside it."""
    return f'{style()}<div class="gl-kept">{body}</div>'


def show_widget(widget, instead: str) -> None:
    """Show only a widget; `instead` is a line of text for viewers without widgets."""
    data, _metadata = widget._repr_mimebundle_()
    display({WIDGET: data[WIDGET], "text/plain": instead}, raw=True)
