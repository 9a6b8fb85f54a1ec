"""What nbgrader's student extensions need to know; `python -m gradlab lab` copies this file to the workspace."""

import os
from pathlib import Path

c = get_config()  # noqa: F821  nbgrader provides it

# Which class's assignments: a class with its own course id sets GRADLAB_COURSE to it.
c.CourseDirectory.course_id = os.environ.get("GRADLAB_COURSE") or "autograd"

# Who submits: the account on this machine, or the user who is logged in to JupyterHub.
if os.environ.get("JUPYTERHUB_USER"):
    c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]

# Where assignments are fetched and submitted. A class with a shared exchange sets GRADLAB_EXCHANGE to its folder.
exchange = Path(os.environ.get("GRADLAB_EXCHANGE") or Path.cwd() / ".exchange")
c.Exchange.root = str(exchange)

# What the class releases reaches a chapter that is in the workspace already as a new edition, with the work in it.
c.ExchangeFactory.fetch_assignment = "gradlab.exchange.FetchEdition"
c.ExchangeFactory.list = "gradlab.exchange.ListEditions"
