"""JupyterLab as a student sees it: a real server, a real headless Chromium, and a small API to drive them.

A test asks for the fixture `lab`, a `LabPage` on which nothing is open:

    @pytest.mark.browser
    def test_a_picture_is_shown(lab, tmp_path):
        lab.open_notebook(write_notebook(tmp_path / "a.ipynb", ["1 + 1"]))
        lab.run_all()
        assert lab.shown(0) == "2"
        lab.assert_quiet()

Cells are named by their position (0 is the first cell of the notebook, of any type), by their nbgrader `grade_id`, or
by their id.

Starting a server and loading JupyterLab are slow, so the tests of a process share one Chromium, one server (`python -m
gradlab lab`, whose workspace is pytest's temporary folder, with the chapters and every `tmp_path`) and one loaded page.
After each test its documents are closed and its kernels ended. A test that starts the server itself, or needs different
settings, uses `open_lab`, which has a separate server and browser context; a test of other pages uses `page`. If a file
has a fixture for all its tests, `TOGETHER` in conftest.py keeps them in one process.

Every server gets a fresh home and fresh Jupyter folders, so no setting of this machine reaches the page. Playwright
keeps an event loop running in the test's thread from the first browser test on. So browser tests come last, and run
nbclient and nbgrader as separate commands.
"""

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from lab_server import GRADLAB_LAB, HANG_S, Server, serve

from gradlab.setup.system import advice, find_chromium

