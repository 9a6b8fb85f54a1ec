"""A new exercise's cells: where they stand, and that they build as they are."""

import shutil

import nbformat
import pytest

from authoring import chapter
from authoring.__main__ import main
from authoring.chapter import load_chapter
from authoring.validate import validate


@pytest.mark.parametrize("name", ["06_tensor_hooks", "11_record"])
def test_a_new_exercise_follows_the_last_one_and_can_be_validated_at_once(name, tmp_path, monkeypatch, capsys):
    shutil.copytree(chapter.SOURCES / name, tmp_path / name)
    monkeypatch.setattr(chapter, "SOURCES", tmp_path)
    before = load_chapter(name)
    assert main(["new-exercise", name[:2]]) == 0
    after = load_chapter(name)
    (new,) = after.checks.keys() - before.checks
    assert new in capsys.readouterr().out
    tally = validate(after.checks[new], range(100, 102), range(100, 104))
    assert tally.faults == []
    cells = nbformat.read(tmp_path / name / f"{name}.ipynb", as_version=4).cells
    ids = [cell.id for cell in cells]
    assert len(set(ids)) == len(ids)
    at = ids.index(f"check-{new.replace('.', '-')}")
    assert [i for i in ids if i.startswith("check-")][-1] == ids[at]
    assert [cell.cell_type for cell in cells[at - 4 : at + 1]] == ["markdown", "code", "markdown", "code", "code"]
