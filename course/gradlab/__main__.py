"""The course's command line: python -m gradlab --help.

What must run before anything is installed runs this folder, on Python's standard library alone:

    python3 -I course/gradlab setup
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    as_folder = not __package__
    if as_folder:
        sys.path[0] = str(Path(__file__).resolve().parents[1])
        __package__ = "gradlab"
    from .setup.command_line import main

    sys.exit(main(as_folder=as_folder))
