"""Relative links lead to a file, and in it to a cell or heading: in a repository's web view and in a workspace."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from gradlab.setup.lab import COURSE, prepare

LINK = re.compile(r"\]\(([^)\s]+)\)|<a\b[^>]* href=\"([^\"]+)\"")
FENCED = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"\w+:|/")
UNSEEN = {".venv", "node_modules", "build", "tests", "class", "demo", "workspace", ".released", ".ipynb_checkpoints"}


def texts(path: Path) -> list[str]:
    """Return what a page says, or what a notebook's text cells and shown outputs say."""
    if path.suffix == ".md":
        return [FENCED.sub("", path.read_text(encoding="utf-8"))]
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    told = [data[kind] for data in shown for kind in ("text/markdown", "text/html") if kind in data]
    return ["".join(text) for text in [*(cell["source"] for cell in cells if cell["cell_type"] == "markdown"), *told]]


def anchors(path: Path) -> set[str]:
    """Return what a link may name in a file: a notebook's cells, a page's headings."""
    if path.suffix == ".ipynb":
        return {f"cell-id={cell['id']}" for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    spaced = {heading.replace("`", "").replace(" ", "-") for heading in headings}
    return spaced | {re.sub(r"[^\w-]", "", heading).lower() for heading in spaced}  # JupyterLab's, and a web view's


def broken(root: Path, pages: list[Path]) -> list[str]:
    """Return the links of these files that lead nowhere, or out of `root`."""
    found = []
    for page in pages:
        for link in (one or other for text in texts(page) for one, other in LINK.findall(text)):
            file, _, anchor = link.partition("#")
            target = (page.parent / unquote(file)).resolve() if file else page
            fits = target.exists() and target.is_relative_to(root.resolve())
            if not ELSEWHERE.match(link) and not (fits and (not anchor or unquote(anchor) in anchors(target))):
                found.append(f"{page.relative_to(root)}: {link}")
    return found


@pytest.mark.parametrize("place", ["repository", "workspace"])
def test_every_relative_link_leads_somewhere(place, tmp_path):
    root = COURSE.parent if place == "repository" else tmp_path
    if place == "workspace":
        prepare(tmp_path)
    found = {path for kind in ("*.md", "*.ipynb") for path in root.rglob(kind)}
    pages = sorted(path for path in found if not UNSEEN & {*path.relative_to(root).parts})
    assert len(pages) > 15
    assert broken(root, pages) == []
