"""Phrases that read as if translated; `make check` rejects them in everything a person reads.

Single words to avoid are in `spelling.txt`, for codespell.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .places import ROOT

# Each pattern, and what to write instead. Prose, code, comments and strings are all searched.
PHRASES = {
    r"(?<!there )\bis no (?!longer\b|more\b|different\b)": "is not",
    r"\bin the place of\b": "instead of",
    r"\basked for (is|are)\b": "an imperative: return, write, name",
    r"\b((?<!each )one's own|of one's)\b": "a detached copy, a separate …",
    r"\bturned (over|round)\b": "transposed, reversed",
    r"\b(take|takes|taken|took|taking) away\b": "remove, subtract",
    r"\bway back\b": "backward pass",
    r'(?<!")\bin silence\b': "silently",  # in quotes, it is a value that 09.1 returns
    r"\bhand(s|ed|ing)? (on|over)\b": "pass on, propagate",
    r"(?<!by )\bhand(s|ed|ing)? (in|out)\b": "submit, release, return",
    r"\bputs? out\b": "return, output",
    r"\bcolour": "color",
    r"\balso (if|when|where)\b": "even if, even when",
    r"\bmakes? (a|one) [\w ]+ of (it|them)\b": "turns it into",
}
# The pages, the solved chapters, and all code except tests
READ = ["*.md", "*.py", "*.js", "solutions/*.ipynb", ":!*/tests/*", ":!course/chapters/*", ":!*/authoring/phrases.py"]


def found(root: Path = ROOT) -> list[str]:
    """Return a sentence for each forbidden phrase: file, cell, phrase, and what to write instead."""
    return [
        f"{name}: “{match[0].strip()}”. Write: {instead}"
        for name, text in texts(root)
        for phrase, instead in PHRASES.items()
        for match in re.finditer(phrase, text, re.IGNORECASE)
    ]


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file that is searched, and of each cell of a notebook among them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *READ]
    listed = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=True).stdout
    for name in sorted(set(filter(None, listed.split("\0")))):
        if not (path := root / name).exists():  # deleted, but not committed yet
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            yield from ((f"{name}, cell {cell['id']}", "".join(cell["source"])) for cell in json.loads(text)["cells"])
        else:
            yield name, text
