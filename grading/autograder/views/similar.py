"""Find groups of suspiciously similar submissions, for review only.

Code does not count if it is in the release or the solved chapter, or if many students wrote it.
"""

import ast
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from gradlab import atomic
from gradlab.checks import source as sources

from ..errors import ClassError
from ..steps.outcome import Status
from .fingerprints import GRAM, MOST_CHARACTERS, Token, grams, tokens, winnow
from .renderings import with_name
from .report import Row, gather
from .report_pages import render
from .words import exercise_of

LEAST = 60  # tokens in common; an obvious three-line answer has about forty
MOST_SHOWN = 50  # groups, and pairs of a group
BESIDE = "other cells"  # and Python files
MOST_LINES = 120  # per answer on the page
_FENCED = re.compile(r"^```.*?$(.*?)^```", re.MULTILINE | re.DOTALL)

Answers = dict[str, str]  # sources by grade_id


@dataclass(frozen=True)
class Fragment:
    """A pair of similar answers: their cell, and each student's matching lines, counted from 1."""

    cell: str
    left: frozenset[int]
    right: frozenset[int]


@dataclass(frozen=True)
class Pair:
    """A similar pair of students.

    common: matching tokens. share: `common` divided by the unexpected tokens of the student who has fewer.
    unlikely: the sum over matching fingerprints of log2((students + 1) / students who have it).
    """

    left: str
    right: str
    common: int
    share: float
    unlikely: float
    fragments: list[Fragment]


@dataclass(frozen=True)
class Group:
    """Students who are connected by similar pairs, most unlikely pair first."""

    pairs: list[Pair]

    @property
    def students(self) -> list[str]:
        """The group's students, sorted."""
        return sorted({student for pair in self.pairs for student in (pair.left, pair.right)})

    @property
    def matches(self) -> dict[str, dict[str, set[int]]]:
        """For each cell and student, the lines that match another student's."""
        found: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for pair in self.pairs:
            for fragment in pair.fragments:
                found[fragment.cell][pair.left] |= fragment.left
                found[fragment.cell][pair.right] |= fragment.right
        return {cell: dict(sorted(found[cell].items())) for cell in sorted(found)}


@dataclass(frozen=True)
class Similar:
    """An assignment's similar groups, most unlikely first, with the report's rows and the answers by student."""

    assignment: str
    title: str
    made: datetime
    groups: list[Group]
    rows: dict[str, Row]
    answers: dict[str, Answers]

    def who(self, student: str) -> str:
        """Return a student's id, with the name if there is one."""
        return with_name(student, self.rows[student].standing.name)

    def in_a_row(self, students: list[str]) -> str:
        """Return two or more students with their names: a, b and c."""
        *others, last = map(self.who, students)
        return f"{', '.join(others)} and {last}"


def gather_similar(course: CourseDirectory, name: str, earlier: Iterable[Path] = ()) -> Similar:
    """Compare the answers of all graded submissions with each other and with those in earlier classes' folders.

    Raises ClassError if the gradebook has no such assignment, or an earlier class has no graded submissions.
    """
    report = gather(course, name, search=False)
    release_folder = Path(course.format_path(course.release_directory, ".", name))
    release = _notebook(release_folder / f"{name}.ipynb")
    solved = _notebook(Path(course.format_path(course.source_directory, ".", name)) / f"{name}.ipynb")
    rows = {row.student: row for row in report.rows if row.notebook}
    stubs = _answers(release)
    answers = {student: _answers(_notebook(row.notebook), stubs) for student, row in rows.items()}
    before = {f"{place.resolve().name}/{student}": path for place in earlier for student, path in _graded(place, name)}
    answers |= {student: _answers(_notebook(path), stubs) for student, path in before.items()}
    released = {_source(cell) for cell in _cells(release, "code")}
    modules = {path.name for path in _modules(release_folder)}
    for student in answers:
        answers[student] |= _beside(before.get(student) or rows[student].notebook, released, modules)
    rows |= {student: Row(student, Status.GRADED, None) for student in before}
    given = [_source(cell) for cell in _cells(release, "code")]
    given += [code for cell in _cells(release, "markdown") for code in _FENCED.findall(_source(cell))]
    pairs = find(answers, given, _answers(solved).values())
    pairs = [pair for pair in pairs if not {pair.left, pair.right} <= before.keys()]
    return Similar(name, report.title, report.made, grouped(pairs), rows, answers)


