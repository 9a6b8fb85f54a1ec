"""Run each of the handbook's command blocks, in the order of a term, for a class of thirty students."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest
from tiny_class import csv_rows, nbgrader, pack

from autograder.__main__ import main
from autograder.demo import CHAPTER, class_of_a_dozen
from autograder.settings import class_api
from autograder.views.report import gather

ROOT = Path(__file__).resolve().parents[2]
HANDBOOK = ROOT / "grading/README.md"
ELSEWHERE = {  # the first words of a block that is not run here, and where it is tested
    "make lab": "course/tests/test_lab.py opens it in a browser",
    "python -m venv": "solutions/tests/test_archive.py installs a student's environment",
    "make demo": "test_demo.py",
    "make test": "runs this",
    "https://HUB": "a link, not a command",
    "id,first_name": "a table, from which the roster is made below",
    "dask scheduler": "test_each_way.py starts a scheduler with workers",
    "sudo -u postgres": "test_postgresql.py makes a server of its own",
}
PEOPLE = {  # which of the demo's submissions each student makes; names from four alphabets
    "ada": ("Ada", "O'Brien"),
    "boris": ("Борис", "Жуков"),
    "dana": ("Dana", "Weiß"),
    "emil": ("Émile", "Løvås"),
    "farid": ("فرید", "کریمی"),
    "gita": ("Gita", "Rao"),
    "hugo": ("Hugo", "Sánchez"),
    "ines": ("Inês", "Gonçalves"),
    "jonas": ("Jonas", "Müller"),
    "anna": ("안나", "김"),  # submits the same as the demo's kim
}
MORE = [f"guest{number}" for number in range(20)]  # who do not submit this time, for a class of thirty
MOST_COMMANDS = 3  # one week
POINTS = {"ada": 12, "boris": 12, "emil": 0, "gita": 0, "jonas": 12, "anna": 12}


def blocks(page: Path) -> list[str]:
    """Return a page's blocks of shell commands."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block for language, block in found if not language]


class Term:
    """An instructor who types the handbook's blocks, with different paths and years."""

    def __init__(self, home: Path):
        self.home = self.at = home
        self.left = [block for block in blocks(HANDBOOK) if not any(word in block for word in ELSEWHERE)]

    def type(self, words: str) -> int:
        """Run the block that begins with these words and mark it as done; return its number of commands."""
        (block,) = (block for block in self.left if block.startswith(words))
        self.left.remove(block)
        for line in block.splitlines():
            self.run(line)
        return len(block.splitlines())

    def run(self, line: str) -> None:
        """Run one command in the class's folder; run ours and nbgrader's in this process, to import them once."""
        line = line.replace("/srv/exchange", str(self.home / "exchange")).replace("~", str(self.home))
        program, *words = shlex.split(line.replace("2026-11", "2020-11"), comments=True)
        with contextlib.chdir(self.at):
            if words[:2] == ["-m", "autograder"]:
                assert main(words[2:]) == 0, line
            elif program == "nbgrader":
                nbgrader(self.at, *words)
            elif program == "export":
                name, value = words[0].split("=")
                os.environ[name] = value
            elif program == "make":
                subprocess.run([program, "-C", str(ROOT), *words, f"CLASS={self.at}"], check=True)
            elif program != "cd":
                subprocess.run([program, *words], check=True)


def roster(head: str) -> str:
    """Return the class's table with the handbook's header line."""
    rows = [
        f"{name},{first},{last},{name}@uni.example,{n}" for n, (name, (first, last)) in enumerate(PEOPLE.items(), 40)
    ]
    rows += [f"{name},Guest,{name.capitalize()},{name}@uni.example,{n}" for n, name in enumerate(MORE, 60)]
    return "\n".join([head.splitlines()[0], *rows]) + "\n"


def sortable(first: str, last: str) -> str:
    """Return a name as in Canvas's file names: only letters, last name first."""
    return "".join(filter(str.isalnum, (last + first).casefold()))


def worksheet(names: list[str], points: float) -> str:
    """Write Moodle's grading worksheet for these students."""
    head = 'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",'
    rows = [
        f'"Participant 31{name_number}","{" ".join(PEOPLE[name])}",{name}@uni.example,"Submitted for grading - ",,'
        f'{points:.2f},Yes,"Monday, 2 November 2020, 10:05 AM",-,'
        for name_number, name in enumerate(names, 10)
    ]
    return "\n".join([head + '"Last modified (submission)","Last modified (grade)","Feedback comments"', *rows]) + "\n"


def canvas_gradebook(points: float) -> str:
    """Write Canvas's exported gradebook for the whole class."""
    rows = [f'"{last}, {first}",{n},,{name},,' for n, (name, (first, last)) in enumerate(PEOPLE.items(), 40)]
    head = f"Student,ID,SIS User ID,SIS Login ID,Section,{CHAPTER} (771)"
    return "\n".join([head, f"    Points Possible,,,,,{points:.2f}", *rows]) + "\n"


def test_every_block_of_commands_is_run_here_or_elsewhere():
    """Each block that the term does not run is listed with the place that tests it, without superfluous entries."""
    pages = [ROOT / name for name in ("README.md", "course/README.md", "grading/DASK.md", "grading/POSTGRESQL.md")]
    assert [block for page in pages for block in blocks(page) if not any(word in block for word in ELSEWHERE)] == []
    every = "".join(block for page in [*pages, HANDBOOK] for block in blocks(page))
    assert [word for word in ELSEWHERE if word not in every] == []


