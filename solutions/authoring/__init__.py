"""Tools that turn a solved chapter into a student edition, records and tests."""

import os
import sys
from pathlib import Path

# nbgrader runs alembic by name, so put this Python's scripts on the path even if its environment is not activated.
_SCRIPTS = str(Path(sys.executable).parent)
if _SCRIPTS not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = _SCRIPTS + os.pathsep + os.environ.get("PATH", "")
