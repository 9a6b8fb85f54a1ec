"""The commands of `python -m gradlab`, and of `make` through `python3 -I course/gradlab`."""

from __future__ import annotations  # an older Python must read this file to say that it is too old

import argparse
import sys
from pathlib import Path

from .. import words
from ..words import N_, _
from . import doctor, install, system
from .commands import SetupError, become, leave_out_other_packages, say, this_folder
from .needs import EVERYTHING, ROOT, STUDENT

LAB_HELP = N_("""\
Copy the chapters to your own workspace and open JupyterLab there.

Your work is never overwritten. New chapters are added, and chapters you have not written in are brought up to date. A
new edition of a chapter you have begun includes your answers, your notes and the cells you added. Anything that no
longer fits is moved to the chapter's end, and your earlier copy is kept beside it. The start page says so.

If your class submits through nbgrader's exchange, set the environment variable GRADLAB_EXCHANGE to its folder, and
GRADLAB_COURSE to its course id if that is not autograd. Your workspace then gets the class's editions of the chapters.
""")
COMMANDS = {
    "lab": N_("open your own copy of the course in JupyterLab"),
    "doctor": N_("say what is missing or has the wrong version, and how to fix it; exit code 1 if anything is"),
    "setup": N_("install what the course and its tests need, in the active environment or in .venv"),
    "system": N_("install Chromium, bubblewrap and PostgreSQL for tests, if you are root and have apt, or say how to"),
    "run": N_("set up if needed, then run Python with the arguments that follow, such as: run -m pytest"),
}


def main(arguments: list[str] | None = None, as_folder: bool = False) -> int:
    """Run one command and return its exit code.

    as_folder: gradlab was run from its folder, so this Python may lack it. Then `lab` first installs what a student
    needs, and `doctor` examines the Python that `make` would use.
    """
    words.use(words.read(ROOT / "course/chapters"))
    given = sys.argv[1:] if arguments is None else arguments
    to_python = given[:1] == ["run"] and given[1:2] not in (["-h"], ["--help"])
    parser = _parser(as_folder)
    chosen, options = parser.parse_known_args(given[:1] if to_python else given)
    if options and chosen.command != "lab":
        parser.error(_("unrecognized arguments: {arguments}", arguments=" ".join(options)))
    if as_folder:
        leave_out_other_packages()
    try:
        return _run(chosen, given, options, as_folder)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1


def _parser(as_folder: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -I course/gradlab" if as_folder else "python -m gradlab",
        description=_("A hands-on course on torch.autograd."),
        epilog=_("Begin with: make lab, or python -m gradlab lab"),
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar=_("command"))
    of = {name: commands.add_parser(name, help=_(says), description=_(says)) for name, says in COMMANDS.items()}
    of["lab"].description, of["lab"].formatter_class = _(LAB_HELP), argparse.RawDescriptionHelpFormatter
    of["lab"].epilog = _("Other options are JupyterLab's own, such as --no-browser or --port=8889.")
    of["lab"].add_argument("--workspace", default=str(ROOT / "workspace"), help=_("your copy's folder"))
    of["lab"].add_argument(
        "--answers", metavar=_("FILE"), help=_("a file from the course's site: its answers are added to yours")
    )
    of["setup"].add_argument("--student", action="store_true", help=_("only what a student needs"))
    return parser


def _run(chosen: argparse.Namespace, given: list[str], options: list[str], as_folder: bool) -> int:
    if chosen.command == "system":
        system.set_up_system()
        return 0
    if chosen.command == "doctor":
        return doctor.doctor() if as_folder else doctor.report(doctor.examine())
    if as_folder or chosen.command != "lab":
        rooms = STUDENT if chosen.command == "lab" or getattr(chosen, "student", False) else EVERYTHING
        python = install.find_python(rooms=rooms)
        if python != sys.executable:
            return become(this_folder(python, *given))
        install.fill(rooms=rooms)
        if chosen.command == "lab":
            return become([python, "-m", "gradlab", *given])
        if chosen.command == "run":
            return become([python, *given[1:]])
        if rooms == EVERYTHING:
            system.set_up_system()
        say(_("Ready: {python}", python=python))
        return 0
    from .lab import lab  # imports code that an older Python cannot read

    return lab(Path(chosen.workspace).resolve(), options, Path(chosen.answers).expanduser() if chosen.answers else None)
