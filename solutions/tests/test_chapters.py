"""Every chapter's checks can fail, and its cells have the form that building and grading need."""

import ast
import builtins
import copy
import re
import shutil
from dataclasses import replace
from types import FunctionType
from unittest import mock

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade

from authoring import build, digests
from authoring.cells import counts, tags
from authoring.chapter import chapter_names, importing_from, load_chapter, read_chapter, source_path
from authoring.places import SOURCES, ChapterError
from authoring.reference import Reference
from authoring.validate import constants, validate
from gradlab.checks.given import given, in_place_of_yours
from gradlab.checks.observe import call
from gradlab.checks.reached import cells_behind, defined
from gradlab.checks.record import load_beside
from gradlab.checks.stale_cells import called_checks
from gradlab.checks.verdict import judge_check
from gradlab.engine import finished_before
from gradlab.live import WIDGET

FIRST = "02_external_gradients"
CHECKS = [
    pytest.param(name, check_id, marks=[pytest.mark.exhaustive] if number else [])
    for name in chapter_names()
    for number, check_id in enumerate(load_chapter(name).checks)
]


@pytest.fixture(scope="module")
def chapters():
    return {name: load_chapter(name) for name in chapter_names()}


@pytest.mark.parametrize(("name", "check_id"), CHECKS)
def test_five_slips_are_named_two_other_right_answers_pass_and_constants_fail(chapters, name, check_id):
    """One seed, and for right answers two, of what `make validate-checks` proves on 20, and 200 for right answers."""
    tally = validate(chapters[name].checks[check_id], range(100, 101), range(100, 102))
    assert tally.faults == []
    n = tally.counts
    assert n["rejected"] == n["named"] == n["slips"] >= 5
    assert n["accepted"] == 2 * (1 + n["others"]) >= 6
    assert n["caught"] == n["constants"] > 5


def learners_names(notebook, answer):
    """The names that a check's answer reads, with the learner's functions that it calls."""
    cells = [cell for cell in notebook.cells if counts(cell) and not is_grade(cell) and "reference" not in tags(cell)]
    own = [cell.source for cell in cells if "setup" not in tags(cell)]
    found = [ast.parse(own[number]) for number in cells_behind([answer], own)]
    return {node.id for tree in found for node in ast.walk(tree) if isinstance(node, ast.Name)}


STARRED = set(torch.__all__)
PYTHONS = {name for name in vars(builtins) if name[0].islower()}
IMPORTED = {"torch", "np", "plt", "nn", "F", "math", "contextlib", "mock", "warnings", "copy", "types"}


@pytest.mark.parametrize("name", chapter_names())
def test_a_right_answer_passes_after_names_that_it_does_not_use_were_rebound(chapters, name):
    """As by `len = 4`, `from torch import *` and `torch = None` in a cell of the learner's."""
    solved = nbformat.read(source_path(name), as_version=4)
    edition = nbformat.read(build.STUDENT_EDITION / name / f"{name}.ipynb", as_version=4)
    texts = {cell.metadata.nbgrader.grade_id: cell.source for cell in edition.cells if "nbgrader" in cell.metadata}
    records, wrong = load_beside(build.STUDENT_EDITION / name), {}
    for check_id, check in chapters[name].checks.items():
        parts = [part for part in (check.scenario, check.judge, check.picture) if part not in (None, call)]
        function = parts[0] if parts else check.answer
        if not isinstance(function, FunctionType):
            continue
        notebook = function.__globals__
        names = (PYTHONS | IMPORTED | STARRED) - learners_names(solved, check.answer_name)
        mine = {key: getattr(torch, key, 4) for key in names & STARRED - notebook.keys()}
        mine |= dict.fromkeys(names & (PYTHONS | IMPORTED & notebook.keys()), 4)
        text = given(edition.cells, texts[check.cell])
        for finished in {"", finished_before(check_id, solved.cells)}:  # as for a learner, and as in grading
            with (
                importing_from(SOURCES / name),
                mock.patch.dict(notebook, mine),
                in_place_of_yours(function, text, finished, check.answer),
            ):
                released = check.as_released(text)
                seen = released.observe(check.answer, records[check_id].cases)
                verdict = judge_check(records[check_id], seen, released.judge)
            if not verdict.passed:
                wrong[check_id] = verdict.feedback.text
    assert wrong == {}


