"""Damaged files are reported and recreated if possible; a moved class still works."""

import shutil
import tarfile

import pytest
from test_feedback import released, through_the_exchange
from tiny_class import NAME, RIGHT, TinyClass

from authoring.chapter import chapter_names
from autograder.errors import ClassError
from autograder.settings import class_api
from autograder.steps.answer_key import load_answer_key


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    tiny = TinyClass(tmp_path_factory.mktemp("damage") / "class")
    tiny.hand_in("anna", RIGHT)
    assert tiny.grade_here() == ["anna"]
    return tiny


def again(tiny: TinyClass):
    """Load the assignment as a new process does."""
    load_answer_key.__globals__["_load"].cache_clear()
    return load_answer_key(class_api(tiny.folder).coursedir, NAME)


@pytest.mark.parametrize("text", ["", '{"seed": 12, "record": {', "[]", "\0\0\0"])
def test_a_damaged_record_is_reported_and_no_new_seed_is_drawn(graded, text):
    path = graded.folder / "records" / f"{NAME}.json"
    whole = path.read_text()
    path.write_text(text)
    try:
        with pytest.raises(ClassError, match=rf"{NAME}\.json is damaged.*backup"):
            again(graded)
        assert path.read_text() == text
    finally:
        path.write_text(whole)


def test_a_report_can_be_written_without_a_record_that_cannot_be_read(graded, said):
    path = graded.folder / "records" / f"{NAME}.json"
    kept = path.rename(path.with_suffix(".kept"))
    path.mkdir()
    try:
        assert "anna" in said(graded, "report", NAME)
    finally:
        path.rmdir()
        kept.rename(path)


@pytest.mark.parametrize("text", ["", "{}", '{"cells": [', "[]"])
def test_a_submission_with_a_damaged_autograded_notebook_is_graded_again(graded, text):
    path = graded.folder / "autograded" / "anna" / NAME / f"{NAME}.ipynb"
    path.chmod(0o644)
    path.write_text(text)
    grader = graded.grader()
    assert grader.why_due("anna")
    assert grader.grade_here("anna").status == "graded"
    assert not grader.why_due("anna")


def test_a_class_works_after_it_and_the_course_have_moved(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "source").symlink_to(tmp_path / "where the course was")
    class_api(folder.rename(tmp_path / "moved"))
    assert sorted(path.name for path in (tmp_path / "moved" / "source").iterdir()) == chapter_names()


def test_a_class_restored_elsewhere_keeps_its_grades_and_continues(tiny, tmp_path, said):
    """Its exchange was a link and is now dangling: pages are made, and returned once an exchange exists."""
    secret = through_the_exchange(tiny, "anna", RIGHT)
    (tiny.folder / "exchange").symlink_to(tmp_path / "srv")
    assert tiny.grade_here() == ["anna"]
    with tarfile.open(tmp_path / "backup.tar", "w") as backup:
        backup.add(tiny.folder, "class")
    shutil.rmtree(tiny.folder)
    with tarfile.open(tmp_path / "backup.tar") as backup:
        backup.extractall(tmp_path / "elsewhere", filter="fully_trusted")

    restored = TinyClass.at(tmp_path / "elsewhere" / "class")
    assert restored.grade_here() == []
    assert restored.grader().grade_here("anna").status == "graded"
    assert restored.points("anna") == [2, 3]
    where = f"{restored.folder}/feedback/STUDENT/{NAME}"
    assert f"There is no exchange to return them through. Find them in {where}." in said(restored, "feedback", NAME)
    (restored.folder / "exchange").unlink()
    (restored.folder / "exchange").mkdir()
    said(restored, "feedback", NAME)
    assert "5 of 5 points" in released(restored, secret).read_text()
