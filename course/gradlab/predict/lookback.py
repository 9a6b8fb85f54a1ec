"""The end of a chapter: list the guesses that the learner was sure of but got wrong."""

import html

from IPython import get_ipython
from IPython.display import DisplayHandle, display

from .. import notebook
from .guesses import Guess, recall

NONE_YET = "No guesses in this chapter yet. Guesses that you were sure of but got wrong will be listed here."


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
        return {"text/plain": NONE_YET}
    right = sum(guess.all_right for guess in guesses.values())
    surprises = [(name, guess) for name, guess in guesses.items() if guess.surprising]
    count = len(guesses)
    words = f"{count} guess{'es' * (count != 1)} entered, {right} of them entirely right."
    if surprises:
        words += " You were sure of these, but they were wrong. They are worth another look:"
    elif right < count:
        words += " You were not sure of any wrong guess."
    items = "".join(
        f"<li>{_link(name, guess)} You said {html.escape(', '.join(guess.said))}.</li>" for name, guess in surprises
    )
    text = "\n".join([words, *(f"- {guess.question} You said {', '.join(guess.said)}." for _, guess in surprises)])
    return {"text/html": f"<p>{words}</p>" + (f"<ul>{items}</ul>" if items else ""), "text/plain": text}


def _link(name: str, guess: Guess) -> str:
    """Return the question as a link to its cell in JupyterLab."""
    address = f"{notebook.FOLDER.name}.ipynb#cell-id={name}"
    return f'<a href="{html.escape(address)}">{html.escape(guess.question)}</a>'
