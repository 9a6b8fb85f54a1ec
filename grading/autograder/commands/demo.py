"""Grade a made-up class of a dozen from end to end, in grading/demo/, which is made anew."""

import argparse
from pathlib import Path

HELP = "grade a made-up class of a dozen from end to end, in a folder of its own"
FOLDER = Path(__file__).resolve().parents[2] / "demo"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Say what the command takes: nothing."""


def run(args: argparse.Namespace) -> int:
    """Print what happens, step by step; returns the exit code."""
    from ..demo import run as run_demo

    run_demo(FOLDER)
    return 0
