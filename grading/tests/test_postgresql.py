"""A class with a gradebook in PostgreSQL, on a real server."""

import sys

import postgresql
import pytest
from tiny_class import NAME, RIGHT, TinyClass, changed, nbgrader, write_settings

from autograder import update
from autograder.__main__ import main
from autograder.errors import ClassError


@pytest.fixture(scope="module")
def server():
    """A server for these tests only."""
    with postgresql.running() as server:
        yield server


@pytest.fixture(autouse=True)
def password_file(tmp_path, monkeypatch):
    """The password in the file that the handbook names."""
    path = tmp_path / "pgpass"
    path.write_text(f"127.0.0.1:*:*:grader:{postgresql.PASSWORD}\n")
    path.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(path))
    return path


def whole_term(tiny, capsys) -> dict:
    """Take a class from generating to feedback and an update, with a manual score; return everything it shows."""
    tiny.hand_in("anna", RIGHT)
    tiny.hand_in("ben", RIGHT | {"answer-1": "def pull_back(x, v):\n    return v"})
    tiny.hand_in("dora", text='{"cells": [')
    nbgrader(tiny.folder.parent, "autograde", NAME, "--student=ben")
    shown = {"first": tiny.grade(), "points at first": [tiny.points(student) for student in ("anna", "ben", "dora")]}
    with tiny.api.gradebook as gradebook:
        grade = next(g for g in gradebook.find_submission_notebook(NAME, NAME, "ben").grades if g.name == "check-1")
        grade.manual_score = 1.5
        gradebook.db.commit()
    tiny.hand_in("ben", RIGHT)
    shown["again"] = tiny.grade(force=True)
    shown["points"] = [tiny.points(student) for student in ("anna", "ben", "dora")]
    capsys.readouterr()
    assert main(["--class", str(tiny.folder), "report", NAME]) == 0
    shown["report"] = capsys.readouterr().out.replace(str(tiny.folder), "CLASS")
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
def test_a_term_ends_with_the_same_grades_as_in_sqlite(server, tmp_path, capsys):
    """Generating, grading, manual scores, regrading, report, export, feedback and Formgrader's lists all agree."""
    lite = whole_term(TinyClass(write_settings(tmp_path / "lite")), capsys)
    database = server.make_database("term")
    large = whole_term(TinyClass(write_settings(tmp_path / "large", gradebook=database), copied=False), capsys)
    assert large["points at first"] == [[2, 3], [0, 1.5], [None, None]]
    assert large["points"] == [[2, 3], [1.5, 3], [None, None]]
    assert [path.split("/")[1] for path in large["feedback"]] == ["anna", "ben", "dora"]
    assert all(large["formgrader's lists"])
    assert large["export"].count(NAME) >= 3
    assert large == lite
    assert not list(tmp_path.glob("large/**/*.db"))
    assert server.run("SELECT count(*) FROM student", "term") == [(3,)]


def refusal(folder, capsys, gradebook) -> str:
    """Return our command's error for an unusable gradebook."""
    folder = write_settings(folder / "grading", gradebook=gradebook)
    assert main(["--class", str(folder), "grade", NAME]) == 1
    said = capsys.readouterr().err
    assert postgresql.PASSWORD not in said
    return said


DRIVERLESS = "postgresql+psycopg2://grader@127.0.0.1/gradebook"
UNUSABLE = {
    "no such database": (
        "postgresql+psycopg://grader@127.0.0.1:{port}/nowhere",
        ["error: The gradebook {url} cannot be opened", 'database "nowhere" does not exist']
        + ["sudo -u postgres createdb --owner=grader nowhere"],
    ),
    "a stopped server": (
        "postgresql+psycopg://grader@127.0.0.1:1/gradebook",
        ["Connection refused", "systemctl start postgresql"],
    ),
    "no driver": (DRIVERLESS, ["psycopg2", "postgresql+psycopg://USER@HOST/DATABASE"]),
}


@pytest.mark.parametrize(("url", "parts"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_unusable_gradebook_is_explained(server, tmp_path, capsys, monkeypatch, url, parts):
    """The message contains the reason, the URL, and what to do."""
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    url = url.format(port=server.port)
    said = refusal(tmp_path, capsys, url)
    assert [part for part in parts if part.format(url=url) not in said] == []


def test_a_wrong_password_is_explained(server, tmp_path, capsys, password_file):
    """The message shows the necessary line and its file, but neither password."""
    password_file.write_text(f"127.0.0.1:*:*:grader:not-{postgresql.PASSWORD}\n")
    said = refusal(tmp_path, capsys, server.url("postgres"))
    assert 'password authentication failed for user "grader"' in said
    assert f"127.0.0.1:{server.port}:postgres:grader:PASSWORD" in said


def test_another_users_database_is_explained(server, tmp_path, capsys):
    """If the user may not create tables, the message says who should own the database."""
    server.run("CREATE DATABASE others")
    server.run("REVOKE CREATE ON SCHEMA public FROM PUBLIC", "others")
    said = refusal(tmp_path, capsys, server.url("others"))
    assert "permission denied for schema public" in said
    assert "createdb --owner=grader others" in said


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("postgresql+psycopg://grader:{}@127.0.0.1/x", "Write postgresql+psycopg://grader@127.0.0.1/x and set"),
        ("postgresql://127.0.0.1/x?password={}", "~/.pgpass"),
        ("gradebook.db", "is not a URL"),
    ],
)
def test_an_invalid_url_or_one_with_a_password_stops_nbgrader_too(tmp_path, capsys, url, advice):
    """Nothing shows the password, not even the configuration's line, and no other gradebook is created."""
    write_settings(tmp_path / "grading", gradebook=url.format(postgresql.PASSWORD))
    with pytest.raises(SystemExit) as end:
        nbgrader(tmp_path / "grading", "db", "student", "list")
    assert advice in end.value.code
    said = capsys.readouterr()
    assert postgresql.PASSWORD not in end.value.code + said.out + said.err
    assert not list(tmp_path.rglob("*.db"))


def test_a_server_that_stops_during_a_run_costs_nobody_a_grade(server, tmp_path):
    """Grading stops and says so; existing grades stay, and the next run continues from there."""
    tiny = TinyClass(write_settings(tmp_path / "grading", gradebook=server.make_database("middle")), copied=False)
    for student in ("anna", "ben"):
        tiny.hand_in(student, RIGHT)
    outcomes = tiny.outcomes()
    first = next(outcomes)
    assert first.status == "graded"
    server.stop()
    with pytest.raises(ClassError, match="Connection refused"):
        next(outcomes)
    server.start()
    assert tiny.grade() == {"anna": "graded", "ben": "graded"} | {first.student: "skipped"}
    assert [tiny.points(student) for student in ("anna", "ben")] == [[2, 3], [2, 3]]


def test_a_class_can_be_created_with_a_postgresql_gradebook(server, tmp_path, capsys):
    url = server.make_database("begun")
    assert main(["new-class", str(tmp_path / "begun"), "--gradebook", url]) == 0
    assert f"gradebook={url!r})" in (tmp_path / "begun" / "nbgrader_config.py").read_text()
    assert server.run("SELECT id FROM course", "begun") == [("begun",)]
