"""The rooms inside of autograder, which import one way; the order of the steps."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import autograder
from autograder.settings import GRADE, SANITISE

ROOM = Path(autograder.__file__).parent

MAY_IMPORT = {  # what a part may import of the others
    "__init__": set(),
    "errors": set(),
    "atomic": set(),
    "gradebook": {"errors"},
    "dropped": {"atomic"},
    "source": set(),
    "sandbox": {"errors"},
    "steps": {"atomic", "errors", "sandbox"},
    "views": {"atomic", "dropped", "errors", "steps"},
    "logs": {"steps"},
    # names the steps, and what pages are made of
    "settings": {"dropped", "errors", "gradebook", "logs", "sandbox", "source", "steps", "views"},
    # opens a class with its settings
    "run": {"atomic", "dropped", "errors", "gradebook", "sandbox", "settings", "steps"},
    "term": {"atomic", "dropped", "errors", "gradebook", "run", "settings", "steps", "views"},
    "demo": {"run", "settings", "views"},
    "new_class": {"atomic", "errors", "settings"},
    "update": {"errors", "run", "source", "steps"},
    "commands": {"atomic", "demo", "errors", "new_class", "run", "settings", "steps", "term", "update", "views"},
    "__main__": {"commands", "errors", "settings", "steps"},
}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(ROOM.rglob("*.py")):
        yield path.relative_to(ROOM), ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path, tree: ast.Module) -> Iterator[str]:
    """The full names of what a module imports."""
    package = ("autograder", *path.parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) + 1 - node.level] if node.level else ()
            for alias in node.names:
                yield ".".join([*parts, *filter(None, [node.module]), alias.name])


def part(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def test_every_part_is_in_the_table_and_the_table_has_no_circle():
    assert {part(path) for path, _ in modules()} == set(MAY_IMPORT)
    below: set[str] = set()
    for name, others in MAY_IMPORT.items():
        assert others <= below, f"{name} would import what stands above it"
        below.add(name)


def test_the_parts_import_one_way():
    forbidden = [
        f"{path} imports {name}"
        for path, tree in modules()
        for name in imported(path, tree)
        if name.startswith("autograder.") and name.split(".")[1] not in MAY_IMPORT[part(path)] | {part(path)}
    ]
    assert forbidden == []


def test_what_runs_in_a_kernels_process_imports_nothing_of_grading():
    tree = ast.parse((ROOM / "sandbox" / "forkserver.py").read_text(encoding="utf-8"))
    assert [
        n
        for n in imported(Path("sandbox/forkserver.py"), tree)
        if n.split(".")[0] not in {*sys.stdlib_module_names, "ipykernel"}
    ] == []


def test_the_steps_of_a_submission_stand_in_this_order():
    assert [step.__name__ for step in SANITISE] == [
        "ClearOutput",  # first: nothing that a submission says it has shown is looked at by any other step
        "RestoreCells",  # the released cells, before anything goes by a cell's metadata
        "OverwriteKernelspec",  # the release's, whatever the submission asks for; before anything runs
        "PutCases",  # last: the cases lie beside what will run, in the place of a record that was handed in
    ]
    assert [step.__name__ for step in GRADE] == [
        "RunCells",  # first: puts an error into each check cell, which nothing but a verdict replaces
        "WriteVerdicts",  # right after it: what was observed goes, and the score that nbgrader reads comes
        "LimitOutput",  # after the verdicts, which it may shorten, and not before: it would cut observations
        "SaveGrades",  # reads the scores that the verdicts left; what it saves is what the notebook shows
        "TakeLatePenalties",  # last: a penalty is never more than the score that was saved
    ]
