"""Archives from Moodle and Canvas are imported for the right students of the roster, or not at all."""

import functools
import io
import json
import stat
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from tiny_class import NAME, pack

from autograder.errors import ClassError
from autograder.steps import receipt
from autograder.steps.files import MAX_BYTES, MAX_FILES, RECEIPTS, unfit
from autograder.term import archives
from autograder.term.submissions import import_submissions
from autograder.term.worksheet import Worksheet
from autograder.views.words import local

FILE = f"{NAME}.ipynb"
# Some columns of Moodle's grading worksheet: mod/assign/gradingtable.php
WORKSHEET = """Identifier,"Full name","Email address",Status,Grade,"Last modified (submission)","Last modified (grade)"
"Participant 3101","Anna Lena Müller",anna@uni.example,"Submitted for grading - ",,"Monday, 2 November 2026, 10:05 AM",-
"Participant 3102","Anna Lena Müller",other@uni.example,"Submitted for grading - ",,"Monday, 2 November 2026, 9:00 PM",-
"Participant 3103","Ciarán O'Brien",ciaran@uni.example,"No submission",,-,-
"""
STUDENTS = {
    "anna": ("Anna Lena", "Müller", "anna@uni.example", "4021"),
    "ben": ("Ben", "Weiß_Groß", "ben@uni.example", "4022"),
    "o'brien": ("Ciarán", "O'Brien", "ciaran@uni.example", "4023"),
    "ito": ("J. R. R.", "Ito", None, "4024"),
}


@pytest.fixture
def tiny(tiny):
    for student, (first, last, email, number) in STUDENTS.items():
        tiny.add(student, first_name=first, last_name=last, email=email, lms_user_id=number)
    return tiny


@pytest.fixture
def packed(tmp_path):
    """Return a function that packs members into an archive and returns its path."""
    return functools.partial(pack, tmp_path / "archive.zip")


def imported(tiny, archive, **options):
    """Import, and return each person's state, or the reason for not importing."""
    return {one.who: one.said or one.state for one in import_submissions(tiny.folder, NAME, archive, **options).done}


def handed_in(tiny):
    """Return the contents of submitted/, by relative path."""
    root = tiny.folder / "submitted"
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


ANNA = "Anna Lena Müller_3101_assignsubmission_file"
MATCHED = {  # an archive's members, each person's state or the reason for not importing, and the imported texts
    # Canvas shortens names; the person's number comes after LATE and before the file's.
    "Canvas's numbers": (
        {
            f"mülleranna_4021_88101_{FILE}": "anna",
            f"weigrossben_LATE_4022_88102_{NAME}-1.ipynb": "ben",
            "weigrossben_LATE_4022_88103_helper_7_8.py": "x = 1",
            f"mülleranna_9999_88104_{FILE}": "somebody of the same name",
            f"anon_x1Yz_4023_{FILE}": "under anonymous grading",
            "obrienciarán_4023_text.html": "typed",
        },
        {
            "anna": "new",
            "ben": f"{NAME}-1.ipynb was renamed",
            "mülleranna (9999)": "no student in the gradebook has the platform id 9999",
        },
        {f"anna/{NAME}/{FILE}": "anna", f"ben/{NAME}/{FILE}": "ben", f"ben/{NAME}/helper_7_8.py": "x = 1"},
    ),
    # Students choose their sortable name: `x_4021_99` would match anna, whose own files are still imported.
    "a name with another student's number": (
        {
            f"x_4021_99999999_4022_88101_{FILE}": "ben as anna",
            f"mülleranna_4021_88102_{FILE}": "anna",
            f"obrienciarán_4023_99_4022_88103_{FILE}": "ben as o'brien, in name and number",
        },
        {
            "anna": "new",
            "x (4021)": "anna has the number, but a different name in the roster",
            "obrienciarán (4023)": "the file could be from o'brien, ben",
        },
        {f"anna/{NAME}/{FILE}": "anna"},
    ),
    "a name without dots and blanks": (  # which Canvas lists as "Ito, J."
        {f"itoj_4024_88101_{FILE}": "ito"},
        {"ito": "new"},
        {f"ito/{NAME}/{FILE}": "ito"},
    ),
    "the newest of several notebooks": (
        {f"mülleranna_4021_88109_{NAME}-2.ipynb": "new", f"mülleranna_4021_88101_{FILE}": "old"},
        {"anna": f"{NAME}-2.ipynb was renamed; {FILE} is older"},
        {f"anna/{NAME}/{FILE}": "new"},
    ),
    "Moodle's folders": (
        {f"{ANNA}/{FILE}": "anna", "Ben Weiß Groß_3104_assignsubmission_file/sub/x.py": "x = 1"},
        {"anna": "new", "ben": "new"},
        {f"anna/{NAME}/{FILE}": "anna", f"ben/{NAME}/sub/x.py": "x = 1"},
    ),
    "Moodle without folders": ({f"{ANNA}_{FILE}": "a"}, {"anna": "new"}, {f"anna/{NAME}/{FILE}": "a"}),
    "two students with the same name": (
        {
            f"{ANNA}/{FILE}": "3101",
            f"Anna Lena Müller_3102_assignsubmission_file/{FILE}": "3102",
            f"Participant_3103_assignsubmission_file/{FILE}": "under anonymous marking",
        },
        {
            "Anna Lena Müller (3101)": "anna would be listed twice",
            "Anna Lena Müller (3102)": "anna would be listed twice",
            "Participant (3103)": "no student in the gradebook has the name Participant",
        },
        {},
    ),
    "submitted receipts": (  # otherwise a submission could fake its time, and whose feedback it gets
        {f"{ANNA}/{name}": "mine" for name in ("timestamp.txt", "Submission_Secret.txt", "sub/timestamp.txt")},
        {"anna": "timestamp.txt was ignored; Submission_Secret.txt was ignored"},
        {f"anna/{NAME}/sub/timestamp.txt": "mine"},
    ),
    "a bomb": (
        {f"mülleranna_4021_1_{FILE}": b"\0" * (MAX_BYTES + 1)},
        {"anna, mülleranna (4021)": "it contains more than 500 files or 50 MB"},
        {},
    ),
}


