"""The site's own preprocessors, with which a recorded chapter becomes a page without its solutions."""

import html
import json
import re

from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from ..cells import tags
from .places import GET, WRITABLE, anchor, linked
from .recording import FRAMES, PREDICTION

HOW_TO_WORK = "**How to work.**"
HOW_TO_READ = """**On this page** you can read and guess. Enter your guess, and torch's recorded answer appears; your
guesses stay in this browser. To run the code, change it and solve the exercises, get the course:

{get}
"""
HOW_TO_WRITE = """**On this page** you can guess, write code and have it checked. Enter your guess, and the recorded
answer appears. Change the code of an exercise and press Shift+Enter: its check answers as it does in JupyterLab. The
first check loads Python, about 9 MB, which runs in your browser; your guesses, code and results stay there. To go on
with torch, get the course:

{get}
"""
TESTED = """<div class="site-check">

{tested}

To have your answer checked, get the course. It opens in JupyterLab, and the check says at once what is right or wrong:

{get}

</div>
"""
_LISTED = re.compile(r"The (?:last|next) two cells list the guesses ([^,]*), and [^.]*\.")
GUESSES = '<div class="site-guesses" role="status"></div>'
_FIRST_COMMENT = re.compile(r"\A(?:#.*\n?)+")


class SayWhatIsTested(NbGraderPreprocessor):
    """Replace each check by what it tests, and clear the outputs of answers."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Keep of a check only the comment at its beginning, which says what is tested."""
        if is_solution(cell):
            cell.outputs = []
        if is_grade(cell):
            comment = _FIRST_COMMENT.match(cell.source)
            lines = [line.lstrip("# ").rstrip() for line in comment[0].splitlines()] if comment else []
            cell = new_markdown_cell(TESTED.format(tested=_plain(" ".join(lines)), get=GET), id=cell.id)
        return cell, resources


class ShowPredictions(NbGraderPreprocessor):
    """Turn what a prediction recorded into a place for its form, followed by torch's answer in a fold."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Write the prediction's data and its answer as HTML; guess.js makes the form."""
        for output in cell.get("outputs", []):
            if prediction := output.get("data", {}).pop(PREDICTION, None):
                answer = prediction.pop("output")
                output.data["text/html"] = (
                    f'<div class="site-guess">{as_json(prediction)}<details class="site-answer">'
                    f'<summary>Torch’s answer</summary><div class="gl-output">{answer}</div></details></div>'
                )
        if cell.source.strip() == "predict.summary()":
            cell.outputs = [new_output("display_data", {"text/html": GUESSES})]
        return cell, resources


class ShowPayoffs(NbGraderPreprocessor):
    """Turn what a payoff recorded into its first picture; the others go into a file, for frames.js to show."""

    def preprocess_cell(self, cell, resources, cell_index):
        """Write the frames to `frames/` and the first one into the page."""
        for position, output in enumerate(cell.get("outputs", [])):
            if payoff := output.get("data", {}).pop(FRAMES, None):
                file = f"frames/{resources['unique_key']}-{cell.id}.json"
                resources.setdefault("outputs", {})[file] = json.dumps(payoff.pop("frames"))
                others = [f"In JupyterLab you can also change: {', '.join(payoff['others'])}."] * bool(payoff["others"])
                output.data["text/html"] = (
                    f'<figure class="site-frames" data-frames="../_static/{file}"><figcaption>'
                    f"{html.escape(payoff['title'])}</figcaption>{as_json(payoff['controls'])}"
                    f'<div class="gl-frame">{payoff["start"]}</div>'
                    f'<p class="site-others">{html.escape("".join(others))}</p></figure>'
                )
                cell.outputs = cell.outputs[: position + 1]  # without the payoff's picture for viewers without widgets
                break
        return cell, resources


class SayHowToRead(NbGraderPreprocessor):
    """Say how to use the page, and remove what only a notebook can do."""

    def preprocess(self, nb, resources):
        """Replace the instructions for the notebook, and remove the summary of exercises."""
        nb.cells = [cell for cell in nb.cells if cell.source.strip() != "summary()"]
        for cell in nb.cells:
            if cell.source.startswith(HOW_TO_WORK):
                how = HOW_TO_WRITE if resources["unique_key"] in WRITABLE else HOW_TO_READ
                cell.source = how.format(get=GET)
            if cell.source.startswith(("own_engine(", "take_home(")):
                cell.outputs = []  # they say what was found beside the notebook
            cell.source = _LISTED.sub(r"Below are the guesses \1.", cell.source)
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                cell.metadata["tags"] = [*tags(cell), "hide-input"]
        return nb, resources


class NameCells(NbGraderPreprocessor):
    """Put an anchor before each cell, so that links to it work as in JupyterLab."""

    def preprocess(self, nb, resources):
        """Write the anchor at the beginning of a text, and before code into the text above or into one of its own."""
        cells = nb.cells[:1]
        for cell in nb.cells[1:]:
            mark = f'<span id="{anchor(cell.id)}"></span>'
            if cell.cell_type == "markdown":
                cell.source = f"{mark}\n\n{cell.source}"
            elif cells[-1].cell_type == "markdown":
                cells[-1].source += f"\n\n{mark}"
            else:
                cells.append(new_markdown_cell(mark))
            cells.append(cell)
        nb.cells = cells
        return nb, resources


class LinkPages(NbGraderPreprocessor):
    """Turn links between notebooks into links between pages."""

    def preprocess_cell(self, cell, resources, cell_index):
        if cell.cell_type == "markdown":
            name = resources["unique_key"]
            cell.source = linked(cell.source, f"{name}/{name}.ipynb", resources["pages"])
        return cell, resources


def _plain(text: str) -> str:
    """Return a comment as Markdown that shows it, and code in it, as it is; in bold, it says first what it is about."""
    shown = re.sub(r"`[^`]+`|[*_`<$\\\[]", lambda part: part[0] if part[0][1:] else f"\\{part[0]}", text)
    return shown.replace("Tested", "**What the check tests**", 1)


def as_json(data) -> str:
    """Return data as an element that a script of the page reads."""
    safe = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
    return f'<script type="application/json">{safe}</script>'
