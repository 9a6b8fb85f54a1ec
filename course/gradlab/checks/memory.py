"""What has been done so far: a small memory of passed checks, its picture, and a bar for long work."""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from .. import notebook
from ..pictures.picture import Picture, label, static, svg, text_width

MEMORY = ".progress.json"
CHAPTER = re.compile(r"(\d\d)_(\w+)")
CHECK = re.compile(r"""\bcheck\(\s*["'](\d\d\.\d+[a-z]?)\b""")


def _home(folder=None):
    """The folder that holds the chapters' folders: above a chapter's own, else the folder itself."""
    folder = Path(folder or notebook.FOLDER)
    return folder.parent if CHAPTER.fullmatch(folder.name) else folder


def read(folder=None):
    """Return what is remembered: {"02.1": "passed" or "tried"}. A damaged memory counts as empty."""
    try:
        found = json.loads((_home(folder) / MEMORY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    verdicts = ("passed", "tried")
    return {k: v for k, v in found.items() if v in verdicts} if isinstance(found, dict) else {}


def remember(check_id, verdict, folder=None):
    """Note that a check was "passed" or "tried"; what was passed once stays passed.

    Called by the check. Where nothing can be written (a sandbox, a full disk) nothing is remembered and nothing raised.
    """
    known = read(folder)
    if verdict not in ("passed", "tried"):
        raise ValueError(f"a check is 'passed' or 'tried', not {verdict!r}")
    if known.get(check_id) in ("passed", verdict):
        return
    known[check_id] = verdict
    home = _home(folder)
    try:
        with tempfile.NamedTemporaryFile("w", dir=home, prefix=MEMORY, delete=False, encoding="utf-8") as sink:
            json.dump(known, sink, indent=1, sort_keys=True)
        os.replace(sink.name, home / MEMORY)
    except OSError:
        pass


def exercises(folder=None):
    """Return the checks' ids by chapter, from the notebooks of this folder: {"02_external_gradients": ["02.1"]}."""
    found = {}
    for path in sorted(_home(folder).glob("[0-9][0-9]_*/*.ipynb")):
        if path.stem != path.parent.name:
            continue
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        except (OSError, ValueError, KeyError, TypeError):
            continue
        found[path.stem] = list(dict.fromkeys(CHECK.findall(source)))
    return found


def progress(folder=None):
    """Show the chapters and their exercises as a grid: passed, tried, not yet begun."""
    return Progress(exercises(folder), read(folder))


class Progress(Picture):
    """`chapters` as from `exercises`, `verdicts` as from `read`."""

    def __init__(self, chapters, verdicts):
        self.chapters, self.verdicts = chapters, verdicts
        ids = [i for found in chapters.values() for i in found]
        passed, tried = (sum(verdicts.get(i) == v for i in ids) for v in ("passed", "tried"))
        counts = f"{passed} of {len(ids)} exercises passed, {tried} tried."
        alt = counts if ids else "No chapters were found beside this one."
        lines = [alt]
        for name, found in chapters.items():
            marks = " ".join(f"{i}{_mark(verdicts.get(i))}" for i in found)
            lines.append(f"{_title(name)}: {marks or 'no exercises'}")
        lines += ["✓ passed, … tried, · not yet"] if ids else []
        super().__init__(_draw(chapters, verdicts, alt), "\n".join(lines), alt)


def _title(name):
    number, words = CHAPTER.fullmatch(name).groups()
    return f"{number} {words.replace('_', ' ')}"


def _mark(verdict):
    return {"passed": "✓", "tried": "…"}.get(verdict, "·")


def _draw(chapters, verdicts, alt):
    step, top = 26, 34
    left = 20 + max((text_width(_title(name), 12, True) for name in chapters), default=0)
    most = max((len(found) for found in chapters.values()), default=0)
    body = [label(6, 16, alt, "gl-t gl-note", "start")]
    for row, (name, found) in enumerate(chapters.items()):
        y = top + row * step
        done = bool(found) and all(verdicts.get(i) == "passed" for i in found)
        body.append(label(6, y + 15, _title(name), "gl-t gl-note" if done else "gl-note", "start"))
        for k, i in enumerate(found):
            x, verdict = left + k * step, verdicts.get(i)
            body.append(f'<g class="gl-check gl-{verdict or "open"}" data-check="{i}">')
            body.append(f'<rect x="{x}" y="{y}" width="20" height="20" rx="4"/>')
            if verdict == "passed":
                body.append(f'<path class="gl-tick" d="M{x + 5} {y + 10}l4 4 7 -8"/>')
            else:
                body.append(label(x + 10, y + 14, i.partition(".")[2]))
            body.append("</g>")
    height = top + step * len(chapters) + 4
    width = max(left + step * most + 6, text_width(alt, 12, True) + 12)
    return svg(width, height, "".join(body), alt, static("progress.css"))


def track(items, words="working"):
    """Go through `items` with a bar that says how far it is; it shows after a second and leaves nothing behind.

    The bar is tqdm's. The environment variable TQDM_DISABLE=1 switches it off, as where notebooks are compared.
    """
    from tqdm import tqdm  # the bar in text: tqdm's widget leaves an error in a notebook that is opened without kernel

    return tqdm(items, desc=words, delay=1, leave=False, ncols=72, file=sys.stdout)
