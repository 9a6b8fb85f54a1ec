"""Hostile folders in the exchange's drop box, each with its honest twin."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tiny_class import NAME, RIGHT, TinyClass

from autograder.steps.receipt import timestamp

NOBODY = 65534  # an account that is no student's
LONG_AGO = "2025-11-02 10:00:00.123456 UTC"
SECRET = "grader-secret-line"


@dataclass(frozen=True)
class Drop:
    """Something in the drop box. hostile: changes a submitted folder, given a file of the class; honest: its twin's.

    said: what the instructor reads about the attack. collected: whether the rest of the folder is still collected.
    """

    hostile: Callable[[Path, Path], object]
    said: str
    collected: bool = False
    honest: Callable[[Path, Path], object] = lambda folder, secret: (folder / "class.json").write_text("own")


def now() -> str:
    """Return the time as nbgrader writes it."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def inbound(tiny: TinyClass) -> Path:
    """Return a class's drop box, which nbgrader's release would have made."""
    folder = tiny.folder / "exchange" / "autograd" / "inbound"
    folder.mkdir(parents=True, exist_ok=True)
    (tiny.folder / "exchange").chmod(0o1777)
    return folder


def give(folder: Path, *_: Path) -> None:
    """Make a submitted folder another account's."""
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def _instead(make: Callable[[Path, Path], object]) -> Callable[[Path, Path], object]:
    """Return a change that puts something in the place of the folder."""

    def change(folder: Path, secret: Path) -> None:
        shutil.rmtree(folder)
        make(folder, secret)

    return change


def _named(name: str) -> Callable[[Path, Path], object]:
    return lambda folder, secret: folder.rename(folder.with_name(name.format(*folder.name.split("+"))))


LEFT, NOT = "left out of the submission: ", "is not collected: "
DROPS = {
    "a link to the class's record": Drop(lambda f, s: (f / "x").symlink_to(s), f"{LEFT}x (a link)", True),
    "a hard link to the class's record": Drop(lambda f, s: os.link(s, f / "x"), f"{LEFT}x (a link", True),
    "a pipe inside": Drop(lambda f, s: os.mkfifo(f / "x"), f"{LEFT}x (a link or special file)", True),
    "a link as its folder": Drop(_instead(lambda f, s: f.symlink_to(s.parent)), f"{NOT}it is a link, or not a folder"),
    "a pipe as its folder": Drop(_instead(lambda f, s: os.mkfifo(f)), f"{NOT}it is a link, or not a folder"),
    "a folder without a time": Drop(_named("{0}+{1}+some day+x"), f"{NOT}its name contains no time of submission"),
    "a folder of the one above": Drop(_named("..+{1}+{2}+{3}"), f"{NOT}its name does not begin with a valid student"),
    "an early time in a file": Drop(lambda f, s: (f / "timestamp.txt").write_text(LONG_AGO), "", True),
    "an early time in its name": Drop(_named("{0}+{1}+" + LONG_AGO + "+{3}"), "but it arrived at", True),
    "a folder of another account": Drop(give, f"{NOT}it belongs to nobody, but claims to be another student's"),
}
OF_ACCOUNTS = {"a folder of another account"}  # only root can make it, or an ordinary user in a user namespace
ROOM = "exchange: "


def run(folder: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    """Collect each attack with its twin into a class in `folder`; yield its name and what is wrong, or ""."""
    for number, name in enumerate(names):
        yield name, _drop(TinyClass(folder / str(number)), name)


def _drop(tiny: TinyClass, name: str) -> str:
    drop, secret = DROPS[name.removeprefix(ROOM)], tiny.folder / "records" / "class.json"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text(SECRET)
    tiny.hand_in("victim", RIGHT)
    for student, change in (("attack", drop.hostile), ("twin", drop.honest)):
        tiny.hand_in(student, RIGHT)
        path = tiny.submission(student).rename(inbound(tiny) / f"{student}+{NAME}+{now()}+x")
        change(path, secret)
    before = (tiny.submission("victim") / f"{NAME}.ipynb").read_bytes()
    said = tiny.api.collect(NAME)
    files = [path for path in tiny.submission("attack").rglob("*") if path.name != f"{NAME}.record.json"]
    early = timestamp(tiny.submission("attack")) or datetime.now(UTC)
    faults = {
        "collecting ended": not said["success"],
        "the twin is not collected": not (tiny.submission("twin") / "class.json").exists(),
        "the attack is collected": bool(files) and not drop.collected,
        "the rest is not collected": drop.collected and not (tiny.submission("attack") / f"{NAME}.ipynb").exists(),
        "it has the class's file": any(path.is_symlink() or SECRET in path.read_text() for path in files),
        "another's submission changed": before != (tiny.submission("victim") / f"{NAME}.ipynb").read_bytes(),
        "a file's time counts": early.year == 2025 and "file" in name,
        "it is not listed": drop.said not in said.get("log", ""),
    }
    return "; ".join(fault for fault, is_so in faults.items() if is_so)


ALL_DROPS = [f"{ROOM}{name}" for name in DROPS if name not in OF_ACCOUNTS or os.geteuid() == 0]
