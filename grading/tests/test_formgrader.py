"""Formgrader shows the class, and its button grades."""

import sys

import pytest
from test_hub import Formgrader
from tiny_class import NAME, RIGHT, SLIP, TinyClass, write_settings

STUDENTS = ["anna", "bela", "broken"]


@pytest.mark.browser
def test_formgrader_shows_the_class_and_grades(open_lab, tmp_path):
    """Autograde ends in Success."""
    tiny = TinyClass(tmp_path / "class")
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("bela", SLIP)
    tiny.hand_in("broken", text='{"cells": [')
    write_settings(tmp_path)
    lab = open_lab(tmp_path, command=[sys.executable, "-m", "autograder", "--class", str(tiny.folder), "formgrader"])
    lab.goto("lab")
    lab.command("nbgrader:open-formgrader")
    frame = lab.page.frame_locator("iframe[src*=formgrader]")
    row = frame.locator("tr", has=frame.get_by_text(NAME, exact=True))
    row.locator("td.num-submissions a", has_text="3").click()
    for student in STUDENTS:
        Formgrader(frame).click("autograde", of=student)
    scores = [frame.locator("tr", has=frame.get_by_text(one, exact=True)).locator("td.score") for one in STUDENTS]
    assert [score.inner_text() for score in scores] == ["5 / 5", "1.5 / 5", "0 / 5"]
    assert [tiny.points(student) for student in STUDENTS] == [[2, 3], [0, 1.5], [None, None]]
