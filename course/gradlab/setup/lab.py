"""JupyterLab on a student's own copy of the chapters."""

import json
import os
import re
import sys
from pathlib import Path

from .. import atomic, words
from ..notebook import OWN_ENGINE
from ..words import _
from .commands import SetupError, become, is_root
from .taken_home import bring_in
from .workspace import bring_up_to_date, is_as_put, kept_copies, put_page

COURSE = Path(__file__).resolve().parents[2]
START_PAGE = "README.md"
SETTINGS = "nbgrader_config.py"
CHAPTERS = "chapters"  # laid out like a workspace: in both, links lead from one chapter or page to another
EXPORT = [  # a page that JupyterLab exports folds the code that the notebook folds
    f"--HTMLExporter.extra_template_basedirs={COURSE / 'gradlab/jupyter/templates'}",
    "--HTMLExporter.template_name=folded",
]
LAYOUTS = ".jupyterlab"  # in the workspace: the student's layout of JupyterLab, and its page's texts
EXTENSIONS = COURSE / "gradlab/jupyter/labextensions"
_MARKED = re.compile(r"\b_\(\s*'(.+?)'\s*\)")  # a text in an extension


def released(course: Path = COURSE) -> dict[str, Path]:
    """Return the contents of a workspace except its start page, by name.

    They are nbgrader's settings, chapters and pages, and the catalogue of an edition that is not in English.
    """
    folders = sorted(path for path in (course / CHAPTERS).glob("*") if path.is_dir() and path.name[0] not in "._")
    files = [course / SETTINGS, *(course / CHAPTERS).glob(words.FILE)]
    return {path.name: path for path in [*files, *folders] if path.name != OWN_ENGINE}


def prepare(folder: Path, course: Path = COURSE) -> None:
    """Bring a workspace and its start page up to date, and print what changed.

    Raises SetupError if the course's folder was not installed in place, so that the chapters are not there.
    """
    if not (course / START_PAGE).exists():
        raise SetupError(_("{folder} has no chapters. Install the course in its own folder: make setup", folder=course))
    items = released(course)
    if words.FILE not in items:
        (folder / words.FILE).unlink(missing_ok=True)
    changes = bring_up_to_date({SETTINGS: items.pop(SETTINGS)}, folder)
    for change in changes + bring_up_to_date(_editions(folder, items), folder):
        print(change)
    put_page(START_PAGE, lambda: _page(folder, course), folder)
    print(_("Your workspace: {folder}", folder=folder), flush=True)


def renew_page(folder: Path) -> None:
    """Bring the start page of a workspace up to date, unless the student wrote in it or it is gone."""
    if is_as_put(START_PAGE, folder) and (page := _page(folder, COURSE)) != (folder / START_PAGE).read_text("utf-8"):
        put_page(START_PAGE, lambda: page, folder)


def _page(folder: Path, course: Path) -> str:
    from ..start_page import start_page  # imports packages that must be installed first

    words.use(words.read(folder))
    return start_page((course / START_PAGE).read_text(encoding="utf-8"), folder, kept_copies(folder))


def _editions(folder: Path, chapters: dict[str, Path]) -> dict[str, Path]:
    """Return the folder of each chapter: the class's edition if GRADLAB_EXCHANGE has one, else the course's."""
    if not os.environ.get("GRADLAB_EXCHANGE"):
        return chapters
    from ..exchange import released_by_class

    try:
        of_class = released_by_class(folder / SETTINGS)
    except Exception as error:  # the settings run as a program and can raise anything
        why = f"{type(error).__name__}: {error}"
        print(_("Your class's releases cannot be read ({why}). Chapters stay as they are.", why=why), file=sys.stderr)
        return {name: source for name, source in chapters.items() if not (folder / name).exists()}
    return {name: of_class.get(name, source) for name, source in chapters.items()}


def put_texts(folder: Path) -> Path:
    """Write the texts of JupyterLab's extensions for its page, in the reader's language; return their folder."""
    texts = {text: _(text) for path in EXTENSIONS.rglob("*.js") for text in _MARKED.findall(path.read_text("utf-8"))}
    path = folder / LAYOUTS / "labconfig/page_config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_text(path, json.dumps({"gradlabTexts": json.dumps(texts)}))
    return folder / LAYOUTS


def server() -> list[str]:
    """Return the command that serves JupyterLab: JupyterHub's single-user server if JupyterHub started this process."""
    for_one = "JUPYTERHUB_API_TOKEN" in os.environ
    return [sys.executable, "-m", *(["jupyterhub.singleuser"] if for_one else ["jupyter", "lab"])]


def lab(folder: Path, options: list[str], answers: Path | None = None) -> int:
    """Open JupyterLab on the workspace, replacing this process if the system allows it.

    answers: a file from the course's site, whose answers are first brought into the workspace.
    """
    prepare(folder)
    for line in bring_in(answers, folder) if answers else ():
        print(line, flush=True)
    settings = [str(COURSE / "gradlab/jupyter"), str(put_texts(folder))]
    if not os.environ.get("GRADLAB_EXCHANGE"):
        settings.append(str(COURSE / "gradlab/jupyter/without_exchange"))
    search = os.pathsep.join([*settings, *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])])
    command = [
        *server(),
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.workspaces_dir={folder / LAYOUTS}",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
        f"--LabApp.default_url=/lab/tree/{START_PAGE}",
        "--LabApp.extension_manager=readonly",  # the default manager queries a package index
        "--ServerApp.contents_manager_class=gradlab.contents.Contents",
        "--ContentsManager.allow_hidden=True",  # the page reads .progress.json; the file list hides hidden files
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *EXPORT,
        *(["--allow-root"] if is_root() else []),
        *options,
    ]
    env = {**os.environ, "JUPYTER_CONFIG_PATH": search, "JUPYTER_PREFER_ENV_PATH": "1"}
    env.setdefault("PYTHONSTARTUP", str(COURSE / "gradlab/first_in_a_kernel.py"))
    os.chdir(folder)  # nbgrader reads nbgrader_config.py in the folder where the server starts
    return become(command, env)
