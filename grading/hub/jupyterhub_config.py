"""Configure JupyterHub for a class on one Linux machine; README.md beside this file says how."""

import os
import sys
from pathlib import Path

# Settings of this machine; set these environment variables before you start the hub.
INSTRUCTORS = os.environ.get("GRADLAB_INSTRUCTORS", "").split()  # account names
STUDENTS = Path(os.environ.get("GRADLAB_STUDENTS", "/srv/autograd-course"))  # the student archive, unpacked and set up
CLASS = Path(os.environ.get("GRADLAB_CLASS", Path(__file__).resolve().parents[1] / "class"))
EXCHANGE = os.environ.get("GRADLAB_EXCHANGE", "/srv/exchange")
COURSE_ID = os.environ.get("GRADLAB_COURSE", "autograd")  # the class's course id

STUDENT = [str(STUDENTS / ".venv/bin/python"), "-m", "gradlab", "lab", "--workspace", "autograd"]  # in the user's home
INSTRUCTOR = [sys.executable, "-m", "autograder", "formgrader", "--class", str(CLASS)]


def choose_server(spawner) -> None:
    """Choose a student's or an instructor's server for a user, with its environment's programs in PATH.

    An instructor's server opens Formgrader as a page: JupyterHub forbids the frame in which JupyterLab shows it.
    """
    teaches = spawner.user.name in INSTRUCTORS
    spawner.cmd = INSTRUCTOR if teaches else STUDENT
    spawner.default_url = "/formgrader" if teaches else ""
    programs = Path(spawner.cmd[0]).parent
    spawner.environment = {
        "GRADLAB_COURSE": COURSE_ID,
        "GRADLAB_EXCHANGE": EXCHANGE,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
    }


c = get_config()  # noqa: F821  JupyterHub provides it

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # behind a web server that provides HTTPS
c.JupyterHub.authenticator_class = "pam"  # the machine's own accounts
c.Authenticator.allow_all = True  # everyone with an account
c.JupyterHub.spawner_class = "localprocess"  # each server runs as its user
c.Spawner.pre_spawn_hook = choose_server
c.Spawner.start_timeout = c.Spawner.http_timeout = 300  # the first start copies the chapters
c.ConfigurableHTTPProxy.command = [str(Path(__file__).with_name("node_modules") / ".bin/configurable-http-proxy")]