def _graded(folder: Path, name: str) -> list[tuple[str, Path]]:
    """Return (student, path) of each graded notebook in a class folder."""
    found = sorted(folder.glob(f"autograded/*/{name}/{name}.ipynb"))
    if not found:
        raise ClassError(
            f"{folder} contains no graded submissions of {name}; expected a class folder with autograded/ in it."
        )
    return [(path.parent.parent.name, path) for path in found]


def find(answers: dict[str, Answers], given: Iterable[str] = (), solved: Iterable[str] = ()) -> list[Pair]:
    """Return pairs of students with at least LEAST rare tokens in common, most unlikely first.

    given: released sources. solved: expected answers.
    """
    given = list(given)
    keep = set(_imported(given))
    lines = {line.strip() for text in given for line in text.split("\n")}
    expected = {gram for text in [*given, *solved] for gram in grams(tokens(text, keep))}
    expected |= {gram for text in solved for gram in grams(tokens(text, keep, lines))}
    written = {s: {cell: tokens(text, keep, lines) for cell, text in own.items()} for s, own in answers.items()}
    where: dict[tuple[str, bytes], dict[str, list[int]]] = defaultdict(dict)  # by cell and fingerprint, then by student
    for student, cells in written.items():
        for cell, found in cells.items():
            for fingerprint, positions in winnow(grams(found)).items():
                if fingerprint not in expected:
                    where[cell, fingerprint][student] = positions
    shared = _shared(where, len(written))
    own = {s: sum(len(_own(found, expected)) for found in cells.values()) for s, cells in written.items()}
    pairs = (_pair(left, right, keys, where, written, own) for (left, right), keys in shared.items())
    return sorted((pair for pair in pairs if pair.common >= LEAST), key=lambda p: (-p.unlikely, p.left, p.right))


def grouped(pairs: list[Pair]) -> list[Group]:
    """Return the groups of students that these pairs connect; groups and their pairs keep the order of `pairs`."""
    leader: dict[str, str] = {}  # of each student's group
    for pair in pairs:
        new, old = (leader.get(student, student) for student in (pair.left, pair.right))
        leader |= {student: new for student, one in leader.items() if one == old} | {pair.left: new, pair.right: new}
    groups = defaultdict(list)
    for pair in pairs:
        groups[leader[pair.left]].append(pair)
    return list(map(Group, groups.values()))


