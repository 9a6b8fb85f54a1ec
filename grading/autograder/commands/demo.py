"""Grade a demo class of twelve students from end to end, replacing grading/demo/."""

import argparse
from pathlib import Path

from gradlab.words import _

FOLDER = Path(__file__).resolve().parents[2] / "demo"


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--language", default="en", help=_("the language of the class, such as de"))


def run(args: argparse.Namespace) -> None:
    """Run the demo, printing each step."""
    from ..demo import run as run_demo

    run_demo(FOLDER, args.language)
