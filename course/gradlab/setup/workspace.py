"""A student's own copy of the chapters, brought up to date: new editions keep the student's work.

`.released/` keeps the last release unchanged; comparing with it shows what the student wrote. An unchanged file is
replaced by the released one. A new edition of a notebook keeps what the student wrote in the old one (see `edition`).
Before any other file that the student changed is replaced, it is copied to a folder beside the chapter, such as
`02_external_gradients.before-2026-11-21`, which is never written to again.
"""

import contextlib
import datetime
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .. import atomic, ipynb
from ..words import _
from . import edition

RELEASED = ".released"  # the last release
NOTICE = "about.md"  # in a kept copy: its description
PASSING = {"__pycache__", ".ipynb_checkpoints"}


@dataclass(frozen=True)
class Change:
    """What happened to an item: `added`, `updated`, `merged` or `failed`; says: a sentence about it."""

    name: str
    what: str
    says: str

    def __str__(self):
        return self.says


def bring_up_to_date(released: dict[str, Path], workspace: Path) -> list[Change]:
    """Copy released files and folders, keyed by their names in the workspace, and return what changed.

    Nothing that a student wrote is lost. A deleted or renamed file is restored from the release.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    changes = []
    for name, source in released.items():
        try:
            change = (_bring_folder if source.is_dir() else _bring_file)(name, source, workspace)
        except Exception as error:  # one broken chapter must not stop the others or JupyterLab
            why = error if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
            says = _("{name} could not be brought up to date: {why}. Nothing you wrote is lost.", name=name, why=why)
            change = Change(name, "failed", says)
        changes += [change] if change else []
    return changes


def is_of_edition(source: Path, name: str, workspace: Path) -> bool:
    """Return whether the workspace's copy of an item, even if changed, comes from the edition in `source`."""
    return _files(workspace / RELEASED / name) == _files(source)


def put_page(name: str, make: Callable[[], str], workspace: Path) -> None:
    """Write a page generated for this workspace; a page that the student changed is kept beside it.

    make: returns the text; it is called after the student's page has been moved.
    """
    target, last = workspace / name, workspace / RELEASED / name
    current = _bytes(target)
    if os.path.lexists(target) and (current is None or current != _bytes(last)):
        target.rename(free_name(target))
    text = make().encode()
    _write(last, text)
    _write(target, text)


def is_as_put(name: str, workspace: Path) -> bool:
    """Return whether a page is still as `put_page` wrote it."""
    current = _bytes(workspace / name)
    return current is not None and current == _bytes(workspace / RELEASED / name)


def kept_copies(workspace: Path) -> dict[Path, str]:
    """Return the copies kept beside new editions that still exist, with their descriptions."""
    copies = sorted(workspace.glob("*.before-*"), key=lambda path: path.lstat().st_mtime)
    notices = {path: _bytes(path / NOTICE) for path in copies}
    return {path: text.decode().strip() if text else _("What you wrote before.") for path, text in notices.items()}


def put_back(name: str, workspace: Path) -> str:
    """Restore a chapter's last release, keep the student's copy beside it, and return a sentence on what was done.

    Raises FileNotFoundError if the workspace has no released chapter of this name.
    """
    target, files = workspace / name, _files(workspace / RELEASED / name)
    if not files:
        raise FileNotFoundError(_("no chapter {name} was released to {folder}", name=name, folder=workspace))
    before = free_name(target)
    if target.is_dir():
        shutil.copytree(target, before, ignore=shutil.ignore_patterns(*PASSING))
    for path, data in files.items():
        _write(target / path, data)
    says = _("{name} is now as released.", name=name)
    return says + " " + _("Your earlier copy is in {copy}.", copy=before.name) if before.exists() else says


def _bring_file(name: str, source: Path, workspace: Path) -> Change | None:
    """Update a single file, such as a setting; one that the student changed stays."""
    target, last = workspace / name, workspace / RELEASED / name
    current, old, new = _bytes(target), _bytes(last), source.read_bytes()
    _write(last, new)
    if current == new or (os.path.lexists(target) and current != old):
        return None
    _write(target, new)
    return _came(name, old is None)


