"""A session knows whether the definition in memory is the one in the notebook."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from gradlab import notebook
from gradlab.checks.stale_cells import Session, called_checks

RIGHT = "def answer(x):\n    return helper(x)"
HELPER = "def helper(x):\n    return x"


class Page:
    """Cells that run in a shell, watched; `stale` says which name is not the page's."""

    def __init__(self):
        self.shell = InteractiveShell()
        self.session = Session(self.shell.user_ns)
        self.saved: dict[str, str] = {}  # the notebook's cells
        self.shell.events.register("pre_run_cell", self.session.begins)
        self.shell.events.register("post_run_cell", self.session.ended)

    def run(self, source: str, cell: str | None = "answer") -> None:
        self.shell.run_cell(source, cell_id=cell, store_history=False)

    @property
    def stale(self) -> str:
        cells = [{"source": text} for text in self.saved.values()]
        names = self.shell.user_ns
        found = self.session.why_stale(names.get("answer"), "answer", [names.get("scenario")], cells)
        return f"{found[0]}: {found[1]}" if found else ""


@pytest.fixture
def page(capsys):
    page = Page()
    page.run(HELPER, "helper")
    page.run(RIGHT)
    assert page.stale == ""
    return page


@pytest.mark.parametrize(
    ("later", "error"),
    [
        ("def answer(x):\n    return (x", "SyntaxError in line 2"),
        ("def answer(x:\n    return x", "SyntaxError in line 1"),
        ("1 / 0\n\n" + RIGHT, "ZeroDivisionError"),
        ("@undefined\n" + RIGHT, "NameError"),
        ("answer = functools.partial(max)", "NameError"),
        ("  dfe answer(x):\n return x", "IndentationError"),  # no Python: the cell is known by its id
    ],
)
def test_a_later_version_that_fails_makes_the_earlier_one_stale(page, later, error):
    page.run(later)
    assert page.stale.startswith("answer: the cell that defines it ended in an error: ")
    assert error in page.stale
    page.run(RIGHT)
    assert page.stale == ""


def test_what_fails_elsewhere_or_below_the_definition_changes_nothing(page):
    page.run("answer(1) / 0", "try")
    page.run("def answer(x", "scratch")
    page.run("helper = 1 / 0", "scratch")
    assert page.stale == ""
    page.run(RIGHT + "\n\n\nanswer(1) / 0")
    assert page.stale == ""


def test_a_cell_whose_other_function_was_not_reached_is_stale(page):
    both = RIGHT + "\n\n\n1 / {}\n\n\n" + HELPER
    page.run(both.format(1))
    assert page.stale == ""
    page.run(both.format(0))
    assert page.stale.startswith("helper: the cell that defines it ended in an error: ZeroDivisionError")


def test_a_helper_that_a_class_calls_counts_too(page):
    page.run("class answer:\n    def forward(self):\n        return helper(1)")
    page.run("answer.forward(1) / 0\ndef another(x", "try")
    assert page.stale == ""
    page.run("def helper(", "helper")
    assert page.stale.startswith("helper: ")


def test_the_checks_of_a_cell_are_found():
    assert called_checks('# why\ncheck("02.1 a", f)\n\ncheck("02.2 b", g, judge=h)') == {"02.1 a": "f", "02.2 b": "g"}
    assert called_checks("check(name, f)\nother('02.1')") == called_checks("check(") == {}


CHECK = "def helper(answer, case):\n    return answer(case)\n\n\ncheck(answer, helper)"


def test_a_helper_keeps_its_name_where_a_check_cell_takes_it(page):
    """Released check cells have reserved names; a class may still hand out an older edition."""
    said = []

    def check(answer, scenario):
        page.session.give_back(scenario)
        said.append(scenario(answer, 3))

    page.shell.user_ns["check"] = check
    page.run(CHECK, "check")
    page.run(CHECK + "\n1 / 0", "check")
    assert said == [3, 3]
    assert page.stale == ""
    page.run("def helper(x):\n    return x + 1", "helper")
    page.run(CHECK, "check")
    assert said[-1] == 4


@pytest.fixture
def known(page, monkeypatch):
    """The page, saved after its cells ran; a scenario uses an import, as a check cell's does."""
    page.saved = {"setup": "import math", "helper": HELPER, "answer": RIGHT}
    page.saved["check"] = "def scenario(answer, case):\n    return math.pi"
    for text in page.saved.values():
        page.run(text)
    monkeypatch.setattr(notebook, "saved_at", lambda: 1)
    assert page.stale == ""
    return page


@pytest.mark.parametrize("cell", ["answer", "helper"])
def test_a_cell_that_was_edited_and_saved_since_it_ran_is_stale(known, cell):
    """As in an editor that does not run it first; what is saved before it runs, or as it ran, is not."""
    ran = known.saved[cell]
    known.saved[cell] = f"# a comment\n\n{ran}  # and another\n"
    assert known.stale == ""
    known.saved[cell] = ran.replace("return", "return -")
    assert known.stale == f"{cell}: the cell that defines it does not hold what ran last."
    known.run(known.saved[cell])
    assert known.stale == ""
    known.run(ran)  # edited back, but not saved yet
    assert known.stale == ""


@pytest.mark.parametrize(("cell", "name"), [("answer", "answer"), ("helper", "helper"), ("setup", "math")])
def test_what_no_cell_defines_anymore_is_stale(known, cell, name):
    """Deleted, commented out or made Markdown: a helper of the answer, or what the check uses from a set-up cell."""
    text = known.saved.pop(cell)
    assert known.stale == f"{name}: "
    known.saved["another"] = text
    assert known.stale == ""


def test_a_name_that_is_read_of_an_object_is_not_the_notebooks(known):
    """As in x.grad: what a scratch cell called grad, and lost, is not what the answer reads."""
    known.run("grad = 1")
    known.run("def answer(x):\n    return helper(x.grad)")
    known.saved["answer"] = "def answer(x):\n    return helper(x.grad)"
    known.session.saved_at = dict.fromkeys(known.session.saved_at, 0)
    assert known.stale == ""


def test_what_fails_elsewhere_changes_nothing_where_the_notebook_holds_what_ran(known):
    known.run("def answer(x")
    assert known.stale == ""
    known.saved["answer"] = RIGHT.replace("return", "return -")
    assert known.stale.startswith("answer: the cell that defines it ended in an error: ")
