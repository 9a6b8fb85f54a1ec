"""Run one of the commands; `COMMANDS` lists them."""

import argparse
import contextlib
import shlex
import sys
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

from authoring.places import ChapterError
from gradlab import words
from gradlab.words import _

from .errors import ClassError

ROOM = Path(__file__).resolve().parents[1]
NAMES = ["new-class", "update", "roster", "release", "due", "week", "import-submissions", "grade", "report", "feedback"]
NAMES += ["export", "formgrader", "demo"]
COMMANDS = {name: import_module(f"autograder.commands.{name.replace('-', '_')}") for name in NAMES}
WITHOUT_CLASS = {"new-class", "demo"}


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code. Print expected errors to stderr and return 1."""
    with contextlib.suppress(OSError):  # the class's folder is not known yet; its language is used below
        words.use(words.read(Path()) or words.read(ROOM / "class"))
    about = _("Grade a class, return its feedback and manage its term; nbgrader's own commands still work.")
    parser = argparse.ArgumentParser(prog="python -m autograder", description=about)
    help_text = _("the class folder (default: the one named by nbgrader_config.py in this folder, else grading/class)")
    where: dict[str, Any] = {"dest": "folder", "type": Path, "metavar": "FOLDER", "help": help_text}
    parser.add_argument("--class", **where)
    anywhere = argparse.ArgumentParser(add_help=False)  # --class may come before or after the command
    anywhere.add_argument("--class", default=argparse.SUPPRESS, **where)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        options = [] if name in WITHOUT_CLASS else [anywhere]
        about = _(cleandoc(module.__doc__ or ""))
        command = commands.add_parser(name, parents=options, help=about.splitlines()[0], description=about)
        module.add_arguments(command)
    args, others = parser.parse_known_args(argv)
    args.options = others
    if args.options and args.command != "formgrader":
        parser.error(_("unrecognized arguments: {words}", words=" ".join(args.options)))
    try:
        if args.command not in WITHOUT_CLASS:
            from .settings import class_here

            args.folder = (args.folder or class_here() or ROOM / "class").resolve()
            words.use(words.read(args.folder))
            _require_class(args.folder)
            _warn(args.folder)
        return COMMANDS[args.command].run(args) or 0
    except (ClassError, ChapterError, OSError) as error:
        print(_("error: {error}", error=error), file=sys.stderr)
        return 1


def _require_class(folder: Path) -> None:
    """Warn if no nbgrader_config.py names it; raise ClassError if it does not exist."""
    from .settings import CONFIG, settings_of

    if settings_of(folder):
        return
    if not folder.is_dir():
        no_class = _("There is no class in {folder}. Pass your class folder as --class FOLDER.", folder=folder)
        new_class = f"python -m autograder new-class {shlex.quote(str(folder))}"
        create = _("To create a class there: {command}", command=new_class)
        raise ClassError(f"{no_class} {create}")
    using = _("Using the class in {folder} with default settings: no {file} names it.", folder=folder, file=CONFIG)
    others = _("nbgrader's own commands would use a different gradebook.")
    write_it = _("To name it, put these two lines into {file} in your working folder:", file=CONFIG)
    lines = f"from autograder.settings import configure\nconfigure(get_config(), {str(folder)!r})"
    print(f"{using} {others} {write_it}\n\n{lines}\n", file=sys.stderr)


def _warn(folder: Path) -> None:
    """Warn if others can read the class's folder, and say how to fix it."""
    if folder.is_dir() and all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents)):
        readable = _("Other users of this machine can read the class's names and grades. To keep them out:")
        print(f"{readable} chmod o= {shlex.quote(str(folder))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
