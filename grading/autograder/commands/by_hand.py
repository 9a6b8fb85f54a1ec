"""List points that were set manually for an earlier submission, and keep or drop them.

The student has no grade until you decide.
"""

import argparse
from typing import TYPE_CHECKING

from ..steps.files import composed
from .listing import show_list

if TYPE_CHECKING:
    from ..term.by_hand import Undecided


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    several = {"action": "append", "default": [], "type": composed, "metavar": "STUDENT"}
    command.add_argument("--keep", help="apply the points to the new submission; repeatable", **several)
    command.add_argument("--drop", help="use the check's points instead; repeatable", **several)


def run(args: argparse.Namespace) -> None:
    """Keep or drop points, then print the decisions and what remains."""
    from ..settings import open_class
    from ..term import by_hand

    course = open_class(args.folder).coursedir
    for keep, students, title in ((True, args.keep, "Kept"), (False, args.drop, "Dropped")):
        show_list(title, in_words(by_hand.decide(args.folder, args.assignment, students, keep)) if students else [])
    left = in_words(by_hand.listed(course, args.assignment))
    show_list(
        f"Points set manually for an earlier submission: keep or drop them (autograder by-hand {args.assignment})", left
    )
    if not left:
        print(f"{args.assignment}: no points need a decision.")


def in_words(found: list["Undecided"]) -> list[str]:
    """Return one line of text for each entry of `found`, manual points that need a decision."""
    from ..views.changes import points
    from ..views.words import exercise_of

    return [
        f"{one.student}: {exercise_of(one.cell)}: {one.by_hand:g} set manually, {points(one.auto)} by the check"
        for one in found
    ]
