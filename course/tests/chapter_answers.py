"""What to type into each chapter's notebook in the browser: a wrong and a right answer to an early exercise."""

import re
from pathlib import Path

import pytest
from kept_answers import kept_answers, solution, sources

CHAPTERS = sorted(path.stem for path in (Path(__file__).parents[1] / "chapters").glob("*/*.ipynb"))
EACH_CHAPTER = [  # the first in make test, the others in make test-all
    pytest.param(name, marks=[pytest.mark.exhaustive] if number else []) for number, name in enumerate(CHAPTERS)
]
MOVING = re.compile(r'@payoff\(\s*"([\w.]+)"(?:(?!\ndef ).)*=', re.DOTALL)


class Exercise:
    """A chapter's first exercise that has a payoff with controls, and a wrong answer among the kept ones.

    Its answers stand below the solutions of the exercises above it, which its payoff may use. wrong_says: what its
    check says of the wrong one.
    """

    def __init__(self, chapter: str):
        cells = sources(chapter)
        kept = {one.check_id: one for one in kept_answers() if not one.is_right and one.said}
        moving = [check_id for source in cells.values() for check_id in MOVING.findall(source)]
        check_id = next((one for one in moving if one in kept), None)
        assert check_id, f"keep a wrong answer to one of {moving} in solutions/tests/answers, with what its check says"
        self.number, self.wrong_says = check_id.replace(".", "-"), kept[check_id].said
        self.title = re.search(r'^check\(\s*"(.+?)"', cells[f"check-{self.number}"], re.MULTILINE)[1]
        answers = [cell for cell in cells if cell.startswith("answer-")]
        above = answers[: answers.index(f"answer-{self.number}")]
        earlier = [solution(cell.removeprefix("answer-").replace("-", ".")) for cell in above]
        self.right, self.wrong = (
            "\n\n".join(source.strip() for source in [*earlier, last])
            for last in (solution(check_id), kept[check_id].source)
        )
