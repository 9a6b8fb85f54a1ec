"""Remember what each chapter was built from, to build, and to check, only what may have changed.

A chapter's digest covers its solved files, its student edition, the versions of packages, the modules that its build
imported, which `build` notes beside it in `digests.json`, style sheets, and the code of those chapters whose cells it
runs (its own code names them). What does not reach the chapter's files is left out: of modules, docstrings, comments,
and sentences that these files do not show; style sheets that they lack.
"""

import ast
import base64
import functools
import hashlib
import html
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from gradlab import ipynb
from gradlab.checks.meaning import without_docstrings
from gradlab.engine import STAGES

from .places import SOLUTIONS, SOURCES

DIGESTS = Path(__file__).with_name("digests.json")
ROOT = SOLUTIONS.parent
CODE = "course/gradlab", "solutions/authoring"
# Without effect on a chapter's files, or digested with them: the engine's stages
APART = "solutions/authoring/digests.py", "solutions/authoring/pages.py", "course/gradlab/stages"
VERSIONS = ROOT / "requirements.txt"
FEWEST_WORDS = 4  # of a sentence; shorter strings always count
_PLACEHOLDER = re.compile(r"{[^{}]*}")  # in a message
_CHAPTER = re.compile(r"\b\d\d_[a-z_]+\b")
_DRAWING = re.compile("data:image/svg[+]xml;base64,([A-Za-z0-9+/=]+)")
IMPORTED = """import sys
import authoring.build, authoring.preprocessors
print(*(module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)), sep="\\n")"""


def imports_cell() -> NotebookNode:
    """Return a cell that prints the modules that a chapter's kernel, and the steps after it, have imported."""
    return new_code_cell(IMPORTED)


def imported(cell: NotebookNode) -> list[str]:
    """Return those of the modules printed by `imports_cell` that are the course's code, as paths below ROOT."""
    lines = "".join(output.text for output in cell.outputs).splitlines()
    paths = {str(Path(line).relative_to(ROOT)) for line in lines if Path(line).is_relative_to(ROOT)}
    return sorted(path for path in paths if path.startswith(CODE) and not path.startswith(APART))


def digest(name: str, edition: Path, modules: Iterable[str]) -> str:
    """Return the hash of a chapter: its solved files, the student edition, and what these modules put into them."""
    hasher = hashlib.sha256(VERSIONS.read_bytes())
    stages = [path for path in STAGES.glob("engine_*.py") if path.stem[-2:] <= name[:2]]
    files = []
    for path in sorted({*(SOURCES / name).rglob("*"), *(edition / name).rglob("*"), *stages}):
        if path.is_file() and path.name[0] != "." and path.parent.name[0] not in "._":
            files.append(path)
            hasher.update(f"\n{path.parent.name} {path.name}\n".encode() + path.read_bytes())
    for other in sorted({*_CHAPTER.findall(_code(SOURCES / name / f"{name}.ipynb"))} - {name}):
        hasher.update(_code(SOURCES / other / f"{other}.ipynb").encode())
    is_shown = _search(files)
    for path in (ROOT / module for module in modules):
        code, sentences = _parts(path.read_text(encoding="utf-8")) if path.exists() else ("", ())
        hasher.update("\n".join([code, *filter(is_shown, sentences)]).encode())
    styles = [path.read_text(encoding="utf-8") for folder in CODE for path in sorted((ROOT / folder).rglob("*.css"))]
    hasher.update("\n".join(filter(is_shown, styles)).encode())
    return hasher.hexdigest()


def _code(notebook: Path) -> str:
    """Return the sources of a notebook's code cells; "" if the file does not exist."""
    cells = ipynb.read(notebook.read_bytes())["cells"] if notebook.exists() else ()
    return "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")


@functools.cache
def _parts(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a module's code, without its docstrings and sentences, and its sentences."""
    tree, sentences = without_docstrings(ast.parse(text)), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_sentence(node.value):
            sentences.append(node.value)
            node.value = ""
    return repr(_syntax(tree)), tuple(sentences)


def _syntax(node: object) -> object:
    """Return a syntax tree as tuples and lists, the same in Python 3.11 and 3.13; `ast.dump` shows new fields."""
    if isinstance(node, ast.AST):
        fields = [(name, _syntax(value)) for name, value in ast.iter_fields(node) if value not in (None, [])]
        return type(node).__name__, fields
    return [_syntax(item) for item in node] if isinstance(node, list) else node


def _is_sentence(text: str) -> bool:
    return sum(bool(re.search("[A-Za-z]{2}", word)) for word in text.split()) >= FEWEST_WORDS


def _search(files: list[Path]) -> Callable[[str], bool]:
    """Return a function that says whether a text is in these files, with or without HTML between its words."""
    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix in (".ipynb", ".json", ".py")]
    whole = _DRAWING.sub(lambda drawing: base64.b64decode(drawing[1]).decode(), "\n".join(texts))
    words = f"{_words(whole)} | {_words(re.sub('<[^<>]*>', ' ', whole))}"
    return lambda text: all(_words(piece) in words for piece in _PLACEHOLDER.split(text))


def _words(text: str) -> str:
    return " ".join(re.findall("[A-Za-z]+", html.unescape(re.sub(r"\\[nt]", " ", text))))


def noted() -> dict[str, dict]:
    """Return each chapter's digest and modules from when it was last built."""
    return json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}


def is_current(name: str, edition: Path) -> bool:
    """Return whether nothing has changed since a chapter was last built."""
    built = noted().get(name)
    return isinstance(built, dict) and built["digest"] == digest(name, edition, built["modules"])


def note(modules: dict[str, list[str]], edition: Path) -> None:
    """Save the current digests of chapters, and the modules that their builds imported, given by chapter."""
    new = {name: {"digest": digest(name, edition, used), "modules": used} for name, used in modules.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(built)}" for name, built in sorted((noted() | new).items())]
    DIGESTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
