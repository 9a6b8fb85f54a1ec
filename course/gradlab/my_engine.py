"""The engine of part two as one module for learners to take home, with a README and a test against torch."""

import ast
import configparser
import contextlib
import re
import shutil
import sys
from pathlib import Path

from . import atomic, engine, notebook
from .checks.cells import Chapter
from .checks.meaning import meaning
from .notebook import OWN_ENGINE, OWN_PICTURE
from .setup.workspace import RELEASED
from .words import _, ngettext

CLONE = Path(__file__).parents[2]  # of the repository, if the course is used from one
WIDTH = 58  # the most letters of a line of code in the picture
DARK, BRIGHT, SOFT = "#0d1117", "#f0f6fc", "#b1bac4"
CHAPTERS = {11: "recording", 12: "running backward", 13: "hooks and parts of a graph", 14: "training"}
FILES = {  # each file's template in static
    "train_digits.py": "my_engine_digits.py",
    "README.md": "my_engine_readme.md",
    "test_my_engine.py": "my_engine_test.py",
}
DIGITS = "digits.npz"  # beside chapter 14
STATIC = Path(__file__).with_name("static")


def take_home() -> None:
    """Write your engine from chapters 11 to 14 as one module, in a folder beside your chapters, and print where it is.

    It reads your notebooks as JupyterLab shows them, or else as you saved them. Functions of chapters 11 to 13 that
    are not yours come from the finished engine; from chapter 14 come only yours and the given ones. Once chapter 14 is
    solved, a script that trains on digits, a README and a test are added. A file that you changed is kept.
    """
    *earlier, last = CHAPTERS
    if why := engine.why_finished(last):
        print(_("my_engine.py was not written: {why}.", why=why))
        return
    stages = [*(engine.stage_of(number, engine.finished_parts(number)) for number in earlier), engine.stage_of(last)]
    train = stages[-1]
    for cell in train.why:
        del train.parts[cell]
    whose = {name: why for stage in stages for name, why in stage.whose().items()}
    folder = notebook.home() / OWN_ENGINE
    folder.mkdir(exist_ok=True)
    text = module(stages)
    file = folder / "my_engine.py"
    mine, total = sum(not why for why in whose.values()), len(whose)
    own, lines = sum(map(own_lines, stages)), lines_of_code(text)
    _write(file, text)
    print(_("my_engine/my_engine.py: {mine} of {total} functions are yours.", mine=mine, total=total))
    counted = f"{mine} of its {total} functions"  # in the README, which others read, in English
    if own:
        print(_("So are {own} of {lines} lines of code.", own=own, lines=lines))
        counted += f" and {own} of its {lines} lines of code"
    for name, why in whose.items():
        if why:
            print(" ", _("{function} comes from the finished engine: {why}", function=name, why=why))
    _write(folder / "pyproject.toml", (STATIC / "my_engine_pyproject.toml").read_text(encoding="utf-8"))
    if train.why:
        print(_("{files} are added once chapter {number} is solved:", files=", ".join(FILES), number=last))
        print(*(f"  {why}" for why in train.why.values()), sep="\n")
        return
    for name, template in FILES.items():
        _write(folder / name, (STATIC / template).read_text(encoding="utf-8").replace("MINE", counted))
    with contextlib.suppress(FileNotFoundError):
        shutil.copy(notebook.home() / engine.chapter_of(last) / DIGITS, folder)
    command = f"pip install ./{OWN_ENGINE}"
    print(_("{files} are beside it. To use it anywhere: {command}", files=", ".join(FILES), command=command))


def own_lines(stage: engine.Stage) -> int:
    """Return how many lines of code the learner wrote in a stage, 0 if there is no release to compare with."""
    released = engine.parts_of(Chapter(notebook.home() / RELEASED / engine.chapter_of(stage.number)).code)
    given = {cell: lines_of_code(text) - text.count(engine.STUB) for cell, text in released.items()}
    return sum(max(0, lines_of_code(text) - given[cell]) for cell, text in stage.own.items() if cell in given)


