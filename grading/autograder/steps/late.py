"""The step that takes points off for lateness, as the class's plugin says; its faults are no submission's."""

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace

from nbformat import NotebookNode
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.exc import SQLAlchemyError

from ..errors import ClassError


class TakeLatePenalties(AssignLatePenalties):
    """nbgrader's step; settings of c.AssignLatePenalties count. Raises ClassError if the plugin fails."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Let nbgrader ask the plugin, and write what it says into the gradebook."""
        with self._its_faults():
            return super().preprocess(nb, resources)

    def penalty(self, student: str, score: float, late_s: float) -> float | None:
        """What the plugin takes off, between nothing and all; None if it says nothing."""
        with self._its_faults():
            self.init_plugin()
            said = self.plugin_inst.late_submission_penalty(student, score, late_s)
            return None if said is None else self._check_late_penalty(SimpleNamespace(score=score), said)

    @contextlib.contextmanager
    def _its_faults(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError:
            raise
        except Exception as error:
            plugin = f"{self.plugin_class.__module__}.{self.plugin_class.__qualname__}"
            raise ClassError(
                f"The plugin for late submissions, {plugin}, failed ({type(error).__name__}: {error}). Mend it, then "
                "go on with --resume."
            ) from error
