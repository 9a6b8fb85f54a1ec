"""The form for entering a guess: a widget with a labeled field for every blank. It makes no decisions."""

from functools import cache
from importlib import resources


@cache
def form_class():
    """Return the form's class, or None if widgets are not installed."""
    try:
        import anywidget  # imported here: a sandbox or a plain Python may lack it
        import traitlets
    except ImportError:
        return None
    static = resources.files(__package__).joinpath("static")

    class Form(anywidget.AnyWidget):
        """A question with blanks, an "I am sure" box and buttons. It sends {"texts", "sure"}, {"skip"} or {"again"}."""

        _esm = static.joinpath("form.js").read_text(encoding="utf-8")
        _css = static.joinpath("form.css").read_text(encoding="utf-8")
        question = traitlets.Unicode().tag(sync=True)
        blanks = traitlets.List().tag(sync=True)  # [{"label", "options"}]
        problem = traitlets.Dict().tag(sync=True)  # {"blank", "sentence", "count"}: an unreadable field
        verdict = traitlets.Unicode().tag(sync=True)  # HTML; once set, the form is done

    return Form
