"""How a widget is shown so that nothing breaks: alive while its kernel is there, else what was kept beside it.

Two outputs are shown. The first holds the widget; the second, of class `gl-kept`, says the same without a kernel and is
hidden by its own style while the first is alive. That style also hides what JupyterLab writes in the place of a widget
whose kernel is gone ("model not found").
"""

from functools import cache
from importlib import resources

from IPython import get_ipython
from IPython.display import display

WIDGET = "application/vnd.jupyter.widget-view+json"


def has_widgets() -> bool:
    """Say whether this code runs in a kernel, in which widgets can be alive."""
    return getattr(get_ipython(), "kernel", None) is not None


@cache
def style() -> str:
    """The style that decides which of the two outputs is seen."""
    text = resources.files(__package__).joinpath("static", "live.css").read_text(encoding="utf-8")
    return f"<style>{text.strip()}</style>"


def kept(body: str) -> str:
    """Return HTML that is seen while no live widget stands beside it."""
    return f'{style()}<div class="gl-kept">{body}</div>'


def show_widget(widget, instead: str) -> None:
    """Show a widget, alone; `instead` is a line of text for where there is none."""
    view = widget._repr_mimebundle_()
    data = view[0] if isinstance(view, tuple) else view
    display({WIDGET: data[WIDGET], "text/plain": instead}, raw=True)
