"""Make and return the feedback pages of all graded submissions, and list the students who did not get one.

Pages are returned through nbgrader's exchange if there is one.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gradlab.words import _

from ..errors import ClassError
from . import show_list

if TYPE_CHECKING:
    from nbgrader.coursedir import CourseDirectory


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignment", help=_("a chapter's name"))
    command.add_argument("--zip", action="store_true", help=_("pack the pages for the platform you imported from"))


def run(args: argparse.Namespace) -> int:
    """Make and return the pages; see `give_feedback`."""
    return give_feedback(args.folder, args.assignment, args.zip)


def give_feedback(folder: Path, name: str, pack: bool = False) -> int:
    """Make and return the pages, and print who got none; the exit code is 1 if there is a fault that you must fix.

    pack: also pack the pages for each platform from which submissions were imported; raises ClassError if there is
    none.
    """
    from ..run import return_feedback
    from ..settings import class_api

    api = class_api(folder)
    exchange = return_feedback.exchange(api)
    returned = list(return_feedback.return_feedback(api, name))
    made = [result for result in returned if result.page]
    sent_back = sum(not result.why for result in made)
    print(_("Pages made: {made}. Returned through the exchange: {returned}.", made=len(made), returned=sent_back))
    if exchange is None and made:
        pages_in = api.coursedir.format_path("feedback", "STUDENT", name)
        print(_("There is no exchange to return them through. Find them in {folder}.", folder=pages_in))
    not_given = [result for result in returned if result.why and (exchange or not result.page)]
    lines = [f"{result.student}: {result.why} {result.page or ''}".rstrip() for result in not_given]
    show_list(_("Not returned (send students the pages that are named)"), lines)
    if pack:
        _pack(api.coursedir, name, {result.student: result.page for result in made if result.page})
    return 1 if any(result.failed for result in returned) else 0


def _pack(course: "CourseDirectory", name: str, pages: dict[str, Path]) -> None:
    """Write an archive for each platform, and print its path and the students who are not in it."""
    from ..term import platforms

    sent = platforms.read(course, name)
    if not sent:
        raise ClassError(_("No archive was made: no submission of {name} was imported from a platform.", name=name))
    for platform in sorted({entry.platform for entry in sent.values()}):
        own = {who: pages[who] for who in sorted(pages) if who in sent and sent[who].platform == platform}
        path = platforms.folder(course) / f"{name}.feedback.{platform}.zip"
        platforms.pack(path, {platforms.member(sent[who], name): page.read_bytes() for who, page in own.items()})
        print(_("{file} (feedback pages: {pages})", file=path, pages=len(own)))
        why = _("Not in the archive, because they were not imported from {platform}", platform=platform.capitalize())
        show_list(why, sorted(pages.keys() - own.keys()), ", ")
