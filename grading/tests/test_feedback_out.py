"""Canvas and Moodle match the pages in feedback archives to the people whose submissions were imported."""

import re
import zipfile
from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from nbgrader.coursedir import CourseDirectory
from tiny_class import NAME, RIGHT, TinyClass

from autograder.term import sent
from autograder.term.returns import member
from autograder.term.sent import Sent

pytestmark = pytest.mark.xdist_group("feedback out")

FILE = f"{NAME}.ipynb"
STUDENTS = {  # first name, last name, Canvas's number, Moodle's number, Canvas's number of the file
    "anna": ("Anna Lena", "Müller", 4021, 3101, 88101),
    "li": ("李", "小龍", 4022, 3102, 88102),
    "ben": ("Ben", "Weiß_Groß", 4023, 3103, 88103),
}
NUMBERED = re.compile(r"[0-9]+")


def read_by_canvas(members, files):
    """Match members to people as abstract_assignment.rb, infer_comment_context_from_filename. files: of each person."""
    found = {}
    for name in members:
        filename = PurePosixPath(name).name
        parts = [part for part in filename.split("_") if part != "LATE"]
        assert parts[0] != "anon"
        person, file = [part for part in parts if NUMBERED.fullmatch(part)][:2]
        assert not parts[-1].startswith("link")
        assert not filename.startswith("._")
        assert int(file) in files[int(person)], "Canvas ignores what names no file of this person's"
        found[int(person)] = name
    return found


def read_by_moodle(members, before_4_1):
    """Match members to people and file names as importziplib.php, is_valid_filename_for_import."""
    found = {}
    for name in members:
        assert not PurePosixPath(name).name.startswith((".", "~"))
        parts = name.split("/")
        while parts:
            info = parts.pop(0).split("_", 4)
            if len(info) < (5 if before_4_1 else 4) or not NUMBERED.fullmatch(info[1]):
                continue
            assert info[2:4] == ["assignfeedback", "file"]
            found[int(info[1])] = "/".join([*info[4:], *parts])
            break
    return found


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A graded class of three from an archive, and one whose submission was placed manually."""
    tiny = TinyClass(tmp_path_factory.mktemp("returned") / "class")
    with tiny.api.gradebook as book:
        for student, (first, last, number, _, _) in STUDENTS.items():
            book.add_student(student, first_name=first, last_name=last, lms_user_id=str(number))
    tiny.hand_in("zoe", RIGHT)
    text = (tiny.submission("zoe") / FILE).read_text()
    packed = {
        "canvas": {
            f"{re.sub('[ _]', '', last + first).lower()}_LATE_{n}_{file}_{FILE}": text
            for first, last, n, _, file in STUDENTS.values()
        },
        "moodle": {
            f"{first} {last.replace('_', ' ')}_{n}_assignsubmission_file/{FILE}": text
            for first, last, _, n, _ in STUDENTS.values()
        },
    }
    for platform, members in packed.items():
        with zipfile.ZipFile(tiny.folder.parent / f"{platform}.zip", "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
    assert tiny.command("import-submissions", NAME, tiny.folder.parent / "moodle.zip") == 0
    tiny.grade_here()
    return tiny


@pytest.fixture
def archive(graded, said):
    """Return a function that imports from a platform, makes its feedback archive, and opens it."""

    def make(platform):
        said(graded, "import-submissions", NAME, graded.folder.parent / f"{platform}.zip")
        shown = said(graded, "feedback", NAME, "--zip")
        path = graded.folder / "platform" / f"{NAME}.feedback.{platform}.zip"
        assert f"{path} (feedback pages: 3)\n" in shown
        assert f"Not in the archive, because they were not imported from {platform.capitalize()}: zoe\n" in shown
        return zipfile.ZipFile(path)

    return make


def test_canvas_matches_each_page_to_its_student(archive):
    with archive("canvas") as made:
        assert made.testzip() is None
        files = {number: [file] for _, _, number, _, file in STUDENTS.values()}
        found = read_by_canvas(made.namelist(), files)
        for first, last, number, _, _ in STUDENTS.values():
            assert f"For <strong>{first} {last}</strong>" in made.read(found[number]).decode()


@pytest.mark.parametrize("before_4_1", [False, True])
def test_moodle_matches_each_page_to_its_student(archive, before_4_1):
    with archive("moodle") as made:
        assert all(info.flag_bits & 0x800 or info.filename.isascii() for info in made.infolist()), "names are UTF-8"
        found = read_by_moodle(made.namelist(), before_4_1)
        assert found == {number: f"{NAME}_feedback.html" for *_, number, _ in STUDENTS.values()}
        names = sorted(made.namelist())
        assert names[0].startswith("Anna Lena Müller_3101_")
        page = made.read(names[0]).decode()
    assert "For <strong>Anna Lena Müller</strong>" in page
    assert re.search(r"<h1>Feedback on Tiny</h1>.*Made on\s*<time datetime=\"20\d\d-\d\d-\d\dT", page, re.DOTALL)
    assert re.search(r"graded by version <code>[0-9a-f]{16}</code>", page)


@pytest.mark.parametrize("name", ["anon", "a_7_8_b", "", "._x", "x_link", "7", "~x.", "Group 1"])
def test_no_name_misleads_a_platform(name):
    canvas = member(Sent("canvas", "4021", name, "88101"), NAME)
    assert read_by_canvas([canvas], {4021: [88101]}) == {4021: canvas}
    moodle = member(Sent("moodle", "3101", name), NAME)
    assert read_by_moodle([moodle], True) == {3101: f"{NAME}_feedback.html"}


def test_without_an_import_there_is_no_archive(graded, said, tmp_path):
    (graded.folder / "platform").rename(tmp_path / "platform")
    try:
        shown = said(graded, "feedback", NAME, "--zip", code=1)
        assert "No archive was made: no submission of 90_tiny was imported from a platform" in shown
    finally:
        (tmp_path / "platform").rename(graded.folder / "platform")
    assert sent.read(graded.api.coursedir, NAME).keys() == STUDENTS.keys()


def test_an_entry_that_cannot_be_read_loses_no_other(tmp_path):
    course = CourseDirectory(root=str(tmp_path))
    anna, ben = Sent("canvas", "4021", "müller"), Sent("moodle", "3101", "ben")
    sent.keep(course, NAME, {"anna": anna, "cem": replace(ben, number=3102)})
    sent.keep(course, NAME, {"ben": ben})
    assert sent.read(course, NAME) == {"anna": anna, "ben": ben}
