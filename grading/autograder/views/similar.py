"""Let copydetect find similar submissions, for review only.

It compares code independently of names, comments and layout, by Schleimer, Wilkerson and Aiken's "Winnowing: Local
Algorithms for Document Fingerprinting" (SIGMOD 2003). Code does not count if it is in the release or the solved
chapter, or if many students wrote it.
"""

import io
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from pathlib import Path

from copydetect import CodeFingerprint, compare_files
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from gradlab import atomic
from gradlab.ipynb import nbgrader
from gradlab.words import _

from ..dropped import dropped
from ..gradebook import find_assignment
from ..steps.files import cells_of, readable
from .theme import render
from .words import chapter, exercise_of

RUN = 25  # the shortest match, in characters, of which each name counts as one
LEAST = 80  # such characters in common; an obvious three-line answer has about fifty
MOST_SHOWN = 50  # pairs
MOST_CHARACTERS = 20_000  # of one student

Marked = list[tuple[str, bool]]  # a source's lines, and whether each matches


@dataclass(frozen=True)
class Pair:
    """Two similar students. common: matching characters. share: of the code of the one who has less. sources: both."""

    students: tuple[str, str]
    common: int
    share: float
    sources: tuple[Marked, Marked]


def lines(course: CourseDirectory, name: str) -> list[str]:
    """Compare all graded submissions with each other; return what was found.

    Writes each student's own code into the class's folder `reports/NAME.code`, and the page of pairs beside it. Raises
    ClassError if the gradebook has no such assignment.
    """
    with Gradebook(course.db_url, course.course_id) as gradebook:
        find_assignment(gradebook, name)
    codes = dict(_codes(course, name))
    solved = _code(_folder(course, course.source_directory, name), name)
    given = [*_released(course, name), *(cell["source"] for cell in solved if nbgrader(cell).get("solution"))]
    pairs = find(codes, given)
    counts = {"total": len(codes), "count": len(pairs)}
    said = [_("{name}: pairs of similar submissions among {total}, for review: {count}", name=name, **counts)]
    said += [f"{pair.common:6}  {pair.share:4.0%}  {', '.join(pair.students)}" for pair in pairs[:MOST_SHOWN]]
    return said + [str(path) for path in _write(course, name, codes, pairs)]


def _write(course: CourseDirectory, name: str, codes: dict[str, str], pairs: list[Pair]) -> list[Path]:
    """Write a file per student and the page of pairs; return the files' folder and the page."""
    reports = Path(course.root, "reports")
    folder, page = reports / f"{name}.code", reports / f"{name}.similar.html"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for student, text in codes.items():
        (folder / f"{student}.py").write_text(text, encoding="utf-8")
    html = render(
        "similar.html.j2",
        reports,
        title=_("Similar submissions of {chapter}", chapter=chapter(course, name)),
        made=datetime.now().astimezone(),
        origin=_("Made on {time} from the code of the submissions."),
        sections=[],
        pairs=pairs[:MOST_SHOWN],
        count=len(pairs),
        least=LEAST,
    )
    atomic.write_text(page, html)
    return [folder, page]


def find(codes: dict[str, str], given: Iterable[str] = ()) -> list[Pair]:
    """Return the pairs of students with at least LEAST rare characters in common, most first.

    codes: each student's own source. given: released and expected sources.
    """
    common = {hashed for text in given for hashed in _print(text).hashes}
    wrote = Counter(hashed for text in codes.values() for hashed in _print(text).hashes)
    most = max(3, min(10, len(codes) // 5))
    common |= {hashed for hashed, count in wrote.items() if count > most}
    prints = {student: _print(text, sorted(common)) for student, text in codes.items()}
    pairs = []
    for students in combinations(sorted(codes), 2):
        matching, shares, slices = compare_files(*(prints[student] for student in students))
        if matching >= LEAST:
            first, second = (_marked(codes[who], spans) for who, spans in zip(students, slices, strict=True))
            pairs.append(Pair(students, int(matching), float(max(shares)), (first, second)))
    return sorted(pairs, key=lambda pair: (-pair.common, pair.students))


def _print(text: str, boilerplate: Iterable[int] = ()) -> CodeFingerprint:
    """Return the fingerprint of a source: every run of RUN characters, so that no match is missed."""
    return CodeFingerprint("code.py", RUN, 1, list(boilerplate), language="python", fp=io.StringIO(text))


def _marked(text: str, spans) -> Marked:
    """Return a source's lines, each with whether one of the `spans` of characters, (starts, ends), reaches into it."""
    marked, at = [], 0
    for line in text.split("\n"):
        end = at + len(line)
        marked.append((line, any(start < end and stop > at for start, stop in zip(*spans, strict=True))))
        at = end + 1
    return marked


def _codes(course: CourseDirectory, name: str) -> Iterator[tuple[str, str]]:
    """Yield each student with a graded submission, and the code that the release does not have."""
    released, out = set(_released(course, name)), dropped(course)
    for path in sorted(Path(course.root).glob(f"autograded/*/{name}/{name}.ipynb")):
        student = path.parent.parent.name
        if student in out:
            continue
        parts = []
        for cell in _code(path.parent, name):
            marks, source = nbgrader(cell), cell["source"]
            if (marks.get("solution") or not marks) and source not in released:
                parts.append("# " + exercise_of(marks.get("grade_id") or _("another cell")) + f"\n{source}")
        for module in filter(Path.is_file, sorted(path.parent.rglob("*.py"))):
            text = module.read_text(encoding="utf-8", errors="replace")
            parts += [f"# {module.name}\n{text}"] if text not in released else []
        text = "\n\n".join(parts).replace("\r", "")[:MOST_CHARACTERS]
        yield readable(student), text.encode(errors="replace").decode()


def _released(course: CourseDirectory, name: str) -> list[str]:
    """Return the released sources: of code cells and modules."""
    folder = _folder(course, course.release_directory, name)
    modules = [path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))]
    return [*(cell["source"] for cell in _code(folder, name)), *modules]


def _folder(course: CourseDirectory, part: str, name: str) -> Path:
    return Path(course.format_path(part, ".", name))


def _code(folder: Path, name: str) -> list[dict]:
    """Return the code cells of the notebook in a folder; empty if there is none."""
    return [cell for cell in cells_of(folder / f"{name}.ipynb") if cell["cell_type"] == "code"]
