"""The report of a graded class: numbers agree with the gradebook, and hostile text stays text."""

import csv
import json
import time
from collections import defaultdict
from datetime import datetime

import nbformat
import pytest
from nbgrader.api import Gradebook
from sqlalchemy import event
from sqlalchemy.engine import Engine
from tiny_class import NAME, RIGHT, SLIP, TinyClass

from autograder.views.renderings import histogram
from autograder.views.report import gather
from autograder.views.words import local

pytestmark = pytest.mark.xdist_group("report")

HOSTILE = '<script>alert(1)</script><img src="http://example.org/x.png" onerror="alert(2)">\x1b[31m'
NAMES = ["=1+1<b>", "anna", "broken", "by-hand", "half", "missing", "slip"]


def add_hostile_cell(nb):
    nb.cells.insert(1, nbformat.v4.new_code_cell(f"import gc  # {HOSTILE}", metadata={"execution": {"x": HOSTILE}}))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A class with one case of everything, graded by the command."""
    tiny = TinyClass(tmp_path_factory.mktemp("report") / "class")
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("half", {"answer-2": RIGHT["answer-2"]})
    tiny.hand_in("slip", SLIP)
    raising = f"def pull_back(x, v):\n    raise KeyError({HOSTILE!r})"
    tiny.hand_in("=1+1<b>", RIGHT | {"answer-1": raising}, add_hostile_cell)
    tiny.hand_in("broken", text='{"cells": [')
    tiny.hand_in("by-hand", RIGHT | {"answer-1": "def pull_back(x, v):\n    return x"})
    with tiny.api.gradebook as gradebook:
        gradebook.add_student("missing")
    tiny.grade()
    tiny.set_by_hand("by-hand", 1.5)
    assert tiny.api.generate_feedback(NAME, "anna")["success"]
    assert tiny.command("report", NAME) == 0
    return tiny


@pytest.fixture(scope="module")
def lines(tiny):
    with (tiny.folder / "reports" / f"{NAME}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def report(tiny, page):
    """The page in Chromium, with its requests and messages; it has no scripts."""
    page.requests, page.complaints = [], []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
    page.goto((tiny.folder / "reports" / f"{NAME}.html").as_uri())
    return page


def section(page, title):
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


def rows_of(table):
    return [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in table.locator("tbody tr").all()
    ]


def test_the_csv_agrees_with_the_gradebook(tiny, lines):
    """One line per student and check; the points of a check cell's lines add up to the gradebook's."""
    found = defaultdict(float)
    for line in lines:
        found[line["student"], "check-1" if line["check"] == "90.1" else "check-2"] += float(line["points"] or 0)
    assert [line["check"] for line in lines] == ["90.1", "90.2", "90.3"] * len(NAMES)
    with tiny.api.gradebook as gradebook:
        for student in ["=1+1<b>", "anna", "by-hand", "half", "slip"]:
            for grade in gradebook.find_submission_notebook(NAME, NAME, student).grades:
                assert found["'" * student.startswith("=") + student, grade.name] == grade.score
    assert sum(float(line["max_points"]) for line in lines[:3]) == 5


def test_the_csv_says_what_became_of_each_check(lines):
    found = {(line["student"], line["check"]): line for line in lines}
    right, slip = found["anna", "90.1"], found["slip", "90.1"]
    assert (right["status"], right["passed"], right["points"], right["reason"]) == ("graded", "yes", "2.0", "")
    assert float(right["seconds"]) > 0
    assert (slip["passed"], slip["slip"], slip["points"]) == ("no", "external gradient alone", "0.0")
    assert (found["slip", "90.2"]["points"], found["slip", "90.3"]["points"]) == ("1.5", "0.0")
    by_hand = found["by-hand", "90.1"]
    assert (by_hand["passed"], by_hand["points"]) == ("no", "1.5")
    assert by_hand["reason"].endswith("; points set manually")


def test_a_missing_score_is_not_a_zero(lines):
    for student, status, reason in [
        ("broken", "could not be graded", "the notebook file is not valid JSON"),
        ("missing", "not submitted", ""),
    ]:
        found = [line for line in lines if line["student"] == student]
        assert [(line["status"], line["points"], line["passed"]) for line in found] == [(status, "", "")] * 3
        assert [line["reason"][: len(reason) or None] for line in found] == [reason] * 3


def test_a_spreadsheet_reads_names_and_flags_as_text(lines):
    assert lines[0]["student"] == "'=1+1<b>"
    assert lines[0]["flags"].endswith("line 1: inspects the internals of functions, frames or modules")


def test_the_table_has_flags_counts_and_no_control_characters(tiny, said):
    shown = said(tiny, "report", NAME)
    assert "7 students: 5 graded, 1 could not be graded, 1 not submitted; mean 2.5, median 1.5" in shown
    assert "Submissions flagged for review, at no cost in points: 1" in shown
    assert "line 1: inspects the internals" in shown
    assert "\x1b" not in shown
    assert shown.endswith(f"{tiny.folder}/reports/{NAME}.csv\n{tiny.folder}/reports/{NAME}.html\n")


def test_the_seed_appears_nowhere_in_the_report(tiny):
    seed = str(json.loads((tiny.folder / "records" / f"{NAME}.json").read_text())["seed"])
    reports = [path for path in (tiny.folder / "reports").rglob("*") if path.is_file()]
    assert {path.suffix for path in reports} == {".csv", ".html"}
    assert [path for path in reports if seed in path.read_text()] == []


def test_without_a_stored_record_there_is_one_line_per_cell(tiny):
    """Points and score stay; the titles of checks would come from the record."""
    record = tiny.folder / "records" / f"{NAME}.json"
    away = record.rename(record.with_suffix(".away"))
    try:
        report = gather(tiny.api.coursedir, NAME)
    finally:
        away.rename(record)
    assert [(check.title, check.max_points) for check in report.checks] == [("1", 2), ("2", 3)]
    anna = next(row for row in report.rows if row.student == "anna")
    assert (anna.score, [result.points for result in anna.results.values()]) == (5, [2, 3])


def test_queries_do_not_grow_with_the_class(tmp_path):
    """Reading twenty submissions takes as many queries as reading two."""
    tiny, counts = TinyClass(tmp_path / "class"), []
    for size in (2, 20):
        with Gradebook(tiny.api.coursedir.db_url, tiny.api.coursedir.course_id) as gradebook:
            for number in range(size):
                gradebook.update_or_create_student(f"s{number}")
                gradebook.update_or_create_submission(NAME, f"s{number}")
        queries = []
        listener = lambda connection, cursor, statement, *rest, queries=queries: queries.append(statement)  # noqa: E731
        event.listen(Engine, "before_cursor_execute", listener)
        report = gather(tiny.api.coursedir, NAME)
        event.remove(Engine, "before_cursor_execute", listener)
        assert len(report.rows) == size
        counts.append(len(queries))
    assert counts[0] == counts[1] > 0


def test_each_value_falls_into_exactly_one_bin():
    assert histogram([0, 0.5, 4, 5, 5, 7], 5) == [(0, 0.5, 1), (0.5, 1.0, 1)] + [
        (n / 2, n / 2 + 0.5, {8: 1, 10: 3}.get(n, 0)) for n in range(2, 11)
    ]
    assert histogram([0, 100], 100)[0] == (0, 10, 1)
    assert histogram([0.0], 0) == [(0, 1e-6, 1)]


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "Mon 2 Nov 2026, 17:00:05 UTC"),
        ("Europe/Berlin", "Mon 2 Nov 2026, 18:00:05 CET"),
        ("America/Sao_Paulo", "Mon 2 Nov 2026, 14:00:05 UTC-03"),
    ],
)
def test_a_time_is_shown_with_its_zone(monkeypatch, zone, shown):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert local(datetime(2026, 11, 2, 17, 0, 5)) == shown
        assert local(datetime(2026, 11, 2, 17)) == shown.replace(":05", "")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.browser
def test_the_page_logs_nothing_and_loads_nothing(report):
    """It fetches and runs nothing, whatever submissions contain."""
    assert report.requests == [report.url]
    assert report.complaints == []
    assert report.locator("script, img, iframe, b").count() == 0
    assert "<script>alert(1)</script>" in report.locator("code").all_inner_texts()[0]


@pytest.mark.browser
def test_the_page_says_what_the_gradebook_says(tiny, report):
    shown = {row[0]: row for row in rows_of(section(report, "Students").locator("table"))}
    assert sorted(shown) == sorted(NAMES)
    assert shown["anna"][1:5] == ["2", "1.5", "1.5", "5"]
    assert shown["slip"][1:5] == ["0", "1.5", "0", "1.5"]
    assert shown["broken"][1] == "could not be graded"
    assert shown["missing"][1] == "not submitted"
    assert float(shown["anna"][6]) > 0
    with tiny.api.gradebook as gradebook:
        for student in ["=1+1<b>", "anna", "by-hand", "half", "slip"]:
            assert float(shown[student][4]) == gradebook.find_submission(NAME, student).score
    solved = {row[0]: row[1:4] for row in rows_of(section(report, "Exercises").locator("table"))}
    assert solved["90.1 the gradient at x"] == ["20 % (1 of 5)", "1", "3"]
    assert solved["90.2 the implied one"] == ["100 % (5 of 5)", "0", "0"]
    assert rows_of(section(report, "Slips").locator("table")) == [["90.1", "external gradient alone", "1"]]
    scores = section(report, "Scores")
    scores.get_by_text("The numbers").click()
    assert sum(int(row[2]) for row in rows_of(scores.locator("table"))) == 5


@pytest.mark.browser
def test_the_page_links_to_what_justifies_a_grade(tiny, report):
    anna = section(report, "Students").locator("tr", has=report.get_by_role("rowheader", name="anna", exact=True))
    for label, path in [
        ("feedback", f"feedback/anna/{NAME}/{NAME}.html"),
        ("submission", f"reports/{NAME}/anna.html"),
    ]:
        link = anna.get_by_role("link", name=f"{label} of anna")
        assert link.evaluate("a => a.href") == (tiny.folder / path).as_uri()


@pytest.mark.browser
def test_the_page_can_be_read_without_seeing_it(report):
    """It has one h1, no skipped heading level, scoped table headers, and named or hidden pictures."""
    levels = report.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    assert report.locator("th").count() > report.locator("th:not([scope])").count() == 0
    assert report.locator("table").count() == report.locator("table:has(thead th)").count() > 0
    assert report.locator("html").get_attribute("lang") == "en"
    names = [one.get_attribute("aria-label") or "" for one in report.get_by_role("img").all()]
    assert names
    assert [name for name in names if "table below" not in name] == []
    assert report.locator(".stack").count() > report.locator(".stack:not([aria-hidden])").count() == 0
    assert report.locator(".scroll").count() == report.locator('.scroll[role="group"][tabindex="0"]').count() > 0
