"""Begin a chapter anew: its files are as released, its checks not tried, its predictions without a guess."""

from pathlib import Path

from . import notebook
from .checks import memory as checks
from .predict import memory as predictions
from .setup.workspace import put_back


def begin_anew(folder: Path | None = None) -> str:
    """Begin the chapter in this folder anew, by default the notebook's; return what was done, in a sentence.

    What the folder holds is kept beside it. A kernel that runs the chapter is to be restarted, and its notebook to be
    loaded from disk again. Raises FileNotFoundError if the workspace knows no such chapter.
    """
    folder = Path(folder or notebook.FOLDER)
    said = put_back(folder.name, notebook.home(folder))
    checks.forget(folder)
    predictions.forget(folder)
    return said
