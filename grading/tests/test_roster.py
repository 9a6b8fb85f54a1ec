"""Tables from platforms or your own are imported completely into the gradebook."""

import pytest
from tiny_class import NAME, RIGHT, threads

from autograder.errors import ClassError
from autograder.term.roster import FIELDS, read_roster, write_roster

OWN = """id,first_name,last_name,email,lms_user_id
anna,Anna,Müller,anna@uni.example,4021
김민수,민수,김,minsu@uni.example,4022
o'brien,Ciarán,O'Brien,,4023
"""
# Canvas's exported gradebook: lib/gradebook_exporter.rb
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,90_tiny (771),Current Score,Current Score
,,,,,Manual Posting,
    Points Possible,,,,,5.00,(read only)
"Müller, Anna Lena",4021,S-1,anna,Autograd 1,,
"Student, Test",4999,,1f0c2d,Autograd 1,,
"O'Brien, Ciarán",4023,S-3,o'brien,"Autograd 1 and Autograd 2",,
"""
# Moodle's participants, in English and German, on a site that shows ID number and username
MOODLE = """"First name","Last name",Username,"ID number","Email address",Groups
Anna Lena,Müller,anna,0017,anna@uni.example,"A, B"
"""
MOODLE_GERMAN = """Vorname;Nachname;ID-Nummer;E-Mail-Adresse
Anna Lena;Müller;0017;anna@uni.example
"""


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a table and returns its path."""

    def write(text, encoding="utf-8"):
        path = tmp_path / "roster.csv"
        path.write_bytes(text.encode(encoding))
        return path

    return write


def students(tiny):
    with tiny.api.gradebook as book:
        return {
            s.id: (s.first_name, s.last_name, s.email, s.lms_user_id) for s in sorted(book.students, key=lambda s: s.id)
        }


def entries(path, column=""):
    students = read_roster(path, column)[0].values()
    return {s.id: tuple(getattr(s, field) or "" for field in FIELDS) for s in students}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_is_read_with_any_common_separator(file, separator):
    """A spreadsheet may add a byte order mark, blank cells and lines, and \r\n."""
    text = f"\n{OWN}\n,,,,\n".replace("id,", " id ,").replace(",", separator).replace("\n", "\r\n")
    found = entries(file(text, "utf-8-sig"))
    assert found["anna"] == ("Anna", "Müller", "anna@uni.example", "4021")
    assert list(found) == ["anna", "김민수", "o'brien"]


COLUMNS = "Student,FirstName,LastName,ID,SIS Login ID\n"
READ = {  # a table, and its students
    "decomposed umlauts and unusual blanks": (
        "id,last_name\nanna,Mu\u0308ller\u00a0\u3000Weiß\n",
        {"anna": ("", "Müller Weiß", "", "")},
    ),
    "Canvas's gradebook": (
        CANVAS,
        {"anna": ("Anna Lena", "Müller", "", "4021"), "o'brien": ("Ciarán", "O'Brien", "", "4023")},
    ),
    "a comma in the last name": (
        'Student,ID,SIS Login ID\n"King, Jr., Martin",4021,mlk\n',
        {"mlk": ("Martin", "King, Jr.", "", "4021")},
    ),
    "names in columns of their own": (
        f'{COLUMNS}"van Dyk, Anna",Anna Maria,van Dyk,4021,anna\n',
        {"anna": ("Anna Maria", "van Dyk", "", "4021")},
    ),
    "columns that differ only in case": ("ID,id,Email\nanna,4021,\n", {"anna": ("", "", "", "")}),
    "Moodle's participants": (MOODLE, {"anna": ("Anna Lena", "Müller", "anna@uni.example", "0017")}),
    "Moodle in German": (MOODLE_GERMAN, {"0017": ("Anna Lena", "Müller", "anna@uni.example", "0017")}),
}


@pytest.mark.parametrize(("text", "students"), READ.values(), ids=READ.keys())
def test_a_platforms_columns_are_read(file, text, students):
    assert entries(file(text)) == students


def test_a_table_without_known_id_column_needs_the_id_option(file):
    path = file('"First name","Last name","Email address"\nAnna,Müller,anna@uni.example\n')
    with pytest.raises(ClassError, match="Choose one with --id"):
        read_roster(path)
    assert list(entries(path, "email address")) == ["anna@uni.example"]
    with pytest.raises(ClassError, match=r"has no column Emial address\. Did you mean Email address"):
        read_roster(path, "Emial address")


