"""Stands in for `autograder.steps.execute.execute` on a worker, for submissions that can kill it."""

import os
import signal

from autograder.steps.execute import Job, Ran, execute

WORD = "# kills its worker"


def execute_or_die(job: Job, files: dict[str, bytes]) -> Ran:
    """Run the job, unless it says the word."""
    if WORD in job.notebook:
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(job, files)
