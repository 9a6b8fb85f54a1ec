"""Run a submission's cells: the only step that starts student code, in this process or on a worker anywhere.

It gets plain data and gives plain data, and knows nothing of the class: no gradebook, no expected value, no seed.
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

import nbformat
import zmq
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.utils import ensure_async
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from traitlets.config import Config

from ..errors import ClassError
from ..sandbox import KERNEL_NAME, machine
from ..sandbox.manager import SandboxManager
from .clock import Reading

MAX_DEPTH = 100  # of a message; an observation has less than half of it
LOOK_S = 1.0  # how often the clocks of a kernel are read while a cell runs
INTERRUPT_S = 10  # what a cell may take, by the same clocks, to end once it is interrupted
HANG_S = 3600  # for what takes moments unless something hangs; the clocks are what ends a kernel
STARVED = (
    "it waited for a processor for more than {:.0f} seconds, and again when it ran alone. This machine was too busy, "
    "or the submission kept it busy; grade it again when the machine has time."
)


@dataclass(frozen=True)
class Job:
    """One run of a notebook.

    skip: the positions of cells that are not run. config: of kernel managers, by class. record: the name of the file in
    which checks find their cases. cases: by grade_id, what that file holds while a check cell runs.
    cell_timeout_s, timeout_s: what a cell and all of them may take, by the clocks of their kernel, see `clock`. alone:
    to be run while nothing else is.
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
    alone: bool = False


@dataclass(frozen=True)
class Ran:
    """What a run came to: the notebook with its outputs, or "" and the reason why there is none.

    seconds: what its cells took, without waiting for a processor. starved: they waited longer than they may take.
    """

    notebook: str
    seconds: float
    reason: str = ""
    starved: bool = False


@dataclass
class Spent:
    """What a run has taken so far, over all its kernels; raises if that is more than it may."""

    limit_s: float
    had_s: float = 0.0
    waited_s: float = 0.0

    def add(self, had_s: float, waited_s: float = 0.0) -> None:
        """Count what a kernel has had, and for how long it waited for a processor."""
        self.had_s += had_s
        self.waited_s += waited_s

    def require(self) -> None:
        """Raise OutOfTimeError, or StarvedError if others had the time: less than half a core was left."""
        if self.had_s > self.limit_s:
            raise OutOfTimeError
        if self.waited_s > self.limit_s:
            raise StarvedError