def share(figure, name=""):
    """Make a figure of what your engine has trained a picture to share, and return it.

    It gets dark, with your engine's number of lines, the first ten of your `backward` and `run`, your name, and the
    course's name and address. Once take_home() has written my_engine.py, it is saved as a PNG beside the notebook.
    """
    from matplotlib.text import Text  # only this picture needs it

    own = notebook.home() / OWN_ENGINE / "my_engine.py"
    text = own.read_text(encoding="utf-8") if own.exists() else ""
    lines = lines_of_code(text)
    counted = ngettext("I built autograd: {count} line of Python", "I built autograd: {count} lines of Python", lines)
    title = counted if lines else _("I built autograd")
    figure.suptitle(title, fontsize="x-large", fontweight="bold", color=BRIGHT)
    below = [name.strip()[:40], _("torch.autograd, by hand"), address(CLONE)]
    figure.supxlabel("  ·  ".join(filter(None, below)), fontsize="large", color=SOFT)
    figure.set_facecolor(DARK)
    for label in figure.findobj(lambda artist: isinstance(artist, Text) and artist not in figure.texts):
        label.set_color(SOFT)
    code = "\n".join(first_lines(text, ["backward", "run"], 10))
    left = 0.42 if code else 0.0
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1, rect=(left, 0, 1 - left, 1))
    figure.text(0.02, 0.5, code, family="monospace", fontsize=9, linespacing=1.6, va="center", color=BRIGHT)
    if lines:
        figure.savefig(notebook.FOLDER / OWN_PICTURE, facecolor=DARK, dpi=150)
        print(_("Saved as {file} beside this notebook. {title}.", file=OWN_PICTURE, title=title))
    else:
        print(_("Once my_engine.py is written, its lines are counted and the picture saved."))
    return figure


def first_lines(text: str, names: list[str], most: int) -> list[str]:
    """Return the first lines of a module's functions with these names, without docstrings, comments and empty lines."""
    definitions = engine.functions(text) if text else {}
    lines = [line for name in names if name in definitions for line in _without_docstring(definitions[name])]
    return [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines[:most]]


def _without_docstring(text: str) -> list[str]:
    node = ast.parse(text).body[0]
    start = end = 0
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
        start, end = node.body[0].lineno, node.body[0].end_lineno or 0
    kept = (line.split("  #")[0] for n, line in enumerate(text.splitlines(), 1) if not start <= n <= end)
    return [line for line in kept if line.strip() and not line.lstrip().startswith("#")]


def address(folder: Path) -> str:
    """Return the web address of the repository that a folder was cloned into, without a name or password, or ""."""
    settings = configparser.ConfigParser(strict=False, interpolation=None)
    with contextlib.suppress(OSError, configparser.Error, UnicodeDecodeError):
        settings.read(folder / ".git/config", encoding="utf-8")
    url = settings.get('remote "origin"', "url", fallback="")
    match = re.fullmatch(r"(?:\w+://)?(?:[^@/]*@)?([\w-]+(?:\.[\w-]+)+)(?::\d+)?[:/](.+?)(?:\.git)?/?", url)
    return f"{match[1]}/{match[2]}" if match else ""


def lines_of_code(text: str) -> int:
    """Count a module's lines without its docstrings, comments and empty lines."""
    return sum(bool(line.strip()) for line in meaning(text).splitlines())


def module(stages: list[engine.Stage]) -> str:
    """Return the stages as the source of one module: imports first, then chapter by chapter."""
    imports: set[str] = set()
    body = []
    for stage in stages:
        body.append(f"# Chapter {stage.number}: {CHAPTERS[stage.number]}")
        for cell, text in stage.mixed().items():
            lines = _imports(text)
            if lines is not None:
                imports |= {line for line in lines if not line.startswith("from engine_")}
            else:
                body.append(f"{_says(stage, cell)}{text}")
    groups: dict[bool, list[str]] = {True: [], False: []}  # of Python's own modules, and of others
    for line in sorted(imports):
        groups[line.split()[1].partition(".")[0] in sys.stdlib_module_names].append(line)
    head = "\n\n".join("\n".join(lines) for lines in groups.values() if lines)
    doc = '"""An automatic differentiation engine that needs only NumPy and uses torch\'s names."""'
    return f"{doc}\n\n{head}\n\n\n" + "\n\n\n".join(body) + "\n"


def _imports(text: str) -> list[str] | None:
    """Return the lines of a part that contains only imports; None for any other part."""
    statements = ast.parse(text).body
    alone = all(isinstance(stmt, ast.Import | ast.ImportFrom) for stmt in statements)
    return [ast.unparse(stmt) for stmt in statements] if alone else None


def _says(stage: engine.Stage, cell: str) -> str:
    """Return the comment above an answer."""
    if not engine.ANSWER.fullmatch(cell):
        return ""
    return f"# Exercise {engine.check_of(cell)}{'' if cell in stage.own else ', the finished one'}\n"


def _write(path: Path, text: str) -> None:
    """Write a file. An existing file with different contents is renamed to the first free name."""
    if path.exists() and path.read_text(encoding="utf-8") != text:
        number = 1
        while (kept := path.with_stem(f"{path.stem}_{number}")).exists():
            number += 1
        path.rename(kept)
    atomic.write_bytes(path, text.encode())
