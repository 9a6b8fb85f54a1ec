"""The pages around the lessons, as Markdown: the front page, look-ups, and the documents of the repository."""

import re

import torch

from gradlab import step
from gradlab.start_page import in_workspace

from .. import pages
from ..build import START_PAGE
from ..places import ROOT
from . import errors
from .places import DOCUMENTS, GET, linked

FRONT = """---
description: "A hands-on course on torch.autograd: predict gradients, see torch's answer, step through backward, solve
  checked exercises, and build your own engine."
---

# torch.autograd, by hand

A course on how PyTorch computes gradients: you predict what torch will do, see its answer, and find out why. Each
chapter has exercises whose checks answer like a good teacher, and in the second part you build the engine yourself.
Read and guess on these pages, and write your first engine in the first chapter: its checks run in your browser.

<div class="site-now">

[Write autograd now](00_twenty_lines/00_twenty_lines.ipynb)

</div>

To write the code of the other chapters, take the course home with two commands:

{get}

## What does `backward` do?

Here is a neuron's loss, recorded in one backward pass. Press *Next*, or drag the slider: at each node, you see the
gradient that arrives and what the node sends on.

```python
x = torch.tensor(2.0)
w = torch.tensor(0.5, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
loss = (torch.tanh(w * x + b) - 1) ** 2
step(loss)
```

{raw}

{map}

## For instructors

nbgrader grades the exercises, in a sandbox, on cases that no student has seen. A class is two commands a week: one
releases a chapter, the other collects, grades and reports. The [handbook](grading/README.md) covers the whole term.

## For contributors

One notebook per chapter is the only source; students' notebooks and these pages are generated from it. Start with
[where a change goes](CONTRIBUTING.md), or read [the engine in an hour](solutions/mini_autograd/README.md).
"""
CONTENTS = """
```{{toctree}}
:hidden:
:caption: {title}

{entries}
```
"""
# What the start page says about a student's copy: comments for progress, dots, cells to run.
_ONLY_THERE = re.compile(
    r"^<!--(?s:.*?)-->\n|^A filled dot [^.]*\. |^You can begin a chapter anywhere: [^.]*\.\n", re.MULTILINE
)
ENGINE = "solutions/mini_autograd"
LINES = """
```{{code-block}} python
:caption: {file}, lines {first}–{last}
:lineno-start: {first}

{code}
```
"""
_STEP = re.compile(r"^\*\*(\d+)\. .*?(?=^\*\*\d+\. |^This is a good place|^\*\*Stop here)", re.MULTILINE | re.DOTALL)
LOOKED_UP = ("glossary", "cheat_sheet", "errors", "from_the_notes")
_PLACE = re.compile(r"^\| (\d+) \| `([\w/]+\.py)` \| (\d+)–(\d+) \|", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_PART = re.compile(r"^\| *\| \*\*(.*?)\*\*", re.MULTILINE)
_CHAPTER = re.compile(r"^\| \d.*?\]\((\w+)/\w+\.ipynb\)", re.MULTILINE)


def made(names: list[str]) -> dict[str, str]:
    """Return the pages' texts by path; the links lead to the pages of the site. names: the chapters on the site."""
    texts = {
        "index.md": _front(names),
        **{f"pages/{name}": text for name, text in pages.written().items()},
        "pages/cheat_sheet.md": pages.cheat_sheet(),
        **errors.made(pages.error_index()),
        f"{ENGINE}/README.md": _engine(),
        **{name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS},
    }
    known = {f"{name}/{name}.ipynb" for name in names} | set(texts)
    texts = {path: linked(text, path, known) for path, text in texts.items()}
    texts["index.md"] += _contents(names)
    return texts


def _start() -> str:
    """Return the start page with its links as seen from the chapters' folder, which is the site's root."""
    return in_workspace(START_PAGE.read_text(encoding="utf-8"))


def _front(names: list[str]) -> str:
    start = _ONLY_THERE.sub("", _start())
    (chapters,) = re.findall(r"^## The chapters\n.*?(?=^## How a chapter works)", start, re.MULTILINE | re.DOTALL)
    chapters = _TABLE.sub(lambda table: f'<div class="site-map">\n\n{_without_progress(table[0])}\n</div>\n', chapters)
    x, w, b = torch.tensor(2.0), torch.tensor(0.5, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    loss = (torch.tanh(w * x + b) - 1) ** 2
    stepper = f"```{{raw}} html\n{step(loss).html()}\n```"
    return FRONT.format(get=GET, raw=stepper, map=chapters)


def _without_progress(table: str) -> str:
    """Return the start page's table without the column for what has been passed."""
    rows = ["|".join(cells[:3] + cells[4:]) for cells in (row.split("|") for row in table.splitlines())]
    return "\n".join(rows).replace("| | chapter |", "| no. | chapter |", 1) + "\n"


def _engine() -> str:
    """Return the engine's reading path with the code of each step beside its text."""
    text = (ROOT / ENGINE / "README.md").read_text(encoding="utf-8")
    places = _PLACE.findall(text)

    def beside(step: re.Match) -> str:
        code = "".join(_lines(*place) for number, *place in places if number == step[1])
        return f'<div class="site-beside"><div>\n\n{step[0]}\n</div><div>\n{code}\n</div></div>\n\n'

    return "---\nhide-toc: true\n---\n\n" + _STEP.sub(beside, text)


def _lines(file: str, first: str, last: str) -> str:
    """Return a piece of the engine's code as Markdown."""
    lines = (ROOT / ENGINE / file).read_text(encoding="utf-8").splitlines()[int(first) - 1 : int(last)]
    return LINES.format(file=file, first=first, last=last, code="\n".join(lines))


def _contents(names: list[str]) -> str:
    """Return the site's table of contents: the parts of the start page's table, then what to look up."""
    first, *pieces = _PART.split(_start())
    titles, tables = ["To begin", *pieces[::2]], [first, *pieces[1::2]]
    parts = [
        (title, [f"{name}/{name}" for name in _CHAPTER.findall(rows) if name in names])
        for title, rows in zip(titles, tables, strict=True)
    ]
    parts += [
        ("Look it up", [*map("pages/{}".format, LOOKED_UP), f"{ENGINE}/README"]),
        ("For instructors", [name.removesuffix(".md") for name in DOCUMENTS if name.startswith("grading/")]),
        ("For contributors", [name.removesuffix(".md") for name in DOCUMENTS if not name.startswith("grading/")]),
    ]
    return "".join(CONTENTS.format(title=title, entries="\n".join(entries)) for title, entries in parts if entries)