@pytest.mark.parametrize(("members", "states", "texts"), MATCHED.values(), ids=MATCHED.keys())
def test_each_member_is_imported_for_its_student_or_not_at_all(tiny, packed, members, states, texts):
    archive = packed(members)
    assert archive.stat().st_size < 100_000
    assert imported(tiny, archive) == states
    assert handed_in(tiny) == texts


def test_submissions_that_canvas_marks_late_are_listed_and_can_get_a_time(tiny, packed, said):
    """A dry run imports nothing."""
    archive = packed({f"mülleranna_LATE_4021_88101_{FILE}": "anna", f"weissben_4022_88102_{FILE}": "ben"})
    assert "New: 2\n" in said(tiny, "import-submissions", NAME, archive, "--dry-run")
    assert handed_in(tiny) == {}
    assert not (tiny.folder / "platform").exists()
    late = "so they count as on time (for Canvas, set one with --late-at DATE):\n  anna: late\n"
    assert late in said(tiny, "import-submissions", NAME, archive)
    assert receipt.timestamp(tiny.submission("anna")) is None
    said(tiny, "import-submissions", NAME, archive, "--late-at", "2026-11-03 12:00+00:00")
    assert receipt.timestamp(tiny.submission("anna")) == datetime(2026, 11, 3, 12)
    assert receipt.timestamp(tiny.submission("ben")) is None
    assert late not in said(tiny, "import-submissions", NAME, archive), "the time from before is kept"


CELLS = json.dumps({"cells": [{"cell_type": "code", "source": ""}] * 2001})
REFUSED = {
    "another name": ({"other.ipynb": "{}"}, f"it contains no {FILE} (found: other.ipynb)."),
    "a folder": ({"work/a.txt": "x"}, f"it contains no {FILE} (found: work)."),
    "too many cells": ({FILE: CELLS}, "the notebook exceeds 2000 cells or 2 million characters."),
}


