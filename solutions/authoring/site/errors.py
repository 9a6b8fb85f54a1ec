"""A page for each error message that the chapters explain, so that a search for the message leads to it."""

import re
import warnings

import numpy as np
import torch

from ..pages import ERRORS, Cure, Entry, cures, entries
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
{clinic}
[All errors and warnings that the course explains](../pages/errors.md) · [The course](../index.md)
"""
CLINIC = """
Is it a different cause in your loop? [The clinic](../{name}/{name}.ipynb) goes from symptom to cause.
"""


def raised(program: str) -> list[str]:
    """Run a program; return its warnings and its error, as a traceback's last line shows them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(program, "<program>", "exec"), {"torch": torch, "np": np, "__name__": "program"})
        except Exception as error:
            return [*(_line(warning.category, warning.message) for warning in caught), _line(type(error), error)]
    return [_line(warning.category, warning.message) for warning in caught]


def fits(message: str, line: str) -> bool:
    """Return whether a line is, or begins with, a message of the index; its … stands for anything."""
    return re.search(".*".join(map(re.escape, message.split("…"))), " ".join(line.split())) is not None


def _line(kind: type, error: object) -> str:
    return f"{kind.__name__}: {error}" if str(error) else kind.__name__


def slug(message: str) -> str:
    """Return the name of a message's page."""
    words = message.replace(" +", " plus").replace(" -", " minus").lower()
    return re.sub(r"[^a-z0-9_]+", "-", words)[:90].strip("-")


def made(index: str, clinic: str = "") -> dict[str, str]:
    """Return the pages' texts by path, and the index of errors with links to them; all have the index's links.

    clinic: the name of the chapter to which every page leads, if there is one.
    """
    fixes, known = cures(), entries()
    if lacking := fixes.keys() - known.keys():
        raise ChapterError(f"{ERRORS.name} has no entry for {', '.join(sorted(lacking))}: add what it means there.")
    to_clinic = CLINIC.format(name=clinic) if clinic else ""
    for message in fixes:
        index = index.replace(f"\n| `{message}` |", f"\n| [`{message}`](../errors/{slug(message)}.md) |", 1)
    texts = {f"errors/{slug(message)}.md": _page(fixes[message], known[message], to_clinic) for message in fixes}
    return {"pages/errors.md": index, **texts}


def _page(fixes: list[Cure], entry: Entry, clinic: str) -> str:
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
        clinic=clinic,
        description=f'"{description}"',
    )


def _place(cure: Cure) -> str:
    return f"Exercise {cure.place}" if cure.place[0].isdigit() else cure.place.capitalize()
