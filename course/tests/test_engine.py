"""A stage of the engine contains the learner's own functions, cell by cell, and says who wrote each."""

import importlib
import json
import re
import sys
import traceback

import nbformat
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from nbformat.v4 import new_code_cell, new_notebook

from gradlab import engine, my_engine, notebook
from gradlab.checks.record import Record
from gradlab.checks.results import remember, remember_answer
from gradlab.checks.stale_cells import Session

GIVEN = "import math\n\n\ndef given(r):\n    return 'given'"
AREA = "def area(r):\n    ### BEGIN SOLUTION\n    return math.pi * r**2\n    ### END SOLUTION"
STUB = "def area(r):\n    raise NotImplementedError()"
TWICE = "def twice(x):\n    return 2 * x\n\n\ndef thrice(x):\n    return 3 * x"
FINISHED = {
    "given": GIVEN,
    "answer-11-1": "def area(r):\n    return 'finished'",
    "answer-11-2": "def twice(x):\n    return 'finished'\n\n\ndef thrice(x):\n    return twice(x)",
}
NONE_YET = "engine_11: 0 of 3 functions are yours; the finished ones stand in until your checks pass\n"


def cell(cell_id, text, *tags):
    made = new_code_cell(text, metadata={"tags": [*tags]})
    made["id"] = cell_id
    return made


def engine_cells(**texts):
    """The cells of chapter 11, with other texts for some answers."""
    own = {"given": GIVEN, "answer-11-1": AREA, "answer-11-2": TWICE} | {
        f"answer-11-{name[1:]}": text for name, text in texts.items()
    }
    return [cell(name, text, "engine") for name, text in own.items()]


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    """Chapter 11 with two exercises, and chapter 12 with the finished stage, where the kernel runs."""
    one, two = tmp_path / "11_one", tmp_path / "12_two"
    for folder in (one, two):
        folder.mkdir()
    write(one, engine_cells())
    (two / "engine_11.py").write_text('"""Doc."""\n\n' + "\n\n".join(f"# %% {n}\n{t}\n" for n, t in FINISHED.items()))
    checks = {check_id: {"title": check_id, "digest": "", "cases": []} for check_id in ("11.1", "11.2")}
    (one / "11_one.record.json").write_text(json.dumps({"checks": checks}))
    known = checks["11.1"] | {"title": "12.1", "expected": [{"values": [1]}]}
    (two / "12_two.record.json").write_text(json.dumps({"format": 1, "chapter": "12_two", "checks": {"12.1": known}}))
    monkeypatch.setattr(notebook, "FOLDER", two)
    monkeypatch.syspath_prepend(str(two))
    importlib.invalidate_caches()
    yield one
    sys.modules.pop("engine_11", None)


def write(folder, cells):
    nbformat.write(new_notebook(cells=[*cells, cell("mine", "print('no')")]), folder / "11_one.ipynb")


def passed(*check_ids):
    for check_id in check_ids:
        remember(check_id, "passed")


def told(capsys):
    engine.own_engine(11)
    return capsys.readouterr().out


def imported():
    return importlib.import_module("engine_11")


def test_grading_has_the_finished_code_of_the_exercises_before_a_check_but_no_solution_that_students_lack():
    solved = engine_cells()
    assert engine.finished_before("11.2", solved) == "def area(r):\n    return math.pi * r**2"
    assert engine.finished_before("11.1", solved) == ""
    assert engine.finished_before("14.2", [cell("answer-14-1", AREA, "engine")]) == ""


def test_each_function_is_the_learners_as_soon_as_its_check_has_passed(chapters, capsys):
    assert told(capsys) == NONE_YET
    passed("11.1")
    assert told(capsys) == (
        "engine_11: 1 of 3 functions is yours\n"
        "  area    yours\n"
        "  twice   the finished one: 11.2 has not passed\n"
        "  thrice  the finished one: 11.2 has not passed\n"
    )
    stage = imported()
    assert round(stage.area(1), 2) == 3.14
    assert stage.thrice(1) == "finished"
    assert stage.given(1) == "given"


def test_the_cell_may_run_twice(chapters, capsys):
    passed("11.1", "11.2")
    first = told(capsys)
    assert first.startswith("engine_11: 3 of 3 functions are yours\n")
    stage = imported()
    assert told(capsys) == first
    assert imported() is stage


def test_given_code_is_the_finished_stages_whatever_edition_the_learners_notebook_is_of(chapters, capsys):
    passed("11.1")
    write(chapters, [cell("given", "import math", "engine"), cell("answer-11-1", AREA, "engine")])
    assert "area    yours" in told(capsys)
    assert imported().given(1) == "given"


