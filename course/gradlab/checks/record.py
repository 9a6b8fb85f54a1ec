"""Records: for one seed, the cases of each check, what is expected, and what each known slip would have given.

A record is plain data. Students get one beside their notebook; grading makes one per class, for a seed that no
student has seen, and hands the student's process the cases only.
"""

import ast
import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

from .compact import packed, unpacked
from .compare import Judge

SUFFIX = ".record.json"
GRADLAB_VERSION = version("gradlab")


class RecordError(Exception):
    """A record is missing, unreadable, or was made for something else; the message says what to do."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@dataclass(frozen=True)
class CheckRecord:
    """What a record holds of one check; every field is plain data.

    cases: {"says": the case in words, "words": what the message of an expected error must contain, if not the whole of
    it, "inputs": encoded values}. expected: one observation per case, empty where only the cases may be known.
    slips: {"name", "says", "observations"}, these `shortened`. digest: of the name, scenario and options, to tell a
    changed cell.
    """

    title: str
    digest: str
    cases: list[dict]
    autograd: bool = True
    answer: str = ""
    expected: list[dict] = field(default_factory=list)
    slips: list[dict] = field(default_factory=list)

    def cases_only(self) -> "CheckRecord":
        """The same check without anything that tells an answer."""
        return CheckRecord(self.title, self.digest, self.cases, self.autograd, self.answer)


@dataclass(frozen=True)
class Record:
    """The checks of one chapter for one seed, by check id."""

    chapter: str
    checks: dict[str, CheckRecord]
    gradlab: str = GRADLAB_VERSION

    def cases_only(self) -> "Record":
        """The record that a student's process gets in grading."""
        return Record(self.chapter, {name: check.cases_only() for name, check in self.checks.items()}, self.gradlab)

    def to_json(self) -> str:
        """The record as text, one check to a line, so that a change is seen check by check."""
        head = json.dumps({"chapter": self.chapter, "gradlab": self.gradlab})[1:-1]
        compact = {"allow_nan": False, "separators": (",", ":")}
        checks = [f"{json.dumps(name)}: {json.dumps(packed(asdict(c)), **compact)}" for name, c in self.checks.items()]
        return "{" + head + ', "checks": {\n' + ",\n".join(checks) + "\n}}\n"

    @classmethod
    def from_json(cls, text: str, source: str = "the record") -> "Record":
        """Read what `to_json` wrote; raises RecordError for anything else, or for another version of gradlab."""
        try:
            data = json.loads(text)
            made_by = data["gradlab"]
        except (ValueError, KeyError, TypeError) as error:
            raise RecordError(f"{source} cannot be read ({error}). {_RESTORE}") from None
        if made_by != GRADLAB_VERSION:
            raise RecordError(
                f"{source} was made by gradlab {made_by}, and this is gradlab {GRADLAB_VERSION}. "
                "Install the version that belongs to your copy of the course (make setup), or take the current chapter."
            )
        try:
            return cls(
                data["chapter"], {n: CheckRecord(**unpacked(check)) for n, check in data["checks"].items()}, made_by
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{source} is not a record ({error}). {_RESTORE}") from None


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
        checks |= Record.from_json(path.read_text(encoding="utf-8"), path.name).checks
    return checks


def digest(name: str, scenario: Callable, judge: Judge | None, autograd: bool) -> str:
    """A fingerprint of what a check does, taken from its source without comments and layout."""
    parts = [name, str(autograd)]
    for function in (scenario, judge):
        if function is not None and not function.__module__.startswith("gradlab."):
            parts.append(ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
