"""Work on what a submission holds, in a process that may be killed: no text that is read or shown holds up a class.

Sizes and depths are bounded where they are met; this bounds what nobody has thought of.
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

from ..errors import SubmissionError

SECONDS = 10.0  # of processor time; whatever else the machine does, it is the submission's own
MEMORY_MIB = 1024  # more than the process had to begin with
PATIENCE_S = 600  # for a process that neither works nor ends


class OutOfBoundsError(SubmissionError):
    """What a submission holds takes more time or memory than anything honest."""


class Bounded:
    """A function that is called in a process of its own, with a limit to its processor time and memory for each call.

    The process is forked at the first call, so the function may be any, and stays: a call costs no more than to send
    its arguments and its result, which can be pickled. Only what is too much for a new process is at fault. Raises what
    the function raises, or OutOfBoundsError. Elsewhere than on Linux, where nothing is graded, it is simply called.
    """

    def __init__(self, function: Callable, seconds: float = SECONDS, memory_mib: int = MEMORY_MIB):
        self.function, self.seconds, self.memory_mib = function, seconds, memory_mib
        self._lock = threading.Lock()
        self._process: int | None = None
        self._connection: Connection

    def __call__(self, *arguments):
        if not sys.platform.startswith("linux"):
            return self.function(*arguments)
        with self._lock:
            if self._process is not None:
                with contextlib.suppress(OutOfBoundsError):
                    return self._result(arguments)
            self._start()
            return self._result(arguments)

    def close(self) -> None:
        """End the process; another call starts one again."""
        with self._lock:
            self._end()

    def _result(self, arguments: tuple):
        try:
            self._connection.send(arguments)
            if not self._connection.poll(PATIENCE_S):
                raise OutOfBoundsError(f"what it holds could not be read within {PATIENCE_S} seconds.")
            error, result = self._connection.recv()
        except (EOFError, ConnectionError):
            raise OutOfBoundsError(f"what it holds {self._why(self._end())}.") from None
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
            return f"takes more than {self.seconds:g} seconds of processor time to read"
        return "ends the process that reads it"

    def _start(self) -> None:
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
        """End the process if there is one; returns how it ended, as os.waitpid tells it."""
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
        """Called in the forked process; returns when its parent has ended, or it has grown."""
        import resource  # which Windows lacks

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
        for number in (signal.SIGTERM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        os.closerange(3, connection.fileno())  # locks and sockets of the parent
        os.closerange(connection.fileno() + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        begun_with = _size()
        limit = begun_with + self.memory_mib * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        gc.freeze()
        while _size() < (begun_with + limit) / 2:  # else what this one keeps would be counted against the next
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
            return OutOfBoundsError(f"what it holds takes more than {self.memory_mib} MiB to read."), None
        except Exception as error:
            error.add_note("".join(traceback.format_exception(error)))
            try:
                pickle.loads(pickle.dumps(error))
            except Exception:
                return RuntimeError(f"{type(error).__name__}: {error}"), None
            return error, None

    def __del__(self):
        self._end()


def _size() -> int:
    """The memory of this process, with all that it has only reserved."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
