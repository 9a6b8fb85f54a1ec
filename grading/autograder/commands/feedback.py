"""Make the feedback pages of all who have been graded anew, hand them out, and name who did not get theirs.

They are handed out by nbgrader's exchange if there is one.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ClassError
from ..term.archives import PLATFORMS
from .listing import show_list

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory

HELP = "make the feedback on an assignment, and return it"
DEFAULT = Path()


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument(
        "--zip",
        type=Path,
        nargs="?",
        const=DEFAULT,
        metavar="FILE",
        help="write the pages into an archive that a learning platform takes (default: in the class's folder platform)",
    )
    command.add_argument(
        "--platform", choices=sorted(PLATFORMS), help="which platform (default: the one they were imported from)"
    )


def run(args: argparse.Namespace) -> int:
    """Return the feedback; returns 1 if there was a fault that is to be mended."""
    from ..run import feedback
    from ..settings import class_api

    if args.platform and not args.zip:
        raise ClassError("--platform says for which platform --zip packs the pages; add --zip.")
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
    if args.zip:
        _pack(args, api.coursedir, {one.student: one.page for one in made})
    return 1 if any(one.failed for one in returned) else 0


def _pack(args: argparse.Namespace, course: "CourseDirectory", pages: dict[str, Path]) -> None:
    """Write the archive for the platform, and print where it is and who is not in it."""
    from ..term import returns, sent

    known = sent.read(course, args.assignment)
    platforms = {one.platform for one in known.values()}
    if not platforms:
        raise ClassError(
            f"No archive was made: no submission of {args.assignment} was imported from a platform, so nobody's name "
            "there is known."
        )
    if len(platforms) > 1 and not args.platform:
        raise ClassError("No archive was made: submissions came from both platforms. Say which one with --platform.")
    platform = args.platform or min(platforms)
    path = args.zip if args.zip != DEFAULT else sent.folder(course) / f"{args.assignment}.feedback.zip"
    left_out = returns.pack(path, args.assignment, pages, known, platform)
    print(f"{path}: {len(pages) - len(left_out)} for {platform.capitalize()}")
    show_list(f"Not in it, because they were not imported from {platform.capitalize()}", left_out, ", ")
