"""The newcomer's map: a line for each module, in the words of its own docstring, for CONTRIBUTING."""

import ast
from pathlib import Path

from .chapter import SOLUTIONS

ROOT = SOLUTIONS.parent
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- The map begins; make notebooks writes it. -->\n", "<!-- The map ends. -->\n"
PACKAGES = ["course/gradlab", "solutions/authoring", "grading/autograder"]


def drawn() -> str:
    """The map as Markdown: a table for each folder of modules."""
    return "".join(_table(folder) for package in PACKAGES for folder in _folders(ROOT / package))


def with_map(text: str) -> str:
    """CONTRIBUTING with the map as the tree is now; raises ValueError if it has no place for it."""
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n{drawn()}{END}{tail}"


def _folders(package: Path) -> list[Path]:
    return sorted({path.parent for path in package.rglob("*.py")})


def _table(folder: Path) -> str:
    rows = [
        f"| `{path.name}` | {_first_line(path)} |" for path in sorted(folder.glob("*.py")) if path.stem != "__init__"
    ]
    heading = f"**`{folder.relative_to(ROOT)}/`** {_first_line(folder / '__init__.py')}"
    return "\n".join([heading, "", "| | |", "|---|---|", *rows, "", ""])


def _first_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
