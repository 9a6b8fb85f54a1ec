"""A class with a gradebook in PostgreSQL, on a real server."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_class import NAME, RIGHT, TinyClass, changed, nbgrader, solved_notebook, write_settings

from autograder import update
from gradlab.setup.system import advice, find_postgresql


@contextlib.contextmanager
def database() -> Iterator[str]:
    """Start a server that trusts this machine; yield the URL of an empty database.

    If PostgreSQL is not installed, skip, or fail in CI.
    """
    programs = find_postgresql()
    if programs is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(advice("postgresql"))
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))  # a short path, because it has a socket
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")  # the server refuses to run as root

    def run(program: str, *words: str) -> None:
        owner = {"user": "nobody", "extra_groups": []} if os.geteuid() == 0 else {}
        command = [programs / program, "-D", folder / "data", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **owner)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"

    try:
        run("initdb", "-U", "grader", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        options = f"-c listen_addresses='' -k {folder} -c fsync=off"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql+psycopg://grader@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-w", "-m", "fast", "stop")
    finally:
        shutil.rmtree(folder)


def whole_term(tiny, said) -> dict:
    """Take a class from generating to feedback and an update, with a manual score; return everything it shows."""
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"})
    tiny.hand_in("dora", text='{"cells": [')
    nbgrader(tiny.folder.parent, "autograde", NAME, "--student=ben")
    shown = {"first": tiny.grade(), "points at first": [tiny.points(student) for student in ("anna", "ben", "dora")]}
    tiny.set_by_hand("ben", 1.5)
    tiny.hand_in("ben", RIGHT)
    shown["again"] = tiny.grade(force=True)
    shown["points"] = [tiny.points(student) for student in ("anna", "ben", "dora")]
    shown["report"] = said(tiny, "report", NAME).replace(str(tiny.folder), "CLASS")
    nbgrader(tiny.folder.parent, "export", "--to=grades.csv")
    shown["export"] = (tiny.folder.parent / "grades.csv").read_text()
    assert tiny.api.generate_feedback(NAME)["success"]
    shown["feedback"] = sorted(str(path.relative_to(tiny.folder)) for path in tiny.folder.glob("feedback/*/*/*.html"))
    lists = [tiny.api.get_assignments(), tiny.api.get_students(), tiny.api.get_submissions(NAME)]
    lists += [tiny.api.get_notebook_submissions(NAME, NAME), tiny.api.get_student_submissions("ben")]
    shown["formgrader's lists"] = [sorted(map(without_ids, rows), key=str) for rows in lists]
    tiny.write_source(changed(third=True, second=False))  # one exercise is added, and one is removed with its scores
    update.apply(tiny.api, update.changes(tiny.api.coursedir, [NAME]))
    shown["after an update"] = [tiny.grade(), *(tiny.points(student) for student in ("anna", "ben", "dora"))]
    return shown


def without_ids(row: dict) -> dict:
    """Return a row of Formgrader's lists without random ids and the order that depends on them."""
    return {key: value for key, value in row.items() if key not in ("index",) and (key, len(str(value))) != ("id", 32)}


@pytest.mark.exhaustive
def test_a_term_ends_with_the_same_grades_as_in_sqlite(tmp_path, said):
    """Generating, grading, manual scores, regrading, report, export, feedback and Formgrader's lists all agree."""
    lite = whole_term(TinyClass(write_settings(tmp_path / "lite")), said)
    with database() as url:
        settings = write_settings(tmp_path / "large", f"c.CourseDirectory.db_url = {url!r}")
        large = whole_term(TinyClass(settings, solved=solved_notebook()), said)
    assert large["points at first"] == [[2, 3], [0, 1.5], [None, None]]
    assert large["points"] == [[2, 3], [1.5, 3], [None, None]]
    assert [path.split("/")[1] for path in large["feedback"]] == ["anna", "ben", "dora"]
    assert all(large["formgrader's lists"])
    assert large["export"].count(NAME) >= 3
    assert large == lite
    assert not list(tmp_path.glob("large/**/*.db"))
