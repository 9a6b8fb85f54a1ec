"""Configure nbgrader for a class: its folders, and what grades and shows a submission."""

import os
import sys
import warnings
from pathlib import Path

from dateutil.tz import gettz
from nbgrader.apps import NbGraderAPI
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from authoring import edition
from gradlab import words
from gradlab.words import _

from . import class_chapters, dropped
from .errors import ClassError
from .gradebook import require
from .logs import log_text
from .sandbox import KERNEL_NAME
from .views.theme import FILTERS, template_paths

warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.")  # about nbgrader's own queries

CONFIG = "nbgrader_config.py"
COURSE_ID = "autograd"  # as in course/nbgrader_config.py

# Given by name, so that a process imports only the steps it runs
GENERATE = ["autograder.generate.WriteRecords" if step.endswith(".WriteRecord") else step for step in edition.GENERATE]
PAGES = ["autograder.views.pages.SafePage", "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor"]


def configure(c: Config, folder: Path, sandbox: bool = True, course_id: str = COURSE_ID) -> Config:
    """Configure the class in `folder`, creating a private folder with a copy of the solved chapters if needed.

    Call it in nbgrader_config.py: `configure(get_config(), Path(__file__).parent / "class")`. Changes and returns `c`.
    sandbox: if False, submissions run in a plain kernel with this account's rights. course_id: distinguishes classes
    that share an exchange. Adds the folder to `sys.path`, as nbgrader documents for plugins.
    """
    folder = Path(folder).resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    words.use(words.read(folder))
    class_chapters.begin(folder)
    log_text()
    _let_import(folder)
    c.CourseDirectory.course_id = course_id
    c.CourseDirectory.root = str(folder)
    c.CourseDirectory.db_url = f"sqlite:///{folder}/gradebook.db?timeout=60"
    c.CourseDirectory.student_id_exclude = ",".join(dropped.listed(folder))
    zone = os.environ.get("TZ", "").removeprefix(":") or "/etc/localtime"
    c.NbGraderAPI.timezone = zone if gettz(zone) else "UTC"  # of the dates that Formgrader shows and asks for
    c.Exchange.root = os.environ.get("GRADLAB_EXCHANGE") or str(folder / "exchange")
    c.Exchange.cache = str(folder / "exchange_cache")
    c.ExchangeFactory.collect = "autograder.term.exchange.CollectOwn"
    c.ExchangeFactory.release_assignment = "autograder.term.exchange.ReleaseSticky"
    c.GenerateAssignment.preprocessors = GENERATE
    c.Autograde.exporter_class = "autograder.run.exporter.SubmissionExporter"
    c.GenerateFeedback.preprocessors = [
        "autograder.views.feedback_page.GetGradesOrReason",
        "autograder.views.feedback_page.LeaveOutOutputs",
    ]
    c.GenerateFeedback.exporter_class = "autograder.views.feedback_page.FeedbackExporter"
    c.HTMLExporter.default_preprocessors = []
    c.HTMLExporter.preprocessors = PAGES
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
    """Return nbgrader's API for the class in `folder`, with its settings (see `settings_of`), logging only errors."""
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
    """Return nbgrader's API for the class in `folder`; raise ClassError if its gradebook cannot be opened."""
    api = class_api(folder)
    require(api.coursedir)
    return api


def settings_of(folder: Path) -> list[Path]:
    """Return the class's configuration files; as in nbgrader, a later file overrides an earlier one.

    The list starts with an nbgrader_config.py in the working folder or beside the class, if it names this class, and
    ends with the one inside the class folder.
    """
    folder = Path(folder).resolve()
    around = [outer / CONFIG for outer in (Path.cwd(), folder.parent) if outer != folder and (outer / CONFIG).exists()]
    own = [path for path in around if _class_of(_read(path)) == folder]
    words.use(words.read(folder))  # a file that names another class has put that one's into use
    return own[:1] + [path for path in [folder / CONFIG] if path.exists()]


def class_here() -> Path | None:
    """Return the class folder that nbgrader_config.py in the working folder names, else None."""
    path = Path.cwd() / CONFIG
    return _class_of(_read(path)) if path.exists() else None


def _class_of(config: Config) -> Path | None:
    root = config.CourseDirectory.root
    return Path(root).resolve() if isinstance(root, str) else None


def _read(settings: Path) -> Config:
    """Read an nbgrader_config.py and return its Config; plugins beside it can be imported, as in nbgrader."""
    _let_import(settings.parent)
    try:
        return PyFileConfigLoader(settings.name, str(settings.parent)).load_config()
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise ClassError(_("{file} cannot be loaded ({cause}).", file=settings, cause=cause)) from error


def _let_import(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
