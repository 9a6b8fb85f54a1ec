"""Tools that turn a solved chapter into a student edition, records and tests."""

import os
import sys
from pathlib import Path

# nbgrader starts alembic by name: the scripts of this Python must be found where its environment is not activated.
_SCRIPTS = str(Path(sys.executable).parent)
if _SCRIPTS not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = _SCRIPTS + os.pathsep + os.environ.get("PATH", "")
