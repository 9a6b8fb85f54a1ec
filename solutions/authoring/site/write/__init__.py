"""Chapters that one can write in the page: Python in the browser (Pyodide), with the chapter's own checks."""

import importlib.metadata
import itertools
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

import gradlab

from ...build import STUDENT_EDITION
from ...cells import tags
from ...places import ROOT, ChapterError
from ..places import CLONE, WRITABLE

HERE, GRADLAB = Path(__file__).parent, Path(gradlab.__file__).parent
PYODIDE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip"]
# What gradlab and IPython import, of which only msgspec is compiled.
PURE = ["asttokens", "executing", "filelock", "ipython", "ipython-pygments-lexers", "jupyter-core"]
PURE += ["matplotlib-inline", "platformdirs", "prompt-toolkit", "pure-eval", "pygments", "stack-data", "traitlets"]
PURE += ["typing-extensions", "wcwidth"]
LEXERS = ("__init__", "_mapping", "python", "special")  # the only ones of Pygments' that are needed
COMPILED, PYTHON, PLATFORM = "msgspec", "3.14", "pyemscripten_2026_0_wasm32"  # Pyodide's own
WHEELS = ROOT / "build/wheels"
_NEEDLESS = {"tests", "setup", "stages", "__pycache__"}


class WriteHere(NbGraderPreprocessor):
    """Mark a writable chapter's page with what write.js needs: the cells that one can change and run."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Add the list of cells at the end; of predictions, the page knows the answers already."""
        name = resources["unique_key"]
        if name in WRITABLE:
            listed = [cell for cell in map(_listed, _released(name)) if cell]
            for answer, check in itertools.pairwise(listed):
                answer["check"] = check["id"]
            given = next(cell.source for cell in _released(name) if cell.id == GIVEN)
            home = {"above": f"{ABOVE}{given}", "below": BELOW}
            data = json.dumps({"name": name, "cells": listed, "home": home}).replace("</", "<\\/")
            head = f'<script type="application/json" id="site-write">{data}</script>'
            link = '<link rel="stylesheet" href="../_static/write/write.css">'
            script = '<script type="module" src="../_static/write/write.js"></script>'
            nb.cells.append(nbformat.v4.new_markdown_cell(f"{HOME.format(clone=CLONE)}\n{head}{link}{script}"))
        return nb, resources


HOME = """## Take it home

What you write here stays in this browser. *Take it home* saves a file with your code, which runs without the course:
`python twenty_lines.py` trains your network. To go on in JupyterLab, with your answers in the notebook's cells and the
other chapters beside it, get the course and say where the file is:

```
{clone}
make lab ANSWERS=~/Downloads/twenty_lines.py
```
"""
# The file that one takes home: above the answers, with the class that they complete, and below them.
ABOVE = '''"""Autograd in twenty lines: chapter 00 of "torch.autograd, by hand", as you wrote it on its site."""

import math


'''
GIVEN = "node"  # the cell with this class
BELOW = """if __name__ == "__main__":  # your network learns XOR
    import random

    points = {(-1.0, -1.0): -1.0, (-1.0, 1.0): 1.0, (1.0, -1.0): 1.0, (1.0, 1.0): -1.0}
    draws = random.Random(1)
    network = Network([Value(draws.uniform(-1, 1)) for _ in range(9)])
    for number in range(101):
        loss = Value(0.0)
        for (p, q), wanted in points.items():
            error = network.output(Value(p), Value(q)) + Value(-wanted)
            loss = loss + error * error
        network.step(loss, backward, 0.1)
        if number % 20 == 0:
            print(f"step {number:3}: loss {loss.data:.4f}")
"""


def _released(name: str) -> list[NotebookNode]:
    return nbformat.read(STUDENT_EDITION / name / f"{name}.ipynb", as_version=4).cells


def _listed(cell: NotebookNode) -> dict | None:
    """Return what the page needs to know about a cell; None if one cannot run it there."""
    if cell.cell_type != "code" or "predict." in cell.source or cell.source.strip() == "summary()":
        return None
    if is_grade(cell):
        return {"id": cell.id, "kind": "check"}
    if is_solution(cell):
        exercise = cell.metadata.nbgrader.grade_id.removeprefix("answer-").replace("-", ".")
        return {"id": cell.id, "kind": "answer", "source": cell.source, "exercise": exercise}
    kind = "setup" if "setup" in tags(cell) else "payoff" if "@payoff(" in cell.source else "run"
    return {"id": cell.id, "kind": kind, "source": cell.source}


def write(folder: Path, names: list[str]) -> None:
    """Write what the pages of these chapters load when one runs a cell, into `folder`. Needs npm, and pip once."""
    names = [name for name in names if name in WRITABLE]
    if not names:
        return
    (folder / "pyodide").mkdir(parents=True)
    _bundle(folder)
    for file in PYODIDE:
        shutil.copy(HERE / "node_modules/pyodide" / file, folder / "pyodide")
    for file in ("worker.js", "write.css"):
        shutil.copy(HERE / file, folder)
    shutil.copy(_wheel(), folder / "compiled.zip")
    with zipfile.ZipFile(folder / "python.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(HERE / "kernel.py", "kernel.py")
        for file, path in sorted(_code().items()):
            packed.write(path, file)
    for name in names:
        for kind in ("ipynb", "record.json"):
            shutil.copy(STUDENT_EDITION / name / f"{name}.{kind}", folder)


def _bundle(folder: Path) -> None:
    """Install the editor with npm, unless it is there, and bundle the page's script with it."""
    npm = shutil.which("npm")
    if npm is None:
        raise ChapterError(f"Chapter {WRITABLE[0]} of the site needs npm, of Node.js 20 or newer, which was not found.")
    if not (HERE / "node_modules/pyodide").exists():
        _run([npm, "ci", "--no-audit", "--no-fund", "--silent"])
    options = ["--bundle", "--format=esm", "--minify", "--log-level=warning", f"--outfile={folder / 'write.js'}"]
    _run([npm, "exec", "--offline", "--", "esbuild", "write.js", *options])


def _wheel() -> Path:
    """Return the wheel of the compiled package for Pyodide, which pip downloads once."""
    name = f"{COMPILED}-{importlib.metadata.version(COMPILED)}"
    if not list(WHEELS.glob(f"{name}-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--python-version", PYTHON, "--platform", PLATFORM, "--dest", str(WHEELS)]
        _run([*command, name.replace("-", "==")])
    return next(WHEELS.glob(f"{name}-*.whl"))


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=HERE, check=False, capture_output=True, text=True)
    if done.returncode:
        raise ChapterError(f"The site needs `{' '.join(command)}`, which failed:\n{done.stdout}{done.stderr}".rstrip())


def _code() -> dict[str, Path]:
    """Return the files of gradlab and of the pure packages, by their path in the archive."""
    files = {f"gradlab/{path.relative_to(GRADLAB).as_posix()}": path for path in GRADLAB.rglob("*")}
    for package in PURE:
        for file in importlib.metadata.files(package) or []:
            files[file.as_posix()] = Path(str(file.locate()))
    kinds = (".py", ".css", ".js", ".json")
    return {name: path for name, path in files.items() if path.suffix in kinds and not _needless(name)}


def _needless(file: str) -> bool:
    parts = file.split("/")
    if file.startswith("pygments/lexers/"):
        return Path(file).stem not in LEXERS
    return bool(_NEEDLESS & {*parts}) or ".." in parts or (parts[0] == "gradlab" and "chapters" in parts)
