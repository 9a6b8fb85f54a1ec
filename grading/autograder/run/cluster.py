"""Connect to a Dask cluster, either a local one started for this run or an existing one."""

import contextlib
import os
from collections.abc import Iterator
from importlib.metadata import version

import dask
from distributed import Client, LocalCluster

from gradlab.words import _

from ..errors import ClassError
from ..sandbox.provisioner import ADDRESS, SERVER

RUNS_PER_CORE = 3  # a run sometimes waits for its kernel
CONNECT_S = 60
QUIET = {
    "distributed.admin.low-level-log-length": 10,  # Dask keeps these messages; each can contain a submission
    "distributed.admin.large-graph-warning-threshold": "1 GiB",  # no warning about a large submission
}
LOCAL = QUIET | {
    "distributed.scheduler.allowed-failures": 0,  # submissions on a lost worker run again, alone
    "distributed.deploy.lost-worker-timeout": "1h",  # do not close a worker that is slow to restart
    "distributed.worker.profile.enabled": False,  # it can deadlock a worker (CPython issue 106883)
}


@contextlib.contextmanager
def connect(scheduler: str | None = None, workers: int | None = None, threads: int | None = None) -> Iterator[Client]:
    """Yield a client for the cluster at the address `scheduler`, or for a local one that runs only during the block.

    workers: local worker processes; by default one per two cores. threads: concurrent runs per worker; by default
    RUNS_PER_CORE per core in total. Raises ClassError if no scheduler answers at the address, if it has no workers, or
    if package versions differ.
    """
    if scheduler:
        with dask.config.set(QUIET), _existing(scheduler) as client:
            yield client
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = workers or max(1, cores // 2)
    threads = threads or max(1, round(cores * RUNS_PER_CORE / workers))
    with (
        dask.config.set(LOCAL),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            memory_limit=0,  # no limit on workers; the sandbox limits kernels
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            env={ADDRESS: SERVER.address},  # all workers fork their kernels from one process
            security=True,  # with temporary certificates, so that other local users cannot reach the workers
            silence_logs=50,
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,  # results bypass the scheduler
    ):
        yield client


@contextlib.contextmanager
def _existing(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, ValueError) as error:
        why = _("No Dask scheduler answers at {address}: {error!r}", address=address, error=error)
        raise ClassError(why) from None
    with client:
        if not client.ncores():
            raise ClassError(_("The Dask scheduler at {address} has no workers. See grading/DASK.md.", address=address))
        _same_versions(client)
        yield client


def _same_versions(client: Client) -> None:
    for package in ("autograder", "gradlab", "torch", "ipykernel"):
        ours = version(package)
        for worker, installed in client.run(version, package, on_error="return").items():
            if installed != ours:
                theirs = installed if isinstance(installed, str) else _("none")
                names = {"worker": worker, "package": package, "ours": ours, "theirs": theirs}
                needs = _("Worker {worker} needs {package} {ours}, but has {theirs}. See grading/DASK.md.", **names)
                raise ClassError(needs)
