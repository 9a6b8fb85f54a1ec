"""The course's own preprocessors, with which nbgrader turns a solved notebook into a student edition."""

import re
from pathlib import Path

from nbgrader.preprocessors import (
    ClearOutput,
    ClearSolutions,
    NbGraderPreprocessor,
)
from nbgrader.utils import is_grade, is_solution
from traitlets import default

from gradlab.checks.record import SUFFIX
from gradlab.words import N_, _

from .cells import tags
from .chapter import Chapter, read_chapter

AFTER_EXERCISES = "after-exercises"
LONGEST_CHECK = 12  # the most lines of an unfolded check cell
YOUR_TURN = N_("Your turn: replace the next line with your code.")
WITHOUT_GRADLAB = N_("No module named 'gradlab'? Then this is the wrong Python: run `make lab` in the course's folder.")
ELSEWHERE = N_(
    '<p class="gl-elsewhere">In JupyterLab, which <code>make lab</code> opens in the course\'s folder, you guess,\n'
    "check your answers and move sliders. Elsewhere, as on GitHub, in nbviewer or in Colab, you see "
    "text, code and saved\npictures. Skip the cells there that begin with <code># Tested</code>, "
    "<code># You will see</code> or\n<code># Set up</code>: JupyterLab folds them.</p>"
)
_IMPORT = re.compile(r"^from gradlab import", re.MULTILINE)


class WriteRecord(NbGraderPreprocessor):
    """Write the record for the students' seeds beside the notebook."""

    def preprocess(self, nb, resources):
        """Make the record from the solved notebook, before the reference cells are removed."""
        chapter = self.read(nb, resources)
        resources.setdefault("outputs", {})[chapter.name + SUFFIX] = chapter.record().to_json().encode()
        return nb, resources

    def read(self, nb, resources) -> Chapter:
        """Run the cells of the solved notebook that matter to its checks, and return its Chapter."""
        folder = resources.get("metadata", {}).get("path")
        return read_chapter(nb, resources["nbgrader"]["notebook"], Path(folder) if folder else None)


class RemoveReferences(NbGraderPreprocessor):
    """Remove the reference cells."""

    def preprocess(self, nb, resources):
        """Keep every cell that is not tagged `reference`."""
        nb.cells = [cell for cell in nb.cells if "reference" not in tags(cell)]
        return nb, resources


class LeaveYourTurn(ClearSolutions):
    """Clear solutions as nbgrader does, and leave a line that addresses the learner."""

    @default("code_stub")
    def _your_turn(self) -> dict[str, str]:
        return {"python": f"# {_(YOUR_TURN)}\nraise NotImplementedError()"}


class PrepareExercises(ClearOutput):
    """Let exercises be unsolved: without outputs, which lesson cells keep, and with errors that stop no run.

    A long check is folded: a click opens it, and the statement and the answer stay close together.
    """

    def preprocess_cell(self, cell, resources, cell_index):
        """Clear, tag and fold a cell, which nbgrader's checksum does not cover; errors in solutions stop a build."""
        exercise = is_solution(cell) or is_grade(cell)
        if exercise or AFTER_EXERCISES in tags(cell):
            cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if exercise and cell.cell_type == "code":
            cell.metadata["tags"] = [*tags(cell), "raises-exception"]
            if is_grade(cell) and cell.source.count("\n") >= LONGEST_CHECK:
                cell.metadata["jupyter"] = {**cell.metadata.get("jupyter", {}), "source_hidden": True}
        return cell, resources


class HelpWithoutGradlab(NbGraderPreprocessor):
    """Say what is missing where the notebook is only shown, and what to do if the import of gradlab fails.

    The first is a paragraph in the opening, which JupyterLab hides; the second a comment, which the traceback shows.
    """

    def preprocess(self, nb, resources):
        """Add the paragraph to the first cell, and the comments."""
        if nb.cells and nb.cells[0].cell_type == "markdown":
            nb.cells[0].source += f"\n\n{_(ELSEWHERE)}"
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        """Add the comment to setup cells that import gradlab."""
        if cell.cell_type == "code" and "setup" in tags(cell):
            cell.source = _IMPORT.sub(lambda found: f"# {_(WITHOUT_GRADLAB)}\n{found[0]}", cell.source, count=1)
        return cell, resources
