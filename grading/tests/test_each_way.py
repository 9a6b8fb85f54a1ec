"""Every way of grading produces the same gradebook rows, with the points that nbgrader reads itself."""

from pathlib import Path

import nbformat
import pytest
from distributed import SpecCluster
from distributed.deploy.subprocess import SubprocessScheduler, SubprocessWorker
from lab_server import HANG_S
from nbgrader.preprocessors import SaveAutoGrades
from tiny_class import NAME, PER_HOUR, RIGHT, SLIP, TinyClass, cell_of, nbgrader, write_settings

from autograder.errors import ClassError
from autograder.sandbox.provisioner import ADDRESS, SERVER

WRONG = dict.fromkeys(RIGHT, "raise ValueError")
LOCAL = {"host": "127.0.0.1", "port": 0, "dashboard": False}
SCHEDULER = {"cls": SubprocessScheduler, "options": {"scheduler_kwargs": LOCAL, "timeout": HANG_S}}
WORKER = {"cls": SubprocessWorker, "options": {"worker_kwargs": {"nthreads": 4}}}


def twice_and_retyped(nb) -> None:
    check = cell_of(nb, "check-2")
    nb.cells.insert(0, type(check)(check, id="a-copy"))
    nb.cells[-1].cell_type = "raw"
    nb.metadata.kernelspec.name = "another"


def by_nbgrader(tiny: TinyClass) -> None:
    nbgrader(tiny.folder.parent, "autograde", NAME, "--force")


def by_our_command(tiny: TinyClass) -> None:
    tiny.grade(force=True)


def on_a_cluster(tiny: TinyClass) -> None:
    """Grade on a scheduler and a worker in processes of their own, which share only the fork server with this one."""
    folder = tiny.folder.parent / "cluster"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv(ADDRESS, SERVER.address)
        with SpecCluster(scheduler=SCHEDULER, worker=WORKER) as started:
            address = started.scheduler_address
            with pytest.raises(ClassError, match="has no workers"):
                list(tiny.outcomes(force=True, scheduler=address))
            started.scale(1)
            started.wait_for_workers(1, timeout=HANG_S)
            assert {one.status for one in tiny.outcomes(force=True, scheduler=address)} == {
                "graded",
                "could not be graded",
            }


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class with manual points, and its rows after each way of grading everything again."""
    place = tmp_path_factory.mktemp("each way")
    tiny = TinyClass(write_settings(place, 'c.AssignLatePenalties.plugin_class = "late.PerHour"'))
    (tiny.folder / "late.py").write_text(PER_HOUR)
    Path(tiny.folder, "source", NAME, "given.txt").write_text("of the class")
    with tiny.api.gradebook as book:
        book.update_or_create_assignment(NAME, duedate="2026-11-02 12:00:00")
    hand_in(tiny)
    nbgrader(place, "autograde", NAME)
    tiny.set_by_hand("ben", 1.5)
    with tiny.api.gradebook as book:
        book.find_grade("check-2", NAME, NAME, "ben").extra_credit = 0.5
        book.db.commit()
    found = {}
    for way in (by_nbgrader, by_our_command, on_a_cluster):
        forget(tiny)
        way(tiny)
        found[way.__name__] = rows(tiny)
    return tiny, found


def hand_in(tiny: TinyClass) -> None:
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", SLIP)
    tiny.hand_in("cem")
    tiny.hand_in("dora", WRONG)
    tiny.hand_in("eva", RIGHT, lambda nb: nb.cells.remove(cell_of(nb, "check-1")))
    tiny.hand_in("finn", RIGHT, twice_and_retyped)
    tiny.hand_in("gita", text="{")
    tiny.hand_in("hugo", RIGHT)
    (tiny.submission("hugo") / "own").mkdir()
    (tiny.submission("hugo") / "own" / "notes.txt").write_text("mine")
    (tiny.submission("hugo") / "given.txt").write_text("another")
    tiny.hand_in("ivo", RIGHT | {"answer-2": "quit()"})
    for number, student in enumerate(sorted(path.name for path in (tiny.folder / "submitted").iterdir())):
        tiny.stamp(student, f"2026-11-02 {9 + number}:30:00 UTC")
        (tiny.submission(student) / "submission_secret.txt").write_text(student)


def forget(tiny: TinyClass) -> None:
    """Take away all points and verdicts that grading saved, so that the next way must save its own."""
    with tiny.api.gradebook as book:
        for submission in book.assignment_submissions(NAME):
            for grade in submission.notebooks[0].grades:
                grade.auto_score = None
        book.db.commit()
    for path in tiny.folder.glob(f"autograded/*/{NAME}/{NAME}.ipynb"):
        nb = nbformat.read(path, as_version=4)
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = []
        path.write_text(nbformat.writes(nb))


def rows(tiny: TinyClass) -> dict:
    """Return the gradebook's rows of all submissions, and the verdicts that students read, by student."""
    with tiny.api.gradebook as book:
        found = {}
        for one in book.assignment_submissions(NAME):
            (notebook,) = one.notebooks
            grades = [
                (g.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade) for g in notebook.grades
            ]
            found[one.student_id] = {
                "submission": (one.timestamp, one.extension, one.score, one.needs_manual_grade),
                "notebook": (notebook.name, notebook.late_submission_penalty, notebook.flagged),
                "grades": sorted(grades),
                "comments": sorted((c.name, c.auto_comment or "", c.manual_comment or "") for c in notebook.comments),
                "verdicts": [tiny.verdict(one.student_id, f"check-{n}") for n in (1, 2) if one.student_id != "gita"],
            }
        return found


@pytest.mark.parametrize("way", [by_our_command.__name__, on_a_cluster.__name__])
def test_every_row_is_the_same(graded, way):
    tiny, ways = graded
    theirs, found = ways[by_nbgrader.__name__], ways[way]
    assert theirs.keys() == found.keys()
    for student in theirs:
        assert (student, theirs[student]) == (student, found[student])
    assert found["hugo"]["notebook"] == (NAME, 4.5, False)
    assert found["gita"]["notebook"] == (NAME, None, False), "late, but there is no score to take anything off"
    assert found["anna"]["comments"] == [("answer-1", "", ""), ("answer-2", "", "")]
    assert found["ben"]["grades"] == [("check-1", 0, 1.5, None, False), ("check-2", 1.5, None, 0.5, False)]
    assert [row[1] for row in found["ivo"]["grades"]] == [2, 0]
    assert (tiny.folder / "autograded" / "hugo" / NAME / "given.txt").read_text() == "of the class"


def test_nbgrader_itself_reads_the_same_points_and_comments_from_the_notebooks(graded):
    tiny, ways = graded
    before = ways[on_a_cluster.__name__]
    names = {"assignment": NAME, "notebook": NAME, "db_url": tiny.api.coursedir.db_url}
    for student in before.keys() - {"gita"}:
        SaveAutoGrades(parent=tiny.api).preprocess(tiny.autograded(student), {"nbgrader": names | {"student": student}})
    after = rows(tiny)
    for student in before:
        assert [row[:4] for row in after[student]["grades"]] == [row[:4] for row in before[student]["grades"]], student
        assert after[student]["comments"] == before[student]["comments"]
