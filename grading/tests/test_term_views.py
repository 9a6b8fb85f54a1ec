"""Overview, report, changes, appeals and similar submissions of a class with one case of everything."""

import csv
import html
import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from accessible import violations
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell
from tiny_class import CHECK_1, NAME, RIGHT, TinyClass, solved_notebook

from autograder.dropped import write_list
from autograder.views.words import local

pytestmark = pytest.mark.xdist_group("term views")

DUE = datetime(2026, 11, 2, 12)
HOSTILE = "<script>alert(1)</script>"
BY_AUTOGRAD = """def pull_back(x, v):
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(3 * leaf**2, leaf, v)[0]"""
OWN = """def pull_back(x, v):
    # {comment}
    {rows} = []
    for {i} in range(x.reshape(-1).shape[0]):
        {one} = x.reshape(-1)[{i}]
        {other} = v.reshape(-1)[{i}]
        {rows}.append(({one} + {one}) * {other} + 2 * 2 * {one} * {other})
    {all} = torch.stack({rows})
    return {all}.reshape(x.shape)"""
TWIN_1 = OWN.format(comment="mine", rows="rows", i="i", one="a", other="b", all="flat")
TWIN_2 = OWN.format(comment="all my own work", rows="liste", i="k", one="wert", other="aussen", all="ergebnis")

SHOWN = """from IPython.display import HTML, display

display(HTML("<p style='background-color: #ffeecc'>a card</p>"), HTML("<table><tr><td>a table</td></tr></table>"))
print("\\x1b[38;2;0;0;200mblue\\x1b[0m")"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A class that was graded, reviewed manually, and graded again with a fixed check."""
    tiny = TinyClass(tmp_path_factory.mktemp("term") / "class")
    names = {"anna": ("Anna", "Ødegård"), "bela": ("Béla", "Nagy"), "missing": (HOSTILE, "=1+1")}
    with tiny.api.gradebook as gradebook:
        for student in ["anna", "bela", "broken", "by-autograd", "by-hand", "missing", "twin-1", "twin-2"]:
            first, last = names.get(student, (None, None))
            gradebook.add_student(student, first_name=first, last_name=last)
        gradebook.find_assignment(NAME).duedate = DUE
        gradebook.db.commit()
    answers = {"by-autograd": BY_AUTOGRAD, "by-hand": BY_AUTOGRAD, "twin-1": TWIN_1, "twin-2": TWIN_2}
    for student, answer in answers.items():
        hand_in(tiny, student, RIGHT | {"answer-1": answer})
    hand_in(tiny, "anna", RIGHT, change=lambda nb: nb.cells.append(new_code_cell(SHOWN)))
    hand_in(tiny, "bela", {"answer-1": "def pull_back(x, v):\n    return v"}, DUE + timedelta(hours=26))
    hand_in(tiny, "broken", text='{"cells": [')
    tiny.grade()
    tiny.set_by_hand("by-hand", 1.5, f"Nearly {HOSTILE}")
    with tiny.api.gradebook as gradebook:
        gradebook.find_submission_notebook(NAME, NAME, "bela").late_submission_penalty = 0.5
        gradebook.db.commit()
    assert tiny.command("report", NAME) == 0
    return tiny


@pytest.fixture(scope="module")
def regraded(tiny):
    """The same class after its first check was fixed: it now permits autograd."""
    solved = solved_notebook()
    next(cell for cell in solved.cells if cell.source == CHECK_1).source = CHECK_1.replace(", autograd=False", "")
    tiny.write_source(solved)
    assert tiny.api.generate_assignment(NAME, force=True)["success"]
    tiny.grade(force=True)
    return tiny


def hand_in(tiny: TinyClass, student: str, answers=None, at: datetime = DUE - timedelta(hours=1), **options) -> None:
    tiny.hand_in(student, answers, **options)
    tiny.stamp(student, f"{at:%Y-%m-%d %H:%M:%S} UTC")


@pytest.fixture
def lines_of(said):
    """Return a function that runs a command, which must succeed, and returns the lines that it prints."""
    return lambda tiny, *words: said(tiny, *words).splitlines()


