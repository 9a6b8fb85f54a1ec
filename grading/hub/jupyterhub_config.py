"""JupyterHub for a class on one Linux machine: students have the course alone, instructors the class. See README.md."""

import os
import sys
from pathlib import Path

# What differs from machine to machine: set it in the environment in which the hub is started.
INSTRUCTORS = os.environ.get("GRADLAB_INSTRUCTORS", "").split()  # names of accounts
STUDENTS = Path(os.environ.get("GRADLAB_STUDENTS", "/srv/autograd-course"))  # the student archive, unpacked and set up
CLASS = Path(os.environ.get("GRADLAB_CLASS", Path(__file__).resolve().parents[1] / "class"))
EXCHANGE = os.environ.get("GRADLAB_EXCHANGE", "/srv/exchange")
COURSE_ID = os.environ.get("GRADLAB_COURSE", "autograd")  # of the class

STUDENT = [str(STUDENTS / ".venv/bin/python"), "-m", "gradlab", "lab", "--workspace", "autograd"]  # in their home
INSTRUCTOR = [sys.executable, "-m", "autograder", "formgrader", "--class", str(CLASS)]


def choose_server(spawner) -> None:
    """Give a user the server of a student or of an instructor; terminals find the programs of its environment.

    An instructor's opens on Formgrader in a page of its own: JupyterHub forbids the frame in which JupyterLab shows it.
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

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # for a web server that speaks HTTPS
c.JupyterHub.authenticator_class = "pam"  # the machine's own accounts
c.Authenticator.allow_all = True  # everyone who has one
c.JupyterHub.spawner_class = "localprocess"  # each server with its user's own rights
c.Spawner.pre_spawn_hook = choose_server
c.Spawner.start_timeout = c.Spawner.http_timeout = 300  # the first start copies the chapters
c.ConfigurableHTTPProxy.command = [str(Path(__file__).with_name("node_modules") / ".bin/configurable-http-proxy")]