def _shared(where: dict, size: int) -> dict[tuple[str, str], list[tuple[str, bytes]]]:
    """Return the keys of `where` that each pair of students shares, without those that too many students share.

    size: the number of students.
    """
    most = max(3, min(10, size // 5))
    shared = defaultdict(list)
    for key, students in where.items():
        if 1 < len(students) <= most:
            for pair in combinations(sorted(students), 2):
                shared[pair].append(key)
    return shared


def _own(found: list[Token], expected: set[bytes]) -> set[int]:
    """Return the positions of tokens that belong to at least one unexpected run."""
    return {at + step for at, gram in enumerate(grams(found)) if gram not in expected for step in range(GRAM)}


def _pair(left: str, right: str, keys: list, where: dict, written: dict, own: dict[str, int]) -> Pair:
    spans: dict[str, dict[str, set[int]]] = {left: defaultdict(set), right: defaultdict(set)}
    for cell, fingerprint in keys:
        for student in (left, right):
            for at in where[cell, fingerprint][student]:
                spans[student][cell].update(range(at, at + GRAM))
    common = min(sum(map(len, cells.values())) for cells in spans.values())
    fragments = [
        Fragment(cell, *(frozenset(written[s][cell][at].line for at in spans[s][cell]) for s in (left, right)))
        for cell in sorted(spans[left])
    ]
    unlikely = sum(math.log2((len(written) + 1) / len(where[key])) for key in keys)
    return Pair(left, right, common, common / min(own[left], own[right]), unlikely, fragments)


def _imported(texts: Iterable[str]) -> Iterator[str]:
    """Yield the names that these released sources import: students did not choose them."""
    for tree in (sources.read(text).tree for text in texts):
        for node in ast.walk(tree) if tree else []:
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)


def _notebook(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"cells": []}


def _cells(notebook: dict, kind: str) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def _source(cell: dict) -> str:
    return "".join(cell["source"])[:MOST_CHARACTERS]


def _answers(notebook: dict, known: Iterable[str] | None = None) -> Answers:
    """Return the sources of answer cells by grade_id, limited to those in `known` if given."""
    found = {}
    for cell in _cells(notebook, "code"):
        marks = cell["metadata"].get("nbgrader", {})
        if marks.get("solution") and (known is None or marks["grade_id"] in known):
            found[marks["grade_id"]] = _source(cell)
    return found


def _beside(path: Path, released: set[str], given: set[str]) -> Answers:
    """Return a student's additional code cells and modules as one source under the key BESIDE; empty if none.

    path: the notebook. released: sources of released cells. given: names of released modules.
    """
    cells = [cell for cell in _cells(_notebook(path), "code") if not cell["metadata"].get("nbgrader")]
    texts = [_source(cell) for cell in cells if _source(cell) not in released]
    for module in (one for one in _modules(path.parent) if one.name not in given):
        texts.append(module.read_text(encoding="utf-8", errors="replace"))
    text = "\n".join(texts)[:MOST_CHARACTERS]
    return {BESIDE: text} if text.strip() else {}


def _modules(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*.py")) if path.is_file()]


def table(similar: Similar) -> str:
    """Format the groups as text, one line each, with the numbers of each group's most unlikely pair."""
    if not similar.groups:
        return f"{similar.assignment}: no similar submissions among {len(similar.rows)}."
    count = "1 group" if len(similar.groups) == 1 else f"{len(similar.groups)} groups"
    lines = [f"{similar.assignment}: {count} of similar submissions among {len(similar.rows)}, for review"]
    lines.append("unlikely  tokens  share  students: exercises")
    for group in similar.groups[:MOST_SHOWN]:
        first = group.pairs[0]
        who, where = similar.in_a_row(group.students), ", ".join(map(exercise_name, group.matches))
        lines.append(f"{first.unlikely:8.0f}  {first.common:6}  {first.share:4.0%}  {who}: {where}")
    return "\n".join(lines)


def exercise_name(cell: str) -> str:
    """Return the exercise of an answer cell: 02.1 for answer-02-1."""
    return BESIDE if cell == BESIDE else exercise_of(cell)


def write(course: CourseDirectory, similar: Similar) -> Path:
    """Write the page of similar groups into the class's folder `reports`; return its path."""
    folder = Path(course.root, "reports")
    folder.mkdir(exist_ok=True)
    path = folder / f"{similar.assignment}.similar.html"
    html = render(
        "similar.html.j2",
        folder,
        title=f"Similar submissions of {similar.title}",
        made=similar.made,
        source=f"from the answers of {len(similar.rows)} submissions.",
        sections=[],
        similar=similar,
        most=MOST_SHOWN,
        lines=lambda student, cell: similar.answers[student][cell].rstrip().split("\n")[:MOST_LINES],
        exercise_name=exercise_name,
        least=LEAST,
    )
    atomic.write_text(path, html)
    return path
