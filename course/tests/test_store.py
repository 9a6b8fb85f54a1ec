"""What is remembered of a learner beside the chapters: no entry is lost, and no file is left behind."""

import errno
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gradlab import atomic, notebook
from gradlab.checks import results
from gradlab.checks.record import CheckRecord, Record
from gradlab.predict import guesses
from gradlab.store import Store


def test_kernels_that_remember_at_the_same_time_lose_nothing(tmp_path):
    def remember(kernel: int) -> None:
        store = Store(".numbers.json", int)
        for number in range(50):
            with store.changed(tmp_path) as entries:
                entries[f"{kernel}.{number}"] = number

    with ThreadPoolExecutor() as pool:
        list(pool.map(remember, range(4)))
    assert len(Store(".numbers.json", int).read(tmp_path)) == 200
    assert [path.name for path in tmp_path.iterdir()] == [".numbers.json"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    results.remember("02.1", "passed", tmp_path)

    def full(self, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    results.remember("02.2", "tried", tmp_path)
    assert results.read(tmp_path) == {"02.1": "passed"}
    with pytest.raises(OSError, match=r"No space left on device: .*page\.html"):
        atomic.write_text(tmp_path / "page.html", "new")
    assert [path.name for path in tmp_path.iterdir()] == [results.FILE]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path, monkeypatch):
    target, rename = tmp_path / "anna", Path.rename
    target.mkdir()
    (target / "answers").touch()

    def interrupted(self, other):
        if self.name == "new":
            raise KeyboardInterrupt
        rename(self, other)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic.put_folder(tmp_path / "new", target, tmp_path / "aside")
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["anna", "anna/answers"]


@pytest.mark.parametrize(
    ("folder", "home"),
    [
        ("02_external_gradients", ""),
        ("02_external_gradients-Copy1", "02_external_gradients-Copy1"),
        ("02_external_gradients.before-2026-11-21", "02_external_gradients.before-2026-11-21"),
        ("notes", "notes"),
    ],
)
def test_chapters_share_their_memories_and_a_copy_keeps_its_own(tmp_path, monkeypatch, folder, home):
    (tmp_path / folder).mkdir()
    monkeypatch.setattr(notebook, "FOLDER", tmp_path / folder)
    results.remember("02.1", "passed")
    guesses.remember("s1-run", guesses.Guess("What?", ["1"], True, [False]))
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {str(Path(home, name)) for name in (results.FILE, guesses.FILE)}


def test_a_kept_copy_and_a_chapter_without_a_record_have_no_exercises(tmp_path):
    for name, checks in {"01_graph": ["01.1", "01.2"], "02_external_gradients": ["02.1"]}.items():
        (tmp_path / name).mkdir()
        record = Record(name, {check: CheckRecord(f"{check} a title", "", []) for check in checks})
        (tmp_path / name / f"{name}.record.json").write_text(record.to_json())
    shutil.copytree(tmp_path / "01_graph", tmp_path / "01_graph.before-2026-11-21")
    (tmp_path / "03_without_record").mkdir()
    (tmp_path / "04_damaged").mkdir()
    (tmp_path / "04_damaged/04_damaged.record.json").write_text("not a record")
    found = {chapter: list(checks) for chapter, checks in results.exercises(tmp_path).items()}
    assert found == {"01_graph": ["01.1", "01.2"], "02_external_gradients": ["02.1"]}