def test_the_overview_has_points_and_the_facts_beside_them(tiny, lines_of):
    lines = lines_of(tiny, "overview")
    cells = {line.split("  ")[0].strip(): line.split("  ")[1:] for line in lines[:10]}
    shown = {who: [cell.strip() for cell in line if cell.strip()] for who, line in cells.items()}
    assert shown["anna (Anna Ødegård)"] == ["5", "5"]
    assert shown["bela (Béla Nagy)"] == ["0 L", "0"]
    assert shown["broken"] == ["?", "0"]
    assert shown["by-hand"] == ["4.5*", "4.5"]
    assert shown[f"missing ({HOSTILE} =1+1)"] == ["-", "0"]
    assert shown["out of"] == ["5", "5"]
    exercises = {line.split()[0]: " ".join(line.split()[1:]) for line in lines if line.startswith("90.")}
    assert exercises["90.1"] == "3 of 6 0 1.25 of 2 external gradient alone (1)"
    assert exercises["90.2"] == "5 of 6 1 1.25 of 1.5"
    assert [Path(line).name for line in lines[-3:]] == ["overview.csv", "overview_exercises.csv", "overview.html"]


def test_the_overview_as_csv_has_a_line_per_student_and_no_formula(tiny, lines_of):
    lines = list(csv.DictReader(io.StringIO("\n".join(lines_of(tiny, "overview", "--csv")))))
    found = {line["student"]: line for line in lines}
    bela, missing = found["bela"], found["missing"]
    assert (bela[NAME], bela[f"{NAME} status"], bela[f"{NAME} late_hours"]) == ("0.0", "graded", "26.0")
    assert (missing[NAME], missing[f"{NAME} status"], missing["total"]) == ("", "not submitted", "0")
    assert found["by-hand"][f"{NAME} by_hand"] == "yes"
    assert found["broken"]["without_score"] == "1"
    exercises = (tiny.folder / "reports" / "overview_exercises.csv").read_text().splitlines()
    assert exercises[1] == f"{NAME},90.1,90.1 the gradient at x,2.0,1.25,6,3,0,external gradient alone (1)"


def test_the_report_has_names_lateness_manual_points_and_a_page_per_submission(tiny, lines_of):
    """A submission's page is made once."""
    own = tiny.folder / "reports" / NAME / "twin-1.html"
    made = own.stat().st_mtime_ns
    lines = [line.strip() for line in lines_of(tiny, "report", NAME)]
    assert own.stat().st_mtime_ns == made
    assert "late   1 day 2 h, 0.5 deducted" in lines
    assert "hand   1  1.5 set manually" in lines
    page = (tiny.folder / "reports" / f"{NAME}.html").read_text()
    assert "Anna Ødegård" in page
    assert "1 day 2 h" in page
    assert "1.5*" in page
    for student in ["anna", "broken"]:
        assert f'href="{NAME}/{student}.html"' in page
    shown = (tiny.folder / "reports" / NAME / "anna.html").read_text()
    assert "6 * x * v" in text_of(shown)
    assert "passed" in shown
    broken = (tiny.folder / "reports" / NAME / "broken.html").read_text()
    assert "the notebook file is not valid JSON" in broken
    assert "<script" not in page + shown + broken


def test_an_appeal_shows_how_a_grade_came_about_and_nothing_about_others(tiny, lines_of):
    lines = lines_of(tiny, "appeal", "by-hand", NAME)
    facts = {line.split("  ")[0]: " ".join(line.split("  ")[1:]).strip() for line in lines[:-1]}
    assert facts["Score"] == "4.5 of 5"
    assert facts["Submitted"] == local(DUE - timedelta(hours=1))
    assert facts["Due"] == local(DUE)
    assert facts["1 set manually"] == "1.5 points, instead of 0 by the check"
    assert facts["Judged by"].startswith("record ")
    page = Path(lines[-1]).read_text()
    for shown in [
        "your answer may not use torch&#39;s autograd",
        "The submission is unchanged since it was graded.",
        "Nearly &lt;script&gt;",
    ]:
        assert shown in page
    assert "torch.autograd.grad(3 * leaf**2, leaf, v)[0]" in text_of(
        page[page.index('id="handed-in"') : page.index('id="graded"')]
    )
    assert not [other for other in ["anna", "bela", "twin-1", "Ødegård"] if other in page]
    assert "<script" not in page
    late = lines_of(tiny, "appeal", "bela", NAME)
    assert any(line.endswith("1 day 2 h; 0.5 points deducted") for line in late)


