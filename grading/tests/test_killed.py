"""If grading is killed at any write, finished submissions are complete, and the next run grades the others."""

import json
import multiprocessing
import signal
from dataclasses import replace

import killer
import pytest
from tiny_class import NAME, RIGHT, TinyClass

from autograder.errors import SubmissionError
from autograder.run import grader as grader_module
from autograder.steps.autograde import Failed, Graded
from autograder.steps.execute import RunResult

RUNS = {"before": [1.0, 1.5], "after": [2.0, 3.0]}  # the checks' points, by the run that graded them
STUDENTS = ["anna", "ben", "gita"]  # ben has manual points; gita's notebook could not be graded
QUICK, MANY = 6, 50

forked = multiprocessing.get_context("forkserver")  # from a process without threads
forked.set_forkserver_preload(["autograder.run.grade", "autograder.settings"])


def graded(tiny: TinyClass, ready: dict, end_at: int = 0, force: bool = True) -> tuple[int, int]:
    """Grade in a new process; return its exit code, and the number of its writes if it was not killed."""
    counted = forked.Value("i", lock=False)
    process = forked.Process(target=killer.grade_with, args=(tiny.folder, NAME, ready, end_at, force, counted))
    process.start()
    process.join()
    return process.exitcode, counted.value


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> TinyClass:
    tiny = TinyClass(tmp_path_factory.mktemp("killed") / "class")
    for student in STUDENTS:
        tiny.hand_in(student, RIGHT)
    assert graded(tiny, answers(tiny, "before"))[0] == 0
    tiny.set_by_hand("ben", 0.5)
    return tiny


def answers(tiny: TinyClass, named: str) -> dict[str, Graded | Failed]:
    """The workers' results; the notebooks contain the number of their run."""
    grader, found = tiny.grader(), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.steps.runs.execute", lambda job, files: RunResult(job.notebook))
        for student in STUDENTS:
            said = grader_module.autograde(grader.kit, grader.begin(student))
            scored = replace(said.scored, scores=dict(zip(sorted(said.scored.scores), RUNS[named], strict=True)))
            nb = json.loads(said.notebook)
            nb["metadata"]["run"] = named
            found[student] = replace(said, notebook=json.dumps(nb), scored=scored)
    return found | {"gita": Failed(SubmissionError(f"it is broken {named} all."))}


def rows(tiny: TinyClass) -> dict[str, list]:
    """Return each submission's cells in the gradebook, with points and whether they need a manual grade."""
    found = {}
    with tiny.api.gradebook as book:
        for one in book.assignment_submissions(NAME):
            cells = [
                (g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for n in one.notebooks for g in n.grades
            ]
            said = [(c.name, c.auto_comment) for n in one.notebooks for c in n.comments]
            found.setdefault(one.student_id, []).append((sorted(cells), sorted(said)))
    return found


def files(tiny: TinyClass) -> list[str]:
    return sorted(str(path.relative_to(tiny.folder)) for path in (tiny.folder / "autograded").rglob("*"))


def expected(named: str, student: str) -> list:
    """Return the expected rows of a submission graded by this run."""
    cells = ["check-1", "check-2"]
    if student == "gita":
        said = f"Could not be graded: it is broken {named} all."
        return [([(cell, None, None, True) for cell in cells], [("answer-1", said), ("answer-2", said)])]
    by_hand = [0.5 if student == "ben" else None, None]
    points = [(*found, False) for found in zip(cells, RUNS[named], by_hand, strict=True)]
    return [(points, [("answer-1", None), ("answer-2", None)])]


def of_run(tiny: TinyClass, student: str) -> str:
    """Return the run in a submission's notebook; "" if it does not count as graded."""
    if tiny.grader().why_due(student):
        return ""
    metadata = tiny.autograded(student).metadata
    return metadata.get("run") or metadata["autograder"]["could_not_grade"].split()[3]


@pytest.mark.parametrize("wanted", [QUICK, pytest.param(MANY, marks=pytest.mark.exhaustive)])
def test_after_a_killed_run_the_next_one_grades_everything_that_is_left(tiny, wanted):
    """Until all are marked as outdated, none is graded, and the next run needs --force too."""
    ready = {named: answers(tiny, named) for named in RUNS}
    whole = files(tiny)
    code, count = graded(tiny, ready["before"])
    assert (code, count > MANY) == (0, True)
    for number in range(wanted):
        end_at = count * (number + 1) // (wanted + 1)
        assert graded(tiny, ready["before"])[0] == 0
        assert graded(tiny, ready["after"], end_at)[0] == -signal.SIGKILL, end_at
        now, found = rows(tiny), {student: of_run(tiny, student) for student in STUDENTS}
        for student, named in found.items():
            assert not named or now[student] == expected(named, student), (end_at, student)
        assert not {"before", "after"} <= set(found.values()), (end_at, found)
        assert graded(tiny, ready["after"], force="before" in found.values())[0] == 0
        assert rows(tiny) == {student: expected("after", student) for student in STUDENTS}, end_at
        assert [of_run(tiny, student) for student in STUDENTS] == ["after"] * 3, end_at
        assert files(tiny) == whole, end_at
