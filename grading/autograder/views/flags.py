"""Flag lines of a submission that no answer needs: they may interfere with how it is observed, or look elsewhere.

A flag is not a verdict and costs no points, and code that hides its words is not found: points depend on values that
are compared outside the student's process. Released lines are never flagged.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gradlab import ipynb
from gradlab.checks.messages import NOT_ALONE
from gradlab.checks.record import SUFFIX
from gradlab.words import N_, _

from ..steps import outcome
from ..steps.files import cells_of, readable

MOST = 20  # flags per submission
MOST_CHARACTERS = 200_000  # searched in one cell or file
OTHERS = N_("names another student's submission, or the class's own files")
WHY = {  # patterns of a line
    N_("uses IPython's internals, which control how cells run and what they show"): (
        r"\b(get_ipython|InteractiveShell|zmq|ast_transformers|input_transformers\w*|display_pub|displayhook|run_cell\w*|"
        r"user_ns|_render_traceback_|ipykernel)\b|\b(In|_ih|_oh)\b(?=\[| *:$)"
    ),
    N_("inspects the internals of functions, frames or modules"): (
        r"__(globals|code|closure|subclasses|builtins|loader)__|\b(f_(globals|locals|back)|_getframe|currentframe|"
        r"getclosurevars|settrace|setprofile|sys\.modules|import +gc)\b"
    ),
    N_("touches the parts of gradlab that check answers"): r"\bgradlab\.checks\b|vnd\.gradlab|\bgradlab(\.\w+)+ *=[^=]",
    N_("patches a module that the checks use"): (
        r"^ *(torch(?!\.backends)|math|numpy|np|builtins)(\.\w+)+ *=[^=]|\b(set|del)attr\((torch|math|numpy|np)\b"
    ),
    N_("starts, ends or interferes with processes"): (
        r"\b(ctypes|cffi|subprocess|multiprocessing|socket|atexit|resource)\b"
        r"(?= *$|[., ])|\bos\.(_exit|abort|kill\w*|fork\w*|exec\w+|spawn\w+|posix_spawn\w*|system|popen|dup2|close\w*|"
        r"getppid|sched_\w+)\b"
    ),
    N_("uses a path outside the submission's own folder"): (
        r"""["'](~|\.\.(/|["'])|/(proc|sys|dev|etc|home|root|tmp|var|usr|run|opt|mnt|srv|bin)\b)"""
    ),
    N_("names a notebook, or the record of the checks"): r"\.ipynb\b|\brecord\.json",
    OTHERS: r"\b(submitted|autograded)/|\bgradebook\.db\b",
    N_("uses code that belongs to grading"): r"\b(import|from) +(autograder|authoring|mini_autograd)\b",
    N_("uses a different engine that computes derivatives"): (
        r"^ *(import|from) +(sympy|jax|autograd|tensorflow|casadi)\b"
    ),
    N_("uses one of torch's own gradient formulas"): r"\btorch\.(ops|nn\.grad)\b",
    N_("uses an IPython magic or a shell command"): (
        r"^ *([\w, ]+= *)?(!|%%?(?!(time|timeit|capture|matplotlib|debug)\b)[a-z])"
    ),
}
RECORD = N_("is a record of checks, but not the class's")
ALONE = N_("passes in the notebook, but not alone: read the answer, and set the points manually if they are deserved")
_WHY = [(why, re.compile(pattern)) for why, pattern in WHY.items()]


@dataclass(frozen=True)
class Flag:
    """A flagged line. where: the cell or file. line: counted from 1, 0 for a whole file. why: the reason to show."""

    where: str
    line: int
    source: str
    why: str


class Flagger:
    """Searches the submissions of one assignment for lines to flag.

    folder: the released files, with the notebook `name`, whose lines are never flagged. students: their ids, which must
    not appear in a path in another student's submission.
    """

    def __init__(self, folder: Path, name: str, students: Iterable[str] = ()):
        texts = [cell["source"] for cell in cells_of(folder / f"{name}.ipynb")] + [text for _, text in _modules(folder)]
        self.released = {line.strip() for text in texts for line in text.split("\n")}
        self.files = {path.name for path in folder.rglob("*")} | {name + SUFFIX}
        self.students = set(students)

    def flags(self, notebook: dict, folder: Path, student: str = "") -> list[Flag]:
        """Return the flags of an autograded notebook, from `ipynb.read`, and its folder; one per reason and source."""
        return list(islice(self._flags(notebook, folder, student), MOST))

    def _flags(self, notebook: dict, folder: Path, student: str) -> Iterator[Flag]:
        sources = _modules(folder)
        for number, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), 1):
            where = (ipynb.grade_id(cell) or cell.get("id") or _("code cell {number}", number=number))[:60]
            sources.append((where, cell["source"][:MOST_CHARACTERS]))
            for check_id, verdict in outcome.read_verdicts(cell).items():
                if verdict.feedback.state == NOT_ALONE:
                    yield Flag(readable(where), 0, check_id, _(ALONE))
        names = sorted(path.name for path in folder.rglob(f"*{SUFFIX}") if path.name not in self.files)
        yield from (Flag(readable(name), 0, "", _(RECORD)) for name in names)
        for where, text in sources:
            flagged: set[str] = set()
            for number, line in enumerate(text.split("\n"), 1):
                for why in self._reasons(line, student) if line.strip() not in self.released else ():
                    if why not in flagged:
                        flagged.add(why)
                        yield Flag(readable(where), number, readable(line.strip()[:160]), _(why))

    def _reasons(self, line: str, student: str) -> Iterator[str]:
        yield from (why for why, pattern in _WHY if pattern.search(line))
        parts = {part for text in re.findall(r"""["']([^"']*/[^"']*)["']""", line) for part in text.split("/")}
        if parts & self.students - {student}:
            yield OTHERS


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return the relative path and the beginning of each Python file in a folder."""
    paths = sorted(path for path in folder.rglob("*.py") if path.is_file())
    return [(str(path.relative_to(folder)), path.read_text("utf-8", "replace")[:MOST_CHARACTERS]) for path in paths]
