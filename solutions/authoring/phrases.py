"""Phrases that read as if translated; `make check` rejects them in everything a person reads."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .places import SOLUTIONS

ROOT = SOLUTIONS.parent

# Each pattern, and what to write instead. Prose, code, comments and strings are all searched.
PHRASES = {
    r"(?<!there )\bis no (?!longer\b|more\b|different\b)": "is not",
    r"\bin the place of\b": "instead of",
    r"\basked for (is|are)\b": "an imperative: return, write, name",
    r"\b(one's own|of one's)\b": "a detached copy, a separate …",
    r"\bturned (over|round)\b": "transposed, reversed",
    r"\b(take|takes|taken|took|taking) away\b": "remove, subtract",
    r"\bway back\b": "backward pass",
    r"\bwhoever\b": "you, a student, the account that …",
    r"\banew\b": "again",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bin silence\b": "silently",
    r"\bhand(s|ed|ing)? (on|over)\b": "pass on, propagate",
    r"(?<!by )\bhand(s|ed|ing)? (in|out)\b": "submit, release, return",
    r"\bputs? out\b": "return, output",
    r"\bcolour": "color",
    r"\bthaw(s|ed|ing)?\b": "unfreeze",
    r"\balso (if|when|where)\b": "even if, even when",
    r"\bmakes? (a|one) [\w ]+ of (it|them)\b": "turns it into",
}

# Allowed phrases: a part of the path, and the words around the phrase.
ALLOWED = [
    ("chapters/09_", "in silence"),  # a value that 09.1 returns
    ("term/submissions.py", '"handed in"'),  # a column's name
    ("chapters/05_", "Restore each one's own mode"),
]


def found(root: Path = ROOT) -> list[str]:
    """Return a sentence for each forbidden phrase: file, cell, phrase, and what to write instead."""
    return [
        f"{name}: “{match[0].strip()}”. Write: {instead}"
        for name, text in texts(root)
        for phrase, instead in PHRASES.items()
        for match in re.finditer(phrase, text, re.IGNORECASE)
        if not _allowed(name, text, match)
    ]


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each page, each cell of a solved chapter, and each code file except tests."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    for name in sorted(set(listed.splitlines())):
        path = root / name
        if not path.exists():  # deleted, but not committed yet
            continue
        if path.suffix == ".ipynb" and name.startswith("solutions/"):
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                yield f"{name}, cell {cell['id']}", "".join(cell["source"])
        elif path.suffix in (".md", ".py", ".js") and not name.startswith("course/chapters/") and _written(name):
            yield name, path.read_text(encoding="utf-8")


def _written(name: str) -> bool:
    return "/tests/" not in name and not name.endswith("authoring/phrases.py")


def _allowed(name: str, text: str, match: re.Match) -> bool:
    around = text[max(0, match.start() - 40) : match.end() + 40]
    return any(part in name and words in around for part, words in ALLOWED)
