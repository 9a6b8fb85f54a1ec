"""Where submissions run: on a Dask cluster, this machine's own or one that exists."""

import contextlib
import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import dask
from distributed import Client, LocalCluster

from ..errors import ClassError

RUNS_PER_CORE = 4  # a run waits for its kernel most of the time
CONNECT_S = 60


@contextlib.contextmanager
def connect(
    scheduler: str | None = None, workers: int | None = None, threads: int | None = None, dashboard: bool = False
) -> Iterator[Client]:
    """A client of the scheduler at this address; by default of one started here, with its workers, for as long.

    workers: how many processes to start here; by default one for two cores. threads: how many runs go on in each.
    Raises ClassError if there is no scheduler at the address, or if it has no worker of the same versions.
    """
    if scheduler:
        with _existing(scheduler) as client:
            yield client
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = workers or max(1, cores // 2)
    threads = threads or max(1, round(cores * RUNS_PER_CORE / workers))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # who was on a lost worker runs again, alone
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            memory_limit=0,  # of workers; what kernels need is limited by their sandbox
            dashboard_address="127.0.0.1:8787" if dashboard else "127.0.0.1:0",
            scheduler_kwargs={"dashboard": dashboard},
            security=True,  # certificates made for this run: others on this machine cannot send workers anything
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        if dashboard:
            print(f"Dask's dashboard: {client.dashboard_link}", flush=True)
        yield client


@contextlib.contextmanager
def _existing(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, ValueError) as error:
        raise ClassError(
            f"There is no Dask scheduler at {address} ({type(error).__name__}: {error}). Start one with: dask "
            "scheduler; its address looks like tcp://host:8786."
        ) from None
    with client:
        if not client.ncores():
            raise ClassError(
                f"The Dask scheduler at {address} has no workers. Start some, in this project's environment: "
                f"dask worker {address} --nthreads 8"
            )
        _same_versions(client)
        yield client


def _same_versions(client: Client) -> None:
    for package in ("autograder", "gradlab", "torch", "ipykernel"):
        here = version(package)
        try:
            there = client.run(version, package)
        except PackageNotFoundError:
            there = {"a worker": "none"}
        for worker, found in there.items():
            if found != here:
                raise ClassError(
                    f"{worker} has {package} {found} installed, this process {here}. Workers need this project's "
                    "environment: run `make setup` there, and start them in it."
                )


def capacity(client: Client) -> int:
    """How many runs can go on at once, and as many that wait at the door; grows and shrinks with the cluster."""
    return 2 * max(1, sum(client.ncores().values()))


def add_worker(client: Client) -> bool:
    """Start one more worker if the cluster is this process's own, as when one ended while it began; tell whether."""
    if client.cluster is None:
        return False
    client.cluster.scale(len(client.cluster.worker_spec) + 1)
    return True
