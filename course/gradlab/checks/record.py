"""Records: for one seed, the cases of each check, what is expected, and what each known slip would have given.

A record is plain data. Students get one beside their notebook; grading makes one per class, for a seed that no
student has seen, and hands the student's process the cases only.
"""

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from .compare import Judge
from .delta import applied, delta
from .observation import Dict, Observation

SUFFIX = ".record.json"
FORMAT = 1  # of the file; raised when an older gradlab could not read it, or would read it wrongly


class RecordError(Exception):
    """A record is missing, unreadable, or was made for something else; the message says what to do."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class _Part(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """A part of a record, as it stands in the file."""


class Case(_Part):
    """One case. inputs: by name. says: the case in words. words: of the message of an expected error, if not all."""

    inputs: Dict
    says: str = ""
    words: list[str] = []


class Slip(_Part):
    """A known wrong answer, its sentence, and for each case how what it gives differs from what is expected."""

    name: str
    says: str
    deltas: list[Any]

    @classmethod
    def of(cls, name: str, says: str, seen: list[Observation], expected: list[Observation]) -> "Slip":
        """Note what was observed of the slip, one observation per case."""
        plain = map(msgspec.to_builtins, seen), map(msgspec.to_builtins, expected)
        return cls(name, says, [delta(new, old) for new, old in zip(*plain, strict=True)])

    def observations(self, expected: list[Observation]) -> list[Observation]:
        """What was observed of the slip; raises msgspec.ValidationError if its deltas do not fit."""
        pairs = zip(self.deltas, map(msgspec.to_builtins, expected), strict=True)
        return [msgspec.convert(applied(change, old), Observation) for change, old in pairs]


class CheckRecord(_Part):
    """What a record holds of one check.

    cell: the grade_id of the check's cell. answer: the name of the learner's function. expected: one observation per
    case, none where only the cases may be known. digest: of the name, scenario and options, to tell a changed cell.
    owns: what the learner has who passes, in one sentence. given: in grading, what setup and check cells define.
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

    def cases_only(self, given: str = "") -> "CheckRecord":
        """The same check without anything that tells an answer."""
        return msgspec.structs.replace(self, expected=[], slips=[], owns="", given=given)


class Record(_Part):
    """The checks of one chapter for one seed, by check id."""

    chapter: str
    checks: dict[str, CheckRecord]
    format: int = FORMAT

    def without_cases(self) -> "Record":
        """The record that a student's process gets in grading, until a check cell runs."""
        checks = {name: msgspec.structs.replace(check.cases_only(), cases=[]) for name, check in self.checks.items()}
        return Record(self.chapter, checks)

    def of_cell(self, cell: str, given: str = "") -> "Record":
        """The record that a student's process gets in grading while a check cell runs: the cases of that cell alone."""
        shown = {name: check.cases_only(given) for name, check in self.checks.items() if check.cell == cell}
        return Record(self.chapter, self.without_cases().checks | shown)

    def by_cell(self) -> dict[str, dict[str, CheckRecord]]:
        """The checks of each cell, by grade_id and check id."""
        found: dict[str, dict[str, CheckRecord]] = {}
        for check_id, check in self.checks.items():
            found.setdefault(check.cell, {})[check_id] = check
        return found

    def to_json(self) -> str:
        """The record as text, one check to a line, so that a change is seen check by check."""

        def text(part: Any) -> str:
            return msgspec.json.encode(part).decode()

        checks = [f"{text(name)}:{text(check)}" for name, check in self.checks.items()]
        head = f'{{"format":{self.format},"chapter":{text(self.chapter)},"checks":{{'
        return head + "\n" + ",\n".join(checks) + "\n}}\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "the record") -> "Record":
        """Read what `to_json` wrote; raises RecordError for anything else, or for another format."""
        try:
            made_in = msgspec.json.decode(text, type=_Head).format
            if made_in == FORMAT:
                return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RecordError(f"{source} cannot be read ({error}). {_RESTORE}") from None
        raise RecordError(
            f"{source} has format {made_in}, and this gradlab reads format {FORMAT}. Notebook, record and gradlab "
            "belong together: start the course again with make lab, which brings them up to date and keeps your work."
        )


class _Head(msgspec.Struct):
    format: int = 0


_RESTORE = "Take the file from the released chapter again."


def load_beside(folder: Path) -> dict[str, CheckRecord]:
    """The checks of all records in `folder`, by id; raises RecordError if there is none."""
    paths = sorted(folder.glob("*" + SUFFIX))
    if not paths:
        raise RecordError(
            f"There is no record (a file that ends in {SUFFIX}) in {folder}. It lies beside the released notebook: "
            "start the notebook from its own chapter folder, or take the file from the released chapter again."
        )
    checks: dict[str, CheckRecord] = {}
    for path in paths:
        checks |= Record.from_json(path.read_bytes(), path.name).checks
    return checks


def digest(name: str, scenario: Callable, judge: Judge | None, autograd: bool, torch: bool = True) -> str:
    """A fingerprint of what a check does, taken from its source without comments and layout."""
    parts = [name, str(autograd), *([] if torch else ["without torch"])]
    for function in (scenario, judge):
        if function is not None and not function.__module__.startswith("gradlab."):
            parts.append(ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
