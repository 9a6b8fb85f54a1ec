"""A learner's functions from chapters 11 to 14 run in real kernels of later chapters, and form one module."""

import json
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

from authoring.build import STUDENT_EDITION, execute
from authoring.chapter import chapter_names, source_path
from gradlab.checks.record import Record
from gradlab.checks.results import answers, fingerprint
from gradlab.engine import MARKS

PART_TWO = [name for name in chapter_names() if name[:2] in ("11", "12", "13", "14")]
LESSONS = [name for name in chapter_names() if name[:2] in ("02", "03", "06")]  # run by the finale
RUN = "    dependencies, arrived = count_dependencies(roots), {}"  # a line of 12.4, before which calls are counted
BEFORE = "progress before a chapter ran.json"
TELL = "import engine_12\n\nprint(len(engine_12.CALLS))"


def solved(name):
    """A chapter's student edition with the solutions typed in; `run` counts its calls."""
    answers = {cell.id: cell.source for cell in nbformat.read(source_path(name), as_version=4).cells}
    chapter = nbformat.read(STUDENT_EDITION / name / f"{name}.ipynb", as_version=4)
    for cell in chapter.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            lines = [line for line in answers[cell.id].splitlines() if line.strip() not in MARKS]
            cell.source = "\n".join(lines)
        if cell.id == "answer-12-4":
            assert RUN in cell.source
            cell.source = "CALLS = []\n\n\n" + cell.source.replace(RUN, f"    CALLS.append(1)\n{RUN}")
    return chapter


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A workspace in which chapters 11 to 14 are solved and passed, but for 11.6 and 13.7; 12 was saved without ids."""
    home = tmp_path_factory.mktemp("workspace")
    for name in [*LESSONS, *PART_TWO]:
        shutil.copytree(STUDENT_EDITION / name, home / name)
        shutil.copytree(STUDENT_EDITION / name, home / ".released" / name)
    passed = {}
    for name in PART_TWO:
        chapter = solved(name)
        if name.startswith("12"):
            chapter.nbformat_minor = 4
            for cell in chapter.cells:
                del cell["id"]
        nbformat.write(chapter, home / name / f"{name}.ipynb")
        record = Record.from_json((home / name / f"{name}.record.json").read_bytes())
        passed |= dict.fromkeys(record.checks, "passed")
    passed |= {"11.6": "tried", "13.7": "tried"}
    for progress in (home / ".progress.json", home / BEFORE):
        progress.write_text(json.dumps(passed))
    return home


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


@pytest.fixture(scope="module", params=[pytest.param("13", marks=pytest.mark.exhaustive), "14"])
def ran(request, home):
    """A chapter that ran from top to bottom on the learner's engine: its cells by id."""
    name = next(name for name in PART_TWO if name.startswith(request.param))
    chapter = nbformat.read(home / name / f"{name}.ipynb", as_version=4)
    chapter.cells.append(nbformat.v4.new_code_cell(TELL, id="tell"))
    execute(chapter, home / name)
    return {cell.id: cell for cell in chapter.cells}


def test_the_learners_run_does_the_work_of_later_chapters(ran):
    steps = 200 if "check-14-1" in ran else 0  # of the training in section 8 alone
    assert int(printed(ran["tell"])) > steps


def test_the_chapter_says_function_by_function_whose_its_engine_is(ran):
    said = printed(ran["own-engine"])
    assert re.search(r"^  run +yours$", said, re.MULTILINE)
    assert re.search(r"^  sum_to +the finished one: 11.6 has not passed$", said, re.MULTILINE)
    assert said.startswith("engine_11: 9 of 10 functions are yours\n")
    assert "engine_12: 7 of 7 functions are yours\n" in said


