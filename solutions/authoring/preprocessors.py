"""The steps by which nbgrader makes a student edition from a solved notebook, beyond its own."""

import re
from pathlib import Path

from nbgrader.preprocessors import (
    ClearOutput,
    ClearSolutions,
    NbGraderPreprocessor,
)
from nbgrader.utils import is_grade, is_solution
from traitlets import Dict

from gradlab.checks.record import SUFFIX

from .cells import tags
from .chapter import read_chapter

AFTER_EXERCISES = "after-exercises"
LONGEST_CHECK = 12  # lines of a check cell that stands open
YOUR_TURN = "# Your turn: put your code here, in the place of the next line.\nraise NotImplementedError()"
WITHOUT_GRADLAB = (
    "# No module named 'gradlab'? Then this is another Python: start Jupyter with `make lab`, in the course."
)
_IMPORT = re.compile(r"^from gradlab import", re.MULTILINE)


class WriteRecord(NbGraderPreprocessor):
    """Put the record for the students' seeds beside the notebook."""

    def preprocess(self, nb, resources):
        """Make the record from the solved notebook, before its reference cells go."""
        name, folder = resources["nbgrader"]["notebook"], resources.get("metadata", {}).get("path")
        chapter = read_chapter(nb, name, Path(folder) if folder else None)
        resources.setdefault("outputs", {})[name + SUFFIX] = chapter.record().to_json().encode()
        return nb, resources


class RemoveReferences(NbGraderPreprocessor):
    """Remove the reference cells."""

    def preprocess(self, nb, resources):
        """Keep every cell that is not tagged `reference`."""
        nb.cells = [cell for cell in nb.cells if "reference" not in tags(cell)]
        return nb, resources


class LeaveYourTurn(ClearSolutions):
    """Clear solutions as nbgrader does; what stands in their place speaks to the learner."""

    code_stub = Dict({"python": YOUR_TURN}).tag(config=True)


class ClearExerciseOutput(ClearOutput):
    """Clear the outputs of exercise cells; lesson cells keep theirs."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Clear solution cells, graded cells and cells tagged `after-exercises`."""
        if is_solution(cell) or is_grade(cell) or AFTER_EXERCISES in tags(cell):
            return super().preprocess_cell(cell, resources, cell_index)
        return cell, resources


class PermitExerciseErrors(NbGraderPreprocessor):
    """Tag exercise cells `raises-exception`, so that the unsolved edition runs from top to bottom."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Tag solution and graded code cells; in the solved edition an error there is an error."""
        if cell.cell_type == "code" and (is_solution(cell) or is_grade(cell)):
            cell.metadata["tags"] = [*tags(cell), "raises-exception"]
        return cell, resources


class FoldLongChecks(NbGraderPreprocessor):
    """Fold the source of long check cells: a click opens it, and what is asked and answered stays in sight."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Hide the source; nbgrader's checksum knows nothing of it."""
        if cell.cell_type == "code" and is_grade(cell) and cell.source.count("\n") >= LONGEST_CHECK:
            cell.metadata["jupyter"] = {**cell.metadata.get("jupyter", {}), "source_hidden": True}
        return cell, resources


class HelpWithoutGradlab(NbGraderPreprocessor):
    """Say above the import of gradlab what to do where it fails: the traceback shows the line."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Put the comment into setup cells that import gradlab."""
        if cell.cell_type == "code" and "setup" in tags(cell):
            cell.source = _IMPORT.sub(rf"{WITHOUT_GRADLAB}\n\g<0>", cell.source, count=1)
        return cell, resources
