"""Make and return the feedback pages of all graded submissions, and list the students who did not get one.

Pages are returned through nbgrader's exchange if there is one.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ClassError
from ..term.archives import PLATFORMS
from .listing import show_list

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

DEFAULT = Path()


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument(
        "--zip",
        type=Path,
        nargs="?",
        const=DEFAULT,
        metavar="FILE",
        help="pack the pages for a learning platform (default: a file in the class's platform folder)",
    )
    command.add_argument(
        "--platform", choices=sorted(PLATFORMS), help="the platform for --zip (default: the one you imported from)"
    )


def run(args: argparse.Namespace) -> int:
    """Make and return the pages; the exit code is 1 if there is a fault that you must fix."""
    from ..run import return_feedback
    from ..settings import class_api

    if args.platform and not args.zip:
        raise ClassError("--platform chooses the platform for --zip; add --zip.")
    api = class_api(args.folder)
    exchange = return_feedback.exchange(api)
    returned = list(return_feedback.return_feedback(api, args.assignment))
    made = [one for one in returned if one.page]
    sent_back = [one for one in made if not one.why]
    pages = "1 page" if len(made) == 1 else f"{len(made)} pages"
    print(f"{pages} made, {len(sent_back)} returned through the exchange.")
    if exchange is None and made:
        folder = api.coursedir.format_path("feedback", "STUDENT", args.assignment)
        print(f"There is no exchange to return them through. Find them in {folder}.")
    not_given = [one for one in returned if one.why and (exchange or not one.page)]
    if not_given:
        print("Not returned:")
    for one in not_given:
        print(f"  {one.student}: {one.why}" + (f" Send them {one.page}" if one.page else ""))
    if args.zip:
        _pack(args, api.coursedir, {one.student: one.page for one in made})
    return 1 if any(one.failed for one in returned) else 0


def _pack(args: argparse.Namespace, course: "CourseDirectory", pages: dict[str, Path]) -> None:
    """Write the archive for the platform, and print its path and the students who are not in it."""
    from ..term import returns, sent

    known = sent.read(course, args.assignment)
    platforms = {one.platform for one in known.values()}
    if not platforms:
        raise ClassError(
            f"No archive was made: no submission of {args.assignment} was imported from a platform, so the students' "
            "names on the platform are unknown."
        )
    if len(platforms) > 1 and not args.platform:
        raise ClassError("No archive was made: submissions came from both platforms. Choose one with --platform.")
    platform = args.platform or min(platforms)
    path = args.zip if args.zip != DEFAULT else sent.folder(course) / f"{args.assignment}.feedback.zip"
    left_out = returns.pack(path, args.assignment, pages, known, platform)
    print(f"{path} (feedback pages for {platform.capitalize()}: {len(pages) - len(left_out)})")
    show_list(f"Not in the archive, because they were not imported from {platform.capitalize()}", left_out, ", ")
