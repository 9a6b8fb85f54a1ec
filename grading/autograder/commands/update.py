"""Show what changed in the course since the class got its copy of the chapters, and update the class.

Lists changes to exercises, points and checks, and the submissions to grade again. --apply updates the class's copy,
gradebook and release.
"""

import argparse

from gradlab.words import _

from ..errors import ClassError


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help=_("only this chapter (default: all)"))
    command.add_argument("--apply", action="store_true", help=_("make the changes instead of only listing them"))
    command.add_argument("--lose-scores", action="store_true", help=_("also make changes that delete scores"))


def run(args: argparse.Namespace) -> None:
    """Print the changes and make them with --apply; raise ClassError rather than lose scores without --lose-scores."""
    from .. import update
    from ..settings import open_class

    api = open_class(args.folder)
    changes = update.changes(api.coursedir, args.assignments)
    lines = update.lines(api.coursedir, changes)
    print("\n".join(lines) or _("The class is up to date with the course."))
    if not args.apply:
        if lines:
            print(_("Nothing was changed. To make these changes, repeat the command with --apply."))
        return
    losing = [change.name for change in changes if change.lost]
    if losing and not args.lose_scores:
        lost = _("Nothing was changed, because scores would be lost in {chapters}.", chapters=", ".join(losing))
        other = _("Update the other chapters by name, or back up the class and use --lose-scores.")
        raise ClassError(f"{lost} {other}")
    update.apply(api, changes)
    if lines:
        print(_("Done."))
