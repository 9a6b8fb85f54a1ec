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
    """Make and return the pages; see `give_feedback`."""
    if args.platform and not args.zip:
        raise ClassError("--platform chooses the platform for --zip; add --zip.")
    return give_feedback(args.folder, args.assignment, args.zip, args.platform)


def give_feedback(folder: Path, name: str, archive: Path | None = None, platform: str | None = None) -> int:
    """Make and return the pages, and print who got none; the exit code is 1 if there is a fault that you must fix.

    archive: the file into which to pack the pages for a platform, or DEFAULT; raises ClassError if no submission came
    from a platform, or if they came from both and `platform` names none.
    """
    from ..run import return_feedback
    from ..settings import class_api

    api = class_api(folder)
    exchange = return_feedback.exchange(api)
    returned = list(return_feedback.return_feedback(api, name))
    made = [result for result in returned if result.page]
    sent_back = [result for result in made if not result.why]
    pages = "1 page" if len(made) == 1 else f"{len(made)} pages"
    print(f"{pages} made, {len(sent_back)} returned through the exchange.")
    if exchange is None and made:
        pages_in = api.coursedir.format_path("feedback", "STUDENT", name)
        print(f"There is no exchange to return them through. Find them in {pages_in}.")
    not_given = [result for result in returned if result.why and (exchange or not result.page)]
    if not_given:
        print("Not returned:")
    for result in not_given:
        print(f"  {result.student}: {result.why}" + (f" Send them {result.page}" if result.page else ""))
    if archive:
        _pack(api.coursedir, name, {result.student: result.page for result in made if result.page}, archive, platform)
    return 1 if any(result.failed for result in returned) else 0


def _pack(course: "CourseDirectory", name: str, pages: dict[str, Path], archive: Path, platform: str | None) -> None:
    """Write the archive for the platform, and print its path and the students who are not in it."""
    from ..term import returns, sent

    known = sent.read(course, name)
    platforms = {entry.platform for entry in known.values()}
    if not platforms:
        raise ClassError(
            f"No archive was made: no submission of {name} was imported from a platform, so the students' "
            "names on the platform are unknown."
        )
    if len(platforms) > 1 and not platform:
        raise ClassError("No archive was made: submissions came from both platforms. Choose one with --platform.")
    platform = platform or min(platforms)
    path = archive if archive != DEFAULT else sent.folder(course) / f"{name}.feedback.zip"
    left_out = returns.pack(path, name, pages, known, platform)
    print(f"{path} (feedback pages for {platform.capitalize()}: {len(pages) - len(left_out)})")
    show_list(f"Not in the archive, because they were not imported from {platform.capitalize()}", left_out, ", ")
