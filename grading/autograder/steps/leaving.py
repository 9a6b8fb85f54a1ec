"""Keep what a submission's run wrote from reaching its student, because an answer could write all cases that it saw.

Cases stay the same when a student submits again. So of the texts that a run produced, such as an error's message, only
those are read that the notebook or the record of the same case contains too.
"""

import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from gradlab.checks.observation import Dict, Error, List, Observation, Other, Size, Tensor, Tuple, Value
from gradlab.checks.record import Case
from gradlab.checks.sides import LEFT
from gradlab.checks.verdict import Verdict
from gradlab.words import N_, _

OF_THE_RUN = ("CellTimeoutError", "DeadKernelError", "TooMuchOutputError")  # errors that only `execute` adds
UNKNOWN = N_("(not shown)")  # replaces any other text
MOST_WORDS = 8  # of a name, or of what was left changed, if each word is known
MOST_SHOWN = 100  # characters of a wrong value, unless the expected one is longer
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
_OURS = f"""__main__ locals gradlab checks encoding TooLarge shortcuts ShortcutError without_torch TorchError
torch float64 {" ".join(LEFT)}"""  # in names of types, and in what was left changed


@dataclass(frozen=True)
class Known:
    """The texts that a student may see: those in the notebook's `sources`, and those in the record of one case.

    words: of the sources, and those that gradlab uses. texts: in the record. messages: of errors in the record.
    """

    sources: str
    words: set[str]
    texts: frozenset[str] = frozenset()
    messages: tuple[str, ...] = ()

    @classmethod
    def here(cls, sources: Iterable[str]) -> "Known":
        """Return the texts in a notebook with these sources of cells."""
        text = "\n".join(sources)
        return cls(text, {*re.findall(r"\w+", f"{text} {_OURS}"), *vars(builtins)})

    def of(self, case: Case, recorded: tuple[Observation, ...]) -> "Known":
        """Return these texts and those of a case; recorded: its observations in the record."""
        messages = [*case.words, *(observation.error.message for observation in recorded if observation.error)]
        return replace(self, texts=frozenset(_strings(msgspec.to_builtins([case, recorded]))), messages=tuple(messages))

    def text(self, text: str, most_words: int = 0) -> str:
        """Return a text if it is known or has only so many words, all known; else UNKNOWN."""
        words = re.findall(r"\w+", text)
        few = 0 < len(words) <= most_words and self.words.issuperset(words)
        return text if few or text in self.texts or text in self.sources else _(UNKNOWN)

    def observation(self, seen: Observation) -> Observation:
        """Return an observation without unknown texts; it gets the same verdict."""
        values, mutated = map(self._value, seen.values), map(self.text, seen.mutated)
        left = [self.text(text, MOST_WORDS) for text in seen.left]
        return Observation(list(values), seen.error and self._error(seen.error), list(mutated), left)

    def _value(self, value: Value) -> Value:
        match value:
            case str():
                return self.text(value)
            case Tensor(grad_fn=str(name)):
                return msgspec.structs.replace(value, grad_fn=self.text(name, MOST_WORDS))
            case Other(name):
                return Other(self.text(name, MOST_WORDS))
            case Dict(items):
                return Dict({self.text(key): self._value(item) for key, item in items.items()})
            case List(items) | Tuple(items) | Size(items):
                return type(value)(list(map(self._value, items)))
        return value

    def _error(self, error: Error) -> Error:
        parts = [text for text in self.messages if text and text.lower() in error.message.lower()]
        message = self._message(error.type, error.message) or f" {_(UNKNOWN)} ".join(parts)
        at, line = (error.at, error.line) if error.at and error.at in self.sources else ("", 0)
        return Error(self.text(error.type, MOST_WORDS), message, at, line=line)

    def _message(self, kind: str, text: str) -> str:
        name = _UNDEFINED.fullmatch(text) if kind == "NameError" else None
        return text if text in self.sources or (name and name[1] in self.words) else ""

    def kind(self, error: NotebookNode) -> str:
        """Return an error output's kind, with its message if that is known."""
        message = error.evalue if error.ename in OF_THE_RUN else self._message(error.ename, error.evalue)
        return ": ".join(filter(None, [self.text(error.ename, MOST_WORDS), message.rstrip(".")]))

    def kind_and_line(self, error: NotebookNode, source: str, count: int | None) -> str:
        """Return an error output's kind, and the line of its cell where its traceback says that it happened."""
        numbers = re.findall(rf"Cell In\[{count}\], line (\d{{1,5}})", strip_ansi("\n".join(error.traceback)))
        lines, number = source.splitlines(), int(numbers[-1]) if numbers else 0
        if not 0 < number <= len(lines):
            return self.kind(error)
        at = lines[number - 1].strip()
        return _("{error}, line {number}: {source}", error=self.kind(error), number=number, source=at)


def shortened(verdict: Verdict) -> Verdict:
    """Return a verdict that shows no more of a wrong value than there is of the expected one."""
    feedback, whole = verdict.feedback, verdict.feedback.whole
    yours = _cut(feedback.yours, feedback.expected)
    whole = (_cut(*whole), whole[1]) if whole else ()
    return Verdict(replace(feedback, yours=yours, whole=whole), verdict.difference, verdict.wrong)


def _cut(text: str, expected: str) -> str:
    most = max(len(expected), MOST_SHOWN)
    return text if len(text) <= most else f"{text[:most]} …"


def _strings(plain: Any) -> Iterator[str]:
    """Yield all texts in plain data, with the keys of dicts."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict | list | tuple):
        for part in [*plain, *plain.values()] if isinstance(plain, dict) else plain:
            yield from _strings(part)
