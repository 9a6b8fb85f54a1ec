"""A page for each error message that the chapters explain, so that a search for the message leads to it."""

import re
import traceback
import warnings
from typing import Any

import numpy as np
import torch

from ..pages import Cure, Entry, cures, entries
from ..places import ChapterError

PAGE = """---
description: {description}
orphan: true
---

# `{message}`

{means}

## The smallest program that raises it

```python
{program}
```

```text
{raised}
```

## Look first

{look}

## The fix

{fix}

Is it a different cause in your loop? [The clinic](../15_clinic/15_clinic.ipynb) goes from symptom to cause.

[All errors and warnings that the course explains](../pages/errors.md) · [The course](../index.md)
"""


def raised(program: str) -> list[str]:
    """Run a program; return its warnings and its error, as a traceback's last lines show them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        errors: list[Any] = []
        try:
            exec(compile(program, "<program>", "exec"), {"torch": torch, "np": np, "__name__": "program"})
        except Exception as error:
            errors.append(error)
    shown = [warning.message for warning in caught] + errors
    return ["".join(traceback.format_exception_only(problem)).strip() for problem in shown]


def fits(message: str, line: str) -> bool:
    """Return whether a line is, or begins with, a message of the index; its … stands for anything."""
    return re.search(".*".join(map(re.escape, message.split("…"))), " ".join(line.split())) is not None


def slug(message: str) -> str:
    """Return the name of a message's page."""
    words = message.replace(" +", " plus").replace(" -", " minus").lower()
    return re.sub(r"[^a-z0-9_]+", "-", words)[:90].strip("-")


def made(index: str) -> dict[str, str]:
    """Return the pages' texts by path, and the index of errors with links to them; all have the index's links."""
    known, texts = entries(), {}
    for message, fixes in cures().items():
        if message not in known:
            raise ChapterError(f"errors.md has no entry for {message}: add what it means there.")
        path = f"errors/{slug(message)}.md"
        texts[path] = _page(fixes, known[message])
        index = index.replace(f"\n| `{message}` |", f"\n| [`{message}`](../{path}) |", 1)
    return {"pages/errors.md": index, **texts}


def _page(fixes: list[Cure], entry: Entry) -> str:
    libraries = {"np.": "import numpy as np", "torch.": "import torch"}
    imports = "\n".join(line for name, line in libraries.items() if name in entry.program)
    description = f"{entry.message}: {entry.means}".replace("`", "").replace('"', "'")
    return PAGE.format(
        message=entry.message,
        means=entry.means,
        program=f"{imports}\n\n{entry.program}" if imports else entry.program,
        raised=next(line for line in raised(entry.program) if fits(entry.message, line)),
        look=entry.look,
        fix="\n".join(f"- [{_place(cure)}]({cure.link}): {cure.says}" for cure in fixes),
        description=f'"{description}"',
    )


def _place(cure: Cure) -> str:
    return f"Exercise {cure.place}" if cure.place[0].isdigit() else cure.place.capitalize()
