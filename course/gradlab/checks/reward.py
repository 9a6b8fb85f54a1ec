"""What follows a pass inside its card: the payoff of the exercise, and a link to the next one."""

import contextlib
import html
import itertools
from collections.abc import Iterable
from typing import Any

from IPython.display import display

from ..ipynb import grade_id, tags
from ..words import _
from .cells import Chapter


def show_payoff(check: str, cells: Iterable[dict[str, Any]], names: dict[str, Any]) -> None:
    """Run the payoff that directly follows a check among these code cells, if there is one, with the notebook's names.

    check: the grade_id of the check's cell. The payoff's cell, which can run again, reports what is wrong with itself.
    """
    at_check = itertools.dropwhile(lambda cell: grade_id(cell) != check, cells)
    for cell in itertools.islice(at_check, 1, 2):
        if "after-exercises" in tags(cell) and "@payoff(" in cell["source"]:
            with contextlib.suppress(Exception):
                exec(compile(cell["source"], "<payoff>", "exec"), names)


def show_next(check_id: str, chapter: Chapter) -> None:
    """Show a link to the chapter's next exercise, after the last one to its summary."""
    checks, ids = chapter.checks, [*chapter.checks, "summary"]
    following = ids[ids.index(check_id) + 1]
    cell = chapter.stated_at(checks[following].cell) if following in checks else following
    # Translators: next: the number of an exercise, or "summary"
    says = _("Next: {next}", next=following if following in checks else _("summary"))
    link = f"{chapter.folder.name}.ipynb#cell-id={cell}"
    body = f'<a href="{html.escape(link)}">{html.escape(says)} <span aria-hidden="true">→</span></a>'
    display({"text/html": f'<div class="gl-card-next">{body}</div>', "text/plain": says}, raw=True)
