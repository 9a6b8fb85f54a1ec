"""The log of the scores before each run; test_report.py and test_nbgrader_alone.py show what changed since then."""

from dataclasses import replace
from types import SimpleNamespace

from autograder.steps import scores
from autograder.steps.scores import Scores

BEFORE = Scores({"check-02-1": 0.0, "check-02-2": 2.0}, handed_in="2026-11-01 10:00:00")


def test_the_scores_before_each_run_are_kept_once_and_a_truncated_line_loses_only_itself(tmp_path, monkeypatch):
    course = SimpleNamespace(root=str(tmp_path), now={})  # now: the scores in its gradebook
    monkeypatch.setattr(scores, "read", lambda course, name: course.now)
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
