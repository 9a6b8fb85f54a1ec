"""A week in two commands, on the tiny class: release, then everything once submissions are in."""

import shutil
import zipfile

from tiny_class import NAME, RIGHT, SLIP, threads


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
    assert shown.index("\nGrade:\n") < shown.index("\nReturn feedback:\nPages made: 3.") < shown.index("\nNeeds your")
    assert f"\n{NAME} has no due date.\n" in shown
    assert "\nExport grades:\nTo export grades, add Canvas's --gradebook FILE or" in shown
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
