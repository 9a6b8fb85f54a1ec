"""Grades in the files of Canvas and Moodle, with their ids, and without formulas or zeros for missing grades."""

import csv
import re

import pytest
from tiny_class import NAME, TinyClass

from autograder.term.grades import Export
from autograder.views.table import as_text

# Canvas's exported gradebook: lib/gradebook_exporter.rb
CANVAS = f"""Student,ID,SIS User ID,SIS Login ID,Section,{NAME} (771),Other (772),Current Score,Current Score
,,,,,Manual Posting,,
    Points Possible,,,,,5.00,10.00,(read only)
"Müller, Anna",4021,S-1,am,Autograd 1,,7.00,
"Weiß, Ben",4022,S-2,ben,Autograd 1,EX,,
"+Cem, =1+1",4023,S-3,cem,Autograd 1,3.00,,
"Gone, Gil",4999,S-9,gil,Autograd 1,2.00,,
"Student, Test",5000,,1f0c,Autograd 1,,,
"""
# Moodle's downloaded grading worksheet: mod/assign/gradingtable.php
MOODLE = """Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",\
"Last modified (submission)","Online text","Last modified (grade)","Feedback comments"
"Participant 3101","Anna Müller",anna@uni.example,"Submitted for grading - ",,5.00,Yes,\
"Monday, 2 November 2026, 10:05 AM","=1+1",-,"<p>Good.</p>
<p>-1 for style</p>"
"Participant 3102","Ben Weiß",ben@uni.example,"Submitted for grading - ",2.00,5.00,Yes,-,,-,
"Participant 3109","Gil Gone",gil@uni.example,"No submission",,5.00,Yes,-,,-,
"""


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class: anna has 4 1/3 of 5 points, ben 5; cem could not be graded, dora needs a manual grade, eve is absent."""
    tiny = TinyClass(tmp_path_factory.mktemp("graded") / "class")
    with tiny.api.gradebook as book:
        for name, last, email, number in [
            ("anna", "Müller", "anna@uni.example", "4021"),
            ("ben", "Weiß", "ben@uni.example", "4022"),
            ("cem", "=1+1", "@cem", "4023"),
            ("dora", "-D", "dora@uni.example", "S-17"),
            ("eve", "E", None, None),
        ]:
            first = "+Cem" if name == "cem" else name.capitalize()
            book.add_student(name, first_name=first, last_name=last, email=email, lms_user_id=number)
        for name, scores in {"anna": (4 / 3, 3), "ben": (2, 3), "dora": (2, None)}.items():
            submission = book.add_submission(NAME, name)
            for grade, score in zip(sorted(submission.notebooks[0].grades, key=lambda g: g.name), scores, strict=True):
                grade.auto_score = score
        book.db.commit()
    tiny.hand_in("cem", text="{")
    tiny.grader().give_up("cem", "=it is broken")
    return tiny


@pytest.fixture
def tiny(graded, tmp_path):
    """A copy of that class, with a folder for files beside it."""
    return TinyClass.copy_of(graded, tmp_path / "class")


@pytest.fixture
def export(tiny, said):
    """Return a function that fills a text like a platform's file; it returns the new file's rows and what is printed.

    The file is in the folder around the class.
    """

    def export(text, *words, code=0):
        into, path = tiny.folder.parent / "platforms.csv", tiny.folder.parent / "out.csv"
        into.write_text(text)
        shown = said(tiny, "export", NAME, "--into", into, "-o", path, *words, code=code)
        return list(csv.reader(path.open(newline="", encoding="utf-8"))) if path.exists() else [], shown

    return export


def test_into_canvas_gradebook(tiny, export):
    """Canvas's ids, assignment number and own rows stay; the file contains no other assignments."""
    rows, shown = export(CANVAS)
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{NAME} (771)"],
        ["", "", "", "", "", "Manual Posting"],
        ["    Points Possible", "", "", "", "", "5.00"],
        ["Müller, Anna", "4021", "S-1", "am", "Autograd 1", "4.33"],
        ["Weiß, Ben", "4022", "S-2", "ben", "Autograd 1", "EX"],
        ["'+Cem, =1+1", "4023", "S-3", "cem", "Autograd 1", "3.00"],
    ]
    assert "line 7: Gone, Gil: no student in the gradebook has the platform id 4999" in shown
    assert "Student, Test" not in shown
    assert "platforms.csv: dora, eve\n" in shown
    assert (
        f"{NAME}: no grade:\n  cem: could not be graded (=it is broken)\n"
        "  dora: needs manual grade (an answer needs a manual grade)\n  eve: not submitted\n"
    ) in shown
    assert (tiny.folder.parent / "out.csv").stat().st_mode & 0o777 == 0o600


