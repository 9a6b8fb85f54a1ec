"""Show what a regrade changed, by student and exercise, including changes hidden by manually set points."""

import argparse

from ..views.words import local


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("--all", action="store_true", help="show the changes from every run, not only the last one")


def run(args: argparse.Namespace) -> None:
    """Print the changes."""
    from ..settings import open_class
    from ..views import changes

    course = open_class(args.folder).coursedir
    changes.require(course, args.assignment)
    runs = changes.compare_all(course, args.assignment)
    for at, found in runs if args.all else runs[-1:]:
        print(f"{args.assignment}: changes since just before the run of {local(at)}: {len(found) or 'none'}")
        if found:
            print(changes.table(found, changes.names(course)))
    earlier = sum(len(found) for _, found in runs[:-1])
    if earlier and not args.all:
        print(f"Changes in earlier runs: {earlier}; use --all to show them.")
