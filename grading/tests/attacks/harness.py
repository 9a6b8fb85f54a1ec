"""Submit attacks and their twins in one class, grade it, and check the results."""

import contextlib
import hashlib
import os
import secrets
import select
import socket
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path

import nbformat
import psutil
import torch
from tiny_class import NAME, TinyClass, solved_notebook

from autograder.sandbox.provisioner import SERVER

from .exercises import solved
from .table import ATTACKS, UNGRADED

ESCAPED, LEAKED = "ESCAPED", "LEAKED"
LIMITS = """c = get_config()
c.Execute.timeout = 4
c.RunCells.submission_timeout_s = 60
c.SandboxProvisioner.memory_mib = 1500
"""


class Class:
    """A tiny class with things to steal: a port, sockets, and secrets in the environment and an argument.

    exercises: of `exercises.py`; without any, its notebook has the tiny class's own.
    """

    _reached = False

    def __init__(self, folder: Path, exercises: Collection[str] = ()):
        notebook = solved(exercises) if exercises else solved_notebook()
        cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
        self.checks = sorted(name for name in cells if "check" in name)
        self.most = [cells[name].metadata.nbgrader.points for name in self.checks]
        self.right = {name: cell.source for name, cell in cells.items() if "answer" in name}
        self.tiny = TinyClass(folder, solved=notebook if exercises else None)
        self.mark = secrets.token_hex(8)
        (folder / "nbgrader_config.py").write_text(LIMITS)
        self.tiny.hand_in("honest", self.right)
        self.tiny.hand_in("last", self.right)

    def run(self, names: list[str]) -> Iterator[tuple[str, list, list, str]]:
        """Grade an honest submission, then all attacks with their twins, at the same time.

        Yield each attack's name, its points, its twin's, and what is wrong with the results, or "".

        Most bombs are graded one by one, because several could take all of the machine's memory or processors.
        """
        with self._surroundings():
            reasons = self._graded("honest")
            for number, name in enumerate(names):
                self._hand_in(f"attack{number}", name, honest=False)
                self._hand_in(f"twin{number}", name, honest=True)
            before = self._digest()
            for number, name in enumerate(names):
                if name.startswith("bomb: ") and not ATTACKS[name].fast:
                    reasons |= self._graded(f"attack{number}") | self._graded(f"twin{number}")
            reasons |= self._graded()
            assert self._digest() == before, f"one of {names} changed a file"
            assert [self.tiny.points(one) for one in ("honest", "last")] == [self.most] * 2
            said = self.tiny.api.generate_feedback(NAME)
            assert said["success"], said
            for number, name in enumerate(names):
                student, *_ = both = f"attack{number}", f"twin{number}"
                attack, twin = (UNGRADED if reasons[one] else self.tiny.points(one) for one in both)
                yield name, attack, twin, self._fault(name, student, attack, twin)

    def leftovers(self) -> list[str]:
        """Return processes and files that attacks left behind, and whether one reached the class's socket."""
        children = psutil.Process(SERVER._process.pid).children()
        found = [f"process {one.pid}" for one in children if not ends(one.pid)]
        found += ["a connection"] * self._reached
        for folder in [
            "/tmp",
            "/",
            "/usr",
            Path.home() / ".ipython",
            Path(torch.__file__).parents[1],
            self.tiny.folder,
        ]:
            found += [str(path) for path in Path(folder).glob(f"*{self.mark}*")]
        return found

    def _hand_in(self, student: str, name: str, honest: bool) -> None:
        attack = ATTACKS[name]
        answers = self.right | {cell: self._fill(text) for cell, text in attack.answers(honest).items()}
        self.tiny.hand_in(student, answers, attack.twin_change if honest else attack.change)
        files = attack.twin_files if honest else attack.files
        if files:
            files(self.tiny.submission(student), self.tiny.folder)

    def _fill(self, text: str) -> str:
        filled = {"FOLDER": str(self.tiny.folder), "PORT": str(self.port), "MARK": self.mark, "SECRET": self.mark}
        filled["PID"] = str(os.getpid())
        for word, value in {**filled, "WIN": "print('ESC' + 'APED')"}.items():
            text = text.replace(word, value)
        return text

    def _graded(self, *students: str) -> dict[str, str]:
        """Grade these students, or all that are due, and return the reasons why some have no grade."""
        return {outcome.student: outcome.reason for outcome in self.tiny.outcomes(*students)}

    def _fault(self, name: str, student: str, points: list, twin: list) -> str:
        """Describe what is wrong with the results of an attack, made by this student, and its twin; "" if nothing is.

        A bomb depends on the machine's free resources, so it may also end with fewer points than stated, or no grade.
        """
        wanted = [*ATTACKS[name].points]
        if exercise := ATTACKS[name].exercise.replace(".", "-"):
            both = zip(self.checks, self.most, strict=True)
            wanted = [most * (check != f"check-{exercise}") for check, most in both]
        fewer = name.startswith("bomb: ") and all(
            p is None or (w is not None and p <= w) for p, w in zip(points, wanted, strict=True)
        )
        faults = {
            "the attack got out": ESCAPED in nbformat.writes(self.tiny.autograded(student)),
            "the feedback page shows what the run wrote": LEAKED in self.tiny.page(student).read_text(),
            f"the attack has {points}, not {wanted}": points != wanted and not fewer,
            f"the honest twin has {twin}": twin != self.most,
        }
        return "; ".join(fault for fault, is_so in faults.items() if is_so)

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for part in ("source", "release", "records", "submitted/honest", "autograded/honest", "submitted/last"):
            for path in sorted((self.tiny.folder / part).rglob("*")):
                digest.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
        return digest.hexdigest()

    @contextlib.contextmanager
    def _surroundings(self) -> Iterator[None]:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.socket(socket.AF_UNIX) as named,
            socket.socket(socket.AF_UNIX) as abstract,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log,
            subprocess.Popen(["/bin/sh", "-c", "read line", self.mark], stdin=subprocess.PIPE),
        ):
            self.port = server.getsockname()[1]
            named.bind(str(self.tiny.folder / "socket"))
            named.listen()
            named.setblocking(False)
            log.bind(str(self.tiny.folder / "log"))
            abstract.bind(f"\0{self.mark}")
            abstract.listen()
            os.environ["GRADEBOOK_PASSWORD"] = self.mark
            try:
                yield
            finally:
                del os.environ["GRADEBOOK_PASSWORD"]
            with contextlib.suppress(BlockingIOError):  # nothing connected, not even the grader's own client
                named.accept()[0].close()
                self._reached = True


def classes(folder: Path, names: list[str]) -> Iterator[tuple[Class, list[str]]]:
    """Make the classes that the named attacks need; yield each with the names of its attacks."""
    of_chapters = [name for name in names if ATTACKS[name].exercise]
    for part, chosen in (("tiny", [name for name in names if name not in of_chapters]), ("chapters", of_chapters)):
        if chosen:
            yield Class(folder / part / "class", {ATTACKS[name].exercise for name in chosen} - {""}), chosen


def ends(pid: int) -> bool:
    """Return whether a process ends within a minute: the one that watched the last kernel is a little later than it."""
    with contextlib.suppress(ProcessLookupError):
        end = select.poll()
        end.register(os.pidfd_open(pid), select.POLLIN)
        return bool(end.poll(60_000))
    return True
