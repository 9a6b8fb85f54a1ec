"""Grade a class and return its feedback. The rest is nbgrader's own: generate_assignment, release, collect, export."""

import argparse
import shlex
import sys
from inspect import cleandoc
from pathlib import Path

from authoring.places import ChapterError

from .commands import (
    appeal,
    by_hand,
    changes,
    demo,
    drop,
    due,
    export,
    extend,
    feedback,
    formgrader,
    grade,
    import_submissions,
    new_class,
    overview,
    release,
    report,
    roster,
    similar,
    solutions,
    update,
    week,
)
from .errors import ClassError
from .source import UPDATE

ROOM = Path(__file__).resolve().parents[1]
CLASS_HELP = "the class folder (default: the one that nbgrader_config.py names where you are, else grading/class)"
IN_ORDER = [new_class, update, roster, release, due, extend, drop, week]
IN_ORDER += [import_submissions, grade, report, by_hand, changes, appeal, similar, feedback]
IN_ORDER += [solutions, overview, export, formgrader, demo]
COMMANDS = {module.__name__.rpartition(".")[2].replace("_", "-"): module for module in IN_ORDER}
WITHOUT_CLASS = {"new-class", "demo"}


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    where = {"dest": "folder", "type": Path, "metavar": "FOLDER", "help": CLASS_HELP}
    parser.add_argument("--class", **where)
    anywhere = argparse.ArgumentParser(add_help=False)  # before the command, or after it
    anywhere.add_argument("--class", default=argparse.SUPPRESS, **where)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        options = [] if name in WITHOUT_CLASS else [anywhere]
        command = commands.add_parser(name, parents=options, help=module.HELP, description=cleandoc(module.__doc__))
        module.add_arguments(command)
    args, args.options = parser.parse_known_args(argv)
    if args.options and args.command != "formgrader":
        parser.error(f"unrecognized arguments: {' '.join(args.options)}")
    try:
        if args.command not in WITHOUT_CLASS:
            from .settings import class_here

            args.folder = (args.folder or class_here() or ROOM / "class").resolve()
            _tell_which_class(args.folder)
            _warn(args.folder)
        return COMMANDS[args.command].run(args)
    except (ClassError, ChapterError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _tell_which_class(folder: Path) -> None:
    """Say which settings count where no file has any; raises ClassError if there is no class, so that none is begun."""
    from .settings import CONFIG, settings_of

    if settings_of(folder):
        return
    write_it = (
        f"Put two lines into an {CONFIG} in the folder where you work:\n\nfrom autograder.settings import configure\n"
        f"configure(get_config(), {str(folder)!r})"
    )
    if not folder.is_dir():
        raise ClassError(
            f"There is no class in {folder}, and no {CONFIG} that names it. Name the class with --class FOLDER, or "
            f"begin it there. {write_it}"
        )
    print(
        f"The class in {folder}, with the course's own settings: no {CONFIG} names it, neither here nor beside it. "
        f"nbgrader's own commands would take another gradebook. {write_it}\n",
        file=sys.stderr,
    )


def _warn(folder: Path) -> None:
    """Say what is not as it is in a new class, and how to make it so."""
    if (folder / "source").is_symlink():
        print(
            f"The class in {folder} has no copy of the chapters but a link to them: what changes there disturbs it. "
            f"To give it a copy: {UPDATE} --apply",
            file=sys.stderr,
        )
    if folder.is_dir() and all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents)):
        print(
            f"Others on this machine can look into {folder}, where names, submissions and grades are. To keep them "
            f"out: chmod o= {shlex.quote(str(folder))}",
            file=sys.stderr,
        )


if __name__ == "__main__":
    sys.exit(main())
