"""The end of a chapter: what its reader has learned, and the link to the next chapter."""

import re
from pathlib import Path

from ..notebook import CHAPTER
from ..words import _
from .cells import Chapter

# The first list under a line in bold: "You will be able to", in the chapter's language
_PROMISE = re.compile(r"^\*\*[^*\n]+\*\*$\s*(^- .*?)(?=^\*\*|\Z)", re.MULTILINE | re.DOTALL)


def ending(chapter: Chapter, done: bool) -> str:
    """Return Markdown with a link to the next chapter; if `done`, what this chapter's opening promised comes first.

    After the last chapter, the link leads to the start page; outside a chapter's folder there is no link.
    """
    folder, texts = chapter.folder, [cell["source"] for cell in chapter.cells[:1]] if done else []
    promised = [match[1].strip() for text in texts if (match := _PROMISE.search(text))]
    # Translators: the heading of a list of what a reader has learned
    you_can = _("You can now")
    parts = [f"**{you_can}**\n\n{skills}" for skills in promised]
    following = sorted(path for path in folder.parent.glob("*") if CHAPTER.fullmatch(path.name) and path > folder)
    start = folder.parent / "README.md"
    if not CHAPTER.fullmatch(folder.name):
        return "\n\n".join(parts)
    if following:
        name = following[0].name
        # Translators: before the title of the next chapter
        next_one = _("Next:")
        parts.append(f"**{next_one}** [{_title(following[0])}](../{name}/{name}.ipynb)")
    elif start.is_file():
        last, back = _("This was the last chapter."), _("Back to the start page")
        parts.append(f"{last} [{back}](../{start.name})")
    return "\n\n".join(parts)


def _title(folder: Path) -> str:
    """Return a chapter's title, from its notebook's heading, else from its folder's name."""
    heading = "".join(cell["source"] for cell in Chapter(folder).cells[:1]).partition("\n")[0]
    return heading.removeprefix("# ") if heading.startswith("# ") else folder.name.replace("_", " ")
