"""Grades in the formats of Canvas and Moodle, with their ids, and without formulas or zeros for missing grades."""

import csv
import re

import pytest
from tiny_class import NAME, TinyClass

from autograder.steps.save import set_aside
from autograder.term import grades
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
    set_aside(tiny.api.coursedir, "cem", NAME, "=it is broken", tiny.submission("cem"))
    return tiny


@pytest.fixture
def tiny(graded, tmp_path):
    """A copy of that class, with a folder for files beside it."""
    return TinyClass.copy_of(graded, tmp_path / "class")


def export(tiny, *words):
    """Run the command; return its exit code and the file's rows."""
    path = tiny.folder.parent / "out.csv"
    code = tiny.command("export", "-o", path, *words)
    return code, list(csv.reader(path.open(newline="", encoding="utf-8"))) if path.exists() else []


def test_canvas_import(tiny, capsys):
    """Columns and the row of points are as Canvas expects; students it could match only by name are left out."""
    code, rows = export(tiny, "--platform", "canvas", NAME)
    assert code == 0
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME],
        ["    Points Possible", "", "", "", "", "5"],
        ["Müller, Anna", "4021", "", "anna", "", "4.33"],
        ["Weiß, Ben", "4022", "", "ben", "", "5"],
        ["'=1+1, +Cem", "4023", "", "cem", "", ""],
    ]
    shown = capsys.readouterr().out
    assert "dora: the roster has no Canvas number as platform id\n  eve: the roster has no Canvas number" in shown
    assert (
        f"{NAME}: no grade:\n  cem: could not be graded (=it is broken)\n"
        "  dora: needs manual grade (an answer needs a manual grade)\n  eve: not submitted\n"
    ) in shown
    assert (tiny.folder.parent / "out.csv").stat().st_mode & 0o777 == 0o600


def test_into_canvas_gradebook(tiny, capsys):
    """Canvas's ids, assignment number and own rows stay; the file contains no other assignments."""
    path = tiny.folder.parent / "canvas.csv"
    path.write_text(CANVAS)
    code, rows = export(tiny, "--platform", "canvas", NAME, "--into", str(path))
    assert code == 0
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{NAME} (771)"],
        ["", "", "", "", "", "Manual Posting"],
        ["    Points Possible", "", "", "", "", "5.00"],
        ["Müller, Anna", "4021", "S-1", "am", "Autograd 1", "4.33"],
        ["Weiß, Ben", "4022", "S-2", "ben", "Autograd 1", "EX"],
        ["'+Cem, =1+1", "4023", "S-3", "cem", "Autograd 1", "3.00"],
    ]
    shown = capsys.readouterr().out
    assert "line 7: Gone, Gil: no student in the gradebook has the platform id 4999" in shown
    assert f"Not in the file:\n  dora: not in {path}\n  eve: not in {path}\n" in shown


def test_a_column_with_a_different_name_must_be_given(tiny, capsys):
    path = tiny.folder.parent / "canvas.csv"
    path.write_text(CANVAS.replace(f"{NAME} (771)", "Exercise 1 (771)"))
    words = ["--platform", "canvas", NAME, "--into", str(path)]
    assert export(tiny, *words)[0] == 1
    said = f"no column {NAME}. Choose one with --column; columns of assignments: Exercise 1 (771), Other"
    assert said in capsys.readouterr().err
    assert export(tiny, *words, "--column", "Exercise 1")[1][0][5] == "Exercise 1 (771)"


def test_moodles_grade_import(tiny, capsys):
    code, rows = export(tiny, "--platform", "moodle", NAME)
    assert code == 0
    assert rows == [
        ["First name", "Last name", "Email address", "ID number", NAME],
        ["Anna", "Müller", "anna@uni.example", "4021", "4.33"],
        ["Ben", "Weiß", "ben@uni.example", "4022", "5"],
        ["Dora", "'-D", "dora@uni.example", "S-17", ""],
    ]
    shown = capsys.readouterr().out
    assert "cem: no e-mail address that identifies them in Moodle\n  eve: no e-mail address" in shown
    with tiny.api.gradebook as book:  # mapped by id, Moodle would assign a row without one to the previous student
        book.update_or_create_student("ben", lms_user_id=None)
    assert export(tiny, "--platform", "moodle", NAME)[1][0] == ["First name", "Last name", "Email address", NAME]