def execute(job: Job, files: dict[str, bytes]) -> Ran:
    """Run the notebook in a folder of its own that holds `files`, by relative path, and again for each cell that ended
    its kernel, without it.

    A cell ends its kernel by its own doing, by exceeding a limit of the sandbox, by too much output, or by going on
    after it was interrupted. Raises ClassError if no sandbox can be made here.
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
        reason = f"its cells take more than {job.timeout_s:.0f} seconds together."
    except StarvedError:
        reason, starved = STARVED.format(job.timeout_s), True
    except Exception as error:
        reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return Ran(notebook, spent.had_s, reason, starved)


def _run(job: Job, folder: Path, spent: Spent) -> NotebookNode:
    fatal: dict[int, tuple[str, str]] = {}
    while True:
        client = Client(job, folder, fatal, spent)
        try:
            return _complete(client.run())
        except (DeadKernelError, CellTimeoutError) as error:
            if client.running is None:
                raise
            fatal[client.running] = (type(error).__name__, client.explain(error))


def _complete(run: Coroutine) -> NotebookNode:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run)
    with ThreadPoolExecutor(1) as beside:  # Formgrader's button is served inside of a loop
        return beside.submit(asyncio.run, run).result()


@contextlib.contextmanager
def folder_with(files: dict[str, bytes]) -> Iterator[Path]:
    """A temporary folder with these files, which others may read: a kernel that root starts is another user."""
    with tempfile.TemporaryDirectory(prefix="submission-") as name:
        folder = Path(name)
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        for parent, _, names in os.walk(folder):
            Path(parent).chmod(0o755)
            for file in names:
                Path(parent, file).chmod(0o644)
        yield folder


def error_output(name: str, text: str) -> NotebookNode:
    """An error output as a notebook holds it."""
    return new_output("error", ename=name, evalue=text.split("\n")[0], traceback=text.split("\n"))


class OutOfTimeError(Exception):
    """The submission as a whole has taken too long."""


class StarvedError(Exception):
    """The submission has waited for a processor for so long that its run says nothing of it."""


class Client(NotebookClient):
    """nbclient's client, which leaves cells out, believes no message, and says why a kernel ended.

    fatal: what to show in place of the cells that ended their kernel in an earlier run, by position.
    running: the position of the cell that runs or ran last, None before the first.
    """

    def __init__(self, job: Job, folder: Path, fatal: dict[int, tuple[str, str]], spent: Spent):
        super().__init__(
            nbformat.from_dict(json.loads(job.notebook)),
            config=Config(job.config),
            resources={"metadata": {"path": str(folder)}},
            kernel_name=job.kernel_name,
            kernel_manager_class=SandboxManager if job.kernel_name == KERNEL_NAME else AsyncKernelManager,
            shutdown_kernel="immediate",
            startup_timeout=HANG_S,
            timeout=None,
            iopub_timeout=HANG_S,
            allow_errors=True,
            on_cell_executed=self._note_reply,
        )
        self.job, self.fatal, self.spent, self.record = job, fatal, spent, folder / job.record
        self.running: int | None = None
        self._output_bytes, self._why = 0, ""
        self._interrupted = False  # the running cell, as it took too long
        self._ended: Exception | None = None  # why this client has ended its kernel in the middle of a cell

    async def run(self) -> NotebookNode:
        """Run the cells in a new kernel, and end it, without nbclient's handlers of signals."""
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
        before, self.running, self._interrupted = self.running, index, False
        clocks = asyncio.ensure_future(self._watch())
        try:
            with self._with_cases(cell):
                await self.async_execute_cell(cell, index)
        except zmq.Again:
            self.running = index if before is None else before  # it was cut off for what an earlier cell sent
            raise DeadKernelError("It does not take messages any more.") from None
        except DeadKernelError:
            raise self._ended or DeadKernelError(self._why) from None
        finally:
            clocks.cancel()
        if self._ended or self._why:  # the kernel may have answered before it ended
            raise self._ended or DeadKernelError(self._why)

    async def _watch(self) -> None:
        """Interrupt the cell that runs when its time is up, and end its kernel if it goes on."""
        try:
            await self._has_had(self.job.cell_timeout_s)
            self._interrupted = True
            await ensure_async(self.manager.interrupt_kernel())
            await self._has_had(INTERRUPT_S)
            raise CellTimeoutError
        except Exception as error:
            self._ended = error
            self._end_kernel()

    async def _has_had(self, seconds: float) -> None:
        """Return when the kernel has had so many seconds more, by its clocks; raises if the run may take no more.

        They are first read after a second, which counts whole: most cells end before.
        """
        had_s, before = 0.0, None
        while had_s < seconds:
            look_s, started = min(LOOK_S, seconds - had_s + 0.05), time.monotonic()
            try:
                await asyncio.sleep(look_s)
            except asyncio.CancelledError:  # the cell has ended
                self.spent.add(min(look_s, time.monotonic() - started))
                raise
            now = Reading.of(self.manager.provisioner)
            more_s, waited_s = now.since(before, look_s) if before else (look_s, 0.0)
            self.spent.add(more_s, waited_s)
            self.spent.require()
            had_s, before = had_s + more_s, now

    def _end_kernel(self) -> None:
        """End the kernel at once, which nbclient notices within a second."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.manager.provisioner.pgid, signal.SIGKILL)

    @contextlib.contextmanager
    def _with_cases(self, cell: NotebookNode) -> Iterator[None]:
        """Let a check find its cases while its cell runs: no other cell can read them and prepare for them."""
        cases = self.job.cases.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if cases is None:
            yield
            return
        without = self.record.read_bytes()
        self.record.write_text(cases, encoding="utf-8")  # the same file: the sandbox shows what is in it
        try:
            yield
        finally:
            self.record.write_bytes(without)

    def explain(self, error: Exception) -> str:
        """What to show in the cell that ended the kernel."""
        if isinstance(error, CellTimeoutError):
            return self._too_long
        if str(error).startswith("It does not"):
            return f"After this cell the kernel could not be used any more. {error}"
        why = self._why or getattr(self.manager.provisioner, "limit_exceeded", "")
        return f"The kernel died while this cell ran. {why}".rstrip()

    @property
    def _too_long(self) -> str:
        seconds = self.job.cell_timeout_s
        return f"This cell did not end within {seconds:g} second{'' if seconds == 1 else 's'}."

    def _note_reply(self, cell: NotebookNode, cell_index: int, execute_reply: dict) -> None:
        content = execute_reply["content"]
        if self._interrupted:
            said = error_output("CellTimeoutError", self._too_long)  # in the place of its KeyboardInterrupt
            cell.outputs = [*(o for o in cell.outputs if o.output_type != "error"), said]
            return
        payload = content.get("payload")
        if isinstance(payload, list) and any(isinstance(p, dict) and p.get("source") == "ask_exit" for p in payload):
            self._ended = DeadKernelError()  # it ends now, or soon
        if content["status"] == "error" and not any(o.output_type == "error" for o in cell.outputs):
            cell.outputs.append(error_output(str(content.get("ename")), str(content.get("evalue"))))

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Called by nbclient for each message that belongs to the running cell; too many bytes end the kernel."""
        if _is_deeper(msg["content"], MAX_DEPTH):
            self.log.warning("A message that is nested more than %d deep was dropped", MAX_DEPTH)
            return None
        self._output_bytes += len(str(msg["content"]))
        if self._output_bytes > self.job.max_output_bytes:
            if not self._why:
                self._why = f"The output was more than {self.job.max_output_bytes / 1e6:g} MB."
                self._end_kernel()
            return None
        return super().process_message(msg, cell, cell_index)


def _is_deeper(data: dict | list, levels: int) -> bool:
    if levels == 0:
        return True
    items = data.values() if isinstance(data, dict) else data
    return any(_is_deeper(item, levels - 1) for item in items if isinstance(item, dict | list))