def test_the_finale_counts_its_lessons_and_saves_pictures(ran, home):
    if "payoff-share" not in ran:
        return
    text = {
        name: "".join(output.get("data", {}).get("text/plain", "") for output in ran[name].outputs)
        for name in ran
        if name.startswith("payoff")
    }
    assert re.search(r"\d\d of \d\d lesson cells of chapters 02, 03, 06 print the same", text["payoff-finale"])
    assert re.search(r"Saved as my_engine.png .* autograd: [2-9]\d\d lines of Python", text["payoff-share"])
    assert (home / "14_train" / "my_engine.png").read_bytes().startswith(b"\x89PNG")
    kept = {path.stem for path in (home / ".pictures").glob("milestone-*")}
    assert {"milestone-spirals", "milestone-digits", "milestone-names"} <= kept, "for the start page"


def test_a_check_that_passes_notes_the_text_of_the_answer(ran, home):
    own = {name: cell.source for name, cell in ran.items() if name.startswith("answer-")}
    noted = answers(home)
    for name, text in own.items():
        assert noted[name.removeprefix("answer-").replace("-", ".")] == fingerprint(text), name


@pytest.fixture(scope="module")
def taken(home):
    """The folder my_engine, as the end of chapter 14 writes it; what `ran` left is removed first."""
    shutil.copy(home / BEFORE, home / ".progress.json")
    shutil.rmtree(home / "my_engine", ignore_errors=True)
    take(home)
    return home / "my_engine"


def take(home):
    """Run the cell of chapter 14 that writes the folder."""
    name = PART_TWO[-1]
    chapter = nbformat.read(home / name / f"{name}.ipynb", as_version=4)
    chapter.cells = [cell for cell in chapter.cells if cell.id in ("setup", "take-home")]
    execute(chapter, home / name)
    assert printed(chapter.cells[-1]).startswith("my_engine/my_engine.py: ")


def python(*arguments, folder):
    """What a Python says that is started again in a folder."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=600
    ).stdout


def test_the_engine_is_taken_home_as_one_module_that_needs_nothing_but_numpy(taken):
    text = (taken / "my_engine.py").read_text()
    assert "engine_1" not in text
    assert "# Exercise 12.4\nCALLS = " in text
    assert "# Exercise 11.6, the finished one\ndef sum_to" in text
    said = python("-c", "import sys, my_engine; print({'torch', 'gradlab'} & {*sys.modules})", folder=taken)
    assert said == "set()\n"


def test_a_short_script_trains_it_to_read_digits(taken):
    script = taken / "train_digits.py"
    assert len(script.read_text().splitlines()) <= 25
    parts = [int(part) for part in re.findall(r"reads (\d+)% of 297 new digits", python(script.name, folder=taken))]
    assert parts[-1] >= 95


def test_it_can_be_installed(taken, tmp_path):
    options = ["-q", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    python("-m", "pip", "install", *options, "--target", tmp_path / "site", taken, folder=tmp_path)
    says = python("-c", "import my_engine; print(my_engine.__file__)", folder=tmp_path / "site")
    assert says.startswith(str(tmp_path / "site"))


def test_it_agrees_with_torch_as_its_own_test_says(taken):
    assert python("test_my_engine.py", folder=taken) == (
        "test_gradients: matches torch\ntest_functions: matches torch\ntest_hooks: matches torch\n"
    )


def test_its_readme_says_how_much_is_the_learners(taken):
    readme = (taken / "README.md").read_text()
    functions, of, lines, of_lines = map(
        int, re.search(r"I wrote (\d+) of its (\d+) functions and (\d+) of its (\d+) lines of code", readme).groups()
    )
    assert functions == of - 2, "11.6 and 13.7 are not the learner's"
    assert lines >= 0.34 * of_lines
    assert lines < of_lines < 500


def test_what_the_learner_changed_in_it_is_kept(taken, home):
    mine = taken / "my_engine.py"
    text = mine.read_text()
    mine.write_text("changed")
    take(home)
    assert mine.read_text() == text
    assert (taken / "my_engine_1.py").read_text() == "changed"
