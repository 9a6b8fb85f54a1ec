"""The journal of a run: what was to be graded and what has been, so that an interrupted run can go on."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from gradlab import atomic

from ..errors import ClassError


@contextlib.contextmanager
def only_run(class_folder: Path) -> Iterator[None]:
    """Keep the class to this run: the gradebook has one writer. Raises ClassError if another run has it."""
    lock = FileLock(_folder(class_folder) / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ClassError(f"Another run is grading the class in {class_folder}; wait for its end.") from None
    try:
        yield
    finally:
        lock.release()


class Journal:
    """One line of JSON for the run, one more for each submission that is done; on disk at once."""

    def __init__(self, class_folder: Path, assignment: str):
        self.path = _folder(class_folder) / f"{assignment}.jsonl"
        self.force, self.students, self.done = False, [], {}

    def begin(self, force: bool, students: list[str]) -> None:
        """Start the journal of a new run in place of the last one."""
        self.force, self.students, self.done = force, students, {}
        self._write([{"force": force, "students": students}])

    def resume(self) -> None:
        """Read how far the last run came; whoever stands in a damaged line is graded again.

        Raises ClassError if there has been no run, or if its first line is damaged.
        """
        text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.exists() else ""
        lines = text.split("\n")[:-1]  # the last one is empty, or was cut off
        if not lines:
            raise ClassError(f"There is no run to resume: {self.path} is missing or empty. Start one without --resume.")
        first, *others = [_entry(line) for line in lines]
        if not {"force", "students"} <= first.keys():
            raise ClassError(f"{self.path} is damaged. Start without --resume, and with --force if it was begun so.")
        noted = [entry for entry in others if {"student", "status"} <= entry.keys()]
        if len(noted) < len(others):
            print(f"{self.path} is damaged; who stands in its damaged lines is graded again.", file=sys.stderr)
        self.force, self.students = first["force"], first["students"]
        self.done = {entry["student"]: entry["status"] for entry in noted}
        self._write([first, *noted])

    def note(self, student: str, status: str) -> None:
        """Write down that a submission is done."""
        self.done[student] = status
        self._add({"student": student, "status": status})

    def _write(self, entries: list[dict]) -> None:
        atomic.write_text(self.path, "".join(json.dumps(entry) + "\n" for entry in entries))

    def _add(self, entry: dict) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _entry(line: str) -> dict:
    """What a line of the journal holds; nothing if it is damaged."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _folder(class_folder: Path) -> Path:
    folder = Path(class_folder) / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
