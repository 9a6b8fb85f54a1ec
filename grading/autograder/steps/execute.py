"""Run a submission's cells in a kernel; no other step starts student code.

Input and output are plain data and contain no class data: no gradebook, no expected values, no seed.
"""

import asyncio
import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import nbformat
import zmq
from jupyter_client.provisioning import LocalProvisioner
from jupyter_client.utils import ensure_async
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from traitlets.config import Config

from gradlab.words import N_, _

from ..errors import ClassError
from ..sandbox import KERNEL_NAME, machine
from ..sandbox.manager import START_S, SandboxManager, TypedManager
from .clock import Reading
from .leaving import OF_THE_RUN

LOOK_S = 1.0  # how often a kernel's clocks are read while a cell runs
FLOOD = 10  # times the output limit; a cell that writes more is interrupted
MOST_BYTES = 500_000_000  # of one cell, which may ignore that; beyond, its kernel is killed
INTERRUPT_S = 10  # how long, by the same clocks, a cell may continue after an interrupt
HANG_S = 3600  # only for hanging operations; normally the clocks end a kernel
OF_MESSAGES = (nbformat.ValidationError, AttributeError, LookupError, TypeError, ValueError)
STARVED = N_(
    "it waited for a processor for more than {seconds:.0f} seconds, even when it ran alone. Either this machine or "
    "the submission itself kept the processor busy; grade it again when the machine is less busy."
)


@dataclass(frozen=True)
class Job:
    """The input for one run of a notebook; the notebook is given as JSON.

    skip: the positions of cells not to run. cell_timeout_s, timeout_s: the limits for one cell and all cells, by the
    kernel's clocks (see `clock`). config: settings for the kernel manager and provisioner, by class name. record: the
    name of the file in which checks find their cases. cases: that file's content while a check cell runs, by grade_id.
    """

    notebook: str
    skip: frozenset[int]
    kernel_name: str
    cell_timeout_s: float
    timeout_s: float
    max_output_bytes: int
    config: dict[str, dict] = field(default_factory=dict)
    record: str = ""
    cases: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunResult:
    """The result of a run: the notebook with its outputs as JSON, or "" and the reason why there is none.

    starved: whether the cells waited for a processor longer than their time limit. cell_timeout_s: one cell's limit.
    """

    notebook: str
    reason: str = ""
    starved: bool = False
    cell_timeout_s: float = 0.0


@dataclass
class Spent:
    """The time that a run has used so far, over all its kernels, with the run's limit."""

    limit_s: float
    had_s: float = 0.0
    waited_s: float = 0.0

    def add(self, had_s: float, waited_s: float = 0.0) -> None:
        """Add the seconds a kernel has used and the seconds it waited for a processor."""
        self.had_s += had_s
        self.waited_s += waited_s

    def require(self) -> None:
        """Raise OutOfTimeError if the limit is used up, or StarvedError if the run waited that long for a processor."""
        if self.had_s > self.limit_s:
            raise OutOfTimeError
        if self.waited_s > self.limit_s:
            raise StarvedError


def execute(job: Job, files: dict[str, bytes]) -> RunResult:
    """Run the job's notebook in a temporary folder with `files`, by relative path, and return the result.

    If a cell ends its kernel, run the notebook again without that cell. A cell ends its kernel by crashing it, by
    exceeding a sandbox limit, or by ignoring an interrupt. Raises ClassError if no sandbox can be created.
    """
    spent = Spent(job.timeout_s)
    notebook, reason, starved = "", "", False
    try:
        if job.kernel_name == KERNEL_NAME:
            machine.require()
        with folder_with(files) as folder:
            notebook = json.dumps(_run(job, folder, spent))
    except ClassError:
        raise
    except OutOfTimeError:
        reason = _("its cells took more than {seconds:.0f} seconds in total.", seconds=job.timeout_s)
    except StarvedError:
        reason, starved = _(STARVED, seconds=job.timeout_s), True
    except OF_MESSAGES as error:  # their text may quote what the run wrote
        reason = _("its cells sent a message that no kernel sends ({error}).", error=type(error).__name__)
    except Exception as error:
        reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return RunResult(notebook, reason, starved, job.cell_timeout_s)


def _run(job: Job, folder: Path, spent: Spent) -> NotebookNode:
    fatal: dict[int, tuple[str, str]] = {}
    while True:
        client = LimitedClient(job, folder, fatal, spent)
        try:
            return complete(client.run())
        except (DeadKernelError, CellTimeoutError) as error:
            if client.running is None:
                raise
            fatal[client.running] = client.explain(error)