@pytest.mark.parametrize("name", chapter_names())
def test_the_untouched_student_edition_solves_nothing(chapters, name):
    edition = nbformat.read(build.STUDENT_EDITION / name / f"{name}.ipynb", as_version=4)
    sources = {c.metadata.nbgrader["grade_id"]: c.source for c in edition.cells if "nbgrader" in c.metadata}
    stubs = [text for key, text in sources.items() if key.startswith("answer-")]
    assert stubs
    assert all("raise NotImplementedError()" in text for text in stubs)
    assert not any("BEGIN SOLUTION" in cell.source for cell in edition.cells)
    assert not any("reference" in cell.metadata.get("tags", []) for cell in edition.cells)
    solved = nbformat.read(source_path(name), as_version=4)
    for cell in solved.cells:  # with stubs instead of solutions, and with the references
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = sources[cell.metadata.nbgrader["grade_id"]]
    checks = read_chapter(solved, name).checks
    assert checks.keys() == chapters[name].checks.keys() > set()
    for check in checks.values():
        record = check.record([7], slips=False)
        verdict = judge_check(record, check.observe(check.answer, record.cases), check.judge)
        assert not verdict.passed
        assert "Not solved yet" in verdict.feedback.text


@pytest.mark.parametrize("name", chapter_names())
def test_a_statement_says_the_points_of_its_check(name):
    said, wrong = None, []
    for cell in nbformat.read(source_path(name), as_version=4).cells:
        if cell.cell_type == "markdown":
            said = re.search(r"^(\d+) points? (?:each )?· difficulty", cell.source, re.MULTILINE) or said
        elif "points" in cell.metadata.get("nbgrader", {}) and cell.metadata.nbgrader.points != int(said[1]):
            wrong.append(cell.metadata.nbgrader.grade_id)
    assert wrong == []


def before(needs, number):
    """All chapters that come before one, by those that each needs itself."""
    return {each for needed in needs[number] for each in {needed} | before(needs, needed)}


def test_the_start_page_asks_for_the_chapters_that_the_openings_ask_for():
    page = build.START_PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d\d) \|.*\|([^|]*)\|$", page, re.MULTILINE)
    by_page = {number: re.findall(r"\d\d", needs) for number, needs in rows}
    by_opening = {}
    for name in chapter_names():
        opening = nbformat.read(source_path(name), as_version=4).cells[0].source
        asked = re.search(r"\*\*You need\*\*([^;]*?)(?:;|\n\n)", opening)[1]  # a section's come after ;
        numbers = re.findall(r"\b\d\d\b", asked)
        for first, last in re.findall(r"(\d\d) to (\d\d)", asked):
            numbers += [f"{number:02}" for number in range(int(first), int(last))]
        by_opening[name[:2]] = numbers
    assert {number: before(by_page, number) for number in by_page} == {
        number: before(by_opening, number) for number in by_opening
    }


@pytest.mark.parametrize("name", chapter_names())
def test_a_check_cell_defines_no_name_that_a_learner_could_use(name):
    """scenario_02_1, judge_02_1 and picture_02_1 belong to check 02.1; any other name may be an answer's helper."""
    other = {}
    for cell in nbformat.read(source_path(name), as_version=4).cells:
        if is_grade(cell):
            ids = [title.split()[0].replace(".", "_") for title in called_checks(cell.source)]
            own = {f"{role}_{check_id}" for role in ("scenario", "judge", "picture") for check_id in ids}
            other[cell.id] = defined(cell.source) - own
    assert other
    assert not any(other.values()), other


PLOTTING = re.compile(r"\b(ax|axis|axes|figure|plt)\b[.,\[ ]")


