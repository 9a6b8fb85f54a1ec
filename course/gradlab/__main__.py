"""The course's command line: python -m gradlab --help.

Before anything is installed, run the folder itself; it then needs only Python's standard library:

    python3 -I course/gradlab setup
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    as_folder = not __package__
    if as_folder:
        sys.path[0] = str(Path(__file__).resolve().parents[1])
    from gradlab.setup.command_line import main

    sys.exit(main(as_folder=as_folder))