CHROMIUM_FLAGS = [
    "--no-sandbox",  # Chromium refuses to start as root otherwise, and containers run tests as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = ("http://127.0.0.1", "ws://127.0.0.1", "http://localhost", "ws://localhost", "data:", "blob:", "about:")
WINDOW = (1400, 1000)
LATE = (
    "widget model not found",  # a widget was still being shown; it complains two seconds later
    "null (reading 'footer')",  # JupyterLab still wanted to give the notebook the focus (jupyterlab issue 18457)
    "Could not restore the debugger state",  # JupyterLab still asked the kernel whether it can be debugged
)


def write_notebook(path: Path, cells: Sequence[str | nbformat.NotebookNode]) -> Path:
    """Write a small notebook; a plain string becomes a code cell."""
    made = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": kernel})
    nbformat.write(notebook, path)
    return path


class LabPage:
    """One JupyterLab page in a browser.

    `page` is Playwright's own page, for whatever has no word here. `foreign` lists every address outside this machine
    that was asked for, `complaints` what the page wrote to the console as an error or answered with an HTTP error. The
    errors in LATE come from a notebook that was closed, when the page may have been lent to the next test; whether a
    widget's model is missing is read from the page instead.
    """

    def __init__(self, page, server: Server):
        self.page = page
        self.server = server
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        page.context.on("request", self._see_request)
        page.on("console", lambda message: self._complain(message.type == "error", message.text))
        page.on("pageerror", lambda error: self._complain(True, error.stack or str(error)))
        page.on("response", lambda reply: self._complain(reply.status >= 400, f"{reply.status} {reply.url}"))

    def _see_request(self, request) -> None:
        if not request.url.startswith(LOCAL):
            self.foreign.append(request.url)

    def _complain(self, really: bool, text: str) -> None:
        if really and not any(words in text for words in LATE):
            self.complaints.append(text)

    def assert_quiet(self) -> None:
        """Fail if the page asked anything of another machine or reported an error."""
        assert self.foreign == [], "the page asked other machines"
        assert self.complaints == [], "the page reported errors"
        assert self.page.get_by_text("model not found").count() == 0, "a widget cannot be shown"

    # Opening

    def goto(self, path: str = "") -> None:
        """Go to an address of the server, such as `lab/tree/README.md`, and wait until JupyterLab shows what it names.

        The server's own address leads to such an address, too. JupyterLab may show earlier documents first.
        """
        self.page.goto(self.server.address(path), wait_until="domcontentloaded")
        named = re.search(r"/tree/([^?#]+)", self.page.url)
        self.page.wait_for_function(
            """named => {
                const front = window.jupyterapp?.shell?.currentWidget;
                return front && (!named || front.context?.path === named);
            }""",
            arg=named and unquote(named[1]),
        )

    def open_notebook(self, path: Path | str) -> None:
        """Open a notebook as it is on the disk, and wait until its kernel is idle; whatever was open is closed."""
        self.close_all()
        self._evaluate(
            """async path => {
                const { commands, shell } = window.jupyterapp;
                const panel = await commands.execute('docmanager:open', { path });
                await panel.context.ready;
                shell.activateById(panel.id);  // it gets the focus only now, if JupyterLab failed to (issue 18457)
            }""",
            f"opening {path}",
            (self.server.root / path).relative_to(self.server.root).as_posix(),
        )
        self.wait_for_kernel()

    def shows(self, path: Path) -> bool:
        """Tell whether the document in front is this one."""
        front = self.page.evaluate("() => window.jupyterapp.shell.currentWidget?.context?.path")
        return front == path.relative_to(self.server.root).as_posix()

    def forget(self) -> None:
        """Forget what `assert_quiet` would complain about so far."""
        self.foreign.clear()
        self.complaints.clear()

    def close_all(self) -> None:
        """Close every document without saving it, and end every kernel."""
        self._evaluate(
            """async () => {
                const { shell, serviceManager } = window.jupyterapp;
                for (const widget of [...shell.widgets('main')].filter(widget => widget.context)) widget.dispose();
                await serviceManager.sessions.shutdownAll();
            }""",
            "closing what was open",
        )

    def put_back(self) -> None:
        """Put the page back in order: nothing open, no dialog, the light theme, the usual size."""
        self.close_all()
        if self.page.locator(".jp-Dialog").count():
            self.goto("lab?reset")
        if self.page.locator('body[data-jp-theme-light="false"]').count():
            self.theme("light")
        self.page.set_viewport_size({"width": WINDOW[0], "height": WINDOW[1]})

    def wait_for_kernel(self) -> None:
        """Wait until the document in front is a notebook whose kernel is idle.

        If it never is, the error says what the page shows and complained about, and how the server's log ends.
        """
        try:
            self.page.wait_for_function(
                """() => {
                    const panel = window.jupyterapp?.shell?.currentWidget;
                    const kernel = panel?.sessionContext?.session?.kernel;
                    return kernel?.status === 'idle' && panel.content?.widgets?.length > 0;
                }""",
            )
        except Exception as error:
            there = self.page.evaluate(
                """() => {
                    const front = window.jupyterapp?.shell?.currentWidget;
                    const { status, connectionStatus } = front?.sessionContext?.session?.kernel ?? {};
                    const dialogs = [...document.querySelectorAll('.jp-Dialog')].map(dialog => dialog.innerText);
                    return { front: front?.context?.path ?? front?.id, status, connectionStatus, dialogs };
                }""",
            )
            log = self.server.log.read_text()[-3000:]
            error.add_note(f"On the page: {there}. Its complaints: {self.complaints}. The server's log ends:\n{log}")
            raise

    # Running

    def command(self, name: str, **arguments):
        """Execute one of JupyterLab's commands, wait until it is done, and return what it returns if that is plain."""
        return self._evaluate("(name, args) => window.jupyterapp.commands.execute(name, args)", name, name, arguments)

    def _evaluate(self, function: str, what: str, *arguments):
        """Call an asynchronous JavaScript function with a limit of time; return its result if that is plain."""
        return self.page.evaluate(
            f"""async ([what, timeout_s, args]) => {{
                const late = new Promise((_, reject) => setTimeout(
                    () => reject(new Error(`${{what}} was not done after ${{timeout_s}} s`)), timeout_s * 1000));
                const result = await Promise.race([({function})(...args), late]);
                return ['boolean', 'string', 'number'].includes(typeof result) ? result : null;
            }}""",
            [what, HANG_S, list(arguments)],
        )

    def run_all(self) -> None:
        """Run all cells and wait for the last; an error in a cell that permits none ends the run there."""
        self.command("notebook:run-all-cells")
        self.wait_until_done()

    def run_cell(self, cell: int | str) -> None:
        """Run one cell and wait until it is done."""
        self._activate(cell)
        self.command("notebook:run-cell")
        self.wait_until_done()

    def run_above(self, cell: int | str) -> None:
        """Run all cells above one and wait until they are done."""
        self._activate(cell)
        self.command("notebook:run-all-above")
        self.wait_until_done()

    def restart_kernel(self) -> None:
        """Restart the kernel and wait until it is idle."""
        self._evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()", "the restart")
        self.wait_for_kernel()

    def wait_until_done(self) -> None:
        """Wait until the kernel has done all it was asked.

        JupyterLab's commands return at the first error, even one that the cell permits, while the kernel goes on. The
        kernel answers in order, so its answer to a last question comes after everything else.
        """
        self._evaluate(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestKernelInfo()",
            "the kernel's work",
        )

    def save(self) -> None:
        """Save the current document."""
        self.command("docmanager:save")

    # Reading the notebook

    def cells(self) -> list[dict]:
        """Return the cells as a saved notebook would hold them, whether or not they are scrolled into view."""
        return self.page.evaluate("() => window.jupyterapp.shell.currentWidget.model.sharedModel.toJSON().cells")

    def position(self, cell: int | str) -> int:
        """Return the position of a cell given by position, by grade_id or by id."""
        if isinstance(cell, int):
            return cell
        names = self.page.evaluate(
            """() => [...window.jupyterapp.shell.currentWidget.model.cells]
                .map(cell => [cell.metadata.nbgrader?.grade_id, cell.id])"""
        )
        if found := [place for place, known in enumerate(names) if cell in known]:
            return found[0]
        raise LookupError(f"no cell has the grade_id or id {cell!r}; this notebook has {[a or b for a, b in names]}")

    def outputs(self, cell: int | str) -> list[dict]:
        """Return a code cell's outputs in notebook format."""
        return self.cells()[self.position(cell)]["outputs"]

    def errors(self) -> dict[int, str]:
        """Return the error of each cell that shows one, as "Name: message" by position."""
        return {
            place: f"{output['ename']}: {output['evalue']}"
            for place, cell in enumerate(self.cells())
            for output in cell.get("outputs", [])
            if output["output_type"] == "error"
        }

    def locate(self, cell: int | str):
        """Scroll to a cell and return Playwright's locator of it."""
        place = self._activate(cell)
        found = self.page.locator(f'.jp-Notebook:visible .jp-Cell[data-windowed-list-index="{place}"]')
        found.wait_for(state="attached")
        found.scroll_into_view_if_needed()
        return found

    def shown(self, cell: int | str) -> str:
        """Return the text of a cell's outputs as the page shows it."""
        return "\n".join(text for text, _ in self._output_texts(cell)).strip()

    def seen(self, cell: int | str) -> str:
        """Return what can be seen of a cell's outputs, without what is hidden in them."""
        return "\n".join(text for text, visible in self._output_texts(cell) if visible)

    def _output_texts(self, cell: int | str) -> list[tuple[str, bool]]:
        """Scroll to a cell and wait until its outputs are drawn; return each one's text, and whether it is visible.

        A cell out of view is laid out late (`content-visibility: auto`); until then its text is empty.
        """
        return self.page.wait_for_function(
            """place => {
                const { model, node, outputArea } = window.jupyterapp.shell.currentWidget.content.widgets[place];
                const outputs = [...node.querySelectorAll('.jp-OutputArea-output')];
                node.scrollIntoView({block: 'nearest'});
                const drawn = node.checkVisibility({contentVisibilityAuto: true})
                    && (outputArea?.widgets.length ?? 0) >= (model.outputs?.length ?? 0)
                    && outputs.every(output => output.hasChildNodes());
                return drawn && outputs.map(each => [each.innerText, each.checkVisibility({visibilityProperty: true})]);
            }""",
            arg=self._activate(cell),
        ).json_value()

    # Writing

    def type_into(self, cell: int | str, source: str) -> None:
        """Replace a cell's source as a student would: click into it, select all, type."""
        editor = self.locate(cell).locator(".cm-content")
        editor.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)
        place = self.position(cell)
        self.page.wait_for_function(
            """([place, source]) => window.jupyterapp.shell.currentWidget.content.widgets[place]
                .model.sharedModel.getSource() === source""",
            arg=[place, source],
        )

    # Looking

    def theme(self, name: str) -> None:
        """Switch to the theme "light" or "dark", and wait until JupyterLab no longer covers the page.

        It takes its cover away once for each switch; a second switch that comes too soon makes it report an error.
        """
        title = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}[name]
        self.command("apputils:change-theme", theme=title)
        light = "true" if name == "light" else "false"
        self.page.locator(f'body[data-jp-theme-light="{light}"] .jp-LabShell').wait_for(state="visible")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def _activate(self, cell: int | str) -> int:
        place = self.position(cell)
        self.page.evaluate(
            """async (place) => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                window.dispatchEvent(new PointerEvent('pointerdown')); // a click, which stops a link from going on
                notebook.activeCellIndex = place;
                notebook.deselectAll();
                const superseded = error => /Scrolling to a new item/.test(error) ? true : Promise.reject(error);
                while (await notebook.scrollToItem(place, 'auto').catch(superseded));  // by what scrolls meanwhile
            }""",
            place,
        )
        return place