@pytest.mark.parametrize("name", chapter_names())
def test_a_lesson_cell_shows_the_idea_and_its_plumbing_is_folded(name):
    """An open lesson cell is at most 42 lines long, and at most 8 of them draw; folded cells may have more."""
    cells = nbformat.read(source_path(name), as_version=4).cells
    lessons = [cell for cell in cells if cell.cell_type == "code" and not {"setup", "reference"} & set(tags(cell))]
    shown = [cell for cell in lessons if "nbgrader" not in cell.metadata]
    opened = [cell for cell in shown if not cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert {cell.id for cell in opened if len(cell.source.splitlines()) > 42} == set()
    drawing = {cell.id: sum(bool(PLOTTING.search(line)) for line in cell.source.splitlines()) for cell in opened}
    assert {cell: lines for cell, lines in drawing.items() if lines > 8} == {}


@pytest.mark.parametrize("name", chapter_names())
def test_no_payoff_waits_for_a_cell_once_all_have_run(name):
    """A payoff that lacks a name says which cell to run, and would do so in its exercise's card."""
    cells = nbformat.read(source_path(name), as_version=4).cells
    assert [cell.id for cell in cells if 'class="gl-waiting"' in str(cell.get("outputs", ""))] == []


def test_a_stale_file_is_named(monkeypatch, tmp_path):
    """What is generated is taken from the committed edition, which is that, if nothing is stale."""
    name, committed = FIRST, build.STUDENT_EDITION
    monkeypatch.setattr(
        build, "generate", lambda names, folder: [shutil.copytree(committed / one, folder / one) for one in names]
    )
    shutil.copytree(committed / name, tmp_path / name)
    monkeypatch.setattr(build, "STUDENT_EDITION", tmp_path)
    monkeypatch.setattr(build, "chapter_names", lambda: [name])
    monkeypatch.setattr(build, "shown", str)
    monkeypatch.setattr(digests, "is_current", lambda name, edition: True)
    (tmp_path / "my_engine").mkdir()
    assert build.stale(every=True) == [], "chapter 14 leaves a learner's engine beside the chapters"
    (tmp_path / name / "left.txt").write_text("over")
    (tmp_path / "99_left").mkdir()
    next(path for path in (tmp_path / name).iterdir() if path.name.endswith(".record.json")).unlink()
    path = tmp_path / name / f"{name}.ipynb"
    path.write_text(path.read_text() + " ")
    found = "\n".join(build.stale(every=True))
    assert f"{path} is not what its source generates" in found
    assert "left.txt belongs to no chapter" in found
    assert f"{tmp_path / '99_left'} belongs to no chapter" in found
    assert f"{name}.record.json is missing" in found


SHOWN, UNSEEN = "the wrong Python: run `make lab`", "a sentence that no chapter shows"


@pytest.mark.parametrize(
    ("file", "text", "counts"),
    [
        ("used.py", f'def f():\n    "Another."  # and a comment\n    return "{SHOWN}", "{UNSEEN}", 1\n', False),
        ("used.py", f'def f():\n    return "{SHOWN}", "a new sentence that no chapter shows", 1\n', False),
        ("used.py", f'def f():\n    return "the right Python: run `make lab`", "{UNSEEN}", 1\n', True),
        ("used.py", f'def f():\n    return "{SHOWN}", "{UNSEEN}", 2\n', True),
        ("used.py", None, True),
        ("unused.py", "a = 2\n", False),
        ("shown.css", ".gl-card-head { margin: 1px }\n", True),
        ("unseen.css", ".unseen-too {}\n", False),
        (f"edition/{FIRST}/{FIRST}.record.json", "{}", True),
    ],
)
def test_only_what_may_have_changed_is_built_again(monkeypatch, tmp_path, file, text, counts):
    """A changed file of a chapter counts, and what the code that its build imported can put into such a file."""
    edition, code = tmp_path / "edition", tmp_path / "code"
    code.mkdir()
    shutil.copytree(build.STUDENT_EDITION / FIRST, edition / FIRST)
    monkeypatch.setattr(build, "STUDENT_EDITION", edition)
    monkeypatch.setattr(build, "chapter_names", lambda: [FIRST])
    for name, value in {"ROOT": tmp_path, "CODE": ["code"], "DIGESTS": tmp_path / "digests.json"}.items():
        monkeypatch.setattr(digests, name, value)
    (code / "used.py").write_text(f'def f():\n    "One."\n    return "{SHOWN}", "{UNSEEN}", 1\n')
    (code / "unused.py").write_text("a = 1\n")
    (code / "shown.css").write_text(".gl-card-head {}\n")
    (code / "unseen.css").write_text(".unseen {}\n")
    assert [*build.changed()] == [FIRST]
    digests.note({FIRST: ["code/used.py"]}, edition)
    assert [*build.changed()] == []
    assert [*build.changed(every=True)] == [FIRST]
    changed = tmp_path / file if file.startswith("edition") else code / file
    changed.unlink() if text is None else changed.write_text(text)
    assert [*build.changed()] == [FIRST] * counts
    named = [sentence for sentence in build.stale() if "was not built since the code or files behind it" in sentence]
    assert len(named) == counts


def test_a_chapter_that_runs_cells_of_others_is_built_again_when_their_code_has_changed(monkeypatch, tmp_path):
    """14 runs lesson cells of 02, 03 and 06 on the learner's engine, and shows how many print the same."""
    sources = tmp_path / "chapters"
    shutil.copytree(build.SOURCES, sources)
    monkeypatch.setattr(digests, "SOURCES", sources)
    read = sources / "06_tensor_hooks" / "06_tensor_hooks.ipynb"
    notebook, before = nbformat.read(read, 4), digests.digest("14_train", build.STUDENT_EDITION, [])

    def after(change: str) -> str:
        cell = next(cell for cell in notebook.cells if cell.cell_type == change)
        cell.source += "\n"
        nbformat.write(notebook, read)
        return digests.digest("14_train", build.STUDENT_EDITION, [])

    assert after("markdown") == before
    assert after("code") != before


def test_a_chapter_is_digested_with_the_modules_that_its_build_imports(tmp_path):
    cell = nbformat.v4.new_code_cell("from gradlab import check")
    notebook = nbformat.v4.new_notebook(cells=[cell, digests.imports_cell()])
    build.execute(notebook, tmp_path)
    modules = digests.imported(notebook.cells[-1])
    assert {"course/gradlab/checks/check.py", "solutions/authoring/preprocessors.py"} <= {*modules}
    assert not [path for path in modules if "setup" in path or "mini_autograd" in path or "payoffs" in path]


def test_a_record_made_on_another_processor_is_not_stale(tmp_path):
    """Processors differ in the last digits of sums; what differs by more is another record."""
    text = (build.STUDENT_EDITION / FIRST / f"{FIRST}.record.json").read_text()
    number = max(re.findall(r"-?\d\.\d+", text), key=len)
    made, near, far = (tmp_path / f"{name}.record.json" for name in ("made", "near", "far"))
    made.write_text(text)
    near.write_text(text.replace(number, repr(float(number) + 1e-11)))
    far.write_text(text.replace(number, repr(float(number) + 1e-3)))
    assert near.read_text() != text
    assert build.same(made, near)
    assert not build.same(made, far)


def without_references(cells):
    cells[:] = [cell for cell in cells if "reference" not in tags(cell)]


def with_a_check_twice(cells):
    cells.append(copy.deepcopy(next(cell for cell in cells if cell.id == "check-02-1")))


def with_a_graded_assertion(cells):
    next(cell for cell in cells if cell.id == "check-02-1").source = "assert True"


def with_an_answer_that_needs_a_lesson_cell(cells):
    at = next(i for i, cell in enumerate(cells) if cell.id == "answer-02-1")
    cells[at].source += "\n\nHELPER"
    cells.insert(at, new_code_cell("HELPER = 3"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without_references, r"check-02-1: check 02\.1 has no reference cell before it"),
        (with_a_check_twice, r"there are two checks with the id 02\.1"),
        (with_a_graded_assertion, "check-02-1: a graded cell without a check cannot be graded"),
        (with_an_answer_that_needs_a_lesson_cell, r"answer-02-1: NameError: .*may use only what setup cells"),
    ],
)
def test_a_chapter_that_breaks_a_rule_is_refused(change, says):
    notebook = nbformat.read(source_path(FIRST), as_version=4)
    change(notebook.cells)
    with pytest.raises(ChapterError, match=says):
        read_chapter(notebook, "test")


