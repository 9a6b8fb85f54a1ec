"""Every form of the report, for a class with one case of everything: numbers agree, and hostile text stays text."""

import json
import re
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from accessible import violations
from nbformat.v4 import new_code_cell
from tiny_class import CHECK_1, NAME, RIGHT, TinyClass, cell_of, csv_rows, solved_notebook

DUE = datetime(2026, 11, 2, 12)
STUDENTS = ["=1+1<b>", "anna", "bela", "broken", "by-autograd", "by-hand", "missing", "twin-1", "twin-2"]
GRADED = [student for student in STUDENTS if student not in ("broken", "missing")]
HOSTILE = '<script>alert(1)</script><img src="http://example.org/x.png" onerror="alert(2)">\x1b[31m'
HOSTILE_NAME = "<script>alert(1)</script>"
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
    """A class that was graded and reviewed manually."""
    tiny = TinyClass(tmp_path_factory.mktemp("term") / "class")
    names = {"anna": ("Anna", "Ødegård"), "bela": ("Béla", "Nagy"), "missing": (HOSTILE_NAME, "=1+1")}
    with tiny.api.gradebook as gradebook:
        for student in STUDENTS:
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
    raising = f"def pull_back(x, v):\n    raise KeyError({HOSTILE!r})"
    hostile = new_code_cell(f"import gc  # {HOSTILE}", metadata={"execution": {"x": HOSTILE}})
    hand_in(tiny, "=1+1<b>", RIGHT | {"answer-1": raising}, change=lambda nb: nb.cells.insert(1, hostile))
    tiny.grade()
    tiny.set_by_hand("by-hand", 1.5, f"Nearly {HOSTILE_NAME}")
    with tiny.api.gradebook as gradebook:
        gradebook.find_submission_notebook(NAME, NAME, "bela").late_submission_penalty = 0.5
        gradebook.db.commit()
    assert tiny.api.generate_feedback(NAME, "anna")["success"]
    assert tiny.command("report", NAME) == 0
    return tiny


def hand_in(tiny: TinyClass, student: str, answers=None, at: datetime = DUE - timedelta(hours=1), **options) -> None:
    tiny.hand_in(student, answers, **options)
    tiny.stamp(student, f"{at:%Y-%m-%d %H:%M:%S} UTC")


@pytest.fixture(scope="module")
def lines(tiny):
    return csv_rows(tiny.folder / "reports" / f"{NAME}.csv")


@pytest.fixture
def lines_of(said):
    """Return a function that runs a command, which must succeed, and returns the lines that it prints."""
    return lambda tiny, *words: said(tiny, *words).splitlines()


def test_the_csv_agrees_with_the_gradebook(tiny, lines):
    """One line per student and check; the points of a check cell's lines add up to the gradebook's."""
    found = defaultdict(float)
    for line in lines:
        found[line["student"], "check-1" if line["check"] == "90.1" else "check-2"] += float(line["points"] or 0)
    assert [line["check"] for line in lines] == ["90.1", "90.2", "90.3"] * len(STUDENTS)
    with tiny.api.gradebook as gradebook:
        for student in GRADED:
            for grade in gradebook.find_submission_notebook(NAME, NAME, student).grades:
                assert found["'" * student.startswith("=") + student, grade.name] == grade.score
    assert sum(float(line["max_points"]) for line in lines[:3]) == 5


def test_the_csv_says_what_became_of_each_check_and_a_missing_score_is_not_a_zero(lines):
    """A spreadsheet reads names as text."""
    found = {(line["student"], line["check"]): line for line in lines}
    right, slip, by_hand = found["anna", "90.1"], found["bela", "90.1"], found["by-hand", "90.1"]
    assert (right["status"], right["passed"], right["points"], right["reason"]) == ("graded", "yes", "2.0", "")
    assert (slip["passed"], slip["slip"], slip["points"]) == ("no", "external gradient alone", "0.0")
    assert (by_hand["passed"], by_hand["points"]) == ("no", "1.5")
    assert by_hand["reason"].endswith("; points set manually")
    hostile = [found["'=1+1<b>", check] for check in ("90.1", "90.2", "90.3")]
    assert [line["points"] for line in hostile] == ["0.0", "1.5", "0.0"]
    assert hostile[0]["flags"].endswith("line 1: inspects the internals of functions, frames or modules")
    for student, status, reason in [
        ("broken", "could not be graded", "the notebook file is not valid JSON"),
        ("missing", "not submitted", ""),
    ]:
        unscored = [line for line in lines if line["student"] == student]
        assert [(line["status"], line["points"], line["passed"]) for line in unscored] == [(status, "", "")] * 3
        assert [line["reason"][: len(reason) or None] for line in unscored] == [reason] * 3


