"""Repeat a check alone: in a sandbox without the rest of the notebook, where torch cannot do what the exercise forbids.

The process in the sandbox runs `gradlab.checks.alone`; this module tells it what to observe.
"""

import contextlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
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

    def observe(self, task: dict, cases: list[Case]) -> Seen:
        """Observe one answer in a fresh process; each case is sent when the reply to the one before is there.

        task: the fields of a `gradlab.checks.alone.Alone`.
        """
        ours, theirs = socket.socketpair()
        replies: list[bytes] = []
        code = b""
        with contextlib.suppress(OSError):  # the room has ended, or the time has
            with ours, ours.makefile("rb") as lines:
                with theirs:
                    socket.send_fds(self._control, [b"observe"], [theirs.fileno()])
                with contextlib.suppress(OSError):  # the process has ended
                    self._send(ours, task)
                    for case in cases:
                        self._send(ours, case.inputs)
                        replies.append(lines.readline(LONGEST))
            self._control.settimeout(self._left_s())
            code = self._control.recv(16)
        return Seen(replies, code == FORBIDDEN)

    def _send(self, ours: socket.socket, what: object) -> None:
        ours.settimeout(self._left_s())
        ours.sendall(msgspec.json.encode(what) + b"\n")

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
