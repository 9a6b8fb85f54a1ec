"""An early exercise of each chapter, with a wrong and a right answer to type into its notebook in the browser."""

from dataclasses import dataclass
from functools import cached_property

from each_chapter import EDITION
from kept_answers import Answer, kept_answers, solution

from authoring.chapter import home
from gradlab.checks.results import exercises


@dataclass(frozen=True)
class Exercise:
    """An exercise, by the id of its check.

    needs: exercises that must be solved with it. lessons: the ids of the lesson cells that its payoff draws on.
    """

    check_id: str
    needs: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()

    @property
    def chapter(self) -> str:
        return home(self.check_id)

    @property
    def title(self) -> str:
        return exercises(EDITION)[self.chapter][self.check_id].title

    @property
    def number(self) -> str:
        return self.check_id.replace(".", "-")

    @property
    def right(self) -> str:
        return self._with_needs(solution(self.check_id))

    @property
    def wrong(self) -> str:
        return self._with_needs(self._mistake.source)

    @property
    def wrong_says(self) -> str:
        """What the check says of the wrong answer."""
        return self._mistake.said[0]

    @cached_property
    def _mistake(self) -> Answer:
        """The last wrong answer that is kept for this check with words, if possible others than an error's."""
        kept = [one for one in kept_answers() if one.check_id == self.check_id and not one.is_right and one.said]
        return max(kept, key=lambda one: ("Error" not in one.said[0], kept.index(one)))

    def _with_needs(self, answer: str) -> str:
        return "\n\n".join(text.strip() for text in (*map(solution, self.needs), answer))


EXERCISES = [
    *map(Exercise, ["00.1", "01.1", "02.1", "03.1", "04.1", "05.1", "06.1", "07.1"]),
    Exercise("08.2", lessons=("s7-train", "s7-theirs", "s1-train", "s1-nets")),
    *map(Exercise, ["09.1", "10.4", "10.5"]),
    Exercise("11.2", needs=("11.1",)),
    *map(Exercise, ["12.2", "13.3", "14.1", "15.5", "17.3"]),
]
