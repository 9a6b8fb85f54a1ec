"""JupyterLab on a student's own copy of the chapters."""

import os
import shutil
import sys
from pathlib import Path

from .commands import become, is_root
from .workspace import bring_up_to_date, kept_copies, put_page

COURSE = Path(__file__).resolve().parents[2]
START_PAGE = "README.md"
SETTINGS = "nbgrader_config.py"
FIRST_LAYOUT = COURSE / "gradlab/jupyter/default-37a8.jupyterlab-workspace"  # the name JupyterLab gives the first one
LAYOUTS = ".jupyterlab"  # in the workspace: how the student has arranged JupyterLab


def released(course: Path = COURSE) -> dict[str, Path]:
    """Return what a workspace is made of beside its start page: nbgrader's settings and each chapter, by name."""
    items = {SETTINGS: course / SETTINGS}
    lost = [str(path) for path in [course / START_PAGE, *items.values()] if not path.exists()]
    if lost:
        raise SystemExit(
            f"{', '.join(lost)} not found. The course is used from its own folder: "
            "python -m pip install -e course, from the folder that holds course/."
        )
    chapters = sorted(path for path in course.glob("chapters/*") if path.is_dir() and path.name[0] not in "._")
    return {**items, **{chapter.name: chapter for chapter in chapters}}


def prepare(folder: Path, course: Path = COURSE) -> None:
    """Bring a workspace up to date, its start page too, and say what changed."""
    from ..start_page import start_page  # with what must be installed first

    items = released(course)
    changes = bring_up_to_date({SETTINGS: items.pop(SETTINGS)}, folder)
    for change in changes + bring_up_to_date(_editions(folder, items), folder):
        print(change)
    page = (course / START_PAGE).read_text(encoding="utf-8")
    put_page(START_PAGE, lambda: start_page(page, folder, kept_copies(folder)), folder)
    layout = folder / LAYOUTS / FIRST_LAYOUT.name
    if not layout.exists():
        layout.parent.mkdir(exist_ok=True)
        shutil.copyfile(FIRST_LAYOUT, layout)
    print(f"Your workspace: {folder}", flush=True)


def _editions(folder: Path, chapters: dict[str, Path]) -> dict[str, Path]:
    """Return each chapter, in the class's edition if it has released one: GRADLAB_EXCHANGE names its exchange."""
    if not os.environ.get("GRADLAB_EXCHANGE"):
        return chapters
    from ..exchange import handed_out

    try:
        of_class = handed_out(folder / SETTINGS)
    except Exception as error:  # whatever a file that runs as a program can raise
        print(
            f"What your class has released cannot be read ({type(error).__name__}: {error}). Chapters that you have "
            "stay as they are; the Assignment List will not work.",
            file=sys.stderr,
        )
        return {name: source for name, source in chapters.items() if not (folder / name).exists()}
    return {name: of_class.get(name, source) for name, source in chapters.items()}


def server() -> list[str]:
    """Return the command that serves JupyterLab: the one for a single user of JupyterHub where that started this."""
    for_one = "JUPYTERHUB_API_TOKEN" in os.environ
    return [sys.executable, "-m", *(["jupyterhub.singleuser"] if for_one else ["jupyter", "lab"])]


def lab(folder: Path, options: list[str]) -> int:
    """Open JupyterLab on the workspace, in place of this process where the system can do that."""
    prepare(folder)
    if not os.environ.get("GRADLAB_EXCHANGE"):
        (folder / ".exchange").mkdir(exist_ok=True)
    own_settings = str(COURSE / "gradlab/jupyter")
    search = os.pathsep.join([own_settings, *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])])
    command = [
        *server(),
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.workspaces_dir={folder / LAYOUTS}",
        f"--LabApp.extra_labextensions_path={COURSE / 'gradlab/jupyter/labextensions'}",
        f"--LabApp.default_url=/lab/tree/{START_PAGE}",
        "--LabApp.extension_manager=readonly",  # the other one asks a package index
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *(["--allow-root"] if is_root() else []),
        *options,
    ]
    env = {**os.environ, "JUPYTER_CONFIG_PATH": search, "JUPYTER_PREFER_ENV_PATH": "1"}
    env.setdefault("PYTHONSTARTUP", str(COURSE / "gradlab/first_in_a_kernel.py"))
    os.chdir(folder)  # nbgrader reads nbgrader_config.py where the server was started
    return become(command, env)
