"""Canvas and Moodle match the pages in feedback archives to the people whose submissions were imported."""

import re
import zipfile
from dataclasses import replace

import pytest
from nbgrader.coursedir import CourseDirectory
from tiny_class import NAME, RIGHT, TinyClass, pack

from autograder.term import platforms
from autograder.term.platforms import Sent, member

FILE = f"{NAME}.ipynb"
STUDENTS = {  # first name, last name, Canvas's number, Moodle's number, Canvas's number of the file
    "anna": ("Anna Lena", "Müller", 4021, 3101, 88101),
    "li": ("李", "小龍", 4022, 3102, 88102),
    "ben": ("Ben", "Weiß_Groß", 4023, 3103, 88103),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A graded class of three from an archive, and one whose submission was placed manually."""
    tiny = TinyClass(tmp_path_factory.mktemp("returned") / "class")
    for student, (first, last, number, _, _) in STUDENTS.items():
        tiny.add(student, first_name=first, last_name=last, lms_user_id=str(number))
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
        pack(tiny.folder.parent / f"{platform}.zip", members)
    assert tiny.command("import-submissions", NAME, tiny.folder.parent / "moodle.zip") == 0
    tiny.grade_here()
    return tiny


NAMES = {
    "canvas": {
        "anna": f"MüllerAnnaLena_4021_88101_{NAME}_feedback.html".lower(),
        "li": f"小龍李_4022_88102_{NAME}_feedback.html",
        "ben": f"WeißGroßBen_4023_88103_{NAME}_feedback.html".lower(),
    },
    "moodle": {
        "anna": f"Anna Lena Müller_3101_assignfeedback_file_{NAME}_feedback.html",
        "li": f"李 小龍_3102_assignfeedback_file_{NAME}_feedback.html",
        "ben": f"Ben Weiß Groß_3103_assignfeedback_file_{NAME}_feedback.html",
    },
}


@pytest.mark.parametrize("platform", NAMES)
def test_a_platform_finds_each_page_under_its_students_name_and_number(graded, said, platform):
    """`autograder.term.platforms` says how platforms read the names."""
    said(graded, "import-submissions", NAME, graded.folder.parent / f"{platform}.zip")
    shown = said(graded, "feedback", NAME, "--zip")
    path = graded.folder / "platform" / f"{NAME}.feedback.{platform}.zip"
    assert f"{path} (feedback pages: 3)\n" in shown
    assert f"Not in the archive, because they were not imported from {platform.capitalize()}: zoe\n" in shown
    with zipfile.ZipFile(path) as made:
        assert all(info.flag_bits & 0x800 or info.filename.isascii() for info in made.infolist()), "names are UTF-8"
        assert sorted(made.namelist()) == sorted(NAMES[platform].values())
        for student, name in NAMES[platform].items():
            page = made.read(name).decode()
            assert "For <strong>{} {}</strong>".format(*STUDENTS[student]) in page
    assert re.search(r"<h1>Feedback on Tiny</h1>.*Made on\s*<time datetime=\"20\d\d-\d\d-\d\dT", page, re.DOTALL)
    assert re.search(r"graded by version <code>[0-9a-f]{16}</code>", page)


@pytest.mark.parametrize(
    ("name", "canvas", "moodle"),
    [
        ("anon", "student", "anon"),
        ("a_7_8_b", "ab", "a 7 8 b"),
        ("", "student", "Participant"),
        ("._x", "x", "x"),
        ("7", "student", "7"),
        ("~x.", "x", "x"),
    ],
)
def test_no_name_misleads_a_platform(name, canvas, moodle):
    """An _ would separate, and platforms ignore names that begin with . or ~, and treat those with anon differently."""
    of_canvas, of_moodle = Sent("canvas", "4021", name, "88101"), Sent("moodle", "3101", name)
    assert member(of_canvas, NAME) == f"{canvas}_4021_88101_{NAME}_feedback.html"
    assert member(of_moodle, NAME) == f"{moodle}_3101_assignfeedback_file_{NAME}_feedback.html"


def test_an_entry_that_cannot_be_read_loses_no_other(tmp_path):
    course = CourseDirectory(root=str(tmp_path))
    anna, ben = Sent("canvas", "4021", "müller"), Sent("moodle", "3101", "ben")
    platforms.keep(course, NAME, {"anna": anna, "cem": replace(ben, number=3102)})
    platforms.keep(course, NAME, {"ben": ben})
    assert platforms.read(course, NAME) == {"anna": anna, "ben": ben}


def test_without_an_import_there_is_no_archive(graded, said, tmp_path):
    (graded.folder / "platform").rename(tmp_path / "platform")
    try:
        shown = said(graded, "feedback", NAME, "--zip", code=1)
        assert "No archive was made: no submission of 90_tiny was imported from a platform" in shown
    finally:
        (tmp_path / "platform").rename(graded.folder / "platform")
    assert platforms.read(graded.api.coursedir, NAME).keys() == STUDENTS.keys()
