"""Add an exercise to a solved chapter: five cells with their ids and metadata, which an author then rewrites."""

import re
from pathlib import Path

import nbformat
from nbgrader.utils import is_grade

from .build import write
from .chapter import chapter_names, source_path
from .places import ChapterError

TEMPLATE = Path(__file__).with_name("new_exercise.ipynb")  # the cells of an exercise 00.0


def add(chapter: str) -> str:
    """Write a new exercise's cells into a solved chapter, given by name or number, after its last; return its id.

    The cells hold a small exercise that builds. Raises ChapterError if the chapter is unknown or has no exercise yet.
    """
    chapter = next((name for name in chapter_names() if name.startswith(f"{chapter}_")), chapter)
    path = source_path(chapter)
    nb = nbformat.read(path, as_version=4)
    checks = [k for k, cell in enumerate(nb.cells) if is_grade(cell)]
    if not checks:
        raise ChapterError(f"{chapter} has no exercise yet. Copy the cells of the first one from another chapter.")
    ids = [nb.cells[k].metadata.nbgrader.grade_id for k in checks]
    last = max(int(match[1]) for name in ids if (match := re.match(rf"check-{chapter[:2]}-(\d+)", name)))
    after = checks[-1] + 1
    while nb.cells[after].id.startswith("payoff-"):
        after += 1
    number, new = f"{chapter[:2]}.{last + 1}", TEMPLATE.read_text(encoding="utf-8")
    for old, own in (("00.0", number), ("00-0", number.replace(".", "-")), ("ex0-", f"ex{last + 1}-")):
        new = new.replace(old, own)
    nb.cells[after:after] = nbformat.reads(new, as_version=4).cells
    write(nb, path)
    return number
