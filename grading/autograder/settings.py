"""nbgrader's configuration of a class: where its folders are, and which steps grade a submission."""

import os
import sys
import warnings
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from authoring.edition import GENERATE

from . import dropped, source
from .errors import ClassError
from .gradebook import require, without_password
from .logs import log_text
from .sandbox import KERNEL_NAME
from .views.theme import FILTERS, template_paths

warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.")  # of nbgrader's own queries

CONFIG = "nbgrader_config.py"
COURSE_ID = "autograd"  # as in course/nbgrader_config.py

# By name: the steps of a submission are imported where one is graded, those of a page where one is made
SANITISE = [
    "nbgrader.preprocessors.ClearOutput",
    "autograder.steps.sanitise.RestoreCells",
    "autograder.steps.sanitise.PutCases",
]
GRADE = [
    "autograder.steps.runs.RunCells",
    "autograder.steps.verdict.WriteVerdicts",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.steps.save.SaveGrades",
    "autograder.steps.late.TakeLatePenalties",
]
PAGES = ["autograder.views.pages.SafePage", "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor"]


def configure(c: Config, folder: Path, sandbox: bool = True, gradebook: str = "", course_id: str = COURSE_ID) -> Config:
    """Set up the class that lives in `folder`; makes the folder, its owner's alone, with a copy of the solved chapters.

    For nbgrader_config.py: `configure(get_config(), Path(__file__).parent / "class")`. Returns `c`. With sandbox=False
    submissions run in a plain kernel, with the rights of whoever grades. gradebook: the URL of a PostgreSQL database in
    place of a file in the folder; one with a password in it ends the program. course_id: tells the classes in one
    exchange apart. Plugins are found in the folder, where nbgrader documents them to be.
    """
    folder = Path(folder).resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    source.begin(folder)

    log_text()
    _let_import(folder)
    c.CourseDirectory.course_id = course_id
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = (
        without_password(gradebook) if gradebook else f"sqlite:///{folder}/gradebook.db?timeout=60"
    )
    c.CourseDirectory.student_id_exclude = ",".join(dropped.listed(folder))
    c.Exchange.root = os.environ.get("GRADLAB_EXCHANGE") or str(folder / "exchange")
    c.Exchange.cache = str(folder / "exchange_cache")
    c.ExchangeFactory.collect = "autograder.term.exchange.CollectOwn"
    c.ExchangeFactory.release_assignment = "autograder.term.exchange.ReleaseSticky"
    c.GenerateAssignment.preprocessors = GENERATE
    c.Autograde.exporter_class = "autograder.steps.exporter.SubmissionExporter"
    c.SubmissionExporter.optimistic_validation = True  # once for all steps, instead of after each
    c.Autograde.sanitize_preprocessors = SANITISE
    c.Autograde.autograde_preprocessors = GRADE
    c.GenerateFeedback.preprocessors = [
        "autograder.views.feedback.GetGradesOrReason",
        "autograder.views.feedback.LeaveOutOutputs",
    ]
    c.GenerateFeedback.exporter_class = "autograder.views.feedback.FeedbackExporter"
    c.HTMLExporter.default_preprocessors = []
    c.HTMLExporter.preprocessors = [
        "autograder.views.pages.SafePage",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    c.HTMLExporter.filters = FILTERS
    c.HTMLExporter.template_paths = template_paths("course_formgrade")
    c.FeedbackExporter.template_paths = template_paths("course_feedback")
    c.CSSHTMLHeaderPreprocessor.style = "default"
    c.ExportApp.plugin_class = "autograder.views.export.GradesWithReasons"
    c.Execute.timeout = 30
    c.Execute.kernel_name = KERNEL_NAME if sandbox else "python3"
    c.KernelManager.transport_encryption = "auto"
    return c


def class_api(folder: Path, sandbox: bool = True) -> NbGraderAPI:
    """nbgrader's API for the class in `folder`, quiet but for errors; with the class's settings, see `settings_of`."""
    config = configure(Config(), folder, sandbox)
    kernel = config.Execute.kernel_name
    for number, settings in enumerate(settings_of(folder)):
        own = _read(settings)
        config = own if number == 0 and _class_of(own) else config
        config.merge(own)
    config.Execute.kernel_name = kernel
    api = NbGraderAPI(config=config)
    api.log.setLevel("ERROR")
    return api


def open_class(folder: Path) -> NbGraderAPI:
    """nbgrader's API for the class in `folder`; raises ClassError if its gradebook cannot be opened."""
    api = class_api(folder)
    require(api.coursedir)
    return api


def settings_of(folder: Path) -> list[Path]:
    """The files that hold the settings of the class in `folder`; those of a later one count more, as with nbgrader.

    Where one stands or beside the class, an nbgrader_config.py that is the class's and not another's; then one in it.
    """
    folder = Path(folder).resolve()
    around = [place / CONFIG for place in (Path.cwd(), folder.parent) if place != folder and (place / CONFIG).exists()]
    own = [path for path in around if _class_of(_read(path)) == folder]
    return own[:1] + [path for path in [folder / CONFIG] if path.exists()]


def class_here() -> Path | None:
    """The class of which the nbgrader_config.py is where one stands, as it is for nbgrader's commands."""
    here = Path.cwd() / CONFIG
    return _class_of(_read(here)) if here.exists() else None


def _class_of(config: Config) -> Path | None:
    root = config.CourseDirectory.root
    return Path(root).resolve() if isinstance(root, str) else None


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
