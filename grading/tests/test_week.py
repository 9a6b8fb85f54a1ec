"""A week in two commands, on the tiny class: release, then everything once submissions are in."""

import shutil
import zipfile

import pytest
from returned_notebooks import FORMS
from test_corpus import solved
from tiny_class import NAME, RIGHT, SLIP, TinyClass, threads

from autograder.steps import outcome


@pytest.fixture
def tiny(tmp_path):
    return TinyClass(tmp_path / "class")


def test_a_release_can_be_repeated_and_is_in_the_exchange_if_there_is_one(tiny, said):
    shutil.rmtree(tiny.folder / "release")
    shown = said(tiny, "release", NAME, "--due", "2026-11-02")
    assert f"{NAME} was generated.\n{NAME} is due Mon 2 Nov 2026, 23:59:59" in shown
    path = tiny.folder / "platform" / f"{NAME}.zip"
    before = path.read_bytes()
    assert f"{NAME} was already generated.\n" in said(tiny, "release", NAME)
    assert path.read_bytes() == before
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == [f"{NAME}/{NAME}.ipynb", f"{NAME}/{NAME}.record.json"]
        assert b"return 6 * x * v" not in archive.read(f"{NAME}/{NAME}.ipynb")
    (tiny.folder / "exchange").mkdir()
    (tiny.folder / "exchange").chmod(0o777)
    for _ in range(2):
        assert "Students can fetch it from the exchange" in said(tiny, "release", NAME)
    assert len(list((tiny.folder / "exchange").glob(f"*/outbound/{NAME}/{NAME}.ipynb"))) == 1


def test_a_week_uses_existing_submissions_and_lists_what_needs_attention(tiny, said):
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", text="{")
    tiny.hand_in("cem", RIGHT | {"answer-2": "import gc"})
    assert "91_other is not in the gradebook; run" in said(tiny, "week", "91_other", code=1)
    words = ["week", NAME, "--scheduler", threads().scheduler_address]
    shown = said(tiny, *words)
    assert shown.index("\nGrade:\n") < shown.index("\nReturn feedback:\n3 pages made") < shown.index("\nNeeds your")
    assert f"\n{NAME} has no due date.\n" in shown
    needs = shown[shown.index("Needs your attention:") :].splitlines()[1:]
    assert needs[0] == "Could not be graded:"
    assert needs[1].startswith("  ben: the notebook file is not valid JSON")
    assert needs[2:] == ["Number of flags (see the report):", "  cem: 1"]
    tiny.hand_in("cem", RIGHT)
    tiny.set_by_hand("anna", 1)
    tiny.hand_in("anna", SLIP)
    tiny.hand_in("ben", RIGHT)
    shown = said(tiny, *words)
    needs = shown[shown.index("Needs your attention:") :]
    assert "--keep-points or --drop-points STUDENT):\n  anna: 1: 1 set manually, 0 by the check\n" in needs
    assert "To do" not in needs, "every page is new"
    said(tiny, "grade", NAME, *words[2:], "--drop-points", "anna")
    assert said(tiny, *words).endswith("Needs your attention:\nnothing\n")


FEW = ["as JupyterLab saves it", "Jupytext, metadata filtered", "UTF-16 without a BOM", "only sources", "cut off"]


def test_every_form_of_a_notebook_gets_its_points_or_the_reason_from_a_platforms_archive(tmp_path, said):
    """The import changes no file, so a few are graded, and it lists what grading will refuse, in its words."""
    tiny = TinyClass(tmp_path / "class", solved=solved())
    numbers = {form: 4000 + number for number, form in enumerate(FORMS)}
    with tiny.api.gradebook as book:
        for form, number in numbers.items():
            book.add_student(form, first_name="Student", last_name=str(number), lms_user_id=str(number))

    def packed(forms):
        path = tmp_path / "canvas.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for form in forms:
                number = numbers[form]
                archive.writestr(f"{number}student_{number}_88{number}_{NAME}.ipynb", FORMS[form].data())
        return path

    shown = said(tiny, "week", NAME, packed(FEW), "--scheduler", threads().scheduler_address)
    assert {form: tiny.points(form) for form in FEW} == {form: list(FORMS[form].points) for form in FEW}
    why = {form: outcome.read(tiny.autograded(form)).could_not_grade for form in FEW}
    assert all(FORMS[form].words in why[form] for form in FEW)
    why = {form: reason for form, reason in why.items() if reason}
    assert why.keys() == {form for form in FEW if FORMS[form].words}
    needs = shown.partition("\nCould not be graded:\n")[2]
    assert all(f"  {form}: {reason}\n" in needs for form, reason in why.items())
    shown = said(tiny, "import-submissions", NAME, packed(FORMS))
    refused = dict(line[2:].split(": ", 1) for line in shown.splitlines() if line.startswith("  "))
    assert set(refused) == {form for form, one in FORMS.items() if one.words}
    assert all(FORMS[form].words in words for form, words in refused.items())
    assert refused.items() >= why.items()
    for form, one in FORMS.items():
        assert (tiny.submission(form) / f"{NAME}.ipynb").read_bytes() == one.data()
