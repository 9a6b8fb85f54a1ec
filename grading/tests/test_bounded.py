"""Submitted content is processed in a child process with limits on time and memory."""

import json
import os
import signal

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tiny_class import NAME, RIGHT

from autograder.errors import SubmissionError
from autograder.steps import files, runs
from autograder.steps.bounded import Bounded, OutOfBoundsError
from autograder.steps.execute import RunResult
from autograder.steps.outcome import Status
from autograder.views import pages, report
from autograder.views.flags import Flagger

TOO_LONG = "its content takes more than 0.5 seconds of processor time to read"


def work(text: str):
    """Misbehave as a function may on hostile text."""
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
            raise type("StrangeError", (Exception,), {})("1 and 2")  # which cannot be pickled
    return text.upper(), os.getpid()


@pytest.fixture
def bounded():
    made = Bounded(work, seconds=0.5, memory_mib=256)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("loop", "more than 0.5 seconds of processor time"),
        ("memory", "more than 256 MiB"),
        ("crash", "crashes the process that reads it"),
    ],
)
def test_an_exceeded_limit_is_reported_and_the_next_call_works(bounded, text, why):
    bounded("a")
    with pytest.raises(OutOfBoundsError, match=why):
        bounded(text)
    assert bounded("b")[0] == "B"


def test_the_functions_error_is_raised_with_its_traceback(bounded):
    with pytest.raises(SubmissionError, match="it is too late") as caught:
        bounded("error")
    assert "in work" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match="StrangeError: 1 and 2"):
        bounded("strange")


def test_memory_left_by_one_call_does_not_count_against_the_next():
    kept = []

    def hoard(mib: int) -> int:
        kept.append(bytes(mib << 20))
        return len(kept)

    bounded = Bounded(hoard, memory_mib=256)
    assert [bounded(100), bounded(100), bounded(100), bounded(200)] == [1, 2, 1, 1]
    bounded.close()


def test_calls_share_a_process_that_has_no_file_of_the_parent_and_ends_with_them(tmp_path, bounded):
    with (tmp_path / "lock").open("w") as file:
        inode = os.fstat(file.fileno()).st_ino
        held = Bounded(lambda: [os.fstat(fd).st_ino for fd in range(3, 99) if os.path.exists(f"/proc/self/fd/{fd}")])
        assert inode not in held()
    (first, process), (second, again) = bounded("a"), bounded("b")
    assert (first, second) == ("A", "B")
    assert process == again != os.getpid()
    bounded.close()
    assert not os.path.exists(f"/proc/{process}")


def endless(*args):
    while True:
        pass


@pytest.fixture
def short(monkeypatch):
    """Reading may take half a second from now on."""

    def bounded(function):
        return Bounded(function, seconds=0.5)

    for module in (runs, report):
        monkeypatch.setattr(module, "Bounded", bounded)
    monkeypatch.setattr(pages, "shown", bounded(pages._cells))
    runs.judging.cache_clear()
    yield
    runs.judging.cache_clear()


def test_too_long_to_judge_could_not_be_graded_and_too_long_to_search_is_flagged(tiny, short, monkeypatch):
    monkeypatch.setattr(runs, "execute", lambda job, files: RunResult(job.notebook))
    ended = {}
    for student, judge in (("mallory", endless), ("anna", runs.judge)):
        tiny.hand_in(student, RIGHT)
        runs.judging.cache_clear()
        monkeypatch.setattr(runs, "judge", judge)
        ended[student] = tiny.grader().grade_here(student)
    assert (ended["mallory"].status, ended["mallory"].reason) == (Status.UNGRADABLE, f"{TOO_LONG}.")
    assert ended["anna"].status == Status.GRADED
    monkeypatch.setattr(Flagger, "flags", endless)
    rows = tiny.rows()
    assert rows["mallory"].reason == f"{TOO_LONG}."
    assert [flag.why for flag in rows["anna"].flags] == [f"it could not be searched: {TOO_LONG}."]


@pytest.mark.parametrize(("read", "reason"), [(endless, f"{TOO_LONG}."), (files._tried.function, "")])
def test_only_a_notebook_that_takes_too_long_to_read_is_unfit(tmp_path, monkeypatch, read, reason):
    """Eighty thousand outputs do not; they are not validated."""
    monkeypatch.setattr(files, "_tried", Bounded(read, seconds=0.5))
    outputs = [{"output_type": "none", "name": "stdout", "text": ""}] * 80_000
    cell = {"cell_type": "code", "id": "a", "source": "", "metadata": {}, "execution_count": None, "outputs": outputs}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    folder = tmp_path / "anna" / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook))
    assert files.unfit(folder, NAME) == reason


def test_a_page_that_takes_too_long_shows_sources_and_verdicts_as_text(short):
    cells = [new_code_cell("?<" * 14_990 + str(number)) for number in range(99)]
    cells[0].metadata = {
        "nbgrader": {"grade": True, "grade_id": "check-1"},
        "autograder": {"90.1": {"feedback": {"title": "90.1", "state": "wrong", "lead": "1 < 2."}}},
    }
    step, resources = pages.SafePage(), {"metadata": {"path": None}}
    made, _ = step.preprocess(new_notebook(cells=[new_markdown_cell("<b>"), *cells]), resources)
    first, markdown, check, *_ = made.cells
    assert first.source == f"<p>Shown without colors and outputs: {TOO_LONG}.</p>"
    assert markdown.source == "<pre>&lt;b&gt;</pre>"
    assert check.source.startswith("<pre>?&lt;?")
    assert check.outputs[0].text == "90.1: not yet.\n1 &lt; 2."
    assert len(made.cells) == 101
    honest, _ = step.preprocess(new_notebook(cells=[new_markdown_cell("**b**")]), resources)
    assert "<strong>b</strong>" in honest.cells[0].source
