"""Take a chapter from release to feedback on JupyterHub, set up as in grading/hub/, by clicking through each step.

Everything is on 127.0.0.1. Students use the student archive, and the instructor uses this environment.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from borrowed import install
from browser import LabPage, fresh_page
from lab_server import HANG_S, NEWS, Server
from tiny_class import write_settings

from authoring import archive
from authoring.places import SOURCES
from autograder.demo import WRONG
from gradlab.setup.system import PROXY, PROXY_ADVICE

HUB = Path(__file__).resolve().parents[1] / "hub"
CHAPTER = "02_external_gradients"
NEWS_OF_CLASS = "In this class you may work in pairs."
RIGHT = "def pull_back(x, v):\n    return v * 3 * x**2"
PASSWORD = "for-this-test"
LAB, FORMGRADER = "window.jupyterapp?.shell?.currentWidget", "document.querySelector('td.assign a')"

CONFIG = """
load_subconfig({trial!r})
c = get_config()
public, hub, proxy = {ports}
c.JupyterHub.bind_url = f"http://127.0.0.1:{{public}}"
c.JupyterHub.hub_port = hub
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{{proxy}}"
c.Spawner.args = ["--LabApp.expose_app_in_browser=True"]  # to this test
"""

pytestmark = pytest.mark.browser


class Hub:
    """A running hub and its users' folders."""

    def __init__(self, folder: Path):
        self.folder, self.homes, self.exchange = folder, folder / "homes", folder / "exchange"
        self.course = install(archive.write(folder / "autograd-course.zip"), folder)
        self.exchange.mkdir()
        self.exchange.chmod(0o1777)
        self.classroom = write_settings(folder / "teach")
        source = shutil.copytree(SOURCES / CHAPTER, self.classroom / "source" / CHAPTER) / f"{CHAPTER}.ipynb"
        solved = json.loads(source.read_text(encoding="utf-8"))
        solved["cells"][0]["source"] += [f"\n\n{NEWS_OF_CLASS}"]
        source.write_text(json.dumps(solved), encoding="utf-8")
        self.port, self.log = 0, folder / "hub.log"

    @contextlib.contextmanager
    def running(self) -> Iterator[psutil.Process]:
        """Run the hub with the trial's configuration, except for ports and the test's access to the page."""
        self.port, hub_port, proxy_port = free_ports(3)
        config = self.folder / "hub_config.py"
        config.write_text(CONFIG.format(trial=str(HUB / "trial_config.py"), ports=(self.port, hub_port, proxy_port)))
        env = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON"))}
        env |= {
            "GRADLAB_STUDENTS": str(self.course),
            "GRADLAB_CLASS": str(self.classroom),
            "GRADLAB_EXCHANGE": str(self.exchange),
            "GRADLAB_INSTRUCTORS": "iris",
            "GRADLAB_TRIAL_PASSWORD": PASSWORD,
        }
        command = [sys.executable, "-m", "jupyterhub", "-f", config]
        with self.log.open("w") as sink:
            process = psutil.Popen(command, cwd=self.folder, env=env, stdout=sink, stderr=subprocess.STDOUT)
        try:
            self._wait(process)
            yield process
        finally:
            started = [process, *process.children(recursive=True)]
            process.terminate()
            _, alive = psutil.wait_procs(started, timeout=HANG_S)
            for one in alive:
                one.kill()
        assert alive == [], f"the hub left behind {alive}"

    def _wait(self, process: psutil.Popen) -> None:
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):  # not listening yet
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/hub/health", timeout=5).close()
                return
            time.sleep(0.1)
        raise RuntimeError(f"the hub does not answer:\n{self.log.read_text()}")

    def home(self, name: str) -> Path:
        """Return a user's home, with JupyterLab's news disabled."""
        settings = self.homes / name / ".jupyter/labconfig/page_config.json"
        if not settings.exists():
            settings.parent.mkdir(parents=True)
            settings.write_text(json.dumps({"disabledExtensions": {NEWS: True}}))
        return self.homes / name

    @contextlib.contextmanager
    def user(self, chromium, name: str, root: Path, ready: str) -> Iterator[LabPage]:
        """Log in and start a server as a user does; `ready` is JavaScript that is true once the page has loaded."""
        self.home(name)
        with fresh_page(chromium) as page:
            lab = LabPage(page, Server(f"http://127.0.0.1:{self.port}/user/{name}", "", root, self.log))
            page.goto(f"http://127.0.0.1:{self.port}/")
            page.get_by_label("Username:").fill(name)
            page.get_by_label("Password:").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_function(f"() => {ready}")
            yield lab
            assert lab.foreign == []


