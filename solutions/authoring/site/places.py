"""Where the site's pages are, and the links between them.

The pages' sources have the paths that the files have in a student's workspace (chapters, `pages/`) or else in the
repository, so that most links need no change.
"""

import html
import os
import posixpath
import re

from ..places import ROOT

SITE = ROOT / "build/site"
REPOSITORY = os.environ.get("SITE_REPOSITORY", "")  # its address, if the site is published
ADDRESS = os.environ.get("SITE_ADDRESS", "http://localhost:8000").rstrip("/")  # where the site will be
WRITABLE = ["00_twenty_lines"]  # chapters that one can write in the page: they need neither torch nor NumPy
CLONE = f"git clone {REPOSITORY or '<this repository>'} autograd-course && cd autograd-course"
GET = f"```\n{CLONE}\nmake lab\n```"  # the course, in Markdown
DOCUMENTS = [  # of the repository, that are pages of the site, too
    "grading/README.md",
    "grading/SANDBOX.md",
    "grading/DASK.md",
    "grading/POSTGRESQL.md",
    "grading/hub/README.md",
    "CONTRIBUTING.md",
]

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|mailto:|#)([^()\s#]*)(#[^()\s]*)?\)")


def anchor(cell_id: str) -> str:
    """Return the id of a notebook's cell in its page."""
    return f"cell-{cell_id}"


def linked(text: str, page: str, pages: set[str]) -> str:
    """Return Markdown from the file `page` with its links turned into links between pages of the site.

    A link to a file that is not a page leads to the repository, or is plain text if the site does not know its address.
    """

    def turned(link: re.Match) -> str:
        words, target, fragment = link[1], link[2], (link[3] or "").removeprefix("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if file in pages:
            address = posixpath.relpath(posixpath.splitext(file)[0], posixpath.dirname(page) or ".")
            cell = fragment.removeprefix("cell-id=")
            at = anchor(cell) if cell != fragment else fragment.lower()
            return f'<a href="{address}.html{"#" * bool(at)}{html.escape(at)}">{words}</a>'
        return f"[{words}]({REPOSITORY}/blob/main/{file})" if REPOSITORY else words

    return _LINK.sub(turned, text)
