"""A PostgreSQL server of a test's own: a folder in /tmp, a free port of loopback, and nothing left at the end."""

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
    """A running server, and its superuser's way in."""

    port: int
    programs: Path
    folder: Path

    def url(self, database: str, user: str = "grader") -> str:
        """What an instructor writes as gradebook=…: no password in it."""
        return f"postgresql+psycopg://{user}@127.0.0.1:{self.port}/{database}"

    def make_database(self, name: str) -> str:
        """Make a database that grader owns, as the handbook says; returns its URL."""
        self.run(f"CREATE DATABASE {name} OWNER grader")
        return self.url(name)

    def run(self, statement: str, database: str = "postgres") -> list[tuple]:
        """Run one statement as superuser; returns its rows."""
        with psycopg.connect(
            host="127.0.0.1", port=self.port, dbname=database, user="admin", password=PASSWORD, autocommit=True
        ) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def control(self, *words: str) -> None:
        """Run pg_ctl, as the unprivileged user to whom the server's folder belongs."""
        command = [self.programs / "pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", *words]
        _run_unprivileged(command, self.folder)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.control("-o", f"-c listen_addresses=127.0.0.1 -p {self.port} -k {self.folder} -c fsync=off", "start")

    def stop(self) -> None:
        """Stop it and wait until it has ended; connections that are still open are cut."""
        self.control("-m", "fast", "stop")


def _run_unprivileged(command: list, folder: Path) -> None:
    owner = folder.stat()  # the server refuses to be root
    other = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **other
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def _free_port() -> int:
    """A free port below those that the system gives out by itself, so that nobody takes it before the server does."""
    while True:
        port = random.randrange(20_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start a server with a role grader, whose password is PASSWORD; where none is installed, skip, or fail in CI."""
    programs = find_postgresql()
    if programs is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(POSTGRESQL_ADVICE)
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))  # its path must be short: a socket lies in it
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
