"""Remember which files each chapter was built from, to build, and to check, only what may have changed.

A chapter's digest covers its solved files, its student edition, the versions of packages, and the code that builds and
checks it, with its style sheets and without comments and docstrings. `build` notes it in `digests.json`.
"""

import ast
import functools
import hashlib
import json
from pathlib import Path

from gradlab.engine import STAGES

from .places import SOLUTIONS, SOURCES

DIGESTS = Path(__file__).with_name("digests.json")
CODE = SOLUTIONS.parent / "course" / "gradlab", SOLUTIONS / "authoring"
APART = "setup", "stages", "site"  # no chapter runs the set-up or the site, and only later ones import a stage
VERSIONS = SOLUTIONS.parent / "requirements.txt"


def digest(name: str, edition: Path) -> str:
    """Return the hash of a chapter: its solved files, the student edition, and what they are built with."""
    found = hashlib.sha256(_code().encode() + VERSIONS.read_bytes())
    stages = [path for path in STAGES.glob("engine_*.py") if path.stem[-2:] <= name[:2]]
    for path in sorted({*(SOURCES / name).rglob("*"), *(edition / name).rglob("*"), *stages}):
        if path.is_file() and path.name[0] != "." and path.parent.name[0] not in "._":
            found.update(f"\n{path.parent.name} {path.name}\n".encode() + path.read_bytes())
    return found.hexdigest()


@functools.cache
def _code() -> str:
    paths = [path for folder in CODE for path in sorted(folder.rglob("*")) if path.parent.name not in APART]
    return "\n".join(_meaning(path) for path in paths if path.suffix in (".py", ".css"))


def _meaning(path: Path) -> str:
    """Return a style sheet's text, or a module's syntax tree as text, without docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def noted() -> dict[str, str]:
    """Return each chapter's digest from when it was last built."""
    return json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}


def note(names: list[str], edition: Path) -> None:
    """Save the current digests of the named chapters."""
    new = {name: digest(name, edition) for name in names}
    DIGESTS.write_text(json.dumps(noted() | new, indent=1, sort_keys=True) + "\n", encoding="utf-8")
