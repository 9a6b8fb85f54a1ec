"""nbgrader's Autograde in two halves, with time between them for a submission's cells to run elsewhere."""

from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter

from .execute import Ran


class Sanitise(Autograde):
    """The first half: register the submission in the gradebook, and write it sanitised to the autograded directory."""

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Called by nbgrader for each notebook of a submission."""
        self._init_preprocessors()
        BaseConverter.convert_single_notebook(self, notebook_filename)

    def set_permissions(self, assignment_id: str, student_id: str) -> None:
        """Leave them: the second half writes there again, and nbgrader's are read-only."""

    def run_post_convert_hook(self) -> None:
        """Leave it to the second half."""


class Record(Autograde):
    """The second half: verdicts, scores and comments for what ran; None where nothing could."""

    _sanitizing = False
    ran: Ran | None = None
    convert_single_notebook = Sanitise.convert_single_notebook

    def init_single_notebook_resources(self, notebook_filename: str) -> dict:
        """Tell the executing step what ran."""
        resources = super().init_single_notebook_resources(notebook_filename)
        resources["nbgrader"]["ran"] = self.ran
        return resources

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Keep what the first half wrote."""
        return True

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Leave it to the first half."""

    def run_pre_convert_hook(self) -> None:
        """Leave it to the first half."""
