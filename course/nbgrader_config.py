"""What nbgrader's student extensions need to know; `python -m gradlab lab` copies this file to the workspace."""

import os
from pathlib import Path

c = get_config()  # noqa: F821  nbgrader provides it

# Which class's assignments: a class with a course id of its own sets GRADLAB_COURSE to it.
c.CourseDirectory.course_id = os.environ.get("GRADLAB_COURSE") or "autograd"

# Where assignments are fetched and handed in. A class with a shared exchange sets GRADLAB_EXCHANGE to its folder.
exchange = Path(os.environ.get("GRADLAB_EXCHANGE") or Path.cwd() / ".exchange")
c.Exchange.root = str(exchange)
