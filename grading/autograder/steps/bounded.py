"""Process submitted content in a child process with limits on time and memory, so that no submission can stall a class.

Known sizes and depths are checked where content is read; this module catches everything else.
"""

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from gradlab.words import _, catalogue

from ..errors import SubmissionError

SECONDS = 10.0  # processor time of one call, however busy the machine is
MEMORY_MIB = 1024  # in addition to the process's initial memory
PATIENCE_S = 600  # for a process that hangs without using the processor


class OutOfBoundsError(SubmissionError):
    """Reading this submission takes more time or memory than any honest submission needs."""


class Bounded:
    """A function that runs in a separate process, with limits on processor time and memory per call.

    The process is forked at the first call, so any function works, and is reused: a call costs only pickling its
    arguments and result. A call that exceeds a limit is tried again in a new process. Raises the function's errors, or
    OutOfBoundsError. On systems other than Linux, where nothing is graded, the function is called directly.
    """

    def __init__(self, function: Callable, seconds: float = SECONDS, memory_mib: int = MEMORY_MIB):
        self.function, self.seconds, self.memory_mib = function, seconds, memory_mib
        self._lock = threading.Lock()
        self._process: int | None = None
        self._catalogue: object = None  # that the process uses
        self._connection: Connection

    def __call__(self, *arguments):
        if not sys.platform.startswith("linux"):
            return self.function(*arguments)
        with self._lock:
            if self._catalogue is not catalogue():
                self._end()
            if self._process is not None:
                with contextlib.suppress(OutOfBoundsError):
                    return self._result(arguments)
            self._start()
            return self._result(arguments)

    def start(self) -> None:
        """Start the process now instead of at the first call."""
        with self._lock:
            if self._process is None and sys.platform.startswith("linux"):
                self._start()

    def close(self) -> None:
        """End the process; the next call starts a new one."""
        with self._lock:
            self._end()

    def _result(self, arguments: tuple):
        try:
            self._connection.send(arguments)
            if not self._connection.poll(PATIENCE_S):
                raise OutOfBoundsError(_("its content could not be read within {seconds} seconds.", seconds=PATIENCE_S))
            error, result = self._connection.recv()
        except (EOFError, ConnectionError):
            raise OutOfBoundsError(self._why(self._end())) from None
        except BaseException:
            self._end()
            raise
        if error is not None:
            if isinstance(error, OutOfBoundsError):
                self._end()
            raise error
        return result

    def _why(self, status: int) -> str:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
            return _("its content takes more than {seconds:g} seconds of processor time to read.", seconds=self.seconds)
        return _("its content crashes the process that reads it.")

    def _start(self) -> None:
        self._catalogue = catalogue()
        ours, theirs = Pipe()
        process = os.fork()
        if process == 0:
            try:
                self._serve(theirs)
            finally:
                os._exit(1)
        theirs.close()
        self._process, self._connection = process, ours

    def _end(self) -> int:
        """End the process if there is one; return its status as given by os.waitpid."""
        if self._process is None:
            return 0
        process, self._process = self._process, None
        self._connection.close()
        status = 0
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            ended, status = os.waitpid(process, os.WNOHANG)
            if not ended:
                os.kill(process, signal.SIGKILL)
                _, status = os.waitpid(process, 0)
        return status

    def _serve(self, connection: Connection) -> None:
        """Answer calls, in the forked process, until the parent ends or this process has grown too large."""
        import resource  # which Windows lacks

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
        for number in (signal.SIGTERM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        os.closerange(3, connection.fileno())  # the parent's locks and sockets
        os.closerange(connection.fileno() + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        begun_with = _size()
        limit = begun_with + self.memory_mib * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        gc.freeze()
        while _size() < (begun_with + limit) / 2:  # memory left over from one call must not count against the next
            try:
                arguments = connection.recv()
            except EOFError:
                return
            signal.setitimer(signal.ITIMER_PROF, self.seconds)
            connection.send(self._answer(arguments))
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _answer(self, arguments: tuple) -> tuple:
        try:
            return None, self.function(*arguments)
        except MemoryError:
            return OutOfBoundsError(_("its content takes more than {mib} MiB to read.", mib=self.memory_mib)), None
        except Exception as error:
            return portable(error), None

    def __del__(self):
        self._end()


def portable(error: BaseException) -> BaseException:
    """Return a picklable form of an error, with its traceback added as a note."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _size() -> int:
    """Return this process's virtual memory in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
