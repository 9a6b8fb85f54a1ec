"""The steps by which nbgrader makes a student edition from a solved notebook, beyond its own."""

from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    IncludeHeaderFooter,
    InstantiateTests,
    LockCells,
    NbGraderPreprocessor,
    SaveCells,
)
from nbgrader.utils import is_grade, is_solution

from gradlab.checks.record import SUFFIX

from .chapter import read_chapter, tags

AFTER_EXERCISES = "after-exercises"


class WriteRecord(NbGraderPreprocessor):
    """Put the record for the students' seeds beside the notebook."""

    def preprocess(self, nb, resources):
        """Make the record from the solved notebook, before its reference cells go."""
        name = resources["nbgrader"]["notebook"]
        resources.setdefault("outputs", {})[name + SUFFIX] = read_chapter(nb, name).record().to_json().encode()
        return nb, resources


class RemoveReferences(NbGraderPreprocessor):
    """Remove the reference cells."""

    def preprocess(self, nb, resources):
        """Keep every cell that is not tagged `reference`."""
        nb.cells = [cell for cell in nb.cells if "reference" not in tags(cell)]
        return nb, resources


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


GENERATE = [
    IncludeHeaderFooter,
    InstantiateTests,
    WriteRecord,
    RemoveReferences,
    LockCells,
    ClearSolutions,
    ClearExerciseOutput,
    PermitExerciseErrors,
    CheckCellMetadata,
    ComputeChecksums,
    SaveCells,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
]