def complete(run: Coroutine) -> Any:
    """Return the result of a coroutine, even inside an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run)
    with ThreadPoolExecutor(1) as executor:  # Formgrader's button calls this inside an event loop
        return executor.submit(asyncio.run, run).result()


@contextlib.contextmanager
def folder_with(files: dict[str, bytes]) -> Iterator[Path]:
    """Yield a temporary folder with these files, by relative path.

    All users can read them, because a kernel started by root runs as a different user.
    """
    with tempfile.TemporaryDirectory(prefix="submission-") as name:
        folder = Path(name)
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for parent, _folders, names in os.walk(folder):
            Path(parent).chmod(0o755)
            for file in names:
                Path(parent, file).chmod(0o644)
        yield folder


def error_output(name: str, text: str) -> NotebookNode:
    """Return a cell output that shows an error with this name and text."""
    return new_output("error", ename=name, evalue=text.split("\n")[0], traceback=text.split("\n"))


class OutOfTimeError(Exception):
    """The submission's cells took too long in total."""


class StarvedError(Exception):
    """The submission waited so long for a processor that its run is inconclusive."""


class LimitedClient(NotebookClient):
    """nbclient's client with bounded messages and time limits; it skips cells and reports why a kernel ended.

    fatal: the error name and text to show for cells that ended their kernel in an earlier run, by position.
    running: the position of the current or last cell, None before the first.
    """

    def __init__(self, job: Job, folder: Path, fatal: dict[int, tuple[str, str]], spent: Spent):
        super().__init__(
            nbformat.from_dict(json.loads(job.notebook)),
            config=Config(job.config),
            resources={"metadata": {"path": str(folder)}},
            kernel_name=job.kernel_name,
            kernel_manager_class=SandboxManager if job.kernel_name == KERNEL_NAME else TypedManager,
            shutdown_kernel="immediate",
            startup_timeout=START_S,
            timeout=None,
            iopub_timeout=HANG_S,
            allow_errors=True,
            on_cell_executed=self._note_reply,
        )
        self.job, self.fatal, self.spent, self.record = job, fatal, spent, folder / job.record
        self.running: int | None = None
        self._output_bytes, self._cell_bytes, self._why = 0, 0, ""  # of cells that ended, and of the running one
        self._sent_bytes = 0  # of the running one's messages; one may change many outputs
        self._interrupted = False  # whether the running cell was interrupted
        self._refuses = False  # whether the kernel no longer accepts messages
        self._muted = False  # whether its output is left out, because it is too large
        self._clocks: asyncio.Future  # interrupts it
        self._ended: Exception | None = None  # why this client ended its kernel during a cell

    async def run(self) -> NotebookNode:
        """Run the cells in a new kernel, shut it down, and return the notebook. Sets no signal handlers."""
        self.manager = self.create_kernel_manager()
        try:
            await self.async_start_new_kernel()
            await self.async_start_new_kernel_client()
            for index, cell in enumerate(self.nb.cells):
                if index in self.fatal:
                    cell.outputs = [error_output(*self.fatal[index])]
                elif cell.cell_type == "code" and index not in self.job.skip:
                    await self._run_cell(cell, index)
        finally:
            if self.km is not None:  # nbclient has not cleaned up already
                await self._async_cleanup_kernel()
        return self.nb

    async def _run_cell(self, cell: NotebookNode, index: int) -> None:
        self.spent.require()
        before, self.running, self._interrupted, self._muted = self.running, index, False, False
        self._cell_bytes = self._sent_bytes = 0
        self._clocks = asyncio.ensure_future(self._watch(self.job.cell_timeout_s))
        try:
            with self._with_cases(cell):
                await self.async_execute_cell(cell, index)
        except zmq.Again:
            self.running = index if before is None else before  # disconnected because of an earlier cell's message
            self._refuses = True
            raise DeadKernelError from None
        except DeadKernelError:
            task = asyncio.current_task()
            if task and task.cancelling():  # by Ctrl-C, which nbclient takes for the kernel's end
                raise asyncio.CancelledError from None
            raise self._ended or DeadKernelError(self._why) from None
        finally:
            self._clocks.cancel()
        self._output_bytes += 0 if self._muted else self._cell_bytes
        if self._ended or self._why:  # the kernel may have answered before it ended
            raise self._ended or DeadKernelError(self._why)

    async def _watch(self, seconds: float) -> None:
        """Interrupt the running cell after this time, and end its kernel if it continues."""
        try:
            await self._has_had(seconds)
            self._interrupted = True
            await ensure_async(self.manager.interrupt_kernel())
            await self._has_had(INTERRUPT_S)
            raise CellTimeoutError
        except Exception as error:
            self._ended = error
            self._end_kernel()

    async def _has_had(self, seconds: float) -> None:
        """Wait until the kernel has used this many more seconds; raise an error if the run reaches its total limit.

        The clocks are first read after one second, which counts in full: most cells end sooner.
        """
        had_s, before = 0.0, None
        while had_s < seconds:
            look_s, started = min(LOOK_S, seconds - had_s + 0.05), time.monotonic()
            try:
                await asyncio.sleep(look_s)
            except asyncio.CancelledError:  # the cell has ended
                self.spent.add(min(look_s, time.monotonic() - started))
                raise
            now = Reading.of(self._provisioner)
            more_s, waited_s = now.since(before, look_s) if before else (look_s, 0.0)
            self.spent.add(more_s, waited_s)
            self.spent.require()
            had_s, before = had_s + more_s, now

    @property
    def _provisioner(self) -> LocalProvisioner:
        return cast(LocalProvisioner, self.manager.provisioner)

    def _end_kernel(self) -> None:
        """End the kernel immediately; nbclient notices within a second."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(cast(int, self._provisioner.pgid), signal.SIGKILL)

    @contextlib.contextmanager
    def _with_cases(self, cell: NotebookNode) -> Iterator[None]:
        """Put a check's cases into the record file while its cell runs, so that no other cell can read them."""
        cases = self.job.cases.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if cases is None:
            yield
            return
        without = self.record.read_bytes()
        self.record.write_text(cases, encoding="utf-8")  # in place, because the sandbox mounts this file
        try:
            yield
        finally:
            self.record.write_bytes(without)

    def explain(self, error: Exception) -> tuple[str, str]:
        """Return the error's name and text to show in the cell that ended the kernel."""
        if isinstance(error, CellTimeoutError):
            return self._too_much if self._muted else self._too_long
        if self._refuses:
            return "DeadKernelError", _("After this cell, the kernel no longer accepts messages.")
        why = self._why or getattr(self.manager.provisioner, "limit_exceeded", "")
        return "DeadKernelError", " ".join(filter(None, [_("The kernel died while this cell ran."), why]))

    @property
    def _too_much(self) -> tuple[str, str]:
        most = self.job.max_output_bytes / 1e6
        return "TooMuchOutputError", _("This cell's output is left out: all output exceeded {most:g} MB.", most=most)

    @property
    def _too_long(self) -> tuple[str, str]:
        return "CellTimeoutError", _("This cell did not end within {limit:g} s.", limit=self.job.cell_timeout_s)

    def _note_reply(self, cell: NotebookNode, cell_index: int, execute_reply: dict) -> None:
        content = execute_reply["content"]
        if self._muted:
            cell.outputs = [error_output(*self._too_much)]
            return
        if self._interrupted:
            said = error_output(*self._too_long)  # instead of its KeyboardInterrupt
            cell.outputs = [*(o for o in cell.outputs if o.output_type != "error"), said]
            return
        if any(payload.get("source") == "ask_exit" for payload in content.get("payload", [])):
            self._ended = DeadKernelError()  # it ends now, or soon
        if content["status"] == "error" and not any(o.output_type == "error" for o in cell.outputs):
            cell.outputs.append(error_output(_name(content), str(content.get("evalue"))))

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Process a message of the running cell, unless its output is too large; called by nbclient."""
        self._sent_bytes += msg["size"]
        self._cell_bytes += msg["size"] * self._places(msg)
        limit = self.job.max_output_bytes
        if not self._muted and self._output_bytes + self._cell_bytes > limit:
            self._muted, cell.outputs = True, []
            self.clear_display_id_mapping(cell_index)
        if self._sent_bytes > FLOOD * limit and not self._interrupted:
            self._interrupted = True
            self._clocks.cancel()
            self._clocks = asyncio.ensure_future(self._watch(0))
        if self._sent_bytes > MOST_BYTES and not self._why:
            self._why = _("The output exceeded {most:g} MB.", most=MOST_BYTES / 1e6)
            self._end_kernel()
        if self._muted and msg["msg_type"] != "status":
            return None
        if msg["msg_type"] == "error":
            msg["content"]["ename"] = _name(msg["content"])
        return super().process_message(msg, cell, cell_index)

    def _places(self, msg: dict) -> int:
        """Return how many outputs a message fills, at least 1: it may update displays of all cells."""
        display_id = (msg["content"].get("transient") or {}).get("display_id", "")
        updated = sum(len(places) for places in self._display_id_map.get(display_id, {}).values())
        return max(1, updated + (msg["msg_type"] != "update_display_data"))


def _name(error: dict) -> str:
    """Return the name of a kernel's error; "Exception" for the names of errors that only this module adds."""
    name = str(error.get("ename"))
    return "Exception" if name in OF_THE_RUN else name
