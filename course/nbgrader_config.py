"""Settings for nbgrader's student extensions; `python -m gradlab lab` copies this file to the workspace."""

import os
from pathlib import Path

c = get_config()  # noqa: F821  nbgrader provides it

# The class's course id. A class with its own id sets GRADLAB_COURSE to that id.
c.CourseDirectory.course_id = os.environ.get("GRADLAB_COURSE") or "autograd"

# Who submits: the account on this machine, or the user who is logged in to JupyterHub.
if os.environ.get("JUPYTERHUB_USER"):
    c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]

# Where assignments are fetched and submitted. A class with a shared exchange sets GRADLAB_EXCHANGE to its folder.
exchange = Path(os.environ.get("GRADLAB_EXCHANGE") or Path.cwd() / ".exchange")
c.Exchange.root = str(exchange)

# A release of a chapter that is already in the workspace arrives as a new edition, which keeps the student's work.
c.ExchangeFactory.fetch_assignment = "gradlab.exchange.FetchEdition"
c.ExchangeFactory.list = "gradlab.exchange.ListEditions"
