"""Records: for one seed, the cases of each check, what is expected, and what each known slip would have given.

A record is plain data. Students get one beside their notebook; grading makes one per class, for a seed that no
student has seen, and hands the student's process the cases only. `judge_check` turns observations into a verdict, for
both.
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

from . import explain
from .compact import expanded, packed, unpacked
from .compare import Difference, Judge, compare, is_observation
from .plain import decode

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


@dataclass(frozen=True)
class Verdict:
    """What a check came to: passed or not, and the words for it.

    slip: the name of the known slip, if it was one. difference: the first one, where observations were compared.
    """

    passed: bool
    message: str
    slip: str = ""
    difference: Difference | None = None


def judge_check(check: CheckRecord, observations: list[dict], judge: Judge | None = None) -> Verdict:
    """Compare one observation per case with what is expected; the only place where a verdict is made.

    `observations` may come from a hostile process: what has not the form of an observation fails.
    """
    if len(observations) != len(check.cases):
        reason = f"{len(observations)} observations were seen for {len(check.cases)} cases."
        return Verdict(False, f"{check.title}: not passed.\n{reason}")
    if not all(is_observation(observation) for observation in observations):
        return Verdict(False, f"{check.title}: not passed.\nWhat was observed cannot be read.")
    found = [_difference(check, i, observation, judge) for i, observation in enumerate(observations)]
    wrong = [i for i, difference in enumerate(found) if difference]
    if not wrong:
        return Verdict(True, explain.success(check.title, check.expected))
    slip = _known_slip(check, observations, wrong, judge)
    first, total = wrong[0], len(found)
    text = explain.failure(check.title, check.cases[first], first + 1, total - len(wrong), total, found[first], slip)
    return Verdict(False, text, slip["name"] if slip else "", found[first])


def _difference(check: CheckRecord, index: int, observation: dict, judge: Judge | None) -> Difference | None:
    expected = check.expected[index]
    if judge is None or expected["error"] or observation["error"] or observation["mutated"] != expected["mutated"]:
        return compare(expected, observation, tuple(check.cases[index]["words"]))
    want, got = [[_judged(value) for value in side["values"]] for side in (expected, observation)]
    try:
        reason = judge(decode(check.cases[index]["inputs"]), got, want)
    except Exception as error:
        reason = f"It has not the form that was asked for ({type(error).__name__}: {error})."
    yours, right = (str(side[0] if len(side) == 1 else side)[:500] for side in (got, want))
    return Difference("judged", "", yours, f"{right} is one right answer", reason) if reason else None


def _judged(value):
    """Plain Python data for a judge: containers as lists, tensors as nested lists, what cannot be read as its name."""
    if isinstance(value, dict):
        if "tensor" in value or "ndarray" in value:
            return decode(
                {"tensor": value.get("tensor", value.get("ndarray")), **{k: value[k] for k in ("dtype", "shape")}}
            ).tolist()
        ((kind, content),) = value.items()
        if kind == "dict":
            return {key: _judged(item) for key, item in content.items()}
        return [_judged(item) for item in content] if isinstance(content, list) else content
    return value


def _known_slip(check: CheckRecord, observations: list[dict], wrong: list[int], judge: Judge | None) -> dict | None:
    """The slip that gives just these observations, or, if it is the only one, just these where they are `wrong`.

    The second counts only where more than half of the slip's own wrong cases are among them: of the known slips, each
    taken for an unknown answer, some would be named as another one without that, and none is with it.
    """
    close = []
    for slip in check.slips:
        made = [expanded(short, whole) for short, whole in zip(slip["observations"], check.expected, strict=True)]
        same = [compare(one, seen) is None for one, seen in zip(made, observations, strict=True)]
        if all(same):
            return slip
        if all(same[i] for i in wrong):
            its_wrong = sum(_difference(check, i, one, judge) is not None for i, one in enumerate(made))
            close += [slip] if 2 * len(wrong) > its_wrong else []
    return close[0] if len(close) == 1 else None
