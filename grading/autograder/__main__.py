"""Grade a class and return its feedback. The rest is nbgrader's own: generate_assignment, release, collect, export."""

import argparse
import os
import shlex
import sys
from collections import Counter
from pathlib import Path

from authoring.chapter import ChapterError
from gradlab.setup.lab import server

from . import gradebook, update
from .commands import appeal, changes, overview, similar, solutions
from .errors import ClassError
from .new_class import new_class
from .run import feedback
from .run.grade import grade
from .settings import CONFIG, class_api, class_here, settings_of
from .steps.assignment import UPDATE
from .steps.outcome import Status
from .term import roster_commands
from .views.renderings import table, write
from .views.report import gather

ROOM = Path(__file__).resolve().parents[1]
JUPYTER_SETTINGS = Path(__file__).parent / "jupyter"
CLASS_HELP = f"the class folder (default: the one that {CONFIG} names where you are, else grading/class)"
SHOWN = {"overview": overview, "changes": changes, "appeal": appeal, "solutions": solutions, "similar": similar}
INTERRUPTED = 130  # the exit code of a command that was ended with Ctrl-C


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    where = {"dest": "folder", "type": Path, "metavar": "FOLDER", "help": CLASS_HELP}
    parser.add_argument("--class", **where)
    anywhere = argparse.ArgumentParser(add_help=False)  # before the command, or after it
    anywhere.add_argument("--class", default=argparse.SUPPRESS, **where)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser(
        "grade",
        parents=[anywhere],
        help="grade the collected submissions of an assignment, and report on them",
        description="Grade the collected submissions of an assignment that have no grade yet, and report on them.",
    )
    command.add_argument("assignment", help="a chapter's name, for instance 02_external_gradients")
    command.add_argument("--force", action="store_true", help="grade again what has been graded; manual scores stay")
    command.add_argument("--student", action="append", help="only this student; may be given several times")
    command.add_argument("--resume", action="store_true", help="go on with the last run, which was interrupted")
    command.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster to use: tcp://host:8786")
    command.add_argument("--workers", type=int, help="processes to start on this machine (default: one for two cores)")
    command.add_argument("--dashboard", action="store_true", help="show Dask's dashboard, and print its address")
    command.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run submissions with all your rights: they can delete your files and write the gradebook",
    )
    command = commands.add_parser(
        "report",
        parents=[anywhere],
        help="print the table and write the report of an assignment again",
        description="Print the table and write the report of an assignment again, for instance after grading by hand.",
    )
    command.add_argument("assignment", help="a chapter's name")
    command = commands.add_parser(
        "feedback",
        parents=[anywhere],
        help="make the feedback on an assignment, and return it",
        description="Make the feedback pages of all who have been graded anew, hand them out by nbgrader's exchange if "
        "there is one, and name who did not get theirs, and why.",
    )
    command.add_argument("assignment", help="a chapter's name")
    command = commands.add_parser(
        "new-class",
        help="begin a class, with a course id and a copy of the chapters of its own",
        description="Begin a class in a folder of its own, with its settings, its course id, and a copy of the "
        "course's chapters: what changes in the course later concerns it when you update it, not before.",
    )
    command.add_argument("place", type=Path, metavar="FOLDER", help="a folder that is new, or empty")
    command.add_argument("--course-id", metavar="ID", help="by which nbgrader knows the class (default: FOLDER's name)")
    command.add_argument("--exchange", type=Path, metavar="FOLDER", help="of nbgrader's exchange, which students reach")
    command = commands.add_parser(
        "update",
        parents=[anywhere],
        help="say what the course has changed since the class got its copy, and bring the class up to it",
        description="Say what is different in the course since the class got its copy of the chapters: exercises, "
        "points, checks, and what would have to be graded again. With --apply, bring the class's copy, gradebook and "
        "release up to it.",
    )
    command.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help="only this chapter (default: all)")
    command.add_argument("--apply", action="store_true", help="make the changes; without it they are only told")
    command.add_argument("--lose-scores", action="store_true", help="make those too by which scores would be lost")
    roster_commands.add(commands, anywhere)
    for name, module in SHOWN.items():
        command = commands.add_parser(name, parents=[anywhere], help=module.HELP, description=module.__doc__)
        module.add_arguments(command)
    commands.add_parser(
        "formgrader",
        parents=[anywhere],
        help="open nbgrader's Formgrader on the class, in JupyterLab",
        description="Open nbgrader's Formgrader on the class, in JupyterLab.",
        epilog="Other options are JupyterLab's own, such as --no-browser.",
    )
    commands.add_parser(
        "demo",
        help="grade a made-up class of a dozen from end to end, in a folder of its own",
        description="Grade a made-up class of a dozen from end to end, in grading/demo/, which is made anew.",
    )
    args, args.options = parser.parse_known_args(argv)
    if args.options and args.command != "formgrader":
        parser.error(f"unrecognized arguments: {' '.join(args.options)}")
    try:
        if args.command not in ("demo", "new-class"):
            args.folder = (args.folder or class_here() or ROOM / "class").resolve()
            _tell_which_class(args.folder)
            _warn(args.folder)
        return COMMANDS[args.command](args)
    except (ClassError, ChapterError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _tell_which_class(folder: Path) -> None:
    """Say which settings count where no file has any; raises ClassError if there is no class, so that none is begun."""
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


def _grade(args: argparse.Namespace) -> int:
    if args.resume and (args.force or args.student):
        raise ClassError("--resume goes on with the last run as it was begun; leave out --force and --student.")
    counts: Counter[str] = Counter()
    try:
        for outcome in grade(
            args.folder,
            args.assignment,
            args.force,
            args.student,
            sandbox=not args.no_sandbox,
            resume=args.resume,
            scheduler=args.scheduler,
            workers=args.workers,
            dashboard=args.dashboard,
        ):
            counts[outcome.status] += 1
    except KeyboardInterrupt:
        print(f"\nInterrupted after {_in_words(counts) or 'nothing'}. To go on: the same command with --resume.")
        return INTERRUPTED
    _report(args)
    if args.force:
        print(f"What that has changed: python -m autograder changes {args.assignment}")
    print(_in_words(counts) or "Nothing was left to do.")
    if counts[Status.SKIPPED]:
        print("Skipped were graded before; --force grades them again.")
    return 0


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))


