"""A choice that one check accepts, every later check accepts too: right answers to part two, in the place of solutions.

An accepted answer is another right answer of a Reference, or a kept one from `answers/`. It is played through the later
checks of its own chapter, as in the notebook, and through all checks of later chapters, as `own_engine` has them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from kept_answers import kept_answers
from nbformat.v4 import new_code_cell

from authoring.build import STUDENT_EDITION
from authoring.cells import counts, tags
from authoring.chapter import Chapter, chapter_names, importing_from, load_chapter, read_chapter, source_path
from authoring.places import SOURCES
from gradlab.checks.reached import cells_behind, defined
from gradlab.checks.record import SUFFIX, Record
from gradlab.checks.stale_cells import called_checks
from gradlab.checks.verdict import judge_check

PART_TWO = {name[:2]: name for name in chapter_names() if "11" < name < "15"}
RECORDS = {
    number: Record.from_json((STUDENT_EDITION / name / f"{name}{SUFFIX}").read_bytes()).checks
    for number, name in PART_TWO.items()
}
KEPT = list(kept_answers())
EXERCISES = [check_id for checks in RECORDS.values() for check_id in checks]


def accepted(check_id: str) -> dict[str, str]:
    """Every accepted answer to an exercise, as code that defines it once the reference cell has run, by its name."""
    name = RECORDS[check_id[:2]][check_id].answer
    others = load_chapter(PART_TWO[check_id[:2]]).checks[check_id].reference.others
    found = {
        other.__name__: f"from authoring.reference import references as r\n\n{name} = r['{check_id}'].others[{place}]"
        for place, other in enumerate(others)
    }
    return found | {kept.place: kept.source for kept in KEPT if kept.is_right and kept.check_id == check_id}


def with_answer(number: str, check_id: str, code: str, nothing: Path) -> Chapter:
    """Read a chapter, with an answer in the place of the solution to one of its exercises."""
    notebook, places = nbformat.read(source_path(PART_TWO[number]), as_version=4), {}
    if number == check_id[:2]:
        places = {cell.id: place for place, cell in enumerate(notebook.cells)}
        answer = new_code_cell(code, metadata={"tags": ["setup"]})
        notebook.cells.insert(places[f"reference-{check_id.replace('.', '-')}"] + 1, answer)
    return read_chapter(notebook, PART_TWO[number], nothing)


def exercise(check_id: str) -> list[str | int]:
    """Return what exercises are sorted by: 11.10 comes after 11.9."""
    return [int(part) if part.isdigit() else part for part in check_id.split(".")]


def refused(chapter: Chapter, after: str = "0") -> Iterator[str]:
    """Judge a chapter's solutions to the exercises after one; yield what a check says that does not pass."""
    for check_id, check in chapter.checks.items():
        if exercise(check_id) > exercise(after):
            record = RECORDS[check_id[:2]][check_id]
            verdict = judge_check(record, check.observe(check.answer, record.cases), check.judge)
            if not verdict.passed:
                yield verdict.feedback.text


def of_the_notebook(check_id: str, code: str, nothing: Path) -> ModuleType:
    """Return what a chapter's notebook defines with this answer, as a module under the name of its stage."""
    module = ModuleType(f"engine_{check_id[:2]}")
    check = with_answer(check_id[:2], check_id, code, nothing).checks[check_id]
    vars(module).update((check.scenario if "gradlab" not in check.scenario.__module__ else check.answer).__globals__)
    return module


def test_no_check_of_part_one_uses_the_answer_to_another_exercise():
    for name in set(chapter_names()) - set(PART_TWO.values()):
        cells = nbformat.read(source_path(name), as_version=4).cells
        cells = [cell for cell in cells if counts(cell) and "reference" not in tags(cell)]
        for place, cell in enumerate(cells):
            if checks := called_checks(cell.source):
                names = {*checks.values(), *defined(cell.source)}
                behind = [cells[one].id for one in cells_behind(names, [c.source for c in cells[: place + 1]])]
                exercise = cell.id.removeprefix("check-").rstrip("abc")
                assert {one.rstrip("abc") for one in behind if one.startswith("answer-")} == {f"answer-{exercise}"}


@pytest.mark.parametrize("check_id", EXERCISES)
def test_later_checks_of_a_chapter_accept_every_accepted_answer(check_id, tmp_path):
    for name, code in accepted(check_id).items():
        with importing_from(SOURCES / PART_TWO["14"]):
            chapter = with_answer(check_id[:2], check_id, code, tmp_path)
            assert list(refused(chapter, check_id)) == [], f"{check_id}, {name}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("check_id", [check_id for check_id in EXERCISES if check_id < "14"])
def test_checks_of_later_chapters_accept_every_accepted_answer(check_id, tmp_path):
    for name, code in accepted(check_id).items():
        for number in [number for number in PART_TWO if number > check_id[:2]]:
            with importing_from(SOURCES / PART_TWO["14"]):
                sys.modules[f"engine_{check_id[:2]}"] = of_the_notebook(check_id, code, tmp_path)
                chapter = with_answer(number, check_id, code, tmp_path)
                assert list(refused(chapter)) == [], f"{check_id}, {name}"