def free_ports(count: int) -> list[int]:
    """Return free ports of 127.0.0.1."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


class AssignmentList:
    """nbgrader's Assignment List, operated by a student's clicks."""

    def __init__(self, lab: LabPage):
        self.lab = lab
        lab.command("nbgrader:open-assignment-list")

    def row(self, of: str):
        """Return the chapter's row in the list of released, fetched or submitted assignments."""
        return self.lab.page.locator(f"#{of}_assignments_list .list_item", has_text=CHAPTER).first

    def click(self, button: str, of: str) -> None:
        """Click a button in the chapter's row."""
        self.row(of).get_by_role("button", name=button).click()


class Formgrader:
    """nbgrader's Formgrader, operated by an instructor's clicks."""

    def __init__(self, page):
        self.page = page

    def click(self, step: str, of: str = CHAPTER) -> None:
        """Click the button of a step for an assignment or a student, and wait for its success."""
        self.page.locator("tr", has=self.page.get_by_text(of, exact=True)).locator(f"td.{step} a").click()
        self.page.locator(".modal-body", has_text="Success").wait_for()
        self.page.get_by_role("button", name="OK").last.click()
        self.page.locator(".modal-body").wait_for(state="hidden")


@pytest.mark.exhaustive
def test_a_chapter_goes_from_release_to_feedback_on_a_hub(chromium, tmp_path):
    """Two students fetch, solve, submit and read feedback; the instructor releases, collects, grades and returns.

    The released edition replaces the course's own in the workspaces. The hub leaves nothing behind. Without its proxy,
    this is skipped, or fails if CI=true.
    """
    if not (HUB / PROXY).exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(PROXY_ADVICE)
    hub = Hub(tmp_path)
    answers = {"ada": RIGHT, "boris": WRONG["answer-02-1"].strip()}
    with hub.running(), contextlib.ExitStack() as stack:
        iris = stack.enter_context(hub.user(chromium, "iris", hub.classroom.parent, ready=FORMGRADER))
        formgrader = Formgrader(iris.page)
        formgrader.click("assign")

        spaces = {name: hub.home(name) / "autograd" for name in answers}
        students = {name: stack.enter_context(hub.user(chromium, name, spaces[name], ready=LAB)) for name in answers}
        notebooks = {name: spaces[name] / CHAPTER / f"{CHAPTER}.ipynb" for name in answers}
        assert NEWS_OF_CLASS not in notebooks["ada"].read_text(encoding="utf-8")

        formgrader.click("release")
        for name, answer in answers.items():
            lab = students[name]
            todo = AssignmentList(lab)
            todo.click("Fetch", of="released")
            todo.row("released").wait_for(state="detached")
            assert NEWS_OF_CLASS in notebooks[name].read_text(encoding="utf-8")
            lab.open_notebook(notebooks[name])
            lab.type_into("answer-02-1", answer)
            if name == "ada":
                lab.run_above("check-02-1")
                lab.run_cell("check-02-1")
                assert "passed" in lab.shown("check-02-1")
            lab.save()
            AssignmentList(lab).click("Submit", of="fetched")
            todo.row("submitted").wait_for()

        formgrader.click("collect")
        iris.page.locator("tr", has=iris.page.get_by_text(CHAPTER, exact=True)).locator("td.num-submissions a").click()
        for name in answers:
            formgrader.click("autograde", of=name)
        iris.page.get_by_role("link", name="Manage Assignments").first.click()
        formgrader.click("generate-feedback")
        formgrader.click("release-feedback")

        for name, points in {"ada": "1 of 12", "boris": "0 of 12"}.items():
            AssignmentList(students[name]).click("Fetch Feedback", of="submitted")
            students[name].page.get_by_text("view feedback").wait_for()
            (page,) = (spaces[name] / CHAPTER / "feedback").glob(f"*/{CHAPTER}.html")
            assert points in page.read_text(encoding="utf-8")