def _report(args: argparse.Namespace) -> int:
    course = class_api(args.folder).coursedir
    gradebook.require(course)
    report = gather(course, args.assignment)
    print(table(report))
    for path in write(course, report):
        print(path)
    return 0


def _feedback(args: argparse.Namespace) -> int:
    api = class_api(args.folder)
    exchange = feedback.exchange(api)
    returned = list(feedback.feedback(api, args.assignment))
    made = [one for one in returned if one.page]
    handed_out = [one for one in made if not one.why]
    print(f"{_pages(len(made))} made, {len(handed_out)} handed out by the exchange.")
    if exchange is None and made:
        folder = api.coursedir.format_path("feedback", "STUDENT", args.assignment)
        print(f"There is no exchange to hand them out by. They are in {folder}.")
    not_given = [one for one in returned if one.why and (exchange or not one.page)]
    if not_given:
        print("Not handed out:")
    for one in not_given:
        print(f"  {one.student}: {one.why}" + (f" Give them {one.page}" if one.page else ""))
    return 1 if any(one.failed for one in returned) else 0


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _new_class(args: argparse.Namespace) -> int:
    print(new_class(args.place, args.course_id, args.exchange))
    return 0


def _update(args: argparse.Namespace) -> int:
    api = class_api(args.folder)
    gradebook.require(api.coursedir)
    found, linked = update.changes(api.coursedir, args.assignments), update.is_linked(api.coursedir)
    print(update.in_words(api.coursedir, found))
    if not args.apply:
        if found or linked:
            print("Nothing has been changed. To make these changes: the same command with --apply.")
        return 0
    losing = [change.name for change in found if change.lost]
    if losing and not args.lose_scores:
        raise ClassError(
            f"Nothing has been changed, because scores would be lost in {', '.join(losing)}. Name the other chapters "
            "to update these only; or say --lose-scores, after a backup of the class."
        )
    update.apply(api, found)
    if found or linked:
        print("Done.")
    return 0


def _formgrader(args: argparse.Namespace) -> int:
    folder, settings = args.folder, settings_of(args.folder)
    if not settings:
        raise ClassError(f"Without an {CONFIG} Formgrader would not find the class.")
    gradebook.require(class_api(folder).coursedir)
    command = [*server(), f"--ServerApp.root_dir={folder.parent}"]
    command += ["--LabApp.extension_manager=readonly"]  # the other one asks a package index
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    search = os.pathsep.join(filter(None, [str(JUPYTER_SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH")]))
    print("Formgrader is in the menu Nbgrader.", flush=True)
    os.chdir(settings[0].parent)  # nbgrader reads its configuration where the server is started
    os.environ |= {"JUPYTER_CONFIG_PATH": search, "JUPYTER_PREFER_ENV_PATH": "1"}
    os.execv(command[0], [*command, *args.options])


def _demo(args: argparse.Namespace) -> int:
    from .demo import run

    run(ROOM / "demo")
    return 0


COMMANDS = {
    "grade": _grade,
    "report": _report,
    "feedback": _feedback,
    "new-class": _new_class,
    "update": _update,
    "formgrader": _formgrader,
    "demo": _demo,
    **roster_commands.COMMANDS,
    **{name: module.run for name, module in SHOWN.items()},
}

if __name__ == "__main__":
    sys.exit(main())