def test_into_moodles_worksheet(tiny, capsys):
    """Identifiers and times stay; feedback and students' text are left out, so they stay in Moodle."""
    path = tiny.folder.parent / "worksheet.csv"
    path.write_text(MOODLE)
    code, rows = export(tiny, "--platform", "moodle", NAME, "--into", str(path))
    assert code == 0
    assert rows[0] == [
        *["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed"],
        *["Last modified (submission)", "Last modified (grade)"],
    ]
    assert [row[0::4] for row in rows[1:]] == [
        ["Participant 3101", "4.33", "-"],
        ["Participant 3102", "5", "-"],
        ["Participant 3109", "", "-"],
    ]
    assert "line 5: no student in the gradebook has the e-mail address gil@uni.example" in capsys.readouterr().out


def test_two_rows_for_the_same_student_match_nobody(tiny, capsys):
    """A site that hides addresses distinguishes people only by name."""
    path = tiny.folder.parent / "worksheet.csv"
    text = MOODLE.replace("Email address", "Department").replace("Ben Weiß", "Anna Müller")
    path.write_text(text)
    _, rows = export(tiny, "--platform", "moodle", NAME, "--into", str(path))
    assert [(row[0], row[3]) for row in rows[1:]] == [
        ("Participant 3101", ""),
        ("Participant 3102", "2.00"),
        ("Participant 3109", ""),
    ]
    assert "line 2: anna would be listed twice\n  line 4: anna would be listed twice" in capsys.readouterr().out


@pytest.mark.parametrize(("platform", "text"), [("canvas", CANVAS), ("moodle", MOODLE)])
def test_different_maximum_points_are_refused(tiny, capsys, platform, text):
    """Moodle's default maximum is 100: it would read 5 of 5 as 5 of 100."""
    path = tiny.folder.parent / "file.csv"
    path.write_text(text.replace(",5.00,", ",100.00,"))
    assert export(tiny, "--platform", platform, NAME, "--into", str(path)) == (1, [])
    assert f"{NAME} has 5 points here, but the platform's" in capsys.readouterr().err


def test_anonymous_ids_reveal_nobody_and_stay_the_same(tiny):
    _, rows = export(tiny, "--platform", "canvas", NAME, "--anonymous")
    assert rows[:2] == [["Student", NAME], ["points", "5"]]
    assert sorted(score for _, score in rows[2:]) == ["", "", "", "4.33", "5"]
    ids = [student for student, _ in rows[2:]]
    assert ids == sorted(ids)
    assert all(student.startswith("anonymous-") for student in ids)
    assert export(tiny, "--platform", "canvas", NAME, "--anonymous")[1] == rows
    (tiny.folder / "anonymous.key").unlink()
    assert not set(ids) & {student for student, _ in export(tiny, "--platform", "moodle", NAME, "--anonymous")[1]}


def test_a_dropped_student_is_not_exported_and_is_reported_if_the_platforms_file_has_one(tiny, capsys):
    (tiny.folder / "dropped.txt").write_text("anna\n")
    assert [row[1] for row in export(tiny, "--platform", "canvas", NAME)[1][2:]] == ["4022", "4023"]
    for platform, text in {"canvas": CANVAS, "moodle": MOODLE}.items():
        path = tiny.folder.parent / "file.csv"
        path.write_text(text)
        export(tiny, "--platform", platform, NAME, "--into", str(path))
        assert "anna was dropped from the class\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--platform", "canvas", "90_tin"],
            "90_tin is not in the gradebook; run nbgrader generate_assignment 90_tin. Did you mean 90_tiny?",
        ),
        (["--platform", "canvas", NAME, "--anonymous", "--into", "x"], "do not combine it with --anonymous"),
        (["--platform", "moodle", NAME, "--column", "x"], "--column names one assignment's column"),
        (["--platform", "moodle", NAME, "90_tin", "--into", "x"], "belongs to one assignment"),
        (["--platform", "canvas", NAME, "--into", "{out}"], "write to a different one"),
        (["--platform", "canvas", NAME, "--into", "{out.parent}/roster.csv"], "it lacks the columns ID and Section"),
    ],
)
def test_an_impossible_export_is_refused(tiny, capsys, words, said):
    out = tiny.folder.parent / "out.csv"
    out.write_text(CANVAS)
    (out.parent / "roster.csv").write_text("Student,Grade\nAnna,1\n")
    assert export(tiny, *(word.format(out=out) for word in words))[0] == 1
    assert said in capsys.readouterr().err
    assert out.read_text() == CANVAS


SEPARATED = ["x;=1+cmd|' /C calc'!A0", "x; @a", "x;+1", "x\t=1"]  # if ; or a tab is the separator


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", " =1", "\t=1", "＝1", "\n+a", *SEPARATED])
def test_no_spreadsheet_reads_text_as_a_formula(text):
    for written in (as_text(text), grades.Export([[text + "x"]]).text().lstrip('"')):
        assert not re.search(r"[;\t�]\s*[=+@-]", written) if text in SEPARATED else written.startswith("'")
    assert as_text("one; two - three") == "one; two - three"
