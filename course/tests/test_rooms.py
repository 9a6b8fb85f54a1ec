"""The rooms import one way: grading → solutions → course."""

import ast
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"course": {"gradlab"}, "solutions": {"mini_autograd", "authoring"}, "grading": {"autograder"}}
MAY_IMPORT = {"course": {"course"}, "solutions": {"course", "solutions"}, "grading": {"course", "solutions", "grading"}}
ROOMS = [room for room in PACKAGES if (ROOT / room).exists()]
HOME = {package: room for room, packages in PACKAGES.items() for package in packages}


def imported(source: str) -> set[str]:
    """Return the top-level names a Python source imports, those named in strings for `import_module` included."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            first = node.args[0]
            if called in {"import_module", "importorskip", "__import__"} and isinstance(first, ast.Constant):
                names.add(str(first.value).split(".")[0])
    return names


def sources(room: str) -> dict[str, str]:
    """Return the Python text of each module of a room and of the code cells of each chapter, by path."""
    found = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / room).rglob("*.py")}
    for path in (ROOT / room).glob("chapters/*/*.ipynb"):
        cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        plain = [line for cell in cells for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))]
        found[str(path.relative_to(ROOT))] = "\n".join(plain)
    return {path: text for path, text in found.items() if "/class/" not in path and "/build/" not in path}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room):
    """No module and no chapter of a room imports from a room it may not know."""
    forbidden = {package for package, home in HOME.items() if home not in MAY_IMPORT[room]}
    crossed = {path: imported(text) & forbidden for path, text in sources(room).items()}
    assert {path: names for path, names in crossed.items() if names} == {}


def test_an_import_in_any_form_is_seen():
    """The reader of imports finds each way of writing one, and no relative import."""
    text = "import a.b, c\nfrom d.e import f\nfrom . import g\nimport_module('h.i')\nimportlib.import_module('j')\n"
    assert imported(text) == {"a", "c", "d", "h", "j"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_package_is_installed_from_its_room(room):
    """What is imported is what lies here, not another copy of the course."""
    for package in PACKAGES[room]:
        module = __import__(package)
        assert Path(module.__path__[0]).resolve() == ROOT / room / package


def test_no_module_hides_one_of_pythons_own():
    """`environment.py` runs as a script beside its neighbours: none of them may be named like a standard module."""
    names = {path.stem for path in (ROOT / "course/gradlab").glob("*.py")}
    assert names & set(sys.stdlib_module_names) == set()
