"""Collecting from the exchange takes only what the student owns; `attacks.exchange` has the attacks on it."""

import os
import stat
from pathlib import Path

import pytest
from attacks.exchange import LONG_AGO, give, inbound, now
from tiny_class import NAME, RIGHT, TinyClass

from autograder.errors import ClassError
from autograder.settings import class_api
from autograder.term.release import put_into_exchange

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file somebody else's")


def submit(tiny: TinyClass, student: str, when: str, says: str) -> Path:
    """Put a folder into the exchange as nbgrader's submit does."""
    tiny.hand_in("source", RIGHT)
    folder = tiny.submission("source").rename(inbound(tiny) / f"{student}+{NAME}+{when}+x{says}")
    (folder / "timestamp.txt").write_text(when)
    (folder / "says.txt").write_text(says)
    return folder


def collected(tiny: TinyClass, student: str) -> str | None:
    path = tiny.submission(student) / "says.txt"
    return path.read_text() if path.exists() else None


@AS_ROOT
def test_another_accounts_folder_is_skipped_and_the_students_own_is_collected(tiny):
    submit(tiny, "anna", LONG_AGO, "own")
    submit(tiny, "nobody", LONG_AGO, "own")
    for student in ("anna", "ben"):
        give(submit(tiny, student, now(), f"forged-for-{student}"))
    for folder in inbound(tiny).glob("nobody+*"):
        give(folder)
    said = tiny.api.collect(NAME)
    assert said["success"], said
    assert [collected(tiny, student) for student in ("anna", "ben", "nobody")] == ["own", None, "own"]
    forged = [line for line in said["log"].splitlines() if "is not collected: it belongs to nobody" in line]
    assert [line.split("forged-for-")[1][:4] for line in sorted(forged)] == ["anna", "ben "]


@AS_ROOT
def test_if_accounts_are_not_ids_owners_need_not_match(tiny):
    give(submit(tiny, "anna", LONG_AGO, "own"))
    tiny.api.config.ExchangeCollect.check_owner = False
    assert tiny.api.collect(NAME)["success"]
    assert collected(tiny, "anna") == "own"


def test_a_decomposed_name_and_a_time_with_an_offset_are_understood(tiny):
    submit(tiny, "ju\u0308rgen", "2025-11-02 10:00:00 +0100", "own")
    assert tiny.api.collect(NAME)["success"]
    assert collected(tiny, "jürgen") == "own"
    assert (tiny.submission("jürgen") / "timestamp.txt").read_text().startswith("2025-11-02 09:00:00")


@pytest.mark.parametrize("folder", [".", "autograd"])
def test_nothing_is_collected_if_others_could_have_changed_the_course_folder(tiny, folder):
    submit(tiny, "anna", now(), "own")
    (tiny.folder / "exchange" / folder).chmod(0o777)
    said = tiny.api.collect(NAME)
    assert not said["success"]
    assert "its owner can fix that: chmod" in said["log"]
    assert collected(tiny, "anna") is None


@pytest.mark.parametrize("made_by", ["release", "another nbgrader"])
def test_released_and_submitted_work_can_be_collected(tmp_path, made_by):
    tiny = TinyClass(tmp_path / "class")
    exchange = tiny.folder / "exchange"
    if made_by != "release":
        exchange.mkdir()
        exchange.chmod(0o777)
    assert tiny.api.release_assignment(NAME)["success"]
    assert stat.S_IMODE(exchange.stat().st_mode) == 0o1777
    submit(tiny, "anna", now(), "own")
    assert tiny.api.collect(NAME)["success"]
    assert collected(tiny, "anna") == "own"


@pytest.mark.parametrize(
    ("limit", "most", "collected", "says"),
    [("MAX_FILES", 3, 4, "(more than 3 files"), ("MAX_BYTES", 100_000, 8, "4.txt (more than 0.1 MB in total).")],
)
def test_a_submission_beyond_a_limit_is_collected_up_to_it_and_its_notebook_first(
    tiny, monkeypatch, limit, most, collected, says
):
    monkeypatch.setattr(f"autograder.term.exchange.{limit}", most)
    folder = submit(tiny, "anna", now(), "own")
    for number in range(5):
        (folder / f"{number}.txt").write_text("too much" * 20_000 if number == 4 else "extra")
    said = tiny.api.collect(NAME)
    assert said["success"], said
    assert (tiny.submission("anna") / f"{NAME}.ipynb").exists()
    assert len(list(tiny.submission("anna").glob("*"))) == collected  # with the timestamp
    assert says in said["log"]


@AS_ROOT
def test_a_file_that_another_account_added_is_left_out(tiny):
    folder = submit(tiny, "nobody", now(), "own")
    give(folder)
    (folder / "planted.py").write_text("")
    said = tiny.api.collect(NAME)
    assert collected(tiny, "nobody") == "own"
    assert not (tiny.submission("nobody") / "planted.py").exists()
    assert "nobody: left out of the submission: planted.py (another account's)." in said["log"]


def test_a_newer_folder_replaces_the_submission_with_update_only(tiny):
    submit(tiny, "anna", LONG_AGO, "first")
    tiny.api.collect(NAME)
    submit(tiny, "anna", now(), "second")
    tiny.api.collect(NAME, update=False)
    assert collected(tiny, "anna") == "first"
    assert tiny.api.collect(NAME)["success"]
    assert collected(tiny, "anna") == "second"
    assert not list(tiny.folder.glob(".collect-*"))


def test_where_nbgrader_has_no_exchange_a_release_says_so(tiny, monkeypatch):
    """Its API returns nothing on Windows."""
    monkeypatch.setattr(type(tiny.api), "release_assignment", lambda api, name: None)
    (tiny.folder / "exchange").mkdir(exist_ok=True)
    with pytest.raises(ClassError, match=f"{NAME} could not be released in the exchange: nbgrader has no exchange"):
        put_into_exchange(class_api(tiny.folder), NAME)