def _came(name: str, new: bool) -> Change:
    what, says = ("added", _("added {name}", name=name)) if new else ("updated", _("updated {name}", name=name))
    return Change(name, what, says)


def _bring_folder(name: str, source: Path, workspace: Path) -> Change | None:
    target, last = workspace / name, workspace / RELEASED / name
    old, new = _files(last), _files(source)
    known = last.is_dir()
    before = free_name(target)
    writes: dict[str, bytes] = {}
    says: list[str] = []  # what happens to the student's work, in sentences
    for path, data in new.items():
        current = _bytes(target / path)
        if current is None or (current == old.get(path) and current != data):
            writes[path] = data
        elif current not in (data, old.get(path)) and data != old.get(path):
            met, told = _meet(path, old.get(path), current, data, before.name)
            writes |= {path: met} if met is not None else {}
            says += told
    withdrawn = [path for path in old.keys() - new.keys() if _bytes(target / path) == old[path]]
    for path in writes:
        _refuse_obstacle(target, path)
    if says:
        _keep(target, before, says, old.keys() | new.keys())
    for path, data in writes.items():
        _write(target / path, data)
    for path in withdrawn:
        (target / path).unlink()
    if old != new or not known:
        _replace_folder(last, new)
    if says:
        copy = _("Your earlier copy is in {copy}.", copy=before.name)
        return Change(name, "merged", f"{name}: {' '.join(says)} {copy}")
    return _came(name, not known) if writes or withdrawn else None


def _meet(path: str, old: bytes | None, current: bytes, new: bytes, before: str) -> tuple[bytes | None, list[str]]:
    """Return what replaces the student's version of a file that has a new edition, if anything, and what is said."""
    try:
        mine = ipynb.read(current)
    except ipynb.Unreadable:  # such as any file that is not a notebook
        return new, [_("There is a new edition. You had changed {file}; it is now as released.", file=path)]
    merged = edition.Merge(_known(old), mine, ipynb.read(new), before)
    if not merged.wrote:
        return new, []
    if edition.same(merged.notebook, mine):
        return None, []
    left = [_("Anything that no longer fits is at the end of the notebook.")] * bool(merged.left)
    return edition.to_json(merged.notebook), [_("There is a new edition, and it includes what you wrote."), *left]


def _known(released: bytes | None) -> dict:
    """Return the last released notebook, or an empty one if it is missing or cannot be read."""
    with contextlib.suppress(ipynb.Unreadable):
        return ipynb.read(released or b"")
    return edition.NOTHING


def _refuse_obstacle(target: Path, path: str) -> None:
    """Raise FileExistsError if a folder is where a file must be written below `target`, or the other way round."""
    file = target / path
    folders = [target / folder for folder in Path(path).parents]
    files_there = [folder for folder in folders if os.path.lexists(folder) and not folder.is_dir()]
    for obstacle in files_there + [file] * file.is_dir():
        raise FileExistsError(_("{file} is in the way of the new edition; rename it", file=obstacle))


def _keep(target: Path, before: Path, says: list[str], paths: set[str]) -> None:
    """Copy the student's files at `paths` to the folder `before`, with a note on what happens."""
    for path in paths:
        data = _bytes(target / path)
        if data is not None:
            _write(before / path, data)
    _write(before / NOTICE, f"{target.name}: {' '.join(says)}\n".encode())


def _files(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files below a folder, by path."""
    paths = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name.as_posix(): path.read_bytes() for name, path in paths.items() if not PASSING & set(name.parts)}


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_bytes(path, data)


def _replace_folder(folder: Path, files: dict[str, bytes]) -> None:
    fresh = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for path, data in files.items():
        _write(fresh / path, data)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def today() -> str:
    """Return today's date, as it appears in the names of kept copies."""
    return datetime.date.today().isoformat()


def free_name(path: Path) -> Path:
    """Return the first free name such as `02_demo.before-2026-11-21` or `README.before-2026-11-21-2.md`."""
    day = today()
    names = (f"{path.stem}.before-{day}{count}{path.suffix}" for count in ["", *(f"-{n}" for n in range(2, 10_000))])
    return next(path.with_name(name) for name in names if not os.path.lexists(path.with_name(name)))