def test_an_appeal_against_an_ungradable_submission_lists_the_files(tiny, lines_of):
    lines = lines_of(tiny, "appeal", "broken", NAME)
    assert any("the notebook file is not valid JSON" in line for line in lines)
    page = Path(lines[-1]).read_text()
    assert "Could not be graded:" in page
    assert f"{NAME}.ipynb" in page


def test_an_appeal_for_an_unknown_student_is_refused(tiny, said):
    assert "error: The gradebook has no student ana. Did you mean anna?\n" in said(tiny, "appeal", "ana", NAME, code=1)
    assert "not submitted" in said(tiny, "appeal", "missing", NAME, code=1)


def test_twins_are_listed_side_by_side_and_honest_ones_are_not(tiny, lines_of):
    """Two students wrote the same loop with different names; two others wrote the same obvious three lines."""
    lines = lines_of(tiny, "similar", NAME)
    assert lines[0] == f"{NAME}: 1 group of similar submissions among 7, for review"
    assert lines[2].endswith("twin-1 and twin-2: 1")
    page = Path(lines[-1]).read_text()
    assert page.count('<div class="alike">') == 1
    assert "<mark>        liste.append((wert + wert) * aussen + 2 * 2 * wert * aussen)</mark>" in page
    assert "<span>    # all my own work</span>" in page
    assert "by-autograd" not in page


def test_twins_of_earlier_years_and_twins_beside_their_answers_are_listed(tiny, tmp_path, lines_of, said):
    """An earlier class's folder and added cells are compared too. Pairs of two earlier students are not listed."""
    for student, source in {"old": TWIN_1, "older": TWIN_2}.items():
        path = tmp_path / "last year" / "autograded" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nb = tiny.autograded("anna")
        nb.cells.append(new_code_cell(source.replace("pull_back", "helper")))
        nbformat.write(nb, path)
    words = ["similar", NAME, "--earlier", str(tmp_path / "last year")]
    assert lines_of(tiny, *words)[0] == f"{NAME}: 1 group of similar submissions among 9, for review"
    mine = tiny.folder / "autograded" / "anna" / NAME / f"{NAME}.ipynb"
    kept = mine.read_bytes()
    nb = tiny.autograded("anna")
    nb.cells.append(new_code_cell(TWIN_2.replace("pull_back", "mine")))
    try:
        mine.chmod(0o644)
        nbformat.write(nb, mine)
        lines = lines_of(tiny, *words)
        assert sorted(line.split("  ")[-1] for line in lines[2:-1]) == [
            "anna (Anna Ødegård), last year/old and last year/older: other cells",
            "twin-1 and twin-2: 1",
        ]
    finally:
        mine.write_bytes(kept)
    assert "contains no graded submissions" in said(tiny, "similar", NAME, "--earlier", str(tmp_path), code=1)


def test_solutions_wait_for_the_last_due_date(tiny, lines_of, said):
    with tiny.api.gradebook as gradebook:
        gradebook.find_assignment(NAME).duedate = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=1)
        gradebook.db.commit()
        gradebook.grant_extension(NAME, "anna", days=9)
        gradebook.add_student("gone")
        gradebook.add_submission(NAME, "gone")
        gradebook.grant_extension(NAME, "gone", days=99)
    write_list(tiny.folder, ["gone"])
    assert "because anna has an extension. Wait, or use --force." in said(tiny, "solutions", NAME, code=1)
    [path] = lines_of(tiny, "solutions", NAME, "--force")
    with tiny.api.gradebook as gradebook:
        gradebook.grant_extension(NAME, "anna")
    assert lines_of(tiny, "solutions", NAME) == [path]
    page = Path(path).read_text()
    assert "return 6 * x * v" in text_of(page)
    assert not [word for word in ["BEGIN SOLUTION", "authoring.reference", "<script", "//"] if word in page]
    with tiny.api.gradebook as gradebook:
        gradebook.find_assignment(NAME).duedate = None
        gradebook.db.commit()
    assert "has no due date" in said(tiny, "solutions", NAME, code=1)


