"""Each status without a score has a sign and a row in the handbook, which also lists a report's columns."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.steps.outcome import Status
from autograder.views.renderings import by_check
from autograder.views.report import Report
from autograder.views.term_overview import LEGEND, SIGNS

HANDBOOK = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("status", [status for status in Status if status not in (Status.GRADED, Status.SKIPPED)])
def test_a_status_without_a_score_is_explained(status):
    assert f"{SIGNS[status]}: " in LEGEND
    assert f"\n| `{status}` | empty" in HANDBOOK


def test_the_handbook_lists_the_columns_of_a_report_s_csv_file():
    listed = re.search(r"one line per student and check: ([^.]+)\.", HANDBOOK)[1]
    columns = by_check(Report("", "", datetime.now(UTC), 0, [], [])).columns
    assert re.findall("`(.+?)`", listed) == [column.name for column in columns]
