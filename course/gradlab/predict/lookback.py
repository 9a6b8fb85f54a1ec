"""The end of a chapter: list the guesses that the learner was sure of but got wrong."""

import html

from IPython import get_ipython
from IPython.display import DisplayHandle, display

from .. import notebook
from ..words import _, ngettext
from .guesses import Guess, recall, told

_shown: list[DisplayHandle] = []  # where `summary` was last shown


def summary() -> None:
    """Show how this chapter's guesses went, and link to those you were sure of but got wrong.

    Later guesses are shown in the same place.
    """
    data = _lookback(recall())
    if get_ipython() is None or not recall():
        print(data["text/plain"])
    else:
        _shown[:] = [display(data, raw=True, display_id=True)]


def renew() -> None:
    """Bring the summary that was shown last up to date."""
    for shown in _shown:
        shown.update(_lookback(recall()), raw=True)


def _lookback(guesses: dict[str, Guess]) -> dict[str, str]:
    """Return what the summary says, as text and as HTML."""
    if not guesses:
        none = _("No guesses in this chapter yet. Guesses that you were sure of but got wrong will be listed here.")
        return {"text/plain": none}
    right = sum(guess.all_right for guess in guesses.values())
    surprises = [(name, guess) for name, guess in guesses.items() if guess.surprising]
    words = ngettext(
        "{count} guess entered, {right} of them entirely right.",
        "{count} guesses entered, {right} of them entirely right.",
        len(guesses),
        right=right,
    )
    if surprises:
        words += " " + _("You were sure of these, but they were wrong. They are worth another look:")
    elif right < len(guesses):
        words += " " + _("You were not sure of any wrong guess.")
    text, items = words, ""
    for name, guess in surprises:
        question, guessed = told(name, guess.question), ", ".join(told(name, said) for said in guess.said)
        said = _("You said {guess}.", guess=guessed)
        text += f"\n- {question} {said}"
        address = html.escape(f"{notebook.FOLDER.name}.ipynb#cell-id={name}")
        items += f'<li><a href="{address}">{html.escape(question)}</a> {html.escape(said)}</li>'
    return {"text/html": f"<p>{words}</p>" + (f"<ul>{items}</ul>" if items else ""), "text/plain": text}
