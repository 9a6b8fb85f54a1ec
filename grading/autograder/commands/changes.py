"""Show what a regrade has changed: who, which exercise, from what to what, and what points set by hand hide."""

import argparse

HELP = "show what the last run has changed: who, which exercise, from, to"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    command.add_argument("assignment", help="a chapter's name")
    command.add_argument("--all", action="store_true", help="what each run has changed, and not the last one only")


def run(args: argparse.Namespace) -> int:
    """Print the changes; returns the exit code."""
    from ..settings import open_class
    from ..views import changes

    course = open_class(args.folder).coursedir
    changes.require(course, args.assignment)
    runs = changes.compare_all(course, args.assignment)
    for at, found in runs if args.all else runs[-1:]:
        print(f"{args.assignment}: changed since before the run of {changes.when(at)}: {len(found) or 'nothing'}")
        if found:
            print(changes.table(found, changes.names(course)))
    earlier = sum(len(found) for _, found in runs[:-1])
    if earlier and not args.all:
        print(f"By runs before that: {earlier}; --all shows them.")
    return 0
