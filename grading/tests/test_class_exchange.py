"""Collecting from the exchange takes only folders that the student owns, and checks their times in the file system."""

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tiny_class import NAME, RIGHT, TinyClass

NOBODY = 65534
LONG_AGO = "2025-11-02 10:00:00.123456 UTC"


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


@pytest.fixture
def tiny(tmp_path):
    tiny = TinyClass(tmp_path / "class")
    inbound(tiny).mkdir(parents=True)
    (tiny.folder / "exchange").chmod(0o1777)
    return tiny


def inbound(tiny: TinyClass) -> Path:
    return tiny.folder / "exchange" / "autograd" / "inbound"


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder somebody else's")
def test_another_accounts_folder_is_skipped_and_the_students_own_is_collected(tiny):
    submit(tiny, "anna", LONG_AGO, "own")
    submit(tiny, "nobody", LONG_AGO, "own")
    for student in ("anna", "ben"):
        os.chown(submit(tiny, student, now(), f"forged-for-{student}"), NOBODY, NOBODY)
    for folder in inbound(tiny).glob("nobody+*"):
        os.chown(folder, NOBODY, NOBODY)
    said = tiny.api.collect(NAME)
    assert said["success"], said
    assert [collected(tiny, student) for student in ("anna", "ben", "nobody")] == ["own", None, "own"]
    forged = [line for line in said["log"].splitlines() if "is not collected: it belongs to nobody" in line]
    assert [f"forged-for-{student}" in line for student, line in zip(["anna", "ben"], sorted(forged), strict=True)] == [
        True,
        True,
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder somebody else's")
def test_if_accounts_are_not_ids_owners_need_not_match(tiny):
    os.chown(submit(tiny, "anna", LONG_AGO, "own"), NOBODY, NOBODY)
    tiny.api.config.ExchangeCollect.check_owner = False
    assert tiny.api.collect(NAME)["success"]
    assert collected(tiny, "anna") == "own"


def test_a_timestamp_before_the_folders_arrival_is_reported_and_collected(tiny):
    submit(tiny, "anna", LONG_AGO, "own")
    submit(tiny, "ben", now(), "own")
    said = tiny.api.collect(NAME)
    assert "anna: the submission's timestamp is 2025-11-02 10:00:00 UTC, but it reached the exchange at" in said["log"]
    assert "ben" not in said["log"]
    assert (collected(tiny, "anna"), collected(tiny, "ben")) == ("own", "own")


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
