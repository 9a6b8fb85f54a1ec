"""Build the site: record the chapters, write the pages' sources, let Sphinx turn them into HTML."""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from sphinx.cmd.build import build_main
from traitlets.utils.importstring import import_item

import gradlab

from ..chapter import chapter_names, source_path
from ..edition import READ
from ..places import ROOT, ChapterError
from . import pages, write
from .places import SITE
from .recording import keep, recorded, run

HERE, GRADLAB = Path(__file__).parent, Path(gradlab.__file__).parent
ASSETS = [
    *HERE.glob("*.css"),
    *HERE.glob("*.js"),
    GRADLAB / "predict/static/form.js",
    GRADLAB / "predict/static/form.css",
    *(GRADLAB / "static" / name for name in ("live.css", "moving.css", "moving.js")),
]


def build(names: Sequence[str] = (), site: Path = SITE) -> Path:
    """Build the site with all chapters, or only the named ones; return its folder. Raises ChapterError if it fails.

    The pages' sources stay in a folder beside it.
    """
    names, sources = list(names) or chapter_names(), site.with_name("pages")
    for folder in (sources, site):
        shutil.rmtree(folder, ignore_errors=True)
    (sources / "_static/frames").mkdir(parents=True)
    write.write(sources / "_static/write", names)
    for asset in ASSETS:
        shutil.copy(asset, sources / "_static")
    shutil.copy(ROOT / ".github/pictures/card-light.png", sources / "_static/share.png")
    texts = pages.made(names)
    known = {f"{name}/{name}.ipynb" for name in names} | set(texts)
    notebooks = {name: notebook for name in names if (notebook := recorded(name))}
    changed = [name for name in sorted(names, reverse=True) if name not in notebooks]
    with ThreadPoolExecutor(2) as pool:  # each waits for its kernel
        for name, ran in zip(changed, pool.map(run, changed), strict=True):
            notebooks[name] = keep(name, ran)
            print(f"{name}: recorded", flush=True)
    for name, notebook in notebooks.items():
        _write_chapter(sources, known, name, notebook)
    for path, text in texts.items():
        (sources / path).parent.mkdir(parents=True, exist_ok=True)
        (sources / path).write_text(text, encoding="utf-8")
    static = ["-D", f"html_static_path={sources / '_static'}", "-D", f"html_favicon={HERE / 'icon.svg'}"]
    strict = ["-q", "-W", "--keep-going", "-j", "2"]
    if build_main([*strict, *static, "-c", str(HERE), "-d", str(sources / ".doctrees"), str(sources), str(site)]):
        raise ChapterError("Sphinx could not build the site; it says above why.")
    return site


def _write_chapter(sources: Path, known: set[str], name: str, notebook: nbformat.NotebookNode) -> None:
    """Write a recorded chapter's reading edition, with its figures and frames, among the pages' sources."""
    notebook, resources = read(notebook, name, known)
    folder = sources / name
    folder.mkdir()
    nbformat.write(notebook, folder / f"{name}.ipynb")
    if (figures := source_path(name).parent / "figures").exists():
        shutil.copytree(figures, folder / "figures")
    for file, text in resources.get("outputs", {}).items():
        (sources / "_static" / file).write_text(text, encoding="utf-8")


def read(notebook: nbformat.NotebookNode, name: str, known: set[str]) -> tuple[nbformat.NotebookNode, dict]:
    """Return the reading edition of a recorded chapter, and its files. known: the paths of the site's pages."""
    resources = {"unique_key": name, "pages": known}
    for step in READ:
        notebook, resources = import_item(step)().preprocess(notebook, resources)
    return notebook, resources
