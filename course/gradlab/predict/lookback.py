"""The end of a chapter: which guesses were sure and wrong."""

import html

from IPython import get_ipython
from IPython.display import display

from .. import notebook
from . import memory

NONE_YET = "No guess was entered in this chapter yet. Those that were sure and wrong will be listed here."


def summary() -> None:
    """Show how the guesses of this chapter went, and name those that were sure and wrong, with links to their cells."""
    guesses = memory.recall()
    if not guesses:
        print(NONE_YET)
        return
    right = sum(guess.all_right for guess in guesses.values())
    surprises = [(name, guess) for name, guess in guesses.items() if guess.sure and not guess.all_right]
    words = f"{len(guesses)} guesses entered, {right} of them all right."
    words = words.replace("1 guesses", "1 guess")
    if surprises:
        words += " You were sure of these, and they were not right; they are worth another look:"
    elif right < len(guesses):
        words += " You were sure of none that was wrong."
    if get_ipython() is None:
        print("\n".join([words, *(f"- {guess.question}" for _, guess in surprises)]))
        return
    items = "".join(
        f"<li>{_link(name, guess)} You said {html.escape(', '.join(guess.said))}.</li>" for name, guess in surprises
    )
    text = "\n".join([words, *(f"- {guess.question} You said {', '.join(guess.said)}." for _, guess in surprises)])
    display({"text/html": f"<p>{words}</p>" + (f"<ul>{items}</ul>" if items else ""), "text/plain": text}, raw=True)


def _link(name: str, guess: memory.Guess) -> str:
    """The question, as a link that JupyterLab follows to its cell."""
    place = f"{notebook.FOLDER.name}.ipynb#cell-id={name}"
    return f'<a href="{html.escape(place)}">{html.escape(guess.question)}</a>'
