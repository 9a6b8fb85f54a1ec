"""Comparing two states of the scores, and logging the state before each run."""

from dataclasses import replace

import pytest

from autograder.steps import scores
from autograder.steps.scores import Scores
from autograder.views.changes import Change, compare

BEFORE = Scores({"check-02-1": 0.0, "check-02-2": 2.0}, handed_in="2026-11-01 10:00:00")


def changes(after: Scores, before: Scores = BEFORE) -> list[Change]:
    return compare({"anna": before}, {"anna": after})


def test_a_new_submission_and_an_ungradable_one_are_mentioned():
    [first, second] = changes(Scores(reason="it is no JSON", handed_in="2026-11-02 10:00:00"))
    assert (first.before, first.after, first.said) == (0, None, "it is no JSON; submitted again")
    assert (second.before, second.after) == (2, None)
    [change] = changes(Scores({"check-02-1": 1.0, "check-02-2": 2.0}, handed_in="2026-11-02 10:00:00"))
    assert change == Change("anna", "02.1", 0, 1, "submitted again"), "and none for 02.2, with the same points"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A class whose gradebook contains a test's scores."""
    course = type("Course", (), {"root": str(tmp_path)})()
    course.now = {}
    monkeypatch.setattr(scores, "read", lambda course, name: course.now)
    return course


def test_the_scores_before_each_run_are_kept_once_and_a_truncated_line_loses_only_itself(course, tmp_path):
    scores.note(course, "02")
    assert scores.noted(course, "02") == []
    course.now = {"anna": BEFORE}
    scores.note(course, "02")
    scores.note(course, "02")
    path = tmp_path / "runs" / "02.scores.jsonl"
    path.write_text(path.read_text() + '{"at": "2026-11-2')
    course.now = {"anna": replace(BEFORE, penalty=1.0)}
    scores.note(course, "02")
    assert [state["anna"].penalty for _, state in scores.noted(course, "02")] == [0, 1]
