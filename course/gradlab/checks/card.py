"""The answer of a check as a card in the notebook: HTML without script, in the colours of JupyterLab's theme."""

import html
from functools import cache
from importlib import resources

from ..pictures.picture import Picture
from .words import PASSED, STALE, STOPPED, UNSOLVED, WRONG, Told

STYLE = "jupyter/labextensions/gradlab-looks/static/card.css"  # where JupyterLab finds it too
_MARKS = {PASSED: "✓", WRONG: "✗", UNSOLVED: "…", STALE: "!", STOPPED: "!"}


@cache
def _style() -> str:
    text = resources.files("gradlab").joinpath(STYLE).read_text(encoding="utf-8")
    return f"<style>{''.join(text.splitlines())}</style>"


def card(told: Told, picture: Picture | None = None) -> str:
    """Return the card, with a picture of the case that went wrong if there is one."""
    parts = [_lead(told), *(f"<p>{_text(sentence)}</p>" for sentence in told.more)]
    if told.case:
        parts.append(f'<p class="gl-card-case">{_text(told.case)}</p>')
    if told.where:
        parts.append(f"<p>{_text(told.where)}</p>")
    if told.whose:
        parts.append(_sides(told))
    if picture:
        parts.append(f'<div class="gl-card-picture">{picture.html()}</div>')
    if told.inputs:
        parts.append(_fold("The case in full", _pairs(told.inputs)))
    if told.score:
        parts.append(f"<p>{_text(told.score)}</p>")
    if told.first:
        parts.append(f"<p>{_text(told.first)}</p>")
    if told.printed:
        parts.append(_fold("Your code printed:", f"<pre>{_text(told.printed)}</pre>"))
    return framed(told.state, told.title, told.head, "".join(parts))


def framed(state: str, title: str, head: str, body: str) -> str:
    """Return a card with this heading; it is no <h4>, which JupyterLab would list in the table of contents."""
    label = f"{title}: {head}"
    return (
        f'{_style()}<div class="gl-card gl-card-{state}" role="group" aria-label="{_text(label)}">'
        f'<div class="gl-card-head" role="heading" aria-level="4">'
        f'<span class="gl-card-mark" aria-hidden="true">{_MARKS[state]}</span>'
        f"<span>{_text(title)}: <strong>{_text(head)}</strong></span></div>"
        f'<div class="gl-card-body">{body}</div></div>'
    )


def _lead(told: Told) -> str:
    if told.owned and not told.lead:
        return f'<p class="gl-card-lead">Yours now: <code>{_text(told.owned)}</code></p>'
    slip = f"<strong>{_text(told.slip)}</strong> " if told.slip else ""
    return f'<p class="gl-card-lead">{slip}{_text(told.lead)}</p>' if told.lead else ""


def _sides(told: Told) -> str:
    """Yours and what was expected, one below the other: the number that differs first, then all of them."""
    rows = "".join(
        f'<tr><th scope="row">{_text(side)}</th><td>{_value(value)}</td></tr>'
        for side, value in (("yours", told.yours), (told.whose, told.expected))
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _value(text: str) -> str:
    number, sep, whole = text.partition("   in ")
    return f"<code>{_text(number)}</code>" + (f" in <code>{_text(whole)}</code>" if sep else "")


def _pairs(inputs: tuple[tuple[str, str], ...]) -> str:
    items = (
        f"<tr><th scope='row'><code>{_text(n)}</code></th><td><code>{_text(v)}</code></td></tr>" for n, v in inputs
    )
    return f'<table class="gl-card-sides"><tbody>{"".join(items)}</tbody></table>' if inputs else ""


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{_text(title)}</summary>{body}</details>"


def overview(rows: list[tuple[str, str, str]], total: str) -> str:
    """Return the table of a chapter's checks: of each its title, its state, and its points in words."""
    body = "".join(
        f'<tr class="gl-row-{"passed" if state == "passed" else "open"}"><td>{_text(title)}</td>'
        f"<td>{_text(state)}</td><td>{_text(worth)}</td></tr>"
        for title, state, worth in rows
    )
    head = '<tr><th scope="col">check</th><th scope="col">state</th><th scope="col">points</th></tr>'
    return (
        f'{_style()}<div class="gl-summary"><table><thead>{head}</thead><tbody>{body}</tbody></table>'
        f"<p><strong>{_text(total)}</strong></p></div>"
    )


def _text(text: str) -> str:
    return html.escape(text)
