"""Archives from Moodle and Canvas are imported for the right students of the roster, or not at all."""

import io
import stat
import zipfile
from datetime import UTC, datetime

import pytest
from tiny_class import NAME, RIGHT, TinyClass

from autograder import dropped
from autograder.__main__ import main
from autograder.errors import ClassError
from autograder.steps import receipt
from autograder.steps.files import MAX_BYTES, MAX_FILES, unfit
from autograder.term import archives
from autograder.term.people import People
from autograder.term.submissions import import_submissions

FILE = f"{NAME}.ipynb"
# Columns of Moodle's grading worksheet: mod/assign/gradingtable.php
WORKSHEET = """Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 3101","Anna Lena Müller",anna@uni.example,"Submitted for grading - ",,5.00,Yes,\
"Monday, 2 November 2026, 10:05 AM",-,
"Participant 3102","Anna Lena Müller",other@uni.example,"Submitted for grading - ",,5.00,Yes,\
"Monday, 2 November 2026, 9:00 PM",-,
"Participant 3103","Ciarán O'Brien",ciaran@uni.example,"No submission",,5.00,Yes,-,-,
"""
STUDENTS = {
    "anna": ("Anna Lena", "Müller", "anna@uni.example", "4021"),
    "ben": ("Ben", "Weiß_Groß", "ben@uni.example", "4022"),
    "o'brien": ("Ciarán", "O'Brien", "ciaran@uni.example", "4023"),
}


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Return the text of a notebook that solves everything."""
    tiny = TinyClass(tmp_path_factory.mktemp("right") / "class")
    tiny.hand_in("anna", RIGHT)
    return (tiny.submission("anna") / FILE).read_text()


@pytest.fixture
def tiny(tmp_path):
    tiny = TinyClass(tmp_path / "class")
    with tiny.api.gradebook as book:
        for student, (first, last, email, number) in STUDENTS.items():
            book.add_student(student, first_name=first, last_name=last, email=email, lms_user_id=number)
    return tiny


@pytest.fixture
def packed(tmp_path):
    """Return a function that packs texts by name, as regular files, into an archive and returns its path."""

    def pack(members):
        path = tmp_path / "archive.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in members.items() if isinstance(members, dict) else members:
                info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
                info.external_attr = info.external_attr or (stat.S_IFREG | 0o644) << 16
                archive.writestr(info, text, zipfile.ZIP_DEFLATED)
        return path

    return pack


def imported(tiny, archive, **options):
    """Import, and return each person's state, or the reason for not importing."""
    return {one.who: one.said or one.state for one in import_submissions(tiny.folder, NAME, archive, **options).done}


def handed_in(tiny):
    """Return the contents of submitted/, by relative path."""
    root = tiny.folder / "submitted"
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_canvas_archive_is_matched_by_canvas_number(tiny, packed):
    """Canvas shortens names; the person's number comes after LATE and before the file's."""
    archive = packed(
        {
            f"mülleranna_4021_88101_{FILE}": "anna",
            f"weigrossben_LATE_4022_88102_{NAME}-1.ipynb": "ben",
            "weigrossben_LATE_4022_88103_helper_7_8.py": "x = 1",
            f"mülleranna_9999_88104_{FILE}": "somebody of the same name",
            f"anon_x1Yz_4023_{FILE}": "under anonymous grading",
            "obrienciarán_4023_text.html": "typed",
        }
    )
    assert imported(tiny, archive) == {
        "anna": "new",
        "ben": f"{NAME}-1.ipynb was renamed",
        "mülleranna (9999)": "no student in the gradebook has the platform id 9999",
    }
    assert handed_in(tiny) == {
        f"anna/{NAME}/{FILE}": "anna",
        f"ben/{NAME}/{FILE}": "ben",
        f"ben/{NAME}/helper_7_8.py": "x = 1",
    }
    found = import_submissions(tiny.folder, NAME, archive)
    assert (found.others, found.typed) == ([f"anon_x1Yz_4023_{FILE}"], ["o'brien"])