WRONG = {
    "no id": (",Anna,,,", "line 5: the id is missing"),
    "a folder": ("a/b,Anna,,,", "line 5: 'a/b' cannot be an id"),
    "a way out": ("..,Anna,,,", "line 5: '..' cannot be an id"),
    "a pattern": ("an*,Anna,,,", "line 5: 'an*' cannot be an id"),
    "nbgrader's comma": ('"a,b",Anna,,,', "line 5: 'a,b' cannot be an id"),
    "too long": ("a" * 101 + ",Anna,,,", "cannot be an id"),
    "the same id": ("anna,Anna,,,", "line 5: id anna already appears on line 2"),
}


@pytest.mark.parametrize(("line", "why"), WRONG.values(), ids=WRONG.keys())
def test_errors_are_listed_by_line_and_nothing_is_imported(tiny, file, said, line, why):
    error = said(tiny, "roster", file(f"{OWN}{line}\n"), code=1)
    assert "Nothing was imported" in error
    assert why in error
    assert students(tiny) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("id,last_name\n", "contains no students"),
        ("id,last_name\nanna,Mu,3\n", "line 2: 3 cells, but 2 columns"),
        ('id,last_name\nanna,"Mu\n', "line 2: unexpected end of data"),
        ('id,"last_name\nanna,Mu\n', "line 1: unexpected end of data"),
        ("id,last_name\nanna,Müller", "is not text in UTF-8. Save the table as CSV UTF-8"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(file, text, said):
    with pytest.raises(ClassError, match=said):
        read_roster(file(text, "cp1252"))


def test_a_second_import_lists_what_changed(tiny, file, said):
    assert "Added: anna, o'brien, 김민수\n" in said(tiny, "roster", file(OWN))
    second = file("id,first_name,last_name,email\nanna,,Müller-Weiß,\nben,Ben,,\no'brien,Ciarán,O'Brien,\n")
    assert "Nothing was changed." in said(tiny, "roster", "--dry-run", second)
    assert "ben" not in students(tiny)
    shown = said(tiny, "roster", second)
    assert "Added: ben\nChanged:\n  anna: last_name Müller -> Müller-Weiß\n" in shown
    assert "Not in the file (to exclude them, add their ids to dropped.txt): 김민수\n" in shown
    assert students(tiny)["anna"] == ("Anna", "Müller-Weiß", "anna@uni.example", "4021"), "an empty cell says nothing"
    assert "line 2: the gradebook spells this id anna" in said(tiny, "roster", file("id\nAnna\n"), code=1)
    said(tiny, "roster", file("id,first_name\nanna,\x1b[2JAnna"))
    shown = said(tiny, "roster", file("id,first_name\nanna,\x1b]0;x\x07Anna"))
    assert "Changed:" in shown
    assert not {"\x1b", "\x07"} & set(shown), "control characters do not reach the terminal"


DECOMPOSED = "ju\u0308rgen"  # as macOS writes the name of a folder


def test_a_folder_in_decomposed_form_is_the_students(tiny, file, said):
    """Its timestamp names an offset that nbgrader would take for 100 seconds; eve is not on the roster."""
    write_roster(tiny.api.coursedir, read_roster(file("id,last_name\njürgen,Müller\nben,Weiß\n"))[0])
    for student in (DECOMPOSED, "eve"):
        tiny.hand_in(student, RIGHT)
    tiny.stamp(DECOMPOSED, "2026-11-02 10:00:00 +0100")
    grade = ["grade", NAME, "--scheduler", threads().scheduler_address]
    shown = said(tiny, *grade, "--student", DECOMPOSED)
    assert "  Not on the roster, which has names for others (autograder roster, or dropped.txt): eve\n" not in shown
    shown = said(tiny, *grade)
    assert "Not on the roster, which has names for others (autograder roster, or dropped.txt): eve\n" in shown
    assert sorted(students(tiny)) == ["ben", "eve", "jürgen"]
    assert tiny.points("jürgen") == [2, 3]
    shown_by_formgrader = {one["student"]: one for one in tiny.api.get_submissions(NAME)}
    assert shown_by_formgrader["jürgen"]["timestamp"] == "2026-11-02T09:00:00"
    assert shown_by_formgrader["jürgen"]["autograded"]
    tiny.hand_in(DECOMPOSED, RIGHT)
    shown = said(tiny, *grade, code=1)
    assert "jürgen has two folders, 'ju\\u0308rgen' and 'j\\xfcrgen'. Leave only the second one." in shown
    (tiny.folder / "dropped.txt").write_text(f"{DECOMPOSED}\n")
    assert [*tiny.rows()] == ["ben", "eve"]
