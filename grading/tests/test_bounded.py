"""Work on what a submission holds: done in a process that may be killed, so that it can cost only so much."""

import os
import signal
import threading
import time

import pytest

from autograder.errors import SubmissionError
from autograder.steps.bounded import Bounded, OutOfBoundsError


def work(text: str):
    """What hostile text may make of a function."""
    match text:
        case "loop":
            while True:
                pass
        case "memory":
            return len(bytes(1 << 30))
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "error":
            raise SubmissionError("it is too late.")
        case "strange":
            raise StrangeError(1, 2)
    return text.upper(), os.getpid()


class StrangeError(Exception):
    """One that cannot be pickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@pytest.fixture
def bounded():
    made = Bounded(work, seconds=0.2, memory_mib=256)
    yield made
    made.close()


def test_it_gives_what_the_function_gives_from_one_other_process(bounded):
    (first, process), (second, again) = bounded("a"), bounded("b")
    assert (first, second) == ("A", "B")
    assert process == again != os.getpid()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("loop", "more than 0.2 seconds of processor time"),
        ("memory", "more than 256 MiB"),
        ("crash", "ends the process that reads it"),
    ],
)
def test_what_is_too_much_is_said_and_the_next_call_is_answered(bounded, text, why):
    bounded("a")
    started = time.process_time()
    with pytest.raises(OutOfBoundsError, match=why):
        bounded(text)
    assert time.process_time() - started < 0.2
    assert bounded("b")[0] == "B"


def test_an_error_of_the_function_is_raised_with_its_trace(bounded):
    with pytest.raises(SubmissionError, match="it is too late") as caught:
        bounded("error")
    assert "in work" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="StrangeError: 1 and 2"):
        bounded("strange")


def test_what_an_earlier_call_has_left_is_not_counted_against_a_later_one():
    kept = []

    def hoard(mib: int) -> int:
        kept.append(bytes(mib << 20))
        return len(kept)

    bounded = Bounded(hoard, memory_mib=256)
    assert [bounded(100), bounded(100), bounded(100), bounded(200)] == [1, 2, 1, 1]
    bounded.close()


def test_it_may_be_called_from_several_threads(bounded):
    answers = []
    threads = [threading.Thread(target=lambda n=n: answers.append(bounded(f"x{n}")[0])) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [f"X{n}" for n in range(8)]


def test_no_process_is_left_and_no_file_of_the_parent_is_held(tmp_path, bounded):
    with (tmp_path / "lock").open("w") as file:
        inode = os.fstat(file.fileno()).st_ino
        held = Bounded(lambda: [os.fstat(fd).st_ino for fd in range(3, 99) if os.path.exists(f"/proc/self/fd/{fd}")])
        assert inode not in held()
    process = bounded("a")[1]
    bounded.close()
    assert not os.path.exists(f"/proc/{process}")