def test_a_name_with_another_students_number_matches_nobody_and_both_are_listed(tiny, packed):
    """Students choose their sortable name: `x_4021_99` would match anna, whose own files are still imported."""
    archive = packed(
        {
            f"x_4021_99999999_4022_88101_{FILE}": "ben as anna",
            f"mülleranna_4021_88102_{FILE}": "anna",
            f"obrienciarán_4023_99_4022_88103_{FILE}": "ben as o'brien, in name and number",
        }
    )
    assert imported(tiny, archive) == {
        "anna": "new",
        "x (4021)": "the number belongs to anna, who has a different name in the roster",
        "obrienciarán (4023)": "the file name could belong to o'brien or ben",
    }
    assert handed_in(tiny) == {f"anna/{NAME}/{FILE}": "anna"}


def test_dots_and_blanks_do_not_make_a_name_different(tiny, packed):
    """A student whom Canvas lists as "Ito, J." is J. R. R. Ito in the roster."""
    with tiny.api.gradebook as book:
        book.add_student("ito", first_name="J. R. R.", last_name="Ito", lms_user_id="4024")
    assert imported(tiny, packed({f"itoj_4024_88101_{FILE}": "ito"})) == {"ito": "new"}


def test_the_newest_of_several_submitted_notebooks_counts(tiny, packed):
    members = {f"mülleranna_4021_88109_{NAME}-2.ipynb": "new", f"mülleranna_4021_88101_{FILE}": "old"}
    assert imported(tiny, packed(members)) == {"anna": f"{NAME}-2.ipynb was renamed; {FILE} is older"}
    assert handed_in(tiny) == {f"anna/{NAME}/{FILE}": "new"}


def test_submissions_that_canvas_marks_late_are_listed_and_can_get_a_time(tiny, packed, capsys):
    archive = packed({f"mülleranna_LATE_4021_88101_{FILE}": "anna", f"weissben_4022_88102_{FILE}": "ben"})
    words = ["import-submissions", NAME, str(archive), "--class", str(tiny.folder)]
    assert main(words) == 0
    assert "so they count as on time (set a time with --late-at DATE): anna" in capsys.readouterr().out
    assert receipt.timestamp(tiny.submission("anna")) is None
    assert main([*words, "--late-at", "2026-11-03 12:00+00:00"]) == 0
    assert receipt.timestamp(tiny.submission("anna")) == datetime(2026, 11, 3, 12)
    assert receipt.timestamp(tiny.submission("ben")) is None


def test_a_table_gives_each_submission_time(tiny, packed, tmp_path, capsys):
    times = tmp_path / "times.csv"
    times.write_text("Student,ID,Submitted at\nAnna,4021,2026-11-03T12:00:00Z\nBen,4022,\nEve,4029,2026-11-03\n")
    archive = packed({f"mülleranna_LATE_4021_88101_{FILE}": "anna", f"weissben_LATE_4022_88102_{FILE}": "ben"})
    words = ["import-submissions", NAME, str(archive), "--class", str(tiny.folder), "--late-at"]
    assert main([*words, str(times)]) == 0
    assert "so they count as on time (set a time with --late-at DATE): ben\n" in capsys.readouterr().out
    assert receipt.timestamp(tiny.submission("anna")) == datetime(2026, 11, 3, 12)
    assert receipt.timestamp(tiny.submission("ben")) is None
    times.write_text("Student,ID\nAnna,4021\n")
    assert main([*words, str(times)]) == 1
    assert "has no column of times. Expected one of: submitted at" in capsys.readouterr().err


def test_the_test_student_and_typed_text_are_recognized(tiny, packed, capsys):
    archive = packed(
        {f"studenttest_5000_88101_{FILE}": "", "mülleranna_4021_text.html": "typed", f"weissben_4022_2_{FILE}": "ben"}
    )
    assert main(["import-submissions", NAME, str(archive), "--class", str(tiny.folder)]) == 0
    shown = capsys.readouterr().out
    assert "Typed into Canvas; ask for the notebook as a file: anna\n" in shown
    assert "Ignored: Canvas's Test Student\n" in shown


REFUSED = {
    "another name": ({"other.ipynb": "{}"}, f"it contains no {FILE} (found: other.ipynb)."),
    "code": ({"homework.py": "x"}, "(found: homework.py). Submit the notebook itself, not only its code."),
    "a zip": ({"work.zip": "PK"}, "(found: work.zip). Submit the notebook itself, not an archive of it."),
    "a folder": ({"work/a.txt": "x"}, "(found: work). Submit the notebook itself, not the folder work."),
    "empty": ({FILE: ""}, f"{FILE} is empty (0 bytes)."),
    "no JSON": ({FILE: "{"}, f"{FILE} is not a notebook: it is not valid JSON."),
    "another notebook": ({FILE: '{"cells": []}'}, "it contains none of the released notebook's cells."),
}


