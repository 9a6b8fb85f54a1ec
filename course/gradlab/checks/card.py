"""A check's feedback as a card in the notebook: HTML without scripts, in the colors of JupyterLab's theme."""

from functools import cache
from html import escape
from importlib import resources

from IPython.display import display

from ..live import in_notebook
from ..pictures.picture import Picture
from ..words import _
from .messages import NOT_ALONE, PASSED, REFUSED, STALE, STOPPED, UNSOLVED, WRONG, Feedback

STYLE = "jupyter/labextensions/gradlab-looks/static/card.css"  # JupyterLab loads it, too
_MARKS = {PASSED: "✓", WRONG: "✗", UNSOLVED: "…", STALE: "!", STOPPED: "!", REFUSED: "✗", NOT_ALONE: "✗"}


@cache
def _style() -> str:
    text = resources.files("gradlab").joinpath(STYLE).read_text(encoding="utf-8")
    return f"<style>{''.join(text.splitlines())}</style>"


def show(feedback: Feedback, picture: Picture | None = None, helps: str = "") -> None:
    """Show the card in a notebook. In a terminal, print only a pass: a failure appears as an error."""
    if in_notebook():
        text = feedback.text if feedback.state == PASSED else feedback.outcome
        display({"text/html": card(feedback, picture, helps), "text/plain": text}, raw=True)
    elif feedback.state == PASSED:
        print(feedback.text)


def card(feedback: Feedback, picture: Picture | None = None, helps: str = "") -> str:
    """Return feedback as an HTML card in three layers: what happened; one picture, or yours and torch's; the details.

    helps: the HTML of a `help_link`, or "".
    """
    parts = [_lead(feedback), _sentence(feedback.at)]
    where, sides = _sentence(feedback.where), _sides(feedback)
    shown = f'<div class="gl-card-picture">{picture.html()}</div>' if picture else where + sides
    details = [*map(_sentence, feedback.more), where + sides if picture else "", _pairs(feedback.inputs)]
    if feedback.case:
        # Translators: on a fold, after "Case 1 of 6."
        more = _("Details")
        parts += [shown, _fold(f"{feedback.case} {more}", "".join([*details, _sentence(feedback.score)]))]
    else:
        parts += [_sentence(feedback.score)]
    parts += [_sentence(feedback.first)]
    if feedback.printed:
        parts.append(_fold(_("Your code printed:"), f"<pre>{escape(feedback.printed)}</pre>"))
    title, head, state = escape(feedback.heading), escape(feedback.head), feedback.state
    return (  # the heading is not an <h4>, which JupyterLab would list in the table of contents
        f'{_style()}<div class="gl-card gl-card-{state}" role="group" aria-label="{title}: {head}">'
        f'<div class="gl-card-head" role="heading" aria-level="4">'
        f'<span class="gl-card-mark" aria-hidden="true">{_MARKS[state]}</span>'
        f"<span>{title}: <strong>{head}</strong></span></div>"
        f'<div class="gl-card-body">{"".join([*parts, helps])}</div></div>'
    )


def help_link(address: str, fold: int, says: str) -> str:
    """Return an HTML link that opens a fold; where nothing can open folds, it leads to the fold's cell."""
    return f'<p class="gl-card-help"><a href="{escape(address)}" data-fold="{fold}">{escape(says)}</a></p>'


def _lead(feedback: Feedback) -> str:
    if feedback.owned and not feedback.lead:
        # Translators: what the learner owns by passing the check: the name of a function
        yours = _("Yours now: {name}", name=f"<code>{escape(feedback.owned)}</code>")
        return f'<p class="gl-card-lead">{yours}</p>'
    slip = f"<strong>{escape(feedback.slip)}</strong> " if feedback.slip else ""
    return f'<p class="gl-card-lead">{slip}{escape(feedback.lead)}</p>' if feedback.lead else ""


def _sentence(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _sides(feedback: Feedback) -> str:
    """Return an HTML table of your value above the expected one: the number that differs, then the whole value."""
    body = ""
    for whose, *side in feedback.sides:
        value, *whole = (f"<code>{escape(part)}</code>" for part in side)
        shown = " ".join([value, *(_("in {whole}", whole=part) for part in whole)])
        body += f'<tr><th scope="row">{escape(whose)}</th><td>{shown}</td></tr>'
    return f"<table><tbody>{body}</tbody></table>" if body else ""


def _pairs(inputs: tuple[tuple[str, str], ...]) -> str:
    items = (
        f"<tr><th scope='row'><code>{escape(n)}</code></th><td><code>{escape(v)}</code></td></tr>" for n, v in inputs
    )
    return f'<table class="gl-card-sides"><tbody>{"".join(items)}</tbody></table>' if inputs else ""


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def overview(rows: list[tuple[str, str, str]], total: str, owned: list[tuple[str, str, str]]) -> str:
    """Return an HTML table of a chapter's checks, with each check's title, state and points, then what one owns now.

    A state is one of `summary`'s. owned: for each check that has passed, a function's name, what it does, and the data
    of its picture or "".
    """
    body = "".join(
        f'<tr class="gl-row-{"passed" if state == "passed" else "open"}"><td>{escape(title)}</td>'
        f"<td>{escape(_(state))}</td><td>{escape(worth)}</td></tr>"
        for title, state, worth in rows
    )
    # Translators: the heads of a table's columns
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in (_("check"), _("state"), _("points")))
    return (
        f'{_style()}<div class="gl-summary"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
        f"<p><strong>{escape(total)}</strong></p></div>{_owned(owned)}"
    )


def _owned(owned: list[tuple[str, str, str]]) -> str:
    """Return one picture of these functions: a tile for each, with what it drew; "" if there are none."""
    tiles = []
    for name, does, image in owned:
        picture = f'<img alt="" src="{image}">' if image else ""
        tiles.append(f"<li>{picture}<code>{escape(name)}</code><p>{escape(does)}</p></li>")
    own = escape(_("You now own"))
    return f'<div class="gl-owns"><p><strong>{own}</strong></p><ul>{"".join(tiles)}</ul></div>' if tiles else ""