def test_changes_by_a_regrade_are_listed_even_under_manual_points(regraded, lines_of):
    lines = lines_of(regraded, "changes", NAME)
    assert lines[0].startswith(f"{NAME}: changes since just before the run of ")
    said = [line.replace(" (Béla Nagy)", "").split() for line in lines[2:]]
    found = {tuple(words[:2]): " ".join(words[2:]) for words in said}
    assert found["by-autograd", "1"] == "0 2"
    assert found["by-hand", "1"] == "1.5 1.5 manual points stay and hide a change in the check's points from 0 to 2"
    assert found["bela", "lateness"] == "-0.5 0 points deducted"
    assert len(found) == 3
    assert regraded.points("by-hand") == [1.5, 3]
    appeal = lines_of(regraded, "appeal", "by-autograd", NAME)
    assert any(line.endswith("1: from 0 to 2") for line in appeal)


def test_a_class_without_grades_or_assignments_says_what_to_do(tmp_path, said):
    tiny = TinyClass(tmp_path / "class")
    assert "has not been graded again" in said(tiny, "changes", NAME, code=1)
    assert "Did you mean 90_tiny?" in said(tiny, "changes", "90_tini", code=1)
    (tiny.folder / "gradebook.db").unlink()
    assert "nbgrader generate_assignment" in said(tiny, "overview", code=1)


@pytest.mark.browser
def test_every_page_fits_its_window_and_can_be_read_in_light_and_dark_without_loading_anything(tiny, page):
    reports, appeals = tiny.folder / "reports", tiny.folder / "appeals" / NAME
    paths = [reports / f"{NAME}.html", reports / "overview.html", reports / f"{NAME}.similar.html"]
    paths += [tiny.folder / "solutions" / f"{NAME}.html", appeals / "by-hand.html", appeals / "broken.html"]
    paths += [tiny.page("by-hand"), tiny.page("broken"), reports / NAME / "anna.html"]
    for words in ["report", NAME], ["overview"], ["similar", NAME], ["solutions", NAME, "--force"], ["feedback", NAME]:
        assert tiny.command(*words) == 0
    for student in ["by-hand", "broken"]:
        assert tiny.command("appeal", student, NAME) == 0
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    for width, scheme, back in [(1400, "light", "rgb(255, 255, 255)"), (400, "dark", "rgb(22, 25, 28)")]:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        for path in paths:
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == width, path
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == back, path
            assert page.title().replace(":", "").endswith(("Tiny", "course", "Tiny could not be graded")), path
            assert page.locator("h1").count() == 1 or NAME in page.url
            assert page.locator("th:not([scope])").count() == 0, path
            assert violations(page, "html") == [], path
    assert (said, asked) == ([], [path.as_uri() for path in 2 * paths])
    shade = "e => getComputedStyle(e.closest('.piece')).backgroundColor"
    card, table = page.get_by_text("a card", exact=True), page.get_by_role("cell", name="a table")
    assert card.evaluate(shade) == "rgb(255, 255, 255)", "its colors are for light pages"
    assert table.evaluate(shade) == "rgba(0, 0, 0, 0)"


def text_of(page: str) -> str:
    """Return a page's text without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


@pytest.mark.parametrize("student", ["anna", "broken"])
def test_formgrader_says_at_the_top_why_grading_failed(tiny, student):
    path = tiny.folder / "autograded" / student / NAME / f"{NAME}.ipynb"
    names = dict.fromkeys(["assignment_id", "notebook_id", "submission_id", "student", "notebook_path"], NAME)
    names |= {"index": 0, "total": 1, "base_url": "", "last_name": None, "first_name": None}
    page, _ = HTMLExporter(config=tiny.api.config).from_filename(str(path), resources=names)
    top = text_of(page[page.index("<body") : page.index('id="notebook"')])
    assert ("This submission could not be graded: the notebook file is not valid JSON" in top) == (student == "broken")
