"""Grade a demo class of twelve students from end to end, replacing grading/demo/."""

import argparse
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "demo"


def add_arguments(command: argparse.ArgumentParser) -> None:
    pass


def run(args: argparse.Namespace) -> None:
    """Run the demo, printing each step."""
    from ..demo import run as run_demo

    run_demo(FOLDER)
