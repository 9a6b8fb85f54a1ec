"""Repeat a check alone: in a sandbox without the rest of the notebook, where torch cannot do what the exercise forbids.

The process in the sandbox runs `gradlab.checks.alone`; this module tells it what to observe.
"""

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec
from traitlets.config import Config

from gradlab.checks.record import Case

from ..sandbox.provisioner import SandboxProvisioner
from .execute import complete, folder_with

LONGEST = 5_000_000  # bytes of a reply; an observation is smaller
FORBIDDEN = b"-4"  # the exit code of a process that Linux ended for an illegal instruction; see gradlab.checks.alone
Result = TypeVar("Result")


@dataclass(frozen=True)
class Task:
    """What to observe alone: the fields of a `gradlab.checks.alone.Alone`, and the cases to send after it.

    names: what the check, or the finished code, reads.
    """

    fields: dict
    cases: list[Case]
    names: set[str]

    @property
    def allows(self) -> tuple[bool, bool]:
        """Whether the check allows torch, and recording."""
        return self.fields["torch"], self.fields["records"]

    def after(self, cells: list[str]) -> "Task":
        """Return this task with the cells to run before it."""
        return replace(self, fields=self.fields | {"cells": cells, "cases": len(self.cases)})


@dataclass(frozen=True)
class Seen:
    """What was observed of an answer alone.

    replies: the lines it sent, one for each case, as bytes that may contain anything. forbidden: whether its process
    was ended because it did what the exercise forbids.
    """

    replies: list[bytes]
    forbidden: bool


class Room:
    """A sandbox for the answers of one submission. end: when to stop waiting for them, by the clock."""

    def __init__(self, control: socket.socket, end: float):
        self._control, self._end = control, end

    def observe(self, tasks: list[Task]) -> list[Seen]:
        """Observe answers, all of which allow the same, in a fresh process; if it ends early, the rest in another one.

        Each case is sent when the reply to the one before is there.
        """
        seen: list[Seen] = []
        while len(seen) < len(tasks):
            seen += self._in_one_process(tasks[len(seen) :])
        return seen

    def _in_one_process(self, tasks: list[Task]) -> list[Seen]:
        """Observe answers until the process ends, which counts for the last one; at least one."""
        ours, theirs = socket.socketpair()
        replies: list[list[bytes]] = [[]]
        code = b""
        with contextlib.suppress(OSError):  # the room has ended, or the time has
            with ours, ours.makefile("rb") as lines:
                with theirs:
                    socket.send_fds(self._control, [b"observe"], [theirs.fileno()])
                with contextlib.suppress(OSError, EOFError):  # the process has ended
                    for number, task in enumerate(tasks):
                        replies[number:] = [[]]
                        self._send(ours, task.fields)
                        for case in task.cases:
                            self._send(ours, case.inputs)
                            replies[number].append(lines.readline(LONGEST))
                            if not replies[number][-1]:
                                raise EOFError
            self._control.settimeout(self._left_s())
            code = self._control.recv(16)
        return [*(Seen(reply, False) for reply in replies[:-1]), Seen(replies[-1], code == FORBIDDEN)]

    def _send(self, ours: socket.socket, message: object) -> None:
        ours.settimeout(self._left_s())
        ours.sendall(msgspec.json.encode(message) + b"\n")

    def _left_s(self) -> float:
        return max(self._end - time.monotonic(), 0.001)


def in_a_room(files: dict[str, bytes], config: dict, timeout_s: float, observe: Callable[[Room], Result]) -> Result:
    """Return what `observe` returns, given a Room with these files beside the notebook.

    config: the settings of the provisioner. Raises SandboxError if no sandbox can be created.
    """

    async def observed() -> Result:
        provisioner = SandboxProvisioner(config=Config({"SandboxProvisioner": config}))
        with folder_with(files) as folder:
            try:
                with await provisioner.launch_alone(Path(folder)) as control:
                    return observe(Room(control, time.monotonic() + timeout_s))
            finally:
                await provisioner.kill()

    return complete(observed())
