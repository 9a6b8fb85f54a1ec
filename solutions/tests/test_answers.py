"""Answers that revealed a fault in a check: wrong ones that passed or got the wrong slip, right ones that failed.

They are in `answers/`, one file per chapter: `wrong("01.1", "words")` names the check that must reject an answer and
what it must say, `right("01.1")` the check that must accept one. If a Help fold's title quotes a message, such a wrong
answer, or a slip, must receive it.
"""

import contextlib
import functools
import html
import linecache
import re
from collections.abc import Callable, Iterator
from unittest import mock

import nbformat
import pytest
from kept_answers import Answer, edited, kept_answers

from authoring.chapter import Chapter, chapter_names, home, importing_from, load_chapter, source_path
from authoring.pages import EXERCISE
from authoring.places import SOURCES
from gradlab.checks.observe import call
from gradlab.checks.verdict import Verdict, judge_check

ANSWERS = list(kept_answers())
SEEDS = (), (11,), (12,)  # the student's record, and two that a class could have
QUOTING = re.compile(r"<summary>Help: (?:I get|the first difference is at) (.*?)</summary>")


loaded = functools.cache(load_chapter)


def chapter_of(check_id: str) -> Chapter:
    return loaded(home(check_id))


@functools.cache
def record_of(check_id: str, seeds: tuple[int, ...]):
    check = chapter_of(check_id).checks[check_id]
    return check.record(seeds) if seeds else check.record()


def judged(check_id: str, answer: Callable, seeds: tuple[int, ...] = ()) -> Verdict:
    """The verdict on an answer, on the student's record or on one made from `seeds`."""
    check, record = chapter_of(check_id).checks[check_id], record_of(check_id, seeds)
    with importing_from(SOURCES / chapter_of(check_id).name):
        return judge_check(record, check.observe(answer, record.cases), check.judge)


@contextlib.contextmanager
def answer_of(kept: Answer) -> Iterator[Callable]:
    """What a learner's cell with that source defines: it stands among the chapter's names while it is tried."""
    check_id, source = kept.check_id, kept.source
    check = chapter_of(check_id).checks[check_id]
    names = (check.answer if check.scenario is call else check.scenario).__globals__
    for seeds in SEEDS:
        record_of(check_id, seeds)  # created by the chapter's functions
    with mock.patch.dict(names):
        linecache.cache[kept.place] = (len(source), None, source.splitlines(keepends=True), kept.place)
        exec(compile(source, kept.place, "exec"), names)
        yield names[check.answer_name]


@pytest.mark.parametrize("edit", [{"a + b": "a - b"}, {"x": "y"}, "-    return a", "-    x = a\n-    return b"])
def test_an_edit_that_does_not_fit_in_one_place_is_refused(edit):
    with pytest.raises(ValueError, match=r"This must occur once, but occurs [02] times"):
        edited("def f(a, b):\n    x = a\n    return a + x\n", edit)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kept", ANSWERS, ids=lambda kept: f"{kept.check_id}-{kept.place}")
def test_an_answer_is_judged_as_it_should_be(kept):
    with answer_of(kept) as answer:
        verdicts = [judged(kept.check_id, answer, seeds) for seeds in SEEDS]
    for verdict in verdicts:
        assert verdict.passed == kept.is_right, verdict.feedback.text
        for words in kept.said:
            never = words.startswith("not: ")
            assert (words.removeprefix("not: ") in verdict.feedback.text) != never, verdict.feedback.text


def quoted_messages() -> Iterator:
    """Every message that the title of a Help fold quotes, as (the exercise that it helps with, message)."""
    for name in chapter_names():
        exercise = ""
        for cell in nbformat.read(source_path(name), as_version=4).cells:
            if heading := EXERCISE.search(cell.source):
                exercise = heading[1]
            for title in QUOTING.findall(cell.source):
                for message in re.findall("<code>(.*?)</code>", title) or [title]:
                    yield pytest.param(exercise, html.unescape(message), id=f"{exercise} {message[:60]}")


@functools.cache
def wrong_answers(exercise: str) -> list:
    """Functions that give what the kept wrong answers and the slips of an exercise are told, the kept ones first."""

    def told(answer):
        with answer as found:
            return " ".join(judged(exercise, found).feedback.text.split())

    found = [answer_of(kept) for kept in ANSWERS if kept.check_id == exercise and not kept.is_right]
    found += map(contextlib.nullcontext, chapter_of(exercise).checks[exercise].reference.slips)
    return [functools.cache(lambda one=one: told(one)) for one in found]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("exercise", "message"), list(quoted_messages()))
def test_the_title_of_a_help_quotes_what_a_wrong_answer_is_told(exercise, message):
    told = any(all(part in said() for part in message.split("…")) for said in wrong_answers(exercise))
    assert told, f"No wrong answer to {exercise} is told: {message}"