def test_a_check_whose_answer_never_changes_is_found_out():
    check = load_chapter(FIRST).checks["02.1"]
    constant = Reference(lambda rng: ({"x": x} for x in (1.0, 2.0)), lambda x: 0.5)
    made = replace(check, reference=constant, scenario=call)
    record = made.record([1])
    passing = [label for label, seen in constants(made, record) if judge_check(record, seen).passed]
    assert passing == ["the first case's answer", "the last case's answer"]


def test_outputs_are_put_into_one_form_without_widgets():
    cell = new_code_cell("1", execution_count=7, metadata={"execution": {"iopub.status.busy": "now"}})
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in ("a", "b")]
    data = {"text/plain": "1", WIDGET: {"model_id": "1"}}
    cell.outputs.append(nbformat.v4.new_output("execute_result", data, execution_count=7))
    notebook = build.normalise(nbformat.v4.new_notebook(cells=[new_code_cell("0"), cell]))
    assert [output.get("text") for output in cell.outputs] == ["ab", None]
    assert cell.outputs[1].data == {"text/plain": "1"}
    assert (notebook.cells[0].execution_count, cell.execution_count, cell.outputs[1].execution_count) == (None, 1, 1)
    assert "execution" not in cell.metadata


def test_no_progress_bar_is_saved(tmp_path):
    cell = new_code_cell("from gradlab import track\n\nprint('no bar:', track([]).disable)")
    build.execute(nbformat.v4.new_notebook(cells=[cell]), tmp_path)
    assert [output.text for output in cell.outputs] == ["no bar: True\n"]


def test_a_notebook_over_one_megabyte_is_refused(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x" * build.MAX_BYTES)])
    with pytest.raises(ChapterError, match=r"big.ipynb would have \d+ bytes"):
        build.write(notebook, tmp_path / "big.ipynb")
    assert not (tmp_path / "big.ipynb").exists()
