"""Build the site: record the chapters, write the pages' sources, let Sphinx turn them into HTML."""

import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import nbformat
from sphinx.cmd.build import build_main
from traitlets.utils.importstring import import_item

import gradlab

from ..chapter import chapter_names, source_path
from ..edition import READ
from ..places import ChapterError
from . import pages
from .places import PAGES, ROOT, SITE
from .recording import record

HERE, GRADLAB = Path(__file__).parent, Path(gradlab.__file__).parent
ASSETS = [
    *HERE.glob("*.css"),
    *HERE.glob("*.js"),
    HERE / "icon.svg",
    GRADLAB / "predict/static/form.js",
    GRADLAB / "predict/static/form.css",
    GRADLAB / "static/live.css",
]


def build(names: Sequence[str] = ()) -> Path:
    """Build the site with all chapters, or only the named ones; return its folder. Raises ChapterError if it fails."""
    names = list(names) or chapter_names()
    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    (PAGES / "_static/frames").mkdir(parents=True)
    for asset in ASSETS:
        shutil.copy(asset, PAGES / "_static")
    shutil.copy(ROOT / ".github/pictures/card-light.png", PAGES / "_static/share.png")
    texts = pages.made(names)
    known = {f"{name}/{name}.ipynb" for name in names} | set(texts)
    with ProcessPoolExecutor(2, get_context("spawn"), _alone) as pool:
        for name in pool.map(_write_chapter, sorted(names, reverse=True), [known] * len(names)):
            print(f"{name}: recorded", flush=True)
    for path, text in texts.items():
        (PAGES / path).parent.mkdir(parents=True, exist_ok=True)
        (PAGES / path).write_text(text, encoding="utf-8")
    conf = str(HERE)
    if build_main(
        ["-q", "-W", "--keep-going", "-j", "2", "-c", conf, "-d", str(PAGES / ".doctrees"), str(PAGES), str(SITE)]
    ):
        raise ChapterError("Sphinx could not build the site; it says above why.")
    return SITE


def _alone() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"  # two kernels run side by side


def _write_chapter(name: str, known: set[str]) -> str:
    """Write a chapter's reading edition, with its figures and frames, among the pages' sources."""
    notebook, resources = read(record(name), name, known)
    folder = PAGES / name
    folder.mkdir()
    nbformat.write(notebook, folder / f"{name}.ipynb")
    if (figures := source_path(name).parent / "figures").exists():
        shutil.copytree(figures, folder / "figures")
    for file, text in resources.get("outputs", {}).items():
        (PAGES / "_static" / file).write_text(text, encoding="utf-8")
    return name


def read(notebook: nbformat.NotebookNode, name: str, known: set[str]) -> tuple[nbformat.NotebookNode, dict]:
    """Return the reading edition of a recorded chapter, and its files. known: the paths of the site's pages."""
    resources = {"unique_key": name, "pages": known}
    for step in READ:
        notebook, resources = import_item(step)().preprocess(notebook, resources)
    return notebook, resources