def test_the_seed_appears_nowhere_in_the_report(tiny):
    seed = str(json.loads((tiny.folder / "records" / f"{NAME}.json").read_text())["seed"])
    reports = [path for path in (tiny.folder / "reports").rglob("*") if path.is_file()]
    assert {path.suffix for path in reports} == {".csv", ".html"}
    assert [path for path in reports if seed in path.read_text()] == []


def test_the_overview_has_points_and_the_facts_beside_them(tiny, lines_of):
    lines = lines_of(tiny, "report")
    cells = {line.split("  ")[0].strip(): line.split("  ")[1:] for line in lines[:10]}
    shown = {who: [cell.strip() for cell in line if cell.strip()] for who, line in cells.items()}
    assert shown["anna (Anna Ødegård)"] == ["5", "5"]
    assert shown["bela (Béla Nagy)"] == ["0 L", "0"]
    assert shown["broken"] == ["?", "0"]
    assert shown["by-hand"] == ["4.5*", "4.5"]
    assert shown[f"missing ({HOSTILE_NAME} =1+1)"] == ["-", "0"]
    assert shown["student"] == ["90 of 5", "total of 5"]
    found = {line["student"]: line for line in csv_rows(lines[-1])}
    bela, missing = found["bela"], found["missing"]
    assert (bela[NAME], bela[f"{NAME} status"]) == ("0.0", "graded")
    assert (missing[NAME], missing[f"{NAME} status"], missing["total"]) == ("", "not submitted", "0")


def test_the_report_has_names_flags_lateness_manual_points_and_a_page_per_submission(tiny, lines_of):
    """A submission's page is made once."""
    own = tiny.folder / "reports" / NAME / "twin-1.html"
    made = own.stat().st_mtime_ns
    lines = [line.strip() for line in lines_of(tiny, "report", NAME)]
    assert own.stat().st_mtime_ns == made
    assert "9 students: 7 graded, 1 could not be graded, 1 not submitted; mean 3.43, median 4.5" in lines
    assert "Submissions flagged for review, at no cost in points: 1" in " ".join(lines)
    assert any("line 1: inspects the internals" in line for line in lines)
    assert not any("\x1b" in line for line in lines)
    assert lines[-2:] == [f"{tiny.folder}/reports/{NAME}.csv", f"{tiny.folder}/reports/{NAME}.html"]
    assert "late   1 day, 2:00:00, 0.5 deducted" in lines
    assert "hand   1  1.5 set manually" in lines
    page = (tiny.folder / "reports" / f"{NAME}.html").read_text()
    assert "Anna Ødegård" in page
    assert "1 day, 2:00:00" in page
    assert "1.5*" in page
    for student in ["anna", "broken"]:
        assert f'href="{NAME}/{student}.html"' in page
    assert f'href="../feedback/anna/{NAME}/{NAME}.html"' in page
    shown = (tiny.folder / "reports" / NAME / "anna.html").read_text()
    assert "6 * x * v" in re.sub(r"<[^>]*>", "", shown), "colored, by tags"
    assert "passed" in shown
    broken = (tiny.folder / "reports" / NAME / "broken.html").read_text()
    assert "the notebook file is not valid JSON" in broken
    assert "<script" not in page + shown + broken


def test_twins_are_listed_side_by_side_and_honest_ones_are_not(tiny, lines_of, monkeypatch):
    """Two students wrote the same loop with different names; two others wrote the same obvious three lines.

    Pairs that are not shown are counted.
    """
    module = tiny.folder / "autograded" / "anna" / NAME / "mine.py"
    module.write_text("# in a module")
    first, pair, folder, page = lines_of(tiny, "report", NAME, "--similar")
    module.unlink()
    assert "# mine.py\n# in a module" in Path(folder, "anna.py").read_text()
    assert first == f"{NAME}: pairs of similar submissions among 8, for review: 1"
    assert pair.endswith("100%  twin-1, twin-2")
    assert "# 1\ndef pull_back(x, v):\n    # mine\n" in Path(folder, "twin-1.py").read_text()
    shown = Path(page).read_text()
    assert "<mark>        liste.append((wert + wert) * aussen + 2 * 2 * wert * aussen)</mark>" in shown
    assert "by-autograd" not in shown
    assert "The first" not in shown
    monkeypatch.setattr("autograder.views.similar.MOST_SHOWN", 0)
    assert lines_of(tiny, "report", NAME, "--similar") == [first, folder, page]
    assert "The first 0 of 1 pairs" in Path(page).read_text()