@pytest.mark.exhaustive
def test_a_term(tmp_path, monkeypatch, capsys):
    """Create, release, import from two platforms, grade, return, export, update, back up and restore."""
    monkeypatch.setenv("GRADLAB_EXCHANGE", "")
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    term, here = Term(tmp_path), tmp_path / "classes/autograd-2026"

    def said() -> str:
        return capsys.readouterr().out

    term.type("python -m autograder new-class")
    term.at = here
    assert "Only you can read it" in said()
    table = next(block for block in blocks(HANDBOOK) if block.startswith("id,first_name"))
    (here / "class.csv").write_text(roster(table), encoding="utf-8")
    term.run("python -m autograder roster class.csv")
    with class_api(here).gradebook as book:
        assert {student.id for student in book.students} == {*PEOPLE, *MORE}
    term.type("cd grading\nnbgrader generate_assignment")
    term.type("export GRADLAB_EXCHANGE")

    begun = term.type("python -m autograder release ")
    assert "To distribute it in any other way" in said()
    with zipfile.ZipFile(here / "platform" / f"{CHAPTER}.zip") as archive:
        assert f"{CHAPTER}/{CHAPTER}.ipynb" in archive.namelist()
    points = hand_in(here)
    (here / "canvas-gradebook.csv").write_text(canvas_gradebook(points), encoding="utf-8")
    for platform, file in {"canvas": "submissions.zip", "moodle": "moodle.zip"}.items():
        assert begun + term.type(f"python -m autograder week {CHAPTER} {file}") <= MOST_COMMANDS
        shown = said()
        assert "5 could not be graded" not in shown
        assert f"{CHAPTER}.feedback.{platform}.zip (feedback pages: 5)" in shown
        needs_a_look = shown[shown.index("Needs your attention:") :]
        assert ("ines: the notebook file is not valid JSON" in needs_a_look) == (platform == "moodle")
        with zipfile.ZipFile(here / "platform" / f"{CHAPTER}.feedback.{platform}.zip") as archive:
            assert len(archive.namelist()) == 5
        assert (here / "platform" / f"{CHAPTER}.grades.csv").exists()
        if platform == "canvas":  # later, submissions come from both platforms
            term.type(f"python -m autograder feedback {CHAPTER} --zip")
            assert "feedback.canvas.zip (feedback pages: 5)" in said()
    assert {path.name for path in (here / "submitted").iterdir()} == PEOPLE.keys()

    term.type("python -m autograder due")
    term.type("python -m autograder import-submissions")
    said()
    term.type("make grade")
    report = {row.student: row for row in gather(class_api(here).coursedir, CHAPTER).rows}
    assert {name: report[name].score for name in POINTS} == POINTS
    assert report["ines"].score is None
    assert 0 < report["farid"].score < 12
    assert report["anna"].late == ""

    said()
    for words, shows in {
        "make feedback": "",
        "python -m autograder report\n": "Жуков",
        f"python -m autograder report {CHAPTER} --changes": "",
        f"python -m autograder report {CHAPTER} --student": "Ada O'Brien",
        "make solutions": "",
        f"python -m autograder report {CHAPTER} --similar": "",
        "python -m autograder export": "",
    }.items():
        term.type(words)
        assert shows in said()
    assert (here / "solutions" / f"{CHAPTER}.html").exists()
    assert len(list((here / "feedback").glob(f"*/{CHAPTER}/{CHAPTER}.html"))) == 10
    moodle = csv_rows(here / "import.csv")  # from the second command
    grades = {row["Email address"].split("@")[0]: row["Grade"] for row in moodle}
    assert {name: float(grade) for name, grade in grades.items() if grade} == {
        name: report[name].score for name in grades if report[name].score is not None
    }

    term.type("python -m autograder update ")
    assert "up to date with the course" in said()
    term.at = tmp_path
    term.type("tar -czf")
    shutil.rmtree(here)
    term.type("tar -xzpf")
    term.at = here
    term.run(f"python -m autograder grade {CHAPTER}")
    assert "10 skipped" in said()
    assert term.left == []


def hand_in(here: Path) -> float:
    """Write both platforms' archives into the class's folder, with half of the class in each; return the points."""
    solved = nbformat.read(here / "source" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    released = here / "release" / CHAPTER / f"{CHAPTER}.ipynb"
    texts = class_of_a_dozen(solved)
    texts["anna"] = texts["kim"]
    made = {name: texts[name](nbformat.read(released, as_version=4)) for name in PEOPLE}
    on_canvas, on_moodle = list(PEOPLE)[:5], list(PEOPLE)[5:]
    of_canvas = {
        f"{sortable(*PEOPLE[name])}_{number}_99{number}_{CHAPTER}.ipynb": made[name]
        for number, name in enumerate(on_canvas, 40)
    }
    of_moodle = {
        f"{' '.join(PEOPLE[name])}_31{number}_assignsubmission_file/{CHAPTER}.ipynb": made[name]
        for number, name in enumerate(on_moodle, 10)
    }
    pack(here / "submissions.zip", of_canvas)
    pack(here / "moodle.zip", of_moodle)
    points = sum(cell.metadata.nbgrader.get("points", 0) for cell in solved.cells if "nbgrader" in cell.metadata)
    (here / "worksheet.csv").write_text(worksheet(on_moodle, points), encoding="utf-8")
    return points
