"""Stand in for `autograder.steps.execute.execute` on a worker, for submissions that can kill it, and busy machines."""

import os
import signal

from autograder.steps.execute import Job, Ran, execute

WORD = "# kills its worker"


def execute_or_die(job: Job, files: dict[str, bytes]) -> Ran:
    """Run the job, unless it says the word."""
    if WORD in job.notebook:
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(job, files)


def execute_where_others_take_the_processor(job: Job, files: dict[str, bytes]) -> Ran:
    """Run the job only if nothing else runs."""
    return execute(job, files) if job.alone else Ran("", 0.0, "it waited.", starved=True)


def execute_where_nobody_gets_the_processor(job: Job, files: dict[str, bytes]) -> Ran:
    """Never run the job."""
    return Ran("", 0.0, f"it waited{', alone too' if job.alone else ''}.", starved=True)
