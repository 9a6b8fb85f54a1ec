"""A temporary PostgreSQL server for a test, with a folder in /tmp and a free loopback port."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from gradlab.setup.system import POSTGRESQL_ADVICE, find_postgresql

PASSWORD = "tell-nobody"


@dataclass(frozen=True)
class Server:
    """A running server, with access as its superuser."""

    port: int
    programs: Path
    folder: Path

    def url(self, database: str, user: str = "grader") -> str:
        """Return the URL to pass as gradebook=…, without a password."""
        return f"postgresql+psycopg://{user}@127.0.0.1:{self.port}/{database}"

    def make_database(self, name: str) -> str:
        """Create a database owned by grader, as in the handbook; return its URL."""
        self.run(f"CREATE DATABASE {name} OWNER grader")
        return self.url(name)

    def run(self, statement: str, database: str = "postgres") -> list[tuple]:
        """Run one statement as superuser; return its rows."""
        with psycopg.connect(
            host="127.0.0.1", port=self.port, dbname=database, user="admin", password=PASSWORD, autocommit=True
        ) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def control(self, *words: str) -> None:
        """Run pg_ctl as the unprivileged owner of the server's folder."""
        command = [self.programs / "pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", *words]
        _run_unprivileged(command, self.folder)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.control("-o", f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off", "start")

    def stop(self) -> None:
        """Stop the server and wait until it has ended, closing open connections."""
        self.control("-m", "fast", "stop")


def _run_unprivileged(command: list, folder: Path) -> None:
    owner = folder.stat()  # the server refuses to run as root
    other = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **other
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def _free_port() -> int:
    """Return a free port below the ephemeral range, so that nothing takes it before the server does."""
    while True:
        port = random.randrange(20_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start a server with a role grader and PASSWORD; if PostgreSQL is not installed, skip, or fail in CI."""
    programs = find_postgresql()
    if programs is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(POSTGRESQL_ADVICE)
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))  # a short path, because it contains a socket
    try:
        (folder / "password").write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, folder / "password"):
                shutil.chown(path, "nobody")
        server = Server(_free_port(), programs, folder)
        make = ["-D", folder / "data", "-U", "admin", "-A", "scram-sha-256", "--pwfile", folder / "password"]
        _run_unprivileged([programs / "initdb", *make, "-E", "UTF8", "--no-locale", "--no-sync"], folder)
        server.start()
        try:
            server.run(f"CREATE ROLE grader LOGIN PASSWORD '{PASSWORD}'")
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