def test_changes_by_a_regrade_are_listed_even_under_manual_points(tiny, tmp_path, lines_of):
    """Of a copy of the class after its first check was fixed: it now permits autograd."""
    regraded, solved = TinyClass.copy_of(tiny, tmp_path / "class"), solved_notebook()
    cell_of(solved, "check-1").source = CHECK_1.replace(", autograd=False", "")
    regraded.write_source(solved)
    assert regraded.api.generate_assignment(NAME, force=True)["success"]
    regraded.grade(force=True)
    lines = lines_of(regraded, "report", NAME, "--changes")
    assert lines[0].startswith(f"{NAME}: changes since just before the run of ")
    said = [line.replace(" (Béla Nagy)", "").split() for line in lines[2:]]
    found = {tuple(words[:2]): " ".join(words[2:]) for words in said}
    assert found["by-autograd", "1"] == "0 2"
    assert found["by-hand", "1"] == "1.5 1.5 manual points stay and hide a change in the check's points from 0 to 2"
    assert found["bela", "lateness"] == "-0.5 0 points deducted"
    assert len(found) == 3
    assert regraded.points("by-hand") == [1.5, 3]


def test_a_class_without_grades_or_assignments_says_what_to_do(tmp_path, said):
    tiny = TinyClass(tmp_path / "class")
    assert "has not been graded again" in said(tiny, "report", NAME, "--changes", code=1)
    (tiny.folder / "gradebook.db").unlink()
    assert "nbgrader generate_assignment" in said(tiny, "report", code=1)


def section(page, title):
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


def rows_of(table):
    return [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in table.locator("tbody tr").all()
    ]


@pytest.mark.browser
def test_the_page_says_what_the_gradebook_says(tiny, page):
    assert tiny.command("report", NAME) == 0
    page.goto((tiny.folder / "reports" / f"{NAME}.html").as_uri())
    shown = {row[0].split("\n")[0]: row for row in rows_of(section(page, "Students").locator("table"))}
    assert sorted(shown) == STUDENTS
    assert shown["anna"][1:5] == ["2", "1.5", "1.5", "5"]
    assert shown["broken"][1] == "could not be graded"
    assert shown["missing"][1] == "not submitted"
    with tiny.api.gradebook as gradebook:
        for student in GRADED:
            assert float(shown[student][4]) == gradebook.find_submission(NAME, student).score
    solved = {row[0]: row[1:4] for row in rows_of(section(page, "Exercises").locator("table"))}
    assert solved["90.1 the gradient at x"] == ["43 % (3 of 7)", "1", "3"]
    assert solved["90.2 the implied one"] == ["86 % (6 of 7)", "0", "1"]
    assert rows_of(section(page, "Slips").locator("table")) == [["90.1", "external gradient alone", "1"]]
    scores = section(page, "Scores")
    scores.get_by_text("The numbers").click()
    assert sum(int(row[2]) for row in rows_of(scores.locator("table"))) == len(GRADED)
    assert page.locator("script, img, iframe, b").count() == 0
    assert "<script>alert(1)</script>" in page.locator("code").all_inner_texts()[0]


@pytest.mark.browser
def test_every_page_fits_its_window_and_can_be_read_in_light_and_dark_without_loading_anything(tiny, page):
    reports = tiny.folder / "reports"
    paths = [reports / f"{NAME}.html", reports / f"{NAME}.similar.html"]
    paths += [tiny.page("by-hand"), tiny.page("broken"), reports / NAME / "broken.html", reports / NAME / "anna.html"]
    for words in ["report", NAME], ["report", NAME, "--similar"], ["feedback", NAME]:
        assert tiny.command(*words) == 0
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
            assert page.title().replace(":", "").endswith(("Tiny", "Tiny could not be graded")), path
            assert page.locator("h1").count() == 1 or NAME in page.url
            assert page.locator("th:not([scope])").count() == 0, path
            assert violations(page, "html") == [], path
    assert (said, asked) == ([], [path.as_uri() for path in 2 * paths])
    shade = "e => getComputedStyle(e.closest('.piece')).backgroundColor"
    card, table = page.get_by_text("a card", exact=True), page.get_by_role("cell", name="a table")
    assert card.evaluate(shade) == "rgb(255, 255, 255)", "its colors are for light pages"
    assert table.evaluate(shade) == "rgba(0, 0, 0, 0)"


def test_one_students_report_says_how_the_grade_came_about_and_nothing_about_others(tiny, lines_of, said):
    lines = [" ".join(line.split()) for line in lines_of(tiny, "report", NAME, "--student", "by-hand")]
    assert lines[1] == "by-hand 1.5 3 4.5", "points of both exercises, and the score"
    assert "hand 1 1.5 set manually" in lines
    assert lines[-2:] == ["points out of 5", f"{tiny.folder}/reports/{NAME}/by-hand.html"]
    assert not any("bela" in line for line in lines)
    assert "no student by-han. Did you mean by-hand?" in said(tiny, "report", NAME, "--student", "by-han", code=1)
