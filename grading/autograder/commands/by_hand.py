"""List the points that were set by hand for an earlier submission, and keep them or drop them.

Until then the student has no grade.
"""

import argparse
from typing import TYPE_CHECKING

from .listing import show_list

if TYPE_CHECKING:
    from ..term.by_hand import Undecided

HELP = "keep or drop points that were set by hand for an earlier submission"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    several = {"action": "append", "default": [], "metavar": "STUDENT"}
    command.add_argument("--keep", help="let the points count for the new submission; as often as needed", **several)
    command.add_argument("--drop", help="let the check's points count; as often as needed", **several)


def run(args: argparse.Namespace) -> int:
    """Decide, and print what was decided and what is left; returns the exit code."""
    from ..settings import open_class
    from ..term import by_hand

    course = open_class(args.folder).coursedir
    for keep, students, title in ((True, args.keep, "Kept"), (False, args.drop, "Dropped")):
        show_list(title, in_words(by_hand.decide(args.folder, args.assignment, students, keep)) if students else [])
    left = in_words(by_hand.listed(course, args.assignment))
    show_list(f"Set by hand before the new submission: keep or drop (autograder by-hand {args.assignment})", left)
    if not left:
        print(f"{args.assignment}: no points wait for a decision.")
    return 0


def in_words(found: list["Undecided"]) -> list[str]:
    """What waits for a decision, a line each."""
    from ..views.changes import points
    from ..views.renderings import exercise_of

    return [
        f"{one.student}: {exercise_of(one.cell)}: {one.by_hand:g} by hand, {points(one.auto)} by the check"
        for one in found
    ]