def test_in_grading_the_finished_stage_is_used_whatever_lies_where_the_chapter_would(chapters, capsys):
    """There the record holds nothing that is expected; code that nobody looks at would be run."""
    passed("11.1", "11.2")
    beside = notebook.FOLDER / "12_two.record.json"
    beside.write_text(Record.from_json(beside.read_text()).without_cases().to_json())
    assert told(capsys) == "engine_11: the finished one; this run is graded\n"
    assert imported().area(1) == "finished"


def test_without_the_chapter_or_a_record_the_finished_stage_is_used(chapters, capsys):
    passed("11.1")
    chapters.rename(chapters.with_name("11_one-Copy1"))
    assert told(capsys) == "engine_11: the finished one; chapter 11 is not here\n"
    (notebook.FOLDER / "12_two.record.json").unlink()
    assert told(capsys) == "engine_11: the finished one; there is no record beside this notebook\n"
    assert imported().area(1) == "finished"


def test_what_is_imported_already_is_not_replaced(chapters, capsys):
    passed("11.1")
    imported()
    assert "already imported; restart the kernel and run this first" in told(capsys)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("%%time\ndef area(r):\n    return 1", "your cell for 11.1 has a line with % or !, which works only in"),
        ("x = %timeit 1\ndef area(r):\n    return 1", "your cell for 11.1 has a line with % or !"),
        ("!ls\ndef area(r):\n    return 1", "your cell for 11.1 has a line with % or !"),
        ("def area(r):\n    return r.", "your cell for 11.1 has changed since it passed: save the notebook and run"),
        (STUB, "your cell for 11.1 has changed since it passed"),
        ("def area(r):\n    return Counter()", "your cell uses Counter: import or define it in that cell"),
        ("def area(r):\n    return helper(r)", "your cell uses helper: import or define it"),
        ("def area(r, kind=Counter):\n    return 1", "your cell uses Counter: import or define it in that cell"),
        ("def area(r):\n    return nowhere", "your cell uses nowhere: import or define it"),
        ("def surface(r):\n    return 1", "your cell for 11.1 does not define area"),  # a newer edition asks for it
        ("import no_such_module\n" + AREA, "your cell ends in ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_a_refusal_says_the_remedy_and_the_other_functions_stay_the_learners(chapters, capsys, answer, why):
    passed("11.1", "11.2")
    own = [cell("own", "from collections import Counter\n\n\ndef helper(r):\n    return r")]
    write(chapters, [*own, *engine_cells(_1=answer)])
    said = told(capsys)
    area = next(line for line in said.splitlines() if line.startswith("  area"))
    assert area.startswith("  area    the finished one: ")
    assert why in area
    assert "  twice   yours\n" in said
    assert imported().area(1) == "finished"
    assert imported().twice(1) == 2


def test_a_function_that_uses_the_helper_of_a_refused_cell_is_refused_with_it(chapters, capsys):
    passed("11.2")
    write(
        chapters, engine_cells(_1=AREA + "\n\n\ndef helper(x):\n    return x", _2=TWICE.replace("2 * x", "helper(x)"))
    )
    assert "  twice   the finished one: your cell uses helper: import or define it" in told(capsys)


def test_what_jupyterlab_shows_counts_saved_or_not(chapters, capsys, monkeypatch):
    passed("11.1", "11.2")
    remember_answer("11.1", AREA)
    write(chapters, engine_cells(_1=AREA.replace("r**2", "r")))
    assert "area    the finished one: your cell for 11.1 has changed since it passed: save the" in told(capsys)
    assert imported().area(1) == "finished"
    for text, says in ((AREA, "area    yours"), (STUB, "your cell for 11.1 has changed since it passed")):
        sys.modules.pop("engine_11", None)
        session = Session({}, open={"11_one": engine_cells(_1=text)})
        monkeypatch.setattr(engine, "watched", lambda session=session: session)
        assert says in told(capsys)


@pytest.mark.parametrize("comment", ["# the area of a circle\n\n", "# raise NotImplementedError()\n"])
def test_a_comment_or_an_empty_line_changes_nothing(chapters, capsys, comment):
    passed("11.1")
    remember_answer("11.1", AREA)
    write(chapters, engine_cells(_1=comment + AREA))
    assert "area    yours" in told(capsys)


def test_an_answer_may_use_what_the_setup_cells_import(chapters, capsys):
    passed("11.1")
    cells = [cell("setup", "import math as m", "setup"), *engine_cells(_1="def area(r):\n    return m.pi * r**2")]
    write(chapters, cells)
    assert "area    yours" in told(capsys)
    assert round(imported().area(1), 2) == 3.14


def test_a_traceback_shows_the_lines_of_the_learners_cell(chapters, capsys):
    passed("11.1")
    write(chapters, engine_cells(_1="def area(r):\n    return 1 / r"))
    told(capsys)
    try:
        imported().area(0)
    except ZeroDivisionError:
        assert "return 1 / r" in traceback.format_exc()


def test_the_engine_is_taken_home_with_what_is_solved_so_far(chapters, capsys):
    my_engine.take_home()
    assert capsys.readouterr().out == "my_engine.py was not written: chapter 14 is not here.\n"
    last = chapters.with_name("14_four")
    last.mkdir()
    (last / "14_four.record.json").write_text("{}")
    cells = [cell("answer-14-1", TWICE, "engine"), cell("answer-14-2", "def open(:", "engine")]
    nbformat.write(new_notebook(cells=cells), last / "14_four.ipynb")
    passed("14.1", "11.1")
    write(chapters, engine_cells(_1=AREA))
    my_engine.take_home()
    said = capsys.readouterr().out
    assert re.match(r"my_engine/my_engine.py: 3 of \d+ functions are yours.\n", said)
    assert said.endswith(
        "train_digits.py, README.md, test_my_engine.py are added once chapter 14 is solved:\n  14.2 has not passed\n"
    )
    folder = chapters.parent / my_engine.OWN_ENGINE
    _, written = files = sorted(folder.iterdir(), key=lambda file: file.suffix == ".py")
    assert {file.name for file in files} == {"pyproject.toml", "my_engine.py"}
    assert "# Exercise 11.1\ndef area" in written.read_text()
    assert "# Exercise 14.1\ndef twice" in written.read_text()
    assert "open(:" not in written.read_text()
    compile(written.read_text(), written, "exec")


def test_the_learners_lines_are_counted_without_given_ones(chapters):
    given = "def area(r):\n    twice = 2 * r\n    raise NotImplementedError()"
    released = chapters.parent / ".released" / chapters.name
    released.mkdir(parents=True)
    nbformat.write(new_notebook(cells=[cell("answer-11-1", given, "engine")]), released / f"{chapters.name}.ipynb")
    own = "# a comment\ndef area(r):\n    twice = 2 * r\n    return (\n        twice * r\n    )"
    assert my_engine.own_lines(engine.Stage(11, {}, {"answer-11-1": own})) == 1


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("git@example.org:ada/course.git", "example.org/ada/course"),
        ("ssh://git@example.org:22/ada/course", "example.org/ada/course"),
        ("/home/ada/course", ""),
        ("../course", ""),
    ],
)
def test_the_courses_address_is_its_clones(tmp_path, url, shown):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    assert my_engine.address(tmp_path) == shown


