"""Pack everything a student receives into one archive: the course, pinned versions, the engine and a first page."""

import zipfile
from pathlib import Path

from gradlab.notebook import OWN_ENGINE, OWN_PICTURE

from .places import ROOT, ChapterError

ARCHIVE = ROOT / "build/autograd-course.zip"
FIRST_PAGE = Path(__file__).with_name("student_readme.md")
HANDED_OUT = [  # no tests
    "course/README.md",
    "course/pyproject.toml",
    "course/nbgrader_config.py",
    "course/gradlab",
    "requirements.txt",
    "requirements.lock",
]
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
    edition = root / "course" if language == "en" else root / "build" / language
    if not (edition / "chapters").is_dir():
        raise ChapterError(f"There is no edition in {edition}. Build it first: make notebooks LANGUAGE={language}")
    sources = {name: root / name for name in (*HANDED_OUT, ENGINE)}
    sources |= {"course/chapters": edition / "chapters"}
    sources |= {"README.md": FIRST_PAGE if language == "en" else edition / FIRST_PAGE.name}
    files = {}
    for name, source in sources.items():
        for path in [source] if source.is_file() else source.rglob("*"):
            inside = path.relative_to(source)
            wanted = path.is_file() and (name != ENGINE or path.suffix in (".py", ".md"))
            if wanted and not any(part in LEFT_BEHIND or part.startswith(".") for part in inside.parts):
                files[(Path(name) / inside).as_posix()] = path.read_bytes()
    return files
