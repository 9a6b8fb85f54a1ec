"""The step that takes points off for lateness, as the class's plugin says; its faults are no submission's."""

from nbformat import NotebookNode
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ClassError


class TakeLatePenalties(AssignLatePenalties):
    """nbgrader's step; settings of c.AssignLatePenalties count. Raises ClassError if the plugin fails."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Let nbgrader ask the plugin, and write what it says into the gradebook."""
        try:
            return super().preprocess(nb, resources)
        except SQLAlchemyError:
            raise
        except Exception as error:
            plugin = f"{self.plugin_class.__module__}.{self.plugin_class.__qualname__}"
            raise ClassError(
                f"The plugin for late submissions, {plugin}, failed ({type(error).__name__}: {error}). Mend it, then "
                "go on with --resume."
            ) from error
