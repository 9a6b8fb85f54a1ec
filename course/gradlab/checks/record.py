"""Records: for one seed, each check's cases, the expected observations, and each known slip's observations.

A record is plain data. Students get one with their notebook. Grading makes one per class from a secret seed and passes
only its cases to the student's process.
"""

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ..words import _, of_chapter
from .compare import Judge
from .delta import applied, delta
from .meaning import meaning
from .observation import Dict, Observation

SUFFIX = ".record.json"
FORMAT = 1  # of the file; raise it when an older gradlab could not read the file correctly


class RecordError(Exception):
    """Raised for a record that is missing, unreadable, or made for a different check.

    Its arguments are sentences: what is wrong, then what to do.
    """

    def __str__(self) -> str:
        return " ".join(self.args)

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class _Part(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """The base class of the parts of a record's file."""


class Case(_Part, frozen=True):
    """One case of a check.

    inputs: the encoded values by name. says: a description. words: what an expected error's message must contain; if
    empty, the whole message must match.
    """

    inputs: Dict
    says: str = ""
    words: list[str] = []


class Slip(_Part, frozen=True):
    """A known wrong answer, its sentence, and how its observation of each case differs from the expected one."""

    name: str
    says: str
    deltas: list[Any]

    @classmethod
    def of(cls, name: str, says: str, seen: list[Observation], expected: list[Observation]) -> "Slip":
        """Make a slip from its observations, one per case."""
        plain = map(msgspec.to_builtins, seen), map(msgspec.to_builtins, expected)
        return cls(name, says, [delta(new, old) for new, old in zip(*plain, strict=True)])

    def observations(self, expected: list[Observation]) -> list[Observation]:
        """Return the slip's observations; raises msgspec.ValidationError if its deltas do not fit `expected`."""
        pairs = zip(self.deltas, map(msgspec.to_builtins, expected), strict=True)
        return [msgspec.convert(applied(change, old), Observation) for change, old in pairs]


class CheckRecord(_Part, frozen=True):
    """The record of one check.

    cell: the grade_id of the check's cell. answer: the name of the learner's function. expected: one observation per
    case, none in grading. digest: a hash of the scenario, judge and options, which detects a changed cell.
    owns: one sentence on what a learner gains by passing. given: in grading, the source from setup and check cells.
    finished: in grading, the course's code for earlier exercises, which this check uses instead of the learner's.
    """

    title: str
    digest: str
    cases: list[Case]
    cell: str = ""
    autograd: bool = True
    answer: str = ""
    expected: list[Observation] = []
    slips: list[Slip] = []
    owns: str = ""
    given: str = ""
    finished: str = ""

    def cases_only(self, given: str = "", finished: str = "") -> "CheckRecord":
        """Return the check without anything that reveals its answer."""
        return msgspec.structs.replace(self, expected=[], slips=[], owns="", given=given, finished=finished)


class Record(_Part, frozen=True):
    """The checks of one chapter for one seed, by check id."""

    chapter: str
    checks: dict[str, CheckRecord]
    format: int = FORMAT

    def without_cases(self) -> "Record":
        """Return the record that a student's process has in grading before a check cell runs."""
        checks = {name: msgspec.structs.replace(check.cases_only(), cases=[]) for name, check in self.checks.items()}
        return Record(self.chapter, checks)

    def of_cell(self, cell: str, given: str = "", finished: str = "") -> "Record":
        """Return the record that a student's process has in grading while a check cell runs: that cell's cases only."""
        shown = {name: check.cases_only(given, finished) for name, check in self.checks.items() if check.cell == cell}
        return Record(self.chapter, self.without_cases().checks | shown)

    def by_cell(self) -> dict[str, dict[str, CheckRecord]]:
        """Return the checks of each cell, by grade_id and check id."""
        cells: dict[str, dict[str, CheckRecord]] = {}
        for check_id, check in self.checks.items():
            cells.setdefault(check.cell, {})[check_id] = check
        return cells

    def to_json(self) -> str:
        """Return the record as text, one check per line, so that a diff shows which check changed."""

        def text(part: Any) -> str:
            return msgspec.json.encode(part).decode()

        checks = [f"{text(name)}:{text(check)}" for name, check in self.checks.items()]
        head = f'{{"format":{self.format},"chapter":{text(self.chapter)},"checks":{{'
        return head + "\n" + ",\n".join(checks) + "\n}}\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "the record") -> "Record":
        """Parse the output of `to_json`; raises RecordError for anything else or any other format."""
        try:
            made_in = msgspec.json.decode(text, type=_Head).format
            if made_in == FORMAT:
                return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            unreadable = _("{source} cannot be read ({error}).", source=source, error=error)
            raise RecordError(unreadable, _("Copy the file from the released chapter again.")) from None
        formats = {"source": source, "made_in": made_in, "format": FORMAT}
        differs = _("{source} has format {made_in}, but this gradlab reads format {format}.", **formats)
        raise RecordError(differs, _("Start the course again with make lab, which updates both and keeps your work."))


class _Head(msgspec.Struct):
    format: int = 0


class Exercise(msgspec.Struct, frozen=True):
    """What a record says about a check, except its cases, which are long. cell: the grade_id of the check's cell."""

    title: str
    cell: str = ""


class _Exercises(_Head):
    checks: dict[str, Exercise] = {}


def exercises(text: bytes) -> dict[str, Exercise]:
    """Return each check in a record's text as an Exercise, by check id; an empty dict if it cannot be read."""
    try:
        record = msgspec.json.decode(text, type=_Exercises)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return record.checks if record.format == FORMAT else {}


def load_beside(folder: Path) -> dict[str, CheckRecord]:
    """Return the checks of all records in `folder`, by id; raises RecordError if there is no record."""
    paths = sorted(folder.glob("*" + SUFFIX))
    if not paths:
        missing = _("There is no record (a file that ends in {suffix}) in {folder}.", suffix=SUFFIX, folder=folder)
        raise RecordError(
            missing, _("Open the notebook in its own chapter folder, or copy the record from the release.")
        )
    checks: dict[str, CheckRecord] = {}
    for path in paths:
        checks |= Record.from_json(path.read_bytes(), path.name).checks
    return checks


def titled(title: str) -> str:
    """Return a check's title, which begins with the check's id, in the reader's language."""
    check_id, space, words = title.partition(" ")
    return check_id + space + of_chapter(check_id, words)


def digest(
    name: str, scenario: Callable, judge: Judge | None, autograd: bool, torch: bool = True, words: bool = False
) -> str:
    """Return a fingerprint of what a check does, from its id, options and code.

    words: with its title and docstrings, as in records made earlier, which students and classes still have.
    """
    parts = [name if words else name.split()[0], str(autograd), *([] if torch else ["without torch"])]
    for function in (scenario, judge):
        if function is not None and not function.__module__.startswith("gradlab."):
            code = textwrap.dedent(inspect.getsource(function))
            parts.append(ast.unparse(ast.parse(code)) if words else meaning(code))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
