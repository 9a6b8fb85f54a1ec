"""The memory of passed and tried exercises."""

import json
import shutil

import pytest

from gradlab import track
from gradlab.checks.record import CheckRecord, Record
from gradlab.checks.results import FILE, exercises, read, remember


@pytest.fixture
def workspace(tmp_path):
    """Two chapters, beside a kept copy of one, a chapter without record, and one whose record is damaged."""
    for name, checks in {"01_graph": ["01.1", "01.2"], "02_external_gradients": ["02.1"]}.items():
        (tmp_path / name).mkdir()
        record = Record(name, {check: CheckRecord(f"{check} a title", "", []) for check in checks})
        (tmp_path / name / f"{name}.record.json").write_text(record.to_json())
    shutil.copytree(tmp_path / "01_graph", tmp_path / "01_graph.before-2026-11-21")
    (tmp_path / "03_without_record").mkdir()
    (tmp_path / "04_damaged").mkdir()
    (tmp_path / "04_damaged/04_damaged.record.json").write_text("not a record")
    return tmp_path


def test_a_chapter_and_the_folder_above_share_one_memory(workspace):
    """It does not matter from which notebook one looks."""
    remember("01.1", "passed", workspace / "01_graph")
    remember("02.1", "tried", workspace / "02_external_gradients")
    assert read(workspace) == read(workspace / "01_graph") == {"01.1": "passed", "02.1": "tried"}
    assert json.loads((workspace / FILE).read_text()) == {"01.1": "passed", "02.1": "tried"}


def test_what_was_passed_is_taken_back_when_it_fails(workspace):
    """How a check ended when it ran last is what counts."""
    for verdict in ("tried", "passed", "tried"):
        remember("01.1", verdict, workspace)
        assert read(workspace) == {"01.1": verdict}


def test_a_kept_copy_and_a_chapter_without_a_record_count_for_nothing(workspace):
    found = {chapter: list(checks) for chapter, checks in exercises(workspace).items()}
    assert found == {"01_graph": ["01.1", "01.2"], "02_external_gradients": ["02.1"]}


def test_a_bar_goes_through_everything_and_leaves_nothing(capsys):
    assert list(track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert capsys.readouterr() == ("", "")
