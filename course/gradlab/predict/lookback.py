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
    asked = [(name, told(name, guess.question), _said(name, guess)) for name, guess in surprises]
    items = "".join(f"<li>{_link(name, question)} {html.escape(said)}</li>" for name, question, said in asked)
    text = "\n".join([words, *(f"- {question} {said}" for name, question, said in asked)])
    return {"text/html": f"<p>{words}</p>" + (f"<ul>{items}</ul>" if items else ""), "text/plain": text}


def _said(name: str, guess: Guess) -> str:
    return _("You said {guess}.", guess=", ".join(told(name, said) for said in guess.said))


def _link(name: str, question: str) -> str:
    """Return the question as a link to its cell in JupyterLab."""
    address = f"{notebook.FOLDER.name}.ipynb#cell-id={name}"
    return f'<a href="{html.escape(address)}">{html.escape(question)}</a>'
