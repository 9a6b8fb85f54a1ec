"""Pack everything a student receives into one archive: the course, its pinned versions, the engine and a first page."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from gradlab.notebook import OWN_ENGINE, OWN_PICTURE
from gradlab.setup.needs import STUDENT, needed_pins

from .places import SOLUTIONS, ChapterError

ROOT = SOLUTIONS.parent
ARCHIVE = ROOT / "build/autograd-course.zip"
FIRST_PAGE = Path(__file__).with_name("student_readme.md")
HANDED_OUT = [
    "README.md",
    "pyproject.toml",
    "nbgrader_config.py",
    "gradlab",
    "chapters",
]  # of course/; no tests
LOCK = "requirements.lock"
ENGINE = "solutions/mini_autograd"  # for reading only, so without a pyproject.toml, which would get it installed
LEFT_BEHIND = {"__pycache__", "build", OWN_ENGINE, OWN_PICTURE}  # and what begins with a dot, such as progress


def write(path: Path = ARCHIVE, root: Path = ROOT, language: str = "en") -> Path:
    """Write the archive as a zip file and return its path; the same content gives the same bytes.

    language: if not English, of the edition in `build/LANGUAGE`, which the archive has instead.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in sorted(contents(root, language).items()):
            entry = zipfile.ZipInfo(f"{path.stem}/{name}")
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def contents(root: Path = ROOT, language: str = "en") -> dict[str, bytes]:
    """Return the content of each file in the archive, by its path there."""
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in _contents(root)}
    first_page = FIRST_PAGE
    if language != "en":
        edition = root / "build" / language
        if not (edition / "chapters").is_dir():
            raise ChapterError(f"There is no edition in {edition}. Build it first: make notebooks LANGUAGE={language}")
        first_page, chapters = edition / FIRST_PAGE.name, edition.rglob("chapters/**/*")
        files = {name: content for name, content in files.items() if not name.startswith("course/chapters/")}
        inside = {path.relative_to(edition): path for path in chapters if path.is_file()}
        files |= {f"course/{at}": path.read_bytes() for at, path in inside.items() if not any(map(_stays, at.parts))}
    return {
        **files,
        "README.md": first_page.read_bytes(),
        "requirements.txt": _requirements(root).encode(),
        LOCK: (root / LOCK).read_bytes(),
    }


def _contents(root: Path) -> Iterator[Path]:
    engine = root / ENGINE
    for source in [*(root / "course" / name for name in HANDED_OUT), engine / "README.md", *engine.rglob("*.py")]:
        below = [source] if source.is_file() else source.rglob("*")
        yield from (path for path in below if path.is_file() and not any(map(_stays, path.relative_to(root).parts)))


def _stays(name: str) -> bool:
    return name in LEFT_BEHIND or name.startswith(".")


def _requirements(root: Path) -> str:
    """Return a requirements.txt with only the lines that a student needs."""
    wanted = tuple(f"{name}==" for name in needed_pins(root, STUDENT))
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(["# The versions the course is built and tested with.", *filter(_begins(wanted), lines), ""])


def _begins(with_one_of: tuple[str, ...]):
    return lambda line: line.startswith(with_one_of)
