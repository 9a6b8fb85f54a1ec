"""The form into which a guess is written: a widget with a label for every field; it decides nothing."""

from functools import cache
from importlib import resources


@cache
def form_class():
    """Return the class of the form, or None where widgets are not installed."""
    try:
        import anywidget  # here and not above: a sandbox or a plain Python may be without
        import traitlets
    except ImportError:
        return None
    static = resources.files(__package__).joinpath("static")

    class Form(anywidget.AnyWidget):
        """A question, its blanks, "I am sure", and buttons. Its messages: {"texts", "sure"}, {"skip"}, {"again"}."""

        _esm = static.joinpath("form.js").read_text(encoding="utf-8")
        _css = static.joinpath("form.css").read_text(encoding="utf-8")
        question = traitlets.Unicode().tag(sync=True)
        blanks = traitlets.List().tag(sync=True)  # [{"label", "options"}]
        problem = traitlets.Dict().tag(sync=True)  # {"blank", "sentence", "count"}: what cannot be read
        verdict = traitlets.Unicode().tag(sync=True)  # HTML; where there is one, the form is done

    return Form
