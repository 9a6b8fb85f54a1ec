"""The form for entering a guess: a widget with a labeled field for every blank. It makes no decisions."""

from functools import cache
from importlib import resources

from ..words import _


def own_words() -> dict[str, str]:
    """Return the form's own words; static/form.js fills in {event} and {place}."""
    return {
        "sure": _("I am sure"),
        "compare": _("Compare with torch"),
        "skip": _("Show it without a guess"),
        "again": _("Guess again"),
        # Translators: the name of a button that moves {event} up in a list of events
        "earlier": _("{event}: earlier"),
        "later": _("{event}: later"),
        # Translators: {place} is "1st" or the like
        "moved": _("{event} is now {place}."),
    }


@cache
def form_class():
    """Return the form's class."""
    import anywidget  # imported here: only a notebook needs it
    import traitlets

    static = resources.files(__package__).joinpath("static")

    class Form(anywidget.AnyWidget):
        """A question with blanks, an "I am sure" box and buttons. It sends {"texts", "sure"}, {"skip"} or {"again"}."""

        _esm = static.joinpath("form.js").read_text(encoding="utf-8")
        _css = static.joinpath("form.css").read_text(encoding="utf-8")
        question = traitlets.Unicode().tag(sync=True)
        blanks = traitlets.List().tag(sync=True)  # [{"label", "options"}]
        distinct = traitlets.Bool().tag(sync=True)  # whether the options are events to be put in order
        words = traitlets.Dict().tag(sync=True)  # `own_words()`
        problem = traitlets.Dict().tag(sync=True)  # {"blank", "sentence", "count"}: an unreadable field
        verdict = traitlets.Unicode().tag(sync=True)  # HTML; once set, the form is done

    return Form
