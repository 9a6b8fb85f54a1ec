"""The page that goes back to a student."""

from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter

_NBGRADER_TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
_TEMPLATES = Path(__file__).parent / "templates"


class FeedbackExporter(HTMLExporter):
    """nbgrader's feedback page; of a submission that could not be graded, the reason in place of a score."""

    def __init__(self, **kwargs):
        """Called by nbgrader's GenerateFeedback, whose own choice of template is set aside."""
        super().__init__(**kwargs)
        self.extra_template_basedirs = [str(_TEMPLATES), str(_NBGRADER_TEMPLATES)]
        self.template_name = "course_feedback"
