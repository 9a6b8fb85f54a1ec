"""The kernel of a page on which one writes code: it runs a chapter's cells in IPython's own shell, in Pyodide.

The chapter's code is unchanged: the same checks, records and cards as in JupyterLab, without torch and NumPy. The texts
of cells come from the page, through worker.js; beside them, it keeps the notebook file that checks read.
"""

import io
import itertools
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from gradlab import live
from gradlab import notebook as on_disk
from gradlab.ipynb import tags
from gradlab.payoffs import Payoff, PayoffOutput
from gradlab.returned import is_answer

HOME = Path("/home/learner")  # holds the chapter's folder, and the files in which gradlab remembers results
PAYOFF = "application/vnd.gradlab.payoff+json"


class Outputs(DisplayPublisher):
    """Collects what a cell displays, as dicts in the order of display."""

    sent: list[dict]

    def publish(self, data, metadata=None, *, transient=None, update=False, **_):
        """Add a display; called by IPython. With `update`, it replaces those with the same id, also of other cells."""
        self.sent.append({"data": data, "id": (transient or {}).get("display_id"), "update": update})

    def clear_output(self, wait=False):
        """Remove what the cell has displayed so far; called by IPython."""
        self.sent.clear()


class Printed(io.TextIOBase):
    """A stream that adds printed text to a cell's outputs, which the page shows when it has run."""

    encoding, errors = "utf-8", "strict"

    def __init__(self, name: str, sent: list[dict]):
        self.name, self.sent = name, sent

    def write(self, text: str) -> int:
        """Add text to the last output if that is from this stream, else as a new output."""
        if self.sent and self.sent[-1].get("stream") == self.name:
            self.sent[-1]["text"] += text
        else:
            self.sent.append({"stream": self.name, "text": text})
        return len(text)


class Shell(InteractiveShell):
    """A shell that adds errors to a cell's outputs, but for a failed check: its card has said it.

    kernel: what gradlab asks for a request's metadata; where it is, code runs in a notebook.
    """

    kernel = SimpleNamespace(get_parent=lambda channel=None: {"metadata": {}})

    def _showtraceback(self, etype, evalue, stb):
        if etype.__name__ != "CheckFailed":
            self.display_pub.sent.append({"error": self.InteractiveTB.stb2text(stb)})


class Page:
    """A chapter in a page.

    notebook, record: the released ones, as JSON. files: what `run` returned as files when the page was last open.
    """

    def __init__(self, name: str, notebook: str, record: str, files: dict[str, str]):
        self.notebook, self.folder = json.loads(notebook), HOME / name
        self.cells = {cell["id"]: cell for cell in self.notebook["cells"] if cell["cell_type"] == "code"}
        self.ran: dict[str, str] = {}  # the text with which a cell last ran without an error
        self.moving: list[Payoff] = []  # payoffs that have sliders
        self.folder.mkdir(parents=True)
        (self.folder / f"{name}.record.json").write_text(record)
        for file, text in files.items():
            (HOME / file).write_text(text)
        os.chdir(self.folder)
        on_disk.FOLDER = self.folder
        self.shell = Shell.instance(display_pub_class=Outputs, colors="nocolor")
        live.page = live.Page(self._show_payoff)

    def run(self, cell: str, sources: dict[str, str]) -> str:
        """Run a cell, after the set-up cells and answers above it that have not run like this; return what came of it.

        sources: the texts in the page, by cell. The result is JSON: the outputs of each cell that ran, and the files of
        HOME. If a cell above raises an error, those below it run all the same.
        """
        for name, text in sources.items():
            self.cells[name]["source"] = text
        (self.folder / f"{self.folder.name}.ipynb").write_text(json.dumps(self.notebook))
        above = [name for name in self._above(cell) if self.ran.get(name) != self._text(name)]
        outputs = {name: self._run(name) for name in [*above, cell]}
        files = {path.name: path.read_text() for path in HOME.iterdir() if path.is_file()}
        return json.dumps({"outputs": outputs, "files": files})

    def move(self, number: int, places: str) -> str:
        """Return a payoff's HTML for the places of its sliders and lists, a JSON list."""
        payoff = self.moving[number]
        values = zip(payoff.values().items(), json.loads(places), strict=True)
        return payoff.made({name: every[place] for (name, every), place in values}).alive

    def _text(self, cell: str) -> str:
        return "".join(self.cells[cell]["source"])

    def _above(self, cell: str) -> list[str]:
        """Return the set-up cells and the answers above a cell."""
        above = itertools.takewhile(lambda item: item[0] != cell, self.cells.items())
        return [name for name, each in above if "setup" in tags(each) or is_answer(each)]

    def _run(self, cell: str) -> list[dict]:
        text, outputs = self._text(cell), list[dict]()
        self.shell.display_pub.sent = outputs
        with redirect_stdout(Printed("stdout", outputs)), redirect_stderr(Printed("stderr", outputs)):
            result = self.shell.run_cell(text, store_history=True, cell_id=cell)
        if result.success:
            self.ran[cell] = text
        return outputs

    def _show_payoff(self, payoff: Payoff, made: PayoffOutput) -> None:
        """Publish what moving.js needs to show the payoff; its controls are sliders and lists."""
        self.moving.append(payoff)
        shown = {"number": len(self.moving) - 1, "title": payoff.title, "html": made.alive}
        self.shell.display_pub.publish({PAYOFF: shown | {"controls": payoff.controls_at_start()}})
