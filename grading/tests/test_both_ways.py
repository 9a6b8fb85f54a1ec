"""make grade and nbgrader autograde produce the same gradebook rows, files and cells."""

import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from tiny_class import NAME, RIGHT, TinyClass, nbgrader, write_settings

from autograder.steps.files import RECEIPTS

SLIP = RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"}
WRONG = dict.fromkeys(RIGHT, "raise ValueError")
PLUGIN = """from nbgrader.plugins import BasePlugin


class PerHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return total_seconds_late / 3600
"""
EACH_RUN = {"seconds", "execution"}  # differs between runs


def without_a_check(nb) -> None:
    nb.cells = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") != "check-1"]


def twice_and_retyped(nb) -> None:
    check = next(cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "check-2")
    nb.cells.insert(0, type(check)(check, id="a-copy"))
    nb.cells[-1].cell_type = "raw"
    nb.metadata.kernelspec.name = "another"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The class graded by nbgrader's command and by ours, each twice, the second time with manual points."""
    made = {}
    for way in ("nbgrader", "ours"):
        place = tmp_path_factory.mktemp(way)
        folder = write_settings(place)
        tiny = TinyClass(folder) if not made else made["nbgrader"].copy_to(folder)
        (folder / "late.py").write_text(PLUGIN)
        with open(place / "nbgrader_config.py", "a") as settings:
            settings.write('get_config().AssignLatePenalties.plugin_class = "late.PerHour"\n')
        if not made:
            hand_in(tiny)
            Path(folder, "source", NAME, "given.txt").write_text("of the class")
        else:
            Path(folder, "source", NAME, "given.txt").write_text("of the class")
        with tiny.api.gradebook as book:
            book.update_or_create_assignment(NAME, duedate="2026-11-02 12:00:00")
        made[way] = tiny
        for force in ([], ["--force"]):
            nbgrader(place, "autograde", NAME, *force) if way == "nbgrader" else tiny.grade(force=bool(force))
            by_hand(tiny)
        if way == "nbgrader":
            nbgrader(place, "autograde", NAME, "--force")
        else:
            tiny.grade(force=True)
    return made


def hand_in(tiny: TinyClass) -> None:
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", SLIP)
    tiny.hand_in("cem")
    tiny.hand_in("dora", WRONG)
    tiny.hand_in("eva", RIGHT, without_a_check)
    tiny.hand_in("finn", RIGHT, twice_and_retyped)
    tiny.hand_in("gita", text="{")
    tiny.hand_in("hugo", RIGHT)
    (tiny.submission("hugo") / "own").mkdir()
    (tiny.submission("hugo") / "own" / "notes.txt").write_text("mine")
    (tiny.submission("hugo") / "given.txt").write_text("another")
    for number, student in enumerate(sorted(path.name for path in (tiny.folder / "submitted").iterdir())):
        (tiny.submission(student) / "timestamp.txt").write_text(f"2026-11-02 {9 + number}:30:00 UTC")
        (tiny.submission(student) / "submission_secret.txt").write_text(student)


def by_hand(tiny: TinyClass) -> None:
    with tiny.api.gradebook as book:
        first, second = sorted(book.find_submission_notebook(NAME, NAME, "ben").grades, key=lambda g: g.name)
        first.manual_score, second.extra_credit = 1.5, 0.5
        first.needs_manual_grade = False
        book.db.commit()


def rows(tiny: TinyClass) -> dict:
    """Return the gradebook's rows of all submissions, by student."""
    with Gradebook(tiny.api.coursedir.db_url, tiny.api.coursedir.course_id) as book:
        return {
            one.student_id: {
                "submission": (one.timestamp, one.extension, one.score, one.needs_manual_grade),
                "notebook": [(n.name, n.late_submission_penalty, n.flagged) for n in one.notebooks],
                "grades": sorted(
                    (g.name, g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade)
                    for n in one.notebooks
                    for g in n.grades
                ),
                "comments": sorted(
                    (c.name, c.auto_comment or "", c.manual_comment or "") for n in one.notebooks for c in n.comments
                ),
            }
            for one in book.assignment_submissions(NAME)
        }


def files(tiny: TinyClass) -> dict:
    """Return the files beside autograded notebooks, with permissions; for ungradable ones, only what nbgrader needs."""
    folder = tiny.folder / "autograded"
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.suffix != ".ipynb" else b"", path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and ("gita" not in path.parts or path.name in (f"{NAME}.ipynb", *RECEIPTS))
    }


def same_in_each_run(data):
    if isinstance(data, dict):
        return {key: same_in_each_run(value) for key, value in data.items() if key not in EACH_RUN}
    return [same_in_each_run(one) for one in data] if isinstance(data, list) else data


def test_every_row_of_the_gradebook_is_the_same(both):
    theirs, ours = rows(both["nbgrader"]), rows(both["ours"])
    assert theirs.keys() == ours.keys()
    for student in theirs:
        assert (student, theirs[student]) == (student, ours[student])
    assert theirs["hugo"]["notebook"] == [(NAME, 4.5, False)]
    assert theirs["gita"]["notebook"] == [(NAME, None, False)], "late, but there is no score to take anything off"
    assert theirs["anna"]["comments"] == [("answer-1", "", ""), ("answer-2", "", "")]


def test_every_file_is_the_same(both):
    theirs, ours = files(both["nbgrader"]), files(both["ours"])
    assert theirs == ours
    assert theirs[f"hugo/{NAME}/given.txt"][0] == b"of the class"


def test_every_cell_of_every_autograded_notebook_is_the_same(both):
    students = [path.name for path in (both["ours"].folder / "autograded").iterdir()]
    assert len(students) == 8
    for student in students:
        theirs, ours = (same_in_each_run(json.loads(json.dumps(both[way].autograded(student)))) for way in both)
        for cell, other in zip(theirs.pop("cells"), ours.pop("cells"), strict=True):
            if student == "eva" and cell["metadata"].get("nbgrader", {}).get("grade_id") == "check-1":
                assert cell.pop("id") != other.pop("id")  # a restored cell has a new id
            assert (student, cell) == (student, other)
        assert theirs == ours