@pytest.mark.parametrize(("files", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_the_import_lists_what_grading_will_refuse(tiny, packed, said, files, why):
    shown = said(tiny, "import-submissions", NAME, packed({f"{ANNA}/{name}": text for name, text in files.items()}))
    (line,) = [line for line in shown.splitlines() if line.startswith("  anna: ")]
    assert why in line
    for receipt_file in RECEIPTS:
        (tiny.submission("anna") / receipt_file).write_text("2026-11-02 10:00:00 UTC")
    reason = unfit(tiny.submission("anna"), NAME)
    assert reason in line, "and it is what grading says"
    assert not any(receipt_file in reason for receipt_file in RECEIPTS)


MINE, OTHER = "pull_back mine", "pull_back other"
COPY = f"Copy of {FILE}"
BESIDE = ("helper.py", "timestamp.txt", "submission_secret.txt")  # receipts would be the submission's own
RECEIPTS_IGNORED = "timestamp.txt was ignored; submission_secret.txt was ignored"
SEVERAL = {  # one person's files in Moodle by name; the text of the notebook that counts, and what is said
    "one with a name of its own": (
        {"homework.ipynb": MINE} | dict.fromkeys(BESIDE, "mine"),
        MINE,
        f"homework.ipynb was renamed, because it has the released cells; {RECEIPTS_IGNORED}",
    ),
    "one in a folder": (
        {"work/02 (3).ipynb": MINE} | {f"work/{name}": "mine" for name in BESIDE},
        MINE,
        f"work/02 (3).ipynb was renamed, because it has the released cells; {RECEIPTS_IGNORED}",
    ),
    "answered twice": (
        {FILE: MINE, f"{NAME}-1.ipynb": OTHER},
        OTHER,
        f"{NAME}-1.ipynb was renamed; {FILE} is ignored, but could be newer: the archive does not say; compare them",
    ),
    "an untouched one": ({FILE: MINE, f"work/{FILE}": ""}, MINE, f"work/{FILE} has no answers"),
    "a copy with a name of its own": (
        {FILE: "", COPY: MINE},
        MINE,
        f"{COPY} was renamed, because it has the released cells; {FILE} has no answers",
    ),
    "Jupyter's own copy": ({FILE: MINE, f".ipynb_checkpoints/{NAME}-checkpoint.ipynb": OTHER}, MINE, "new"),
}


@pytest.mark.parametrize(("several", "counts", "why"), SEVERAL.values(), ids=SEVERAL.keys())
def test_of_several_notebooks_one_with_answers_counts_and_the_others_are_listed(tiny, packed, several, counts, why):
    """A notebook in a folder brings the files beside it."""
    members = {}
    for name, text in several.items():
        if name.endswith(".ipynb"):
            tiny.hand_in("o'brien", {"answer-1": text} if text else {})
            text = (tiny.submission("o'brien") / FILE).read_text()
        members[f"{ANNA}/{name}"] = text
    assert imported(tiny, packed(members)) == {"anna": why}
    assert counts in (tiny.submission("anna") / FILE).read_text()
    beside = {path.name for path in tiny.submission("anna").glob("[!.]*")} - {FILE}
    assert beside == ({"helper.py"} if "mine" in several.values() else set())


def test_a_worksheet_identifies_students_and_submission_times(tiny, packed, tmp_path, said):
    """Without one, two students of the same name cannot be told apart; other members are listed."""
    sheet = tmp_path / "worksheet.csv"
    sheet.write_text(WORKSHEET)
    members = {f"Anna Lena Müller_{n}_assignsubmission_file/{FILE}": str(n) for n in (3101, 3102)}
    text = "Anna Lena Müller_3101_assignsubmission_onlinetext/onlinetext.html"
    members |= {text: "typed", "notes.txt": ""}
    assert "matched by full name only" in said(tiny, "import-submissions", NAME, packed(members), code=1)
    members[f"Eve_3109_assignsubmission_file/{FILE}"] = "not in the worksheet"
    assert imported(tiny, packed(members), worksheet=sheet) == {
        "anna": "new",
        "Anna Lena Müller (3102)": "no student in the gradebook has the e-mail address other@uni.example",
        "Eve (3109)": "no Identifier in the worksheet ends in 3109",
    }
    shown = said(tiny, "import-submissions", NAME, packed(members), "--worksheet", sheet, code=1)
    assert f"Files in the archive that match no student:\n  {text}\n  notes.txt\n" in shown
    assert "matched by full name only" not in shown
    assert handed_in(tiny)[f"anna/{NAME}/{FILE}"] == "3101"
    assert receipt.timestamp(tiny.submission("anna")) == datetime(2026, 11, 2, 10, 5).astimezone(UTC).replace(
        tzinfo=None
    )


def test_dates_drafts_and_extensions_in_a_worksheet_are_read_and_listed(tiny, packed, tmp_path, said):
    """An extension counts for students who have not submitted, too, and never shortens an existing one."""
    tiny.command("due", NAME, "2026-11-02 12:00")
    tiny.command("due", NAME, "2026-11-09 12:00", "--student", "ito")
    rows = {
        "anna": ("Submitted for grading - 1 day 15 hours late", "04/11/2026, 3:00"),
        "ben": ("Draft (not submitted)", "Monday, 2 November 2026, 9:05 AM"),
        "o'brien": (
            "Submitted for grading - Extension granted until: Tuesday, 3 November 2026, 6:00 PM",
            "2026-11-03 17:00",
        ),
        "ito": ("No submission - Extension granted until: Tuesday, November 3, 2026, 6:00 PM", "-"),
    }
    lines = ["Identifier,Username,Status,Grade,Last modified (submission),Last modified (grade)"]
    lines += [f'Participant {n},{who},"{s}",,"{at}",-' for n, (who, (s, at)) in enumerate(rows.items())]
    sheet = tmp_path / "worksheet.csv"
    sheet.write_text("\n".join(lines))
    archive = packed({f"X_{n}_assignsubmission_file/{FILE}": who for n, who in enumerate(rows) if who != "ito"})
    shown = said(tiny, "import-submissions", NAME, archive, "--worksheet", sheet)
    late_utc = datetime(2026, 11, 3, 18).astimezone(UTC).replace(tzinfo=None)
    assert "Ignored:\n  ben: a draft in Moodle, which was not submitted\n" in shown
    assert "set one with --late-at DATE):\n  anna: 04/11/2026, 3:00 (Submitted" in shown
    until = local(late_utc)
    assert f"Extended in the worksheet until:\n  o'brien: {until}\n  ito: {until}\n" in shown
    assert f"  ito: {local(late_utc + timedelta(days=5, hours=18))}\n" in shown
    assert receipt.timestamp(tiny.submission("anna")) is None
    assert receipt.timestamp(tiny.submission("o'brien")) == late_utc - timedelta(hours=1)
    with tiny.api.gradebook as book:
        assert book.find_submission(NAME, "o'brien").duedate == late_utc


WRITTEN = {  # the same time in Moodle's English and in ISO form; and forms that could mean another time, or are of none
    "Wednesday, 4 November 2026, 2:05 PM": True,
    "Wednesday, November 4, 2026, 2:05\u202fpm": True,
    "Wednesday, 4 November 2026, 14:05": True,
    "2026-11-04 14:05": True,
    "2026-11-04T14:05:00": True,
    "04/11/2026 14:05": False,
    "Wednesday, 4 November 2026, 2:05": False,
    "Thursday, 4 November 2026, 2:05 PM": False,
    "Wednesday, 4 November 2026, 14:05 PM": False,
    "Wednesday, 4 November 2026": False,
    "Saturday, 4 November 0026, 2:05 PM": False,
    "2026-11-04": False,
    "1 day 15 hours late": False,
}


@pytest.mark.parametrize(("text", "is_read"), WRITTEN.items())
def test_a_date_is_read_as_moodle_writes_it_or_not_at_all(text, is_read, tmp_path):
    sheet = tmp_path / "worksheet.csv"
    column = "Identifier,Grade,Last modified (grade),Last modified (submission),last modified (Submission)"
    sheet.write_text(f'{column}\nParticipant 1,,-,"{text}",2020-01-01 00:00\n')
    worksheet = Worksheet(sheet)
    time = datetime(2026, 11, 4, 14, 5).astimezone(UTC).replace(tzinfo=None)
    assert worksheet.submitted_at(worksheet.rows["1"]) == (time if is_read else None)


def test_canvas_test_student_is_ignored_but_not_a_student_of_that_name(tiny, packed, said):
    archive = packed({f"studenttest_4999_1_{FILE}": "x"})
    assert "Ignored:\n  studenttest (4999): Canvas's Test Student\n" in said(tiny, "import-submissions", NAME, archive)
    assert handed_in(tiny) == {}
    tiny.add("tess", first_name="Test", last_name="Student", lms_user_id="4999")
    assert imported(tiny, archive) == {"tess": "new"}


def test_an_existing_submission_is_replaced_only_with_update_and_a_dropped_students_never(tiny, packed):
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
    (tiny.folder / "dropped.txt").write_text("anna\n")
    assert imported(tiny, first, update=True) == {"anna": "was dropped from the class"}
    assert handed_in(tiny) == {f"anna/{NAME}/{FILE}": "2"}


LINK = zipfile.ZipInfo(f"{ANNA}/link")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16
TOO_MUCH = {  # anna's files, and why they are not imported
    "links": ([LINK], "link is a link or a special file"),
    "many files": ([f"{n}.txt" for n in range(MAX_FILES + 1)], "it contains more than 500 files or 50 MB"),
    "deep": (["a/" * 30 + "x"], "its folders are nested more than 20 levels deep"),
    "a long name": (["x" * 300], f"the name {'x' * 50}… is too long"),
    "a long path": ([f"{'x' * 150}/" * 9 + "x"], f"the name {'x' * 50}… is too long"),
    "a file that is a folder": (["a", "a/b"], "the archive contains a/b twice, as a file or folder"),
    "the same name": (["a", "a"], "the archive contains a twice"),
}


@pytest.mark.parametrize(("files", "said"), TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_what_grading_would_refuse_is_not_unpacked_but_the_rest_is(tiny, packed, files, said):
    members = [(name if name is LINK else f"{ANNA}/{name}", "") for name in files]
    found = imported(tiny, packed([*members, (f"Ben Weiß Groß_3102_assignsubmission_file/{FILE}", "ben")]))
    assert [why for who, why in found.items() if who != "ben"] == [said]
    assert handed_in(tiny) == {f"ben/{NAME}/{FILE}": "ben"}


def test_a_bomb_that_understates_its_size_is_damaged(tiny, packed):
    """No more is unpacked than the declared size, which was checked."""
    archive = packed({f"mülleranna_4021_1_{FILE}": b"\0" * 2_000_000})
    data = archive.read_bytes()
    assert data.count((2_000_000).to_bytes(4, "little")) == 2
    archive.write_bytes(data.replace((2_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    (why,) = imported(tiny, archive).values()
    assert f"{FILE} is damaged in the archive" in why
    assert handed_in(tiny) == {}


ANNAS = f"mülleranna_4021_1_{FILE}"
OUTSIDE = ["../{}", "a/../../{}", "/etc/{}", "C:/{}", "a\\{}", "a//{}", "./{}"]
UNUSABLE = {  # the archive's members, a change of its bytes, and the error
    **{
        name: ([ANNAS, name.format(f"weissben_4022_2_{FILE}")], bytes, r"Nothing was imported: .* leads outside the ar")
        for name in OUTSIDE
    },
    "half": ([ANNAS], lambda data: data[: len(data) // 2], "is not a readable zip archive"),
    "empty": ([ANNAS], lambda data: b"", "is not a readable zip archive"),
    "another platform's": (
        [f"anna/{FILE}"],
        bytes,
        r"Nothing was imported: .* contains anna/90_tiny\.ipynb\. Import it as you downloaded it",
    ),
    "nothing": ([], bytes, r"The archive contains nothing\."),
}


@pytest.mark.parametrize(("names", "change", "said"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_unusable_archive_or_worksheet_is_refused(tiny, packed, tmp_path, names, change, said):
    archive = packed(dict.fromkeys(names, "text"))
    archive.write_bytes(change(archive.read_bytes()))
    with pytest.raises(ClassError, match=said):
        import_submissions(tiny.folder, NAME, archive)
    assert handed_in(tiny) == {}
    sheet = tmp_path / "worksheet.csv"
    sheet.write_text(WORKSHEET.replace("Identifier", "ID"))
    with pytest.raises(ClassError, match=r"it has no column identifier.*Set your language in Moodle to English"):
        import_submissions(tiny.folder, NAME, packed({f"{ANNA}/{FILE}": ""}), worksheet=sheet)


def test_undeclared_utf8_names_are_read():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("Müller_1_assignsubmission_file/x", "")
    data = file.getvalue().replace((0x800).to_bytes(2, "little"), b"\0\0")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() != ["Müller_1_assignsubmission_file/x"]
        assert [one.name for one in archives.look_into(archive).uploads] == ["Müller"]
