"""The README's reading path: its line numbers are right, and its examples print the output shown."""

import ast
import doctest
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import mini_autograd
from authoring.minutes import RESERVE, SECONDS_A_LINE, WORDS_A_MINUTE

ROOT = Path(mini_autograd.__file__).parent
README = ROOT / "README.md"
ROW = re.compile(r"^\| (\d+) \| `([\w/.]+)` \| (\d+)–(\d+) \| (`.+`) \| (\d+) \|$", re.MULTILINE)


class Step(NamedTuple):
    """A row of the table."""

    number: str
    file: str
    first: str
    last: str
    names: str
    minutes: str


def steps():
    return [Step(*row) for row in ROW.findall(README.read_text("utf-8"))]


def find(body, name):
    """Return where the definition of a dotted name begins and ends; a property's includes its setter."""
    if name == "__doc__":
        return body[0].lineno, body[0].end_lineno
    first, _, rest = name.partition(".")
    found = None
    for node in body:
        names = [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if first in names and rest:
            return find(node.body, rest)
        if first in names:
            begin = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
            found = (found[0] if found else begin, node.end_lineno)
    assert found, f"there is no {name}"
    return found


def span(step):
    """Return the lines from the beginning of the first name to the end of the last, after checking their order."""
    body = ast.parse((ROOT / step.file).read_text("utf-8")).body
    spans = [find(body, name) for name in re.findall(r"`([^`]+)`", step.names)]
    assert spans == sorted(spans, key=lambda each: each[0])
    return spans[0][0], spans[-1][1]


@pytest.mark.parametrize("step", steps(), ids=lambda step: f"{step.number}-{step.file}-{step.first}")
def test_the_lines_are_those_of_what_is_named(step):
    assert (int(step.first), int(step.last)) == span(step)


def lines_read(text):
    return sum(bool(line.strip()) for line in text.splitlines())


def reckoned(step):
    """Return the minutes of a row's lines, by the rule for the chapters."""
    lines = (ROOT / step.file).read_text("utf-8").splitlines()[int(step.first) - 1 : int(step.last)]
    return RESERVE * lines_read("\n".join(lines)) * SECONDS_A_LINE / 60


@pytest.mark.parametrize("step", steps(), ids=lambda step: f"{step.number}-{step.file}-{step.first}")
def test_the_minutes_are_reckoned_as_those_of_the_chapters(step):
    assert int(step.minutes) == max(1, round(reckoned(step)))


def test_the_idea_can_be_read_in_an_hour():
    """The lines of the table, the page around it and what it says to run take an hour; no step comes out of turn."""
    rows = steps()
    path = README.read_text("utf-8").split("## The idea")[1].split("## Afterwards")[0]
    to_run = "".join(re.findall("```pycon(.*?)```", path, re.DOTALL))
    words = re.sub("```.*?```|^[|].*?$", "", path, flags=re.DOTALL | re.MULTILINE).split()
    page = RESERVE * (len(words) / WORDS_A_MINUTE + lines_read(to_run) * SECONDS_A_LINE / 60)
    assert 500 <= sum(int(row.last) - int(row.first) + 1 for row in rows) <= 600
    assert round(page / 5) * 5 == 10
    assert sum(map(reckoned, rows)) + page < 62.5, (sum(map(reckoned, rows)), page)
    assert [int(row.number) for row in rows] == sorted(int(row.number) for row in rows)
    assert {int(row.number) for row in rows} == set(range(1, 9))


def test_what_the_readme_says_to_run_prints_what_it_says():
    """Every step has something to run."""
    text = README.read_text("utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", str(README), 0)
    assert len(re.findall(r"^\*\*\d\. ", text, re.MULTILINE)) == text.count("```pycon") == 8
    report = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert not report, "".join(report)


def test_every_file_that_the_readme_names_is_there():
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", README.read_text("utf-8")))
    assert named
    assert {name for name in named if not (ROOT / name).is_file()} == set()
