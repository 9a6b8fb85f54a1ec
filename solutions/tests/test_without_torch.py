"""Chapter 00 needs neither torch nor NumPy: its cells, checks, cards and payoffs run where neither can be imported."""

import json
import shutil
import subprocess
import sys

import nbformat
import pytest
from kept_answers import kept_answers

from authoring.build import STUDENT_EDITION
from authoring.cells import tags
from authoring.chapter import source_path

NAME = "00_twenty_lines"
# Runs the chapter's cells, then each wrong answer through its check, and prints all that a learner reads.
RUN = """
import json, linecache, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "numpy"):
            raise ImportError(f"{name} is not here")

given = json.loads(sys.stdin.read())
if given["missing"]:
    sys.meta_path.insert(0, Missing())
else:
    import torch

from gradlab.checks import check as checking
from gradlab.checks.cells import Chapter
from gradlab.checks.card import card

names = {"__name__": "__main__", "display": print}

def run(place, source):
    linecache.cache[place] = len(source), None, source.splitlines(keepends=True), place
    exec(compile(source, place, "exec"), names)

stated = {}
for cell, source in given["cells"].items():
    run(cell, source)
    if cell.startswith("check-"):
        names["check"] = lambda *args, cell=cell, **keywords: stated.update({cell: checking.Check(*args, **keywords)})
        run(cell, source)  # once more, to keep what the cell passes to check
        from gradlab import check
        names["check"] = check
for number, (check_id, source) in enumerate(given["wrong"]):
    run(f"answer {number}", source)
    one = stated[f"check-{check_id.replace('.', '-')}"]
    chapter = Chapter(checking.notebook.FOLDER)
    record = chapter.checks[check_id]
    learners = checking.replace(one, answer=names[record.answer])
    verdict, picture = checking._verdict(learners, record, chapter)
    print(check_id, verdict.feedback.text, card(verdict.feedback, picture))
print(sorted(name for name in sys.modules if name in ("torch", "numpy")))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """All that the chapter's cells and the cards of wrong answers print, with and without torch and NumPy."""
    cells = nbformat.read(source_path(NAME), as_version=4).cells
    code = {cell.id: cell.source for cell in cells if cell.cell_type == "code" and "reference" not in tags(cell)}
    wrong = [(kept.check_id, kept.source) for kept in kept_answers() if kept.check_id < "01" and not kept.is_right]
    folder = shutil.copytree(STUDENT_EDITION / NAME, tmp_path_factory.mktemp("chapters") / NAME)
    found = []
    for missing in (True, False):
        given = json.dumps({"cells": code, "wrong": wrong, "missing": missing})
        ran = subprocess.run(
            [sys.executable, "-c", RUN],
            input=given,
            capture_output=True,
            text=True,
            cwd=folder,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        found.append(ran.stdout.splitlines())
    return found


def test_every_reference_passes_and_every_cell_runs_without_torch_and_numpy(printed):
    without, _ = printed
    assert without[-1] == "[]"
    assert sum(": passed. " in line and "agree with torch" in line for line in without) == 5
    assert "5 of 5 checks passed, 7 of 7 points." in without
    assert any("4 of 4 points lie on their own color." in line for line in without)


def test_a_card_says_the_same_without_torch_and_numpy(printed):
    without, with_both = printed
    assert with_both[-1] == "['numpy', 'torch']"
    assert without[:-1] == with_both[:-1]
    assert sum('class="gl-card gl-card-wrong"' in line for line in without) > 5
