"""The course's command line: python -m gradlab --help."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from gradlab.setup import environment, workspace

COURSE = Path(__file__).resolve().parents[1]
START_PAGE = "README.md"

LAB_HELP = """\
Copy the chapters to a workspace of your own and open JupyterLab there.

Your work is never overwritten: new chapters are added, chapters you have not touched are brought up to date, and where
a chapter has changed since you began it, the new edition is laid beside yours. To begin a chapter anew, rename or
delete its folder and run this again.

If your class hands in through nbgrader's exchange, set the environment variable GRADLAB_EXCHANGE to its folder.
"""


def released(course: Path = COURSE) -> dict[str, Path]:
    """Return what a workspace is made of: the start page, nbgrader's settings and each chapter, by name."""
    items = {START_PAGE: course / START_PAGE, "nbgrader_config.py": course / "nbgrader_config.py"}
    lost = [str(path) for path in items.values() if not path.exists()]
    if lost:
        raise SystemExit(
            f"{', '.join(lost)} not found. The course is used from its own folder: "
            "python -m pip install -e course, from the folder that holds course/."
        )
    chapters = sorted(path for path in course.glob("chapters/*") if path.is_dir() and path.name[0] not in "._")
    return {**items, **{chapter.name: chapter for chapter in chapters}}


def prepare(folder: Path) -> None:
    """Bring a workspace up to date and say what changed."""
    changes = workspace.bring_up_to_date(released(), folder)
    for change in changes:
        print(change)
    print(f"Your workspace: {folder}", flush=True)


def lab(folder: Path, options: list[str]) -> int:
    """Open JupyterLab on the workspace, in place of this process where the system can do that."""
    prepare(folder)
    exchange = os.environ.get("GRADLAB_EXCHANGE")
    if exchange and not Path(exchange).is_dir():
        print(f"GRADLAB_EXCHANGE is {exchange}, which is not a folder; assignments cannot be listed.", file=sys.stderr)
    if not exchange:
        (folder / ".exchange").mkdir(exist_ok=True)
    own_settings = str(Path(__file__).parent / "jupyter")
    search = os.pathsep.join([own_settings, *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])])
    command = [
        *[sys.executable, "-m", "jupyter", "lab"],
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{START_PAGE}",
        "--LabApp.extension_manager=readonly",  # the other one asks a package index
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
        *options,
    ]
    env = {**os.environ, "JUPYTER_CONFIG_PATH": search, "JUPYTER_PREFER_ENV_PATH": "1"}
    os.chdir(folder)  # nbgrader reads nbgrader_config.py where the server was started
    if os.name != "nt":
        os.execve(sys.executable, command, env)
    return subprocess.run(command, env=env, check=False).returncode


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(
        prog="python -m gradlab",
        description="A hands-on course on torch.autograd.",
        epilog="Begin with: python -m gradlab lab",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    lab_parser = commands.add_parser(
        "lab",
        help="open the course in JupyterLab, on a copy of your own",
        description=LAB_HELP,
        epilog="Other options are JupyterLab's own, such as --no-browser or --port=8889.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lab_parser.add_argument(
        "--workspace", type=Path, default=COURSE.parent / "workspace", help="the folder of your copy (%(default)s)"
    )
    commands.add_parser(
        "doctor",
        help="say what is missing or of the wrong version, and how to mend it",
        description="Compare what is installed with what the course needs. The exit code is 1 if something is missing.",
    )
    chosen, options = parser.parse_known_args(arguments)
    if chosen.command == "lab":
        return lab(chosen.workspace.resolve(), options)
    if options:
        parser.error(f"doctor takes no arguments, but was given {' '.join(options)}")
    return environment.report(environment.examine())


if __name__ == "__main__":
    sys.exit(main())
