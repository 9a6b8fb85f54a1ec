"""Tables from platforms or your own, in any common encoding, are imported completely into the gradebook."""

import re

import pytest
from tiny_class import NAME, RIGHT, TinyClass, threads

from autograder import dropped
from autograder.__main__ import main
from autograder.errors import ClassError
from autograder.settings import class_api
from autograder.term.roster import read_roster, write_roster
from autograder.views.report import gather

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
Anna Lena,Müller,anna,0017,anna@uni.example,A
Ciarán,O'Brien,o'brien,0018,ciaran@uni.example,"A, B"
"""
MOODLE_GERMAN = """Vorname;Nachname;ID-Nummer;E-Mail-Adresse
Anna Lena;Müller;0017;anna@uni.example
"""


@pytest.fixture
def tiny(tmp_path):
    return TinyClass(tmp_path / "class")


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
    return {e.id: (e.first_name, e.last_name, e.email, e.lms_user_id) for e in read_roster(path, column).entries}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_is_read_in_any_common_format(file, encoding, separator):
    found = entries(file(OWN.replace(",", separator), encoding))
    assert found["anna"] == ("Anna", "Müller", "anna@uni.example", "4021")
    assert list(found) == ["anna", "김민수", "o'brien"]


def test_tables_saved_by_excel_are_read_too(file):
    """A line `sep=;`, Windows-1252, \r\n, blanks around cells, empty lines, an empty last column."""
    text = "sep=;\r\n\r\n id ; Last Name;E-Mail;\r\n anna ; Müller ;;\r\n;;;\r\nben;Weiß;;\r\n"
    roster = read_roster(file(text, "cp1252"))
    assert [(e.line, e.id, e.last_name) for e in roster.entries] == [(4, "anna", "Müller"), (6, "ben", "Weiß")]
    assert roster.encoding == "cp1252"


def test_a_canvas_gradebook_is_read_as_a_roster(file):
    roster = read_roster(file(CANVAS))
    assert entries(file(CANVAS)) == {
        "anna": ("Anna Lena", "Müller", "", "4021"),
        "o'brien": ("Ciarán", "O'Brien", "", "4023"),
    }
    assert roster.passed_over == ["line 2: no name", "line 3: Points Possible", "line 5: Student, Test"]
    assert roster.unused == ["SIS User ID", "Section", "90_tiny (771)", "Current Score"], (
        "which is there for two groups"
    )


COLUMNS = "Student,FirstName,LastName,ID,SIS Login ID\n"
ENTRIES = {  # a table, and an entry
    "decomposed umlauts and unusual blanks": (
        "id,last_name\nanna,Mu\u0308ller\u00a0\u3000Weiß\n",
        ("anna", "", "Müller Weiß", "", ""),
    ),
    "a comma in the last name": (
        'Student,ID,SIS Login ID\n"King, Jr., Martin",4021,mlk\n',
        ("mlk", "Martin", "King, Jr.", "", "4021"),
    ),
    "names in columns of their own": (
        f'{COLUMNS}"van Dyk, Anna",Anna Maria,van Dyk,4021,anna\n',
        ("anna", "Anna Maria", "van Dyk", "", "4021"),
    ),
    "a login that is an e-mail address": (
        CANVAS.replace(",anna,", ",anna@uni.example,"),
        ("anna@uni.example", "Anna Lena", "Müller", "anna@uni.example", "4021"),
    ),
    "Moodle's participants": (MOODLE, ("anna", "Anna Lena", "Müller", "anna@uni.example", "0017")),
    "Moodle in German": (MOODLE_GERMAN, ("0017", "Anna Lena", "Müller", "anna@uni.example", "0017")),
}


@pytest.mark.parametrize(("text", "entry"), ENTRIES.values(), ids=ENTRIES.keys())
def test_a_platforms_columns_are_read(file, text, entry):
    assert entries(file(text))[entry[0]] == entry[1:]


def test_a_table_without_known_id_column_needs_the_id_option(file):
    path = file('"First name","Last name","Email address"\nAnna,Müller,anna@uni.example\n')
    with pytest.raises(ClassError, match='--id "Email address"'):
        read_roster(path)
    assert list(entries(path, "email address")) == ["anna@uni.example"]
    with pytest.raises(ClassError, match=r"has no column Emial address\. Did you mean Email address"):
        read_roster(path, "Emial address")


WRONG = {
    "no id": (",Anna,,,", "line 5: the id is missing"),
    "a folder": ("a/b,Anna,,,", "line 5: 'a/b' cannot be an id"),
    "a way out": ("..,Anna,,,", "line 5: '..' cannot be an id"),
    "a pattern": ("an*,Anna,,,", "line 5: 'an*' cannot be an id"),
    "nbgrader's comma": ('"a,b",Anna,,,', "line 5: 'a,b' cannot be an id (nbgrader separates"),
    "too long": ("a" * 101 + ",Anna,,,", "cannot be an id"),
    "a name too long": ("ben," + "B" * 129 + ",,,", "line 5: first_name has more than 128 characters"),
    "the same id": ("anna,Anna,,,", "line 5: id anna already appears on line 2"),
    "the same number": ("ben,Ben,,,4021", "line 5: lms_user_id 4021 already appears on line 2"),
    "the same address": ("ben,Ben,,Anna@uni.example,", "email Anna@uni.example already appears on line 2"),
    "too many cells": ("ben,Ben,,,,6", "line 5: 6 cells, but 5 columns"),
}


@pytest.mark.parametrize(("line", "said"), WRONG.values(), ids=WRONG.keys())
def test_errors_are_listed_by_line_and_nothing_is_imported(tiny, file, capsys, line, said):
    assert main(["roster", "--class", str(tiny.folder), str(file(f"{OWN}{line}\n"))]) == 1
    error = capsys.readouterr().err
    assert "Nothing was imported" in error
    assert said in error
    assert students(tiny) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("id,ID,note,note\nanna,anna,,\n", "has duplicate columns: ID, id"),
        ("id,last_name\n", "contains no students"),
        ('id,last_name\nanna,"Mül\n', "line 2, cannot be read as CSV"),
        ('id,"last_name\nanna,Mül\n', "line 1, cannot be read as CSV"),
        ("PK\x03\x04\0\0", "is not text"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(file, text, said):
    with pytest.raises(ClassError, match=said):
        read_roster(file(text))


def test_a_second_import_lists_what_changed(tiny, file, capsys):
    words = ["roster", "--class", str(tiny.folder)]
    assert main([*words, str(file(OWN))]) == 0
    assert "Added: anna, o'brien, 김민수\nUnchanged: 0\n" in capsys.readouterr().out
    second = "id,first_name,last_name,email\nanna,,Müller-Weiß,\nben,Ben,,\no'brien,Ciarán,O'Brien,\n"
    assert main([*words, "--dry-run", str(file(second))]) == 0
    assert "Nothing was changed." in capsys.readouterr().out
    assert "ben" not in students(tiny)
    assert main([*words, str(file(second))]) == 0
    shown = capsys.readouterr().out
    assert "Added: ben\nChanged:\n  anna: last_name Müller -> Müller-Weiß\nUnchanged: 1\n" in shown
    assert "not in the file (to exclude them, add their ids to dropped.txt): 김민수\n" in shown
    assert students(tiny)["anna"] == ("Anna", "Müller-Weiß", "anna@uni.example", "4021"), "an empty cell says nothing"


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (OWN, "id,lms_user_id\namueller,4021\n", "line 2: lms_user_id 4021 belongs to anna in the gradebook"),
        (OWN, "id\nAnna\n", "line 2: id Anna is spelled anna in the gradebook; use that spelling"),
        (  # an empty cell leaves anna the address
            "id,email\nanna,a@uni.example\nben,b@uni.example",
            "id,email\nanna,\nben,A@uni.example",
            "line 3: email A@uni.example belongs to anna in the gradebook",
        ),
    ],
)
def test_a_table_that_contradicts_the_gradebook_is_refused(tiny, file, first, second, why):
    write_roster(tiny.api.coursedir, read_roster(file(first)))
    before = students(tiny)
    with pytest.raises(ClassError, match=re.escape(why)):
        write_roster(tiny.api.coursedir, read_roster(file(second)))
    assert students(tiny) == before


def test_two_students_can_exchange_addresses(tiny, file):
    write_roster(tiny.api.coursedir, read_roster(file("id,email\nanna,a@uni.example\nben,b@uni.example")))
    write_roster(tiny.api.coursedir, read_roster(file("id,email\nanna,b@uni.example\nben,a@uni.example")))
    assert [email for _, _, email, _ in students(tiny).values()] == ["b@uni.example", "a@uni.example"]


def test_control_characters_in_names_do_not_reach_the_terminal(tiny, file, capsys):
    write_roster(tiny.api.coursedir, read_roster(file("id,first_name\nanna,\x1b[2JAnna")))
    path = file("id,first_name\nanna,\x1b]0;x\x07Anna")
    assert main(["roster", str(path), "--class", str(tiny.folder)]) == 0
    out = capsys.readouterr().out
    assert "Changed:" in out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_dropped_students_are_listed_and_stay_dropped(tiny, file, capsys):
    (tiny.folder / "dropped.txt").write_text("anna\n")
    assert main(["roster", "--class", str(tiny.folder), str(file(OWN))]) == 0
    assert (
        "In the file, but dropped (to take them back, remove their lines from dropped.txt): anna"
        in capsys.readouterr().out
    )
    assert dropped.listed(tiny.folder) == ["anna"]


DECOMPOSED = "ju\u0308rgen"  # as macOS writes the name of a folder


def test_a_folder_in_decomposed_form_is_the_students(tiny, file, said):
    """Its timestamp names an offset that nbgrader would take for 100 seconds; eve is not on the roster."""
    write_roster(tiny.api.coursedir, read_roster(file("id,last_name\njürgen,Müller\nben,Weiß\n")))
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
    assert "belong to jürgen" in said(tiny, *grade, code=1)
    (tiny.folder / "dropped.txt").write_text(f"{DECOMPOSED}\n")
    assert [row.student for row in gather(class_api(tiny.folder).coursedir, NAME).rows] == ["ben", "eve"]
