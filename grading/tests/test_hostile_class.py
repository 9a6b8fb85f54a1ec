"""A class with every kind of broken and hostile submission: each gets its result without affecting others."""

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_class import NAME, PULL_BACK, RIGHT, TinyClass, csv_rows, nbgrader, write_settings

from autograder.run.grader import Outcome
from autograder.steps.autograde import autograde
from autograder.steps.execute import RunResult
from autograder.steps.files import known_as, unfit
from autograder.steps.outcome import Status
from gradlab.checks.check import OBSERVATION_MIME

NOTEBOOK = f"{NAME}.ipynb"

SEND = """kernel = get_ipython().kernel


def send(kind, content, **more):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more)


"""
PACK = f"{SEND}import json\nkernel.session.pack = lambda found: json.dumps(found, default=str).encode()\n"
SHOWN = "from IPython.display import display, update_display\n"
MANY = '"x" * 7_900_000'

MESSAGES = {
    "honest ones": f"{SHOWN}import ipywidgets\n\ndisplay('', display_id='a')\nfor n in range(60):\n"
    "    update_display('x' * 50_000, display_id='a')\nfor n in range(300):\n    display(n)\n"
    "display({'application/json': [float('nan'), [[]]]}, raw=True)\n"
    "display({'text/plain': {'a': [1]}, 'text/html': '<b>a</b>', 'application/x-own+json': {'b': [1]}}, raw=True)\n"
    "try:\n    input()\nexcept Exception as error:\n    print(error, '\U0001d11e')\n"
    "ipywidgets.Image(value=bytes(1000))",
    "one update of many displays": f"{SHOWN}for _ in range(60):\n    display('', display_id='a')\n"
    "update_display('x' * 4_500_000, display_id='a')",
    "an update of what was left out": f"{SHOWN}for n in range(60):\n    display('x' * 100_000, display_id=f'{{n}}')\n"
    "update_display('', display_id='40')",
    "not a number in a notebook": f"{PACK}nan = float('nan')\n"
    "send('display_data', {'data': {'application/json': [nan]}, 'metadata': {}})\n"
    "send('execute_result', {'data': {}, 'metadata': {}, 'execution_count': -5})",
    "a lone surrogate": f"{PACK}send('stream', {{'name': 'stdout', 'text': 'a\\ud800b'}})\n"
    "send('error', {'ename': '\\udc80', 'evalue': '', 'traceback': []})",
    "dates of 1066": "import datetime\nfrom jupyter_client.session import Session\nheader = Session.msg_header\n"
    "Session.msg_header = lambda self, kind: header(self, kind) | (\n"
    "    {'date': datetime.datetime(1066, 1, 1, tzinfo=datetime.UTC)} if kind == 'execute_input' else {}\n)",
    "messages of another form": f"{SEND}for kind in ('stream', 'error', 'status', 'display_data', 'comm_open', 'x'):\n"
    "    for content in ({}, {'name': 1, 'text': []}, {'data': 1, 'transient': 5}, {'execution_state': {}}):\n"
    "        send(kind, content)",
    "a message that is slow to read": f"{PACK}for data in ({{'text/plain': [[]] * 1_000_000}},\n"
    "             {'application/json': [[]] * 1_000_000}, dict.fromkeys(map(str, range(300_000)), '')):\n"
    "    send('display_data', {'data': data, 'metadata': {}})\n"
    "send('display_data', {'data': {}, 'metadata': {'x': [[]] * 1_900_000}})\n"
    "send('error', {'ename': '', 'evalue': '', 'traceback': [''] * 1_900_000})",
    "messages that wait": f"{SEND}data = {{'text/plain': {MANY}[:4_000_000]}}\n"
    "send('display_data', {'data': data, 'metadata': {}})\n"
    f"for _ in range(5):\n    send('stream', {{'name': 'stdout', 'text': ''}}, metadata={{'x': {MANY}}})",
    "buffers of widgets": f"{SEND}for n in range(30):\n    content = {{'comm_id': f'{{n}}', 'data': {{'state': {{}}, "
    "'buffer_paths': [['x']]}}\n    send('comm_open', content, buffers=[bytes(7_900_000)])",
    "requests for input": "kernel = get_ipython().kernel\nfor _ in range(9):\n"
    f"    kernel.session.send(kernel.stdin_socket, 'input_request', {{'prompt': {MANY}, 'password': False}},\n"
    "                        ident=kernel._parent_ident['shell'])",
}
ANSWERS = MESSAGES | {  # before a right answer
    "nonlocal": "nonlocal x",
    "400 deep": "x = " + "(" * 400 + ")" * 400,
    "keys that are none": "from IPython.display import display\ndisplay({1: 2, (3,): 4}, raw=True)",
    "tex": "from IPython.display import Markdown\ndisplay(Markdown(r'\\begin{a}' * 15_000))",
    "colors": "print('\\x1b[31ma' * 500_000)",
    "an exit code": "import os\nos._exit(200)",
    "a signal": "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)",
}


