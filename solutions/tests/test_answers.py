"""Answers that have found something in a check: wrong ones that passed or were named falsely, right ones that failed.

They stand in `answers/`, a file for each chapter, as a learner would type them: `@wrong("01.1", "words")` says which
check must reject an answer and what is said then, `@right("01.1")` which must accept it.
"""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

from authoring.chapter import chapter_names, importing_from, load_chapter
from authoring.places import SOURCES
from gradlab.checks import shortcuts
from gradlab.checks.observe import call
from gradlab.checks.verdict import judge_check

SEEDS = (), (11,), (12,)  # the student's record, and two as a class could have them


def answers() -> Iterator:
    """Every answer that is kept, as (check id, whether it is right, what must be said, its source)."""
    for path in sorted(Path(__file__).parent.glob("answers/*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                verdict = node.decorator_list.pop(0)
                check_id, *said = (argument.value for argument in verdict.args)
                source = "\n" * (verdict.lineno - 1) + ast.unparse(node)
                name = f"{check_id}-line {verdict.lineno}"
                yield pytest.param(check_id, verdict.func.id == "right", said, source, str(path), id=name)


@functools.cache
def chapter_of(check_id: str):
    return load_chapter(next(name for name in chapter_names() if name.startswith(check_id.split(".")[0])))


@functools.cache
def record_of(check_id: str, seeds: tuple[int, ...]):
    check = chapter_of(check_id).checks[check_id]
    return check.record(seeds) if seeds else check.record()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("check_id", "is_right", "said", "source", "file"), list(answers()))
def test_an_answer_is_judged_as_it_should_be(check_id, is_right, said, source, file):
    check = chapter_of(check_id).checks[check_id]
    names = dict((check.answer if check.scenario is call else check.scenario).__globals__)
    exec(compile(source, file, "exec"), names)
    assert check.autograd or shortcuts.find(check.answer_name, [source]) == []
    for seeds in SEEDS:
        record = record_of(check_id, seeds)
        with importing_from(SOURCES / chapter_of(check_id).name):
            verdict = judge_check(record, check.observe(names[check.answer_name], record.cases), check.judge)
        assert verdict.passed == is_right, verdict.message
        for words in said:
            never = words.startswith("not: ")
            assert (words.removeprefix("not: ") in verdict.message) != never, verdict.message