def require_chromium() -> str:
    """Return the path of a Chromium; without one skip the test, or fail it where CI=true."""
    found = find_chromium()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail(advice("chromium"))
    if found is None:
        pytest.skip(advice("chromium"))
    return found


# Fixtures: conftest.py, beside the rooms, registers this file as a plugin, so that all tests share one of each.


def pytest_collection_modifyitems(items):
    """Put browser tests last, because Playwright's event loop stays until the end."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def chromium():
    """Return the Chromium that all tests of this process share, as Playwright's browser."""
    path = require_chromium()
    from playwright.sync_api import sync_playwright  # importing it costs 0.3 s, which only browser tests should pay

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def fresh_page(chromium):
    """Open a page in a browser context of its own: no cookies, nothing cached."""
    context = chromium.new_context(viewport={"width": WINDOW[0], "height": WINDOW[1]})
    context.set_default_timeout(HANG_S * 1000)
    try:
        yield context.new_page()
    finally:
        context.close()


@pytest.fixture
def page(chromium):
    """Return Playwright's page in a browser context of its own."""
    with fresh_page(chromium) as page:
        yield page


@pytest.fixture
def open_lab(page, tmp_path_factory):
    """Return `open_lab(folder, command, env=…)`: start a server there and return the `LabPage` of a fresh page."""
    with contextlib.ExitStack() as stack:

        def start(folder: Path, command: Sequence[str], env: dict | None = None) -> LabPage:
            return LabPage(page, stack.enter_context(serve(folder, tmp_path_factory.mktemp("home"), command, env)))

        yield start


@pytest.fixture(scope="session")
def shared_lab(chromium, tmp_path_factory):
    """Return the page that `lab` lends to one test after the other."""
    root = tmp_path_factory.getbasetemp()
    command = [*GRADLAB_LAB, f"--workspace={root}"]
    with serve(root, tmp_path_factory.mktemp("home"), command) as server, fresh_page(chromium) as page:
        lab = LabPage(page, server)
        lab.goto()
        lab.assert_quiet()
        yield lab
        lab.close_all()


@pytest.fixture
def lab(shared_lab):
    """Return a `LabPage` on which nothing is open."""
    yield from lend(shared_lab)


def lend(lab: LabPage) -> Iterator[LabPage]:
    """Lend a page to a test, or to the tests of a module, and put it back in order."""
    lab.forget()
    yield lab
    lab.put_back()