@pytest.mark.parametrize(("files", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_the_import_lists_what_grading_will_refuse(tiny, packed, capsys, files, said):
    archive = packed({f"Anna Lena Müller_3101_assignsubmission_file/{name}": text for name, text in files.items()})
    assert main(["import-submissions", NAME, str(archive), "--class", str(tiny.folder)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  anna: ")]
    assert said in line
    (tiny.submission("anna") / "timestamp.txt").write_text("2026-11-02 10:00:00 UTC")
    reason = unfit(tiny.submission("anna"), NAME)
    assert reason in line, "and it is what grading says"
    assert "timestamp" not in reason


@pytest.mark.parametrize("name", ["homework.ipynb", "work/02 (3).ipynb"])
def test_a_single_notebook_with_released_cells_is_accepted(tiny, packed, notebook, name):
    form = "Anna Lena Müller_3101_assignsubmission_file/{}"
    beside = name.replace(name.rpartition("/")[2], "helper.py")
    found = imported(tiny, packed({form.format(name): notebook, form.format(beside): "x = 1"}))
    assert found == {"anna": f"{name} has the released cells and was renamed"}
    assert sorted(handed_in(tiny)) == [f"anna/{NAME}/{FILE}", f"anna/{NAME}/helper.py"]


def test_a_dry_run_imports_nothing(tiny, packed, capsys):
    archive = packed({f"mülleranna_4021_88101_{FILE}": "anna"})
    assert main(["import-submissions", NAME, str(archive), "--class", str(tiny.folder), "--dry-run"]) == 0
    assert "New: 1\n" in capsys.readouterr().out
    assert handed_in(tiny) == {}
    assert not (tiny.folder / "platform").exists()


MOODLE = {
    "folders": "Anna Lena Müller_3101_assignsubmission_file/{}",
    "folders before 3.11": "Anna Lena Müller_3101_assignsubmission_file_/{}",
    "no folders": "Anna Lena Müller_3101_assignsubmission_file_{}",
}


@pytest.mark.parametrize("form", MOODLE.values(), ids=MOODLE.keys())
def test_a_moodle_archive_without_a_worksheet_is_matched_by_full_name(tiny, packed, form):
    archive = packed({form.format(FILE): "anna", "Ben Weiß Groß_3104_assignsubmission_file/sub/x.py": "x = 1"})
    assert imported(tiny, archive) == {"anna": "new", "ben": "new"}
    assert handed_in(tiny) == {f"anna/{NAME}/{FILE}": "anna", f"ben/{NAME}/sub/x.py": "x = 1"}


def test_a_match_by_name_only_and_members_that_match_nobody_are_reported(tiny, packed, tmp_path, capsys):
    sheet = tmp_path / "worksheet.csv"
    sheet.write_text(WORKSHEET)
    text = "Anna Lena Müller_3101_assignsubmission_onlinetext/onlinetext.html"
    moodle = {f"Anna Lena Müller_3101_assignsubmission_file/{FILE}": "anna", text: "typed", "notes.txt": ""}
    reports = []
    for members, options in [
        (moodle, []),
        (moodle, ["--worksheet", str(sheet)]),
        ({f"mülleranna_4021_88101_{FILE}": "anna"}, []),
    ]:
        words = ["import-submissions", NAME, str(packed(members)), "--class", str(tiny.folder), *options]
        assert main(words) == 0
        reports.append(capsys.readouterr().out)
    assert f"Files in the archive that match no student:\n  {text}\n  notes.txt\n" in reports[0]
    assert ["matched by full name only" in report for report in reports] == [True, False, False]


def test_a_moodle_file_with_numbers_in_its_name_is_not_taken_for_canvas(tiny, packed):
    assert imported(tiny, packed({"Anna Lena Müller_3101_assignsubmission_file_x_4022_7_y.py": ""})) == {"anna": "new"}


def test_two_students_with_the_same_name_match_nobody_without_a_worksheet(tiny, packed):
    members = {f"Anna Lena Müller_{n}_assignsubmission_file/{FILE}": str(n) for n in (3101, 3102)}
    members[f"Participant_3103_assignsubmission_file/{FILE}"] = "under anonymous marking"
    assert imported(tiny, packed(members)) == {
        "Anna Lena Müller (3101)": "anna would be listed twice",
        "Anna Lena Müller (3102)": "anna would be listed twice",
        "Participant (3103)": "no student in the gradebook has the name Participant",
    }
    assert handed_in(tiny) == {}


def test_a_worksheet_identifies_students_and_submission_times(tiny, packed, tmp_path):
    sheet = tmp_path / "worksheet.csv"
    sheet.write_text(WORKSHEET)
    members = {f"Anna Lena Müller_{n}_assignsubmission_file/{FILE}": str(n) for n in (3101, 3102)}
    members["Anna Lena Müller_3101_assignsubmission_onlinetext/onlinetext.html"] = "typed"
    members[f"Eve_3109_assignsubmission_file/{FILE}"] = "not in the worksheet"
    assert imported(tiny, packed(members), worksheet=sheet) == {
        "anna": "new",
        "Anna Lena Müller (3102)": "no student in the gradebook has the e-mail address other@uni.example",
        "Eve (3109)": "no Identifier in the worksheet ends in 3109",
    }
    assert handed_in(tiny)[f"anna/{NAME}/{FILE}"] == "3101"
    assert receipt.timestamp(tiny.submission("anna")) == datetime(2026, 11, 2, 10, 5).astimezone(UTC).replace(
        tzinfo=None
    )


def test_a_file_that_is_not_a_worksheet_is_refused(tiny, packed, tmp_path):
    sheet = tmp_path / "worksheet.csv"
    sheet.write_text(WORKSHEET.replace("Identifier", "ID"))
    archive = packed({f"Anna_3101_assignsubmission_file/{FILE}": ""})
    with pytest.raises(ClassError, match=r"the column Identifier is missing.*set your language to English"):
        import_submissions(tiny.folder, NAME, archive, worksheet=sheet)


def test_an_existing_submission_is_replaced_only_with_update(tiny, packed):
    first = packed({f"mülleranna_4021_1_{FILE}": "1"})
    assert imported(tiny, first) == {"anna": "new"}
    (tiny.submission("anna") / "timestamp.txt").write_text("2026-11-02 10:00:00 UTC")
    assert imported(tiny, first) == {"anna": "unchanged"}
    second = packed({f"mülleranna_4021_2_{FILE}": "2"})
    assert imported(tiny, second) == {"anna": "kept"}
    assert handed_in(tiny)[f"anna/{NAME}/{FILE}"] == "1"
    assert imported(tiny, second, update=True) == {"anna": "replaced"}
    assert handed_in(tiny) == {f"anna/{NAME}/{FILE}": "2"}
    assert [path.name for path in tiny.folder.iterdir() if path.name.startswith(".import")] == []


def test_a_dropped_student_is_not_imported(tiny, packed):
    dropped.write_list(tiny.folder, ["anna"])
    assert imported(tiny, packed({f"mülleranna_4021_1_{FILE}": "1"})) == {"anna": "was dropped from the class"}
    assert handed_in(tiny) == {}


def test_a_submitted_receipt_is_not_imported(tiny, packed):
    """Otherwise a submission could fake its time, and whose feedback it gets."""
    form = "Anna Lena Müller_3101_assignsubmission_file/{}"
    names = ["timestamp.txt", "Submission_Secret.txt", "sub/timestamp.txt"]
    imported(tiny, packed({form.format(name): "mine" for name in names}))
    assert handed_in(tiny) == {f"anna/{NAME}/sub/timestamp.txt": "mine"}


def test_two_students_with_the_same_canvas_number_match_nobody():
    class One:
        def __init__(self, id):
            self.id, self.lms_user_id, self.email, self.first_name, self.last_name = id, "7", None, None, None

    assert People([One("anna"), One("ben")]).find(number="7").why == "anna and ben have the platform id 7"


HOSTILE = ["../{}", "a/../../{}", "/etc/{}", "C:/{}", "a\\{}", "a//{}", "./{}", "_1" * 2100 + "/{}"]


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:20])
def test_an_archive_with_paths_outside_it_is_refused_entirely(tiny, packed, name):
    archive = packed({f"mülleranna_4021_1_{FILE}": "anna", name.format(f"weissben_4022_2_{FILE}"): "ben"})
    with pytest.raises(ClassError, match=r"Nothing was imported: .*, a path that leads outside it"):
        import_submissions(tiny.folder, NAME, archive)
    assert handed_in(tiny) == {}


def moodle_member(name):
    return zipfile.ZipInfo(f"Anna Lena Müller_3101_assignsubmission_file/{name}")


def a_link():
    info = moodle_member("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return [(info, "/etc/passwd")]


TOO_MUCH = {
    "links": (a_link, "link is a link or a special file"),
    "many files": (
        lambda: [(moodle_member(f"{n}.txt"), "") for n in range(MAX_FILES + 1)],
        "it contains more than 500 files",
    ),
    "deep": (lambda: [(moodle_member("a/" * 30 + "x"), "")], "its folders are nested more than 20 levels deep"),
    "a long name": (lambda: [(moodle_member("x" * 300), "")], f"the name {'x' * 50}… is too long"),
    "a file that is a folder": (
        lambda: [(moodle_member("a"), ""), (moodle_member("a/b"), "")],
        "the archive contains a/b twice, as a file or folder",
    ),
}


@pytest.mark.parametrize(("members", "said"), TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_what_grading_would_refuse_is_not_unpacked_but_the_rest_is(tiny, packed, members, said):
    archive = packed([*members(), (f"Ben Weiß Groß_3102_assignsubmission_file/{FILE}", "ben")])
    found = imported(tiny, archive)
    assert [why for who, why in found.items() if who != "ben"] == [said]
    assert handed_in(tiny) == {f"ben/{NAME}/{FILE}": "ben"}


def test_a_bomb_is_not_unpacked(tiny, packed):
    archive = packed({f"mülleranna_4021_1_{FILE}": b"\0" * (MAX_BYTES + 1)})
    assert archive.stat().st_size < 100_000
    assert imported(tiny, archive) == {"anna, mülleranna (4021)": "its files exceed 50 MB in total"}


def test_a_bomb_that_understates_its_size_is_damaged(tiny, packed):
    """No more is unpacked than the declared size, which was checked."""
    archive = packed({f"mülleranna_4021_1_{FILE}": b"\0" * 2_000_000})
    data = archive.read_bytes()
    assert data.count((2_000_000).to_bytes(4, "little")) == 2
    archive.write_bytes(data.replace((2_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    (why,) = imported(tiny, archive).values()
    assert f"{FILE} is damaged in the archive" in why
    assert handed_in(tiny) == {}


def encrypted(data):
    """Return the archive with its first member flagged as encrypted."""
    at = data.index(b"PK\x01\x02") + 8
    return data[:at] + bytes([data[at] | 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[: len(data) // 2], "is not a readable zip archive"),
        (lambda data: b"", "is not a readable zip archive"),
        (encrypted, "is encrypted"),
    ],
)
def test_an_unreadable_archive_is_refused(tiny, packed, change, said):
    archive = packed({f"mülleranna_4021_1_{FILE}": "anna"})
    archive.write_bytes(change(archive.read_bytes()))
    with pytest.raises(ClassError, match=said):
        import_submissions(tiny.folder, NAME, archive)


def test_an_archive_from_neither_platform_is_refused(tiny, packed):
    with pytest.raises(ClassError, match=r"the archive contains anna/90_tiny\.ipynb\. Moodle's names look like"):
        import_submissions(tiny.folder, NAME, packed({f"anna/{FILE}": ""}))
    with pytest.raises(ClassError, match=r"the archive contains nothing\."):
        import_submissions(tiny.folder, NAME, packed({"__MACOSX/._x": "", "a/.DS_Store": ""}))


def test_undeclared_utf8_names_are_read():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("Müller_1_assignsubmission_file/x", "")
    data = file.getvalue().replace((0x800).to_bytes(2, "little"), b"\0\0")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() != ["Müller_1_assignsubmission_file/x"]
        assert [one.name for one in archives.look_into(archive).uploads] == ["Müller"]