def test_a_column_with_a_different_name_must_be_given(export):
    text = CANVAS.replace(f"{NAME} (771)", "Exercise 1 (771)")
    said = f"no column {NAME}. Choose one with --column. Columns of assignments: Exercise 1 (771), Other"
    assert said in export(text, code=1)[1]
    said = "Choose one with --column. Its columns: Student, ID, SIS User ID, SIS Login ID, Section, Exercise 1, Oth"
    assert said in export(re.sub(r" \(77\d\)", "", text), code=1)[1]
    assert export(text, "--column", "Exercise 1")[0][0][5] == "Exercise 1 (771)"


def test_into_moodles_worksheet(export):
    """Identifiers and times stay; feedback and students' text are left out, so they stay in Moodle."""
    rows, shown = export(MOODLE)
    assert rows[0] == [
        *["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed"],
        *["Last modified (submission)", "Last modified (grade)"],
    ]
    assert [row[0::4] for row in rows[1:]] == [
        ["Participant 3101", "4.33", "-"],
        ["Participant 3102", "5", "-"],
    ]
    assert "line 5: Participant 3109: no student in the gradebook has the e-mail address gil@uni.example" in shown
    # a site that hides addresses distinguishes people only by name
    rows, shown = export(MOODLE.replace("Email address", "Department").replace("Ben Weiß", "Anna Müller"))
    assert rows[1:] == []
    for line in ("line 2: Participant 3101: anna would be listed twice\n", "line 4: Participant 3102: anna would be"):
        assert line in shown


@pytest.mark.parametrize("text", [CANVAS, MOODLE], ids=["canvas", "moodle"])
def test_a_dropped_student_is_reported_and_different_maximum_points_are_refused(tiny, export, text):
    """Moodle's default maximum is 100: it would read 5 of 5 as 5 of 100."""
    refused, shown = export(text.replace(",5.00,", ",100.00,"), code=1)
    assert refused == []
    assert "is 100.00 there, but 5 here. Set it to 5 on the platform" in shown
    (tiny.folder / "dropped.txt").write_text("anna\n")
    assert "anna was dropped from the class\n" in export(text)[1]


def test_an_impossible_export_is_refused(tiny, export, said):
    assert "grading worksheet in English. Its columns: Student" in export("Student,Grade\nAnna,1\n", code=1)[1]
    path = tiny.folder.parent / "platforms.csv"
    assert "write to a different one" in said(tiny, "export", NAME, "--into", path, "-o", path, code=1)


SEPARATED = ["x;=1+cmd|' /C calc'!A0", "x; @a", "x;+1", "x\t=1"]  # if ; or a tab is the separator


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", " =1", "\t=1", "＝1", "\n+a", *SEPARATED])
def test_no_spreadsheet_reads_text_as_a_formula(text):
    for written in (as_text(text), Export([[text + "x"]], [], []).text().lstrip('"')):
        assert not re.search(r"[;\t�]\s*[=+@-]", written) if text in SEPARATED else written.startswith("'")
    assert as_text("one; two - three") == "one; two - three"
