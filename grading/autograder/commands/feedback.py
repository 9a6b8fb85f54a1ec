"""Make the feedback pages of all who have been graded anew, hand them out, and name who did not get theirs.

They are handed out by nbgrader's exchange if there is one.
"""

import argparse

from ..run import feedback
from ..settings import class_api

HELP = "make the feedback on an assignment, and return it"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")


def run(args: argparse.Namespace) -> int:
    """Return the feedback; returns 1 if there was a fault that is to be mended."""
    api = class_api(args.folder)
    exchange = feedback.exchange(api)
    returned = list(feedback.feedback(api, args.assignment))
    made = [one for one in returned if one.page]
    handed_out = [one for one in made if not one.why]
    pages = "1 page" if len(made) == 1 else f"{len(made)} pages"
    print(f"{pages} made, {len(handed_out)} handed out by the exchange.")
    if exchange is None and made:
        folder = api.coursedir.format_path("feedback", "STUDENT", args.assignment)
        print(f"There is no exchange to hand them out by. They are in {folder}.")
    not_given = [one for one in returned if one.why and (exchange or not one.page)]
    if not_given:
        print("Not handed out:")
    for one in not_given:
        print(f"  {one.student}: {one.why}" + (f" Give them {one.page}" if one.page else ""))
    return 1 if any(one.failed for one in returned) else 0