def test_the_picture_to_share_says_whose_the_engine_is_and_counts_its_lines(chapters, capsys, monkeypatch):
    """Before my_engine.py is written, nothing is saved."""
    monkeypatch.setattr(notebook, "FOLDER", chapters)
    picture = chapters / my_engine.OWN_PICTURE
    assert my_engine.share(Figure(), " ")._suptitle.get_text() == "I built autograd"
    assert "Once my_engine.py is written, its lines are counted" in capsys.readouterr().out
    assert not picture.exists()
    own = chapters.parent / my_engine.OWN_ENGINE / "my_engine.py"
    own.parent.mkdir()
    own.write_text('"""An engine."""\n\n\ndef backward(x):\n    """Return x."""\n    # so\n    return x  # whole\n')
    git = chapters.parent / "course/.git"
    git.mkdir(parents=True)
    (git / "config").write_text('[remote "origin"]\n\turl = https://me:secret@example.org/ada/autograd-course.git\n')
    monkeypatch.setattr(my_engine, "CLONE", git.parent)
    figure = my_engine.share(Figure((8, 4.2)), "Ada Lovelace ")
    assert figure._suptitle.get_text() == "I built autograd: 2 lines of Python"
    below = "Ada Lovelace  ·  torch.autograd, by hand  ·  example.org/ada/autograd-course"
    assert figure._supxlabel.get_text() == below
    assert figure.texts[-1].get_text() == "def backward(x):\n    return x"
    assert "I built autograd: 2 lines of Python." in capsys.readouterr().out
    assert imread(picture).shape == (630, 1200, 4)