def _cell_id_list(path):
    nb = json.loads(path.read_text())
    for cell in nb["cells"]:
        cell["id"] = ["a", {"b": 1}]
    path.write_text(json.dumps(nb))


def _deep(folder):
    here = os.open(folder, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 200, dir_fd=here)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


FILES = {  # changes to the folder of a right submission
    "ids": (lambda f: _cell_id_list(f / NOTEBOOK), Status.GRADED),
    "time no text": (lambda f: (f / "timestamp.txt").write_bytes(b"\xff\xfe"), Status.UNGRADABLE),
    "deep folders": (lambda f: _deep(f), Status.UNGRADABLE),
    "formula": (lambda f: (f / "=HYPERLINK(1)").symlink_to("/etc/passwd"), Status.UNGRADABLE),
    "escape": (lambda f: (f / "\x1b[2J\nline").symlink_to("/etc/passwd"), Status.UNGRADABLE),
    "nested json": (lambda f: (f / NOTEBOOK).write_text("[" * 100_000), Status.UNGRADABLE),
    "notebook a folder": (lambda f: ((f / NOTEBOOK).unlink(), (f / NOTEBOOK).mkdir()), Status.UNGRADABLE),
}
NAMES = ["*", "[hz]onest*", "\x1b[2J", os.fsdecode(b"\xff\xfe"), "n" * 200, "a?"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    tiny = TinyClass(write_settings(tmp_path_factory.mktemp("hostile")))
    for student in ("honest", "zest", "wrong"):
        tiny.hand_in(student, RIGHT | ({"answer-1": PULL_BACK.replace("6", "5")} if student == "wrong" else {}))
    assert set(tiny.grade("honest", "zest", "wrong").values()) == {Status.GRADED}
    for student, source in ANSWERS.items():
        tiny.hand_in(student, RIGHT | {"answer-1": f"{PULL_BACK}\n\n\n{source}"})
    for student, (spoil, _) in FILES.items():
        tiny.hand_in(student, RIGHT)
        spoil(tiny.submission(student))
    for student in NAMES:
        tiny.hand_in(student, RIGHT)
    started = time.process_time()
    tiny.statuses = tiny.grade()
    tiny.again = tiny.grade()
    nbgrader(tiny.folder.parent, "generate_feedback", NAME)
    nbgrader(tiny.folder.parent, "export", "--to", str(tiny.folder / "grades.csv"))
    tiny.seconds = time.process_time() - started
    return tiny


def test_each_submission_ends_with_its_own_result(hostile):
    expected = dict.fromkeys(ANSWERS, Status.GRADED) | {student: status for student, (_, status) in FILES.items()}
    expected |= dict.fromkeys(NAMES, Status.UNGRADABLE) | dict.fromkeys(["honest", "zest", "wrong"], Status.SKIPPED)
    assert hostile.statuses == expected
    assert hostile.again == dict.fromkeys(expected, Status.SKIPPED)


def test_nobody_elses_grade_is_changed(hostile):
    assert {s: hostile.points(s) for s in ("honest", "zest")} == {"honest": [2, 3], "zest": [2, 3]}
    assert hostile.points("wrong") == [0, 1.5]


def test_every_student_has_a_page_and_a_line(hostile, said):
    students = [known_as(student) for student in hostile.statuses]
    for student in students:
        assert (hostile.folder / "feedback" / student / NAME / f"{NAME}.html").stat().st_size < 5_000_000
    rows = csv_rows(hostile.folder / "grades.csv")
    assert sorted(row["student_id"] for row in rows) == sorted(students)
    printed, written = said(hostile, "report", NAME), [*(hostile.folder / "reports").glob("*.*")]
    assert {path.suffix for path in written} == {".csv", ".html"}
    shown = [path.read_text() for path in (*written, hostile.folder / "grades.csv")]
    assert "\x1b" not in "".join([printed, *shown])
    assert not any(value.startswith("=") for row in rows for value in row.values())


def test_every_view_of_a_term_shows_them_all(hostile, said):
    """The overview, similar submissions and pages, in a time that no submission can prolong."""
    started = time.process_time()
    assert said(hostile, "report", NAME)
    assert all(line.isprintable() for line in said(hostile, "report").split("\n"))
    similar = said(hostile, "report", NAME, "--similar").splitlines()[-1]
    pages = [Path(similar), *(hostile.folder / "reports" / NAME).iterdir()]
    assert len(pages) == len(hostile.statuses) + 1
    for page in pages:
        text = page.read_text()
        assert len(text) < 5_000_000
        assert "<script" not in text
    assert time.process_time() - started < 30


@pytest.mark.parametrize("student", [*MESSAGES, "nonlocal", "colors", "tex"])
def test_no_message_costs_a_point_or_makes_a_page_huge_or_a_file_invalid(hostile, student):
    text = (hostile.folder / "autograded" / student / NAME / NOTEBOOK).read_bytes().decode()
    assert len(text) < 5_500_000
    json.loads(text, parse_constant=pytest.fail)
    assert hostile.points(student) == [2, 3]


@pytest.mark.parametrize("student", ["an exit code", "a signal"])
def test_a_kernels_end_is_not_believed(hostile, student):
    """Neither that it needed too much memory, nor too much time."""
    shown = json.dumps(hostile.autograded(student))
    assert "The kernel died" in shown
    assert "It needed more" not in shown


def test_the_class_takes_no_longer_than_its_submissions_are_allowed(hostile):
    assert hostile.seconds < 60


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
CELL = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "other"]) | JSON,
        "id": JSON,
        "source": st.text(max_size=20) | JSON,
        "metadata": st.fixed_dictionaries({}, optional={"nbgrader": JSON, "autograder": JSON}) | JSON,
        "outputs": JSON,
    },
)


