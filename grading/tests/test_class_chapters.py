"""A class has its own copy of the chapters, so changes to the course do not affect it."""

import tempfile
from pathlib import Path

import nbformat
import pytest
from dutch_words import dutch_words
from tiny_class import NAME, TinyClass, changed, nbgrader, solved_notebook
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder import __main__ as command
from autograder import class_chapters
from autograder.settings import class_api, configure
from gradlab import words


@pytest.fixture
def course(course):
    """A course with the solved chapter, and the function that writes it."""
    course(solved_notebook())
    return course


def test_a_new_class_has_its_settings_its_course_id_and_its_copy(course, tmp_path, capsys):
    folder = tmp_path / "autograd-2026"
    assert command.main(["new-class", str(folder), "--exchange", str(tmp_path / "exchange")]) == 0
    said = capsys.readouterr().out
    assert f"export GRADLAB_COURSE=autograd-2026 GRADLAB_EXCHANGE={tmp_path}/exchange" in said
    assert folder.stat().st_mode & 0o777 == 0o700
    course(changed(third=True))
    (tmp_path / "exchange").mkdir()
    (tmp_path / "exchange").chmod(0o777)
    nbgrader(folder, "generate_assignment", NAME)
    nbgrader(folder, "release_assignment", NAME)
    released = tmp_path / "exchange" / "autograd-2026" / "outbound" / NAME / f"{NAME}.ipynb"
    assert "check-3" not in released.read_text(), "as the course was when the class began"
    api = class_api(folder)
    assert (api.coursedir.course_id, api.coursedir.root) == ("autograd-2026", str(folder))
    capsys.readouterr()
    assert command.main(["report", NAME, "--class", str(folder)]) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that builds the Dutch edition, with this title of its one chapter."""

    def build(title: str) -> None:
        solved = solved_notebook()
        solved.cells[0].source = f"# {title}"
        catalogue = dutch_words({None: {"The class is up to date with the course.": f"De klas is bij. {title}"}})
        chapter = tmp_path / "build" / "nl" / "sources" / NAME
        chapter.mkdir(parents=True, exist_ok=True)
        nbformat.write(solved, chapter / f"{NAME}.ipynb")
        (chapter.parent / words.FILE).write_bytes(catalogue)

    monkeypatch.setattr("authoring.places.ROOT", tmp_path)
    yield build
    words.use(b"")


def test_a_class_in_another_language_is_created_and_updated_from_its_edition(course, build, tmp_path, capsys, said):
    folder = tmp_path / "autograd-nl"
    source = folder / "source" / NAME / f"{NAME}.ipynb"
    new = ["new-class", str(folder), "--language", "nl"]
    assert command.main(new) == 1
    assert "Build the course's edition first: make notebooks LANGUAGE=nl" in capsys.readouterr().err
    assert not folder.exists()
    build("Klein")
    assert command.main(new) == 0
    assert "# Klein" in source.read_text()
    nbgrader(folder, "generate_assignment", NAME)
    for title in ("Klein", "Kleiner"):
        build(title)
        said(TinyClass.at(folder), "update", "--apply")
        assert f"# {title}" in source.read_text()
        assert said(TinyClass.at(folder), "update") == f"De klas is bij. {title}\n"


def test_a_student_names_the_class_by_its_course_id_or_has_the_default_one(monkeypatch, tmp_path):
    student, ids = Path(__file__).resolve().parents[2] / "course", []
    for course_id in ("", "autograd-2026"):
        monkeypatch.setenv("GRADLAB_COURSE", course_id)
        ids.append(PyFileConfigLoader("nbgrader_config.py", str(student)).load_config().CourseDirectory.course_id)
    assert ids == [configure(Config(), tmp_path / "class").CourseDirectory.course_id, "autograd-2026"]
    assert (tmp_path / "class").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("name", "why"),
    [("taken", "exists and is not empty"), ("two words", "'two words' cannot be a course id")],
)
def test_a_class_is_created_only_in_a_new_or_empty_folder(course, tmp_path, name, why, capsys):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    assert command.main(["new-class", str(tmp_path / name)]) == 1
    assert why in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_class_that_others_can_read_prints_a_warning(capsys):
    with tempfile.TemporaryDirectory(prefix="seen-by-all-") as open_to_all:
        Path(open_to_all).chmod(0o755)
        tiny = TinyClass(Path(open_to_all, "class"))
        tiny.folder.chmod(0o755)
        tiny.command("report", NAME)
        assert f"To keep them out: chmod o= {tiny.folder}" in capsys.readouterr().err
        tiny.folder.chmod(0o770)
        tiny.command("report", NAME)
        assert "chmod" not in capsys.readouterr().err
        assert tiny.folder.stat().st_mode & 0o777 == 0o770, "a class keeps its permissions"


def test_a_class_keeps_its_own_copy_of_the_engines_stages(course, tmp_path, monkeypatch):
    chapter = tmp_path / "course" / "13_hooks" / "13_hooks.ipynb"
    chapter.parent.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("from gradlab import own_engine")])
    nbformat.write(notebook, chapter)
    class_chapters.begin(tmp_path)
    here = tmp_path / "source" / "13_hooks"
    assert sorted(path.name for path in here.iterdir()) == ["13_hooks.ipynb", "engine_11.py", "engine_12.py"]
    assert class_chapters.contents(here) == class_chapters.contents(chapter.parent)
    (here / "engine_11.py").write_text("# the class's own")
    assert class_chapters.contents(here)[Path("engine_11.py")] == b"# the class's own"
