"""Start a chapter over: restore the released files, forget its results and guesses, and keep the learner's copy."""

from pathlib import Path

from . import notebook
from .checks import results
from .predict import guesses
from .setup.workspace import put_back


def start_over(folder: Path | None = None) -> str:
    """Start over the chapter in `folder`, by default the notebook's; return a sentence on what was done.

    A copy of the folder is kept beside it. Afterwards, restart any kernel that runs the chapter and reload its notebook
    from disk. Raises FileNotFoundError if the workspace has no such released chapter.
    """
    folder = Path(folder or notebook.FOLDER)
    said = put_back(folder.name, notebook.home(folder))
    results.forget(folder)
    guesses.forget(folder)
    return said
