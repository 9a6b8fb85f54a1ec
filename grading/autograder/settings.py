"""nbgrader's configuration of a class: where its folders are, and which steps grade a submission."""

import os
import sys
import warnings
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.apps import NbGraderAPI
from nbgrader.preprocessors import ClearOutput, LimitOutput, OverwriteKernelspec
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from authoring.chapter import SOURCES
from authoring.preprocessors import GENERATE

from .errors import ClassError
from .gradebook import without_password
from .sandbox import KERNEL_NAME
from .steps.exporter import SubmissionExporter
from .steps.late import TakeLatePenalties
from .steps.runs import RunCells
from .steps.sanitise import PutCases, RestoreCells
from .steps.save import SaveGrades
from .steps.verdict import WriteVerdicts
from .views.export import GradesWithReasons
from .views.feedback import FeedbackExporter, GetGradesOrReason
from .views.pages import FILTERS, SafePage, template_paths

warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.")  # of nbgrader's own queries

COURSE_ID = "autograd"  # as in course/nbgrader_config.py

SANITISE = [ClearOutput, RestoreCells, OverwriteKernelspec, PutCases]
GRADE = [RunCells, WriteVerdicts, LimitOutput, SaveGrades, TakeLatePenalties]


def configure(c: Config, folder: Path, sandbox: bool = True, gradebook: str = "") -> Config:
    """Set up the class that lives in `folder`; makes the folder, and in it a link `source` to the solved chapters.

    For nbgrader_config.py: `configure(get_config(), Path(__file__).parent / "class")`. Returns `c`. With sandbox=False
    submissions run in a plain kernel, with the rights of whoever grades. gradebook: the URL of a PostgreSQL database in
    place of a file in the folder; one with a password in it ends the program. Plugins are found in the folder,
    where nbgrader documents them to be.
    """
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source"
    if not source.exists():
        source.symlink_to(SOURCES, target_is_directory=True)

    _let_import(folder)
    c.CourseDirectory.course_id = COURSE_ID
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = (
        without_password(gradebook) if gradebook else f"sqlite:///{folder}/gradebook.db?timeout=60"
    )
    c.Exchange.root = os.environ.get("GRADLAB_EXCHANGE") or str(folder / "exchange")
    c.Exchange.cache = str(folder / "exchange_cache")
    c.GenerateAssignment.preprocessors = GENERATE
    c.Autograde.exporter_class = SubmissionExporter
    c.SubmissionExporter.optimistic_validation = True  # once for all steps, instead of after each
    c.Autograde.sanitize_preprocessors = SANITISE
    c.Autograde.autograde_preprocessors = GRADE
    c.GenerateFeedback.preprocessors = [GetGradesOrReason]
    c.GenerateFeedback.exporter_class = FeedbackExporter
    c.HTMLExporter.default_preprocessors = []
    c.HTMLExporter.preprocessors = [SafePage, CSSHTMLHeaderPreprocessor]
    c.HTMLExporter.filters = FILTERS
    c.HTMLExporter.template_paths = template_paths("course_formgrade")
    c.FeedbackExporter.template_paths = template_paths("course_feedback")
    c.CSSHTMLHeaderPreprocessor.style = "default"
    c.ExportApp.plugin_class = GradesWithReasons
    c.Execute.timeout = 30
    c.Execute.kernel_name = KERNEL_NAME if sandbox else "python3"
    c.KernelManager.transport_encryption = "auto"
    return c


def class_api(folder: Path, sandbox: bool = True) -> NbGraderAPI:
    """nbgrader's API for the class in `folder`, quiet but for errors; with the settings of its nbgrader_config.py."""
    config = configure(Config(), folder, sandbox)
    settings = Path(folder).resolve().parent / "nbgrader_config.py"
    if settings.exists():
        own = _read(settings)
        if own.CourseDirectory.root == config.CourseDirectory.root:  # and not another class's
            own.Execute.kernel_name = config.Execute.kernel_name
            config = own
    api = NbGraderAPI(config=config)
    api.log.setLevel("ERROR")
    return api


def _read(settings: Path) -> Config:
    """What an nbgrader_config.py says; plugins that lie beside it can be imported, as under nbgrader's commands."""
    _let_import(settings.parent)
    try:
        return PyFileConfigLoader(settings.name, str(settings.parent)).load_config()
    except Exception as error:
        raise ClassError(f"{settings} cannot be used ({type(error).__name__}: {error}).") from error


def _let_import(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
