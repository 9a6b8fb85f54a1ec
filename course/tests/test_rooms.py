"""Chapters import only from their room or below, and each room declares its imports; import-linter checks modules."""

import ast
import functools
import json
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from gradlab.setup.needs import canonical, declared, read_rooms

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"course": {"gradlab"}, "solutions": {"mini_autograd", "authoring"}, "grading": {"autograder"}}
MAY_IMPORT = {"course": {"course"}, "solutions": {"course", "solutions"}, "grading": {"course", "solutions", "grading"}}
ROOMS = [room for room in PACKAGES if (ROOT / room).exists()]
HOME = {package: room for room, packages in PACKAGES.items() for package in packages}


@functools.cache
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


@functools.cache
def sources(room: str) -> dict[str, str]:
    """Return the Python text of each module of a room and of the code cells of each chapter, by path."""
    found = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / room).rglob("*.py")}
    for path in (ROOT / room).glob("chapters/*/*.ipynb"):
        written = json.loads(path.read_text(encoding="utf-8"))["cells"]
        cells = ["".join(cell["source"]) for cell in written if cell["cell_type"] == "code"]
        plain = [line for cell in cells for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))]
        found[str(path.relative_to(ROOT))] = "\n".join(plain)
    return {path: text for path, text in found.items() if "/class/" not in path and "/build/" not in path}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room):
    forbidden = {package for package, home in HOME.items() if home not in MAY_IMPORT[room]}
    crossed = {path: imported(text) & forbidden for path, text in sources(room).items()}
    assert {path: names for path, names in crossed.items() if names} == {}


OURS = {"gradlab": ["gradlab"], "mini_autograd": ["mini-autograd"], "authoring": ["authoring"]}
OURS["autograder"] = ["autograder"]
HOMES = packages_distributions() | OURS  # by importable package: the distributions that contain it


def undeclared(names: set[str], files: list[Path]) -> set[str]:
    """Return the imported names whose distribution none of these pyproject.toml files declares."""
    known = {name for file in files for name in declared(file)}
    outside = names & HOMES.keys() - set(sys.stdlib_module_names)
    return {name for name in outside if not known & {canonical(home) for home in HOMES[name]}}


@pytest.mark.parametrize(("distribution", "folder"), read_rooms(ROOT).items())
def test_what_a_distribution_imports_is_declared(distribution, folder):
    (package,) = (package for package, homes in OURS.items() if homes == [distribution])
    within = folder.parent if folder.name == package else folder
    room = within.relative_to(ROOT)
    own = (f"{room}/{package}/", *([] if within != folder else [f"{room}/chapters/"]))
    used = {path: imported(text) - {package} for path, text in sources(str(room)).items() if path.startswith(own)}
    assert used
    lacking = {path: undeclared(names, [folder / "pyproject.toml"]) for path, names in used.items()}
    assert {path: names for path, names in lacking.items() if names} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_what_tests_and_benchmarks_import_is_declared(room):
    """Tests may use what any room needs, and what the root's pyproject.toml names for tests."""
    files = [ROOT / "pyproject.toml", *(ROOT / other / "pyproject.toml" for other in ROOMS)]
    used = {path: text for path, text in sources(room).items() if "/tests/" in path or "/bench/" in path}
    local = {Path(path).stem for path in used} | {"attacks", "browser", *OURS}
    lacking = {path: undeclared(imported(text) - local, files) for path, text in used.items()}
    assert {path: names for path, names in lacking.items() if names} == {}


def test_no_module_hides_one_of_pythons_own():
    """Kernels and tools may start with one of these folders on the path: no module is named like a standard one."""
    names = {path.stem for path in (ROOT / "course/gradlab").glob("*.py")}
    assert names & set(sys.stdlib_module_names) == set()


def test_no_module_hides_what_gradlab_offers():
    """A module named like a function of gradlab would take its place as soon as it is imported."""
    import gradlab

    assert {path.stem for path in (ROOT / "course/gradlab").iterdir()} & set(gradlab.__all__) == set()


LOOKS_FOR = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "replace", "split"}


def looked_for(node: ast.AST) -> ast.AST | None:
    """Return what a node looks for in a text: the left side of `in`, or the first argument of a method like split."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        return node.left
    searches = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS_FOR
    return node.args[0] if searches and node.args else None


def said(tree: ast.AST) -> list[str]:
    """Return the texts in a syntax tree that have at least two words."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text for text in texts if len(re.findall(r"[A-Za-z]+", text)) > 1 and " " in text.strip()]


def test_nothing_is_read_back_from_a_sentence_of_the_project():
    """What a program needs to know later is a kind, a field or a code; sentences are made last."""
    packages = [f"{room}/{package}/" for room in ROOMS for package in PACKAGES[room] & {"gradlab", "autograder"}]
    modules = [text for room in ROOMS for path, text in sources(room).items() if path.startswith(tuple(packages))]
    trees = [ast.parse(text) for text in modules]
    sought = [text for tree in trees for node in ast.walk(tree) if (part := looked_for(node)) for text in said(part)]
    sentences = [text for tree in trees for text in said(tree)]
    found = {text for text in sought if sum(text in sentence for sentence in sentences) > sought.count(text)}
    assert found == set()