@given(
    cells=st.lists(CELL, max_size=3) | JSON,
    metadata=JSON,
    minor=st.sampled_from([5, 4, 0, 99, "x", None]),
    when=st.none() | st.binary(max_size=30) | st.datetimes().map(lambda t: f"{t} UTC".encode()),
)
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_any_notebook_with_any_timestamp_gets_a_result(hostile, cells, metadata, minor, when):
    hostile.hand_in(
        "odd", text=json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": minor})
    )
    if when is not None:
        (hostile.submission("odd") / "timestamp.txt").write_bytes(when)
    grader = hostile.grader()
    ended = grader.begin("odd")
    if not isinstance(ended, Outcome):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("autograder.steps.runs.execute", lambda job, files: RunResult(job.notebook))
            ended = grader.end(ended, autograde(grader.kit, ended))
    assert ended.status == Status.GRADED or (ended.status == Status.UNGRADABLE and ended.reason)
    grader.why_due("odd")


DATA = st.dictionaries(st.sampled_from(["text/plain", "text/html", "image/png", OBSERVATION_MIME]) | st.text(), JSON)
OUTPUT = (
    st.fixed_dictionaries({"output_type": st.just("display_data"), "data": DATA, "metadata": st.just({})})
    | st.fixed_dictionaries({"output_type": st.just("stream"), "name": st.text(), "text": JSON})
    | st.fixed_dictionaries({"output_type": st.just("error"), "ename": JSON, "evalue": JSON, "traceback": JSON})
    | JSON
)
SOURCE = st.text(st.sampled_from("%!?()[]{}'\"\\\n\t =.:,;/#abtime0\0"), max_size=60) | st.text(max_size=60)


@given(outputs=st.lists(OUTPUT, max_size=3), source=SOURCE, times=JSON, garbage=st.none() | st.text(max_size=9))
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_any_kernel_message_and_any_source_can_be_recorded_and_reported(alone, outputs, source, times, garbage):
    alone.hand_in("odd", {"answer-1": source})

    def execute(job, files):
        notebook = json.loads(job.notebook)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"], cell["metadata"]["execution"] = outputs, times
        return RunResult(json.dumps(notebook) if garbage is None else garbage)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.steps.runs.execute", execute)
        ended = alone.grader().grade_here("odd")
    assert ended.status in (Status.GRADED, Status.UNGRADABLE)
    assert [*alone.rows()] == ["odd"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A class without other submissions."""
    return TinyClass(write_settings(tmp_path_factory.mktemp("alone")))


def test_a_submission_that_cannot_be_read_again_is_a_row_of_the_report(alone):
    alone.hand_in("torn", RIGHT)
    alone.grade("torn")
    path = alone.folder / "autograded" / "torn" / NAME / NOTEBOOK
    path.write_text(path.read_text()[:1000])
    row = alone.rows()["torn"]
    assert "could not be read (Unreadable: the notebook file is not valid JSON" in row.reason
    assert "grade it again" in row.reason
    assert row.score is None


@given(
    st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=150)
    | st.binary(min_size=1, max_size=60).filter(lambda name: not {0, ord("/")} & set(name))
)
@settings(max_examples=100, deadline=None)
def test_any_folder_name_can_be_recorded(tmp_path_factory, name):
    name = os.fsdecode(name) if isinstance(name, bytes) else name.encode(errors="replace").decode()
    known = known_as(name)
    assert known.isprintable()
    assert not set(known) & set("*?[]")
    assert len(known) <= 100
    known.encode()
    assert known_as(known) == known
    folder = tmp_path_factory.getbasetemp() / name / NAME
    assert ("not a valid student id" in unfit(folder, NAME)) == (known != name)
