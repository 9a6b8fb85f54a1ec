"""The tools that run the tests: what they run, count and print."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import kernels
import nbformat
import pytest
import run_tests


def test_asking_a_dead_server_for_a_kernel_fails_at_once(tmp_path):
    address = str(tmp_path / "server")
    with socket.socket(socket.AF_UNIX) as died:
        died.bind(address)
    asked = subprocess.run([sys.executable, kernels.__file__, "ask", address], capture_output=True, text=True)
    assert asked.returncode == 1
    assert "ConnectionRefusedError" in asked.stderr


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("def test_right():\n    pass", "passed"),
        ("def test_right():\n    pass\n\n\ndef test_wrong():\n    assert False", "FAILED"),
        ("", "FAILED: no test ran"),
    ],
)
def test_a_part_says_whether_it_failed(tmp_path, text, verdict):
    tests = tmp_path / "test_some.py"
    tests.write_text(text)
    with (tmp_path / "output").open("w+") as output:
        assert run_tests.run_part(["-m", "pytest", str(tests)], dict(os.environ), output)[0] == verdict


def test_a_kernel_of_nbval_needs_no_port():
    asks = "from ipykernel.connect import get_connection_info as get\nprint(get(unpack=True)['transport'])"
    cell = nbformat.v4.new_code_cell(asks, outputs=[nbformat.v4.new_output("stream", text="ipc\n")], execution_count=1)
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:  # below the tests' conftest.py
        notebook = str(Path(folder, "asks.ipynb"))
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), notebook)
        arguments = ["-m", "pytest", "--nbval", "--nbval-current-env", notebook]
        assert run_tests.run_part(arguments, dict(os.environ))[0] == "passed"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing"], "There is no part nothing. Parts: grading, browser, solutions, nbval, course, "),
        (["--chapter", "99"], "There is no chapter 99. Chapters: 00_twenty_lines, "),
        (["--rest", "--chapter", "08"], "--chapter works only with the parts of make test"),
    ],
)
def test_an_unknown_word_is_answered_with_the_known_ones(words, says, capsys):
    with pytest.raises(SystemExit):
        run_tests.main(words)
    assert says in capsys.readouterr().err


def test_one_chapter_is_its_checks_its_walk_and_its_notebooks():
    chosen = run_tests.parts("08_saliency")
    assert chosen["nbval"][-1] == "course/chapters/08_saliency/08_saliency.ipynb"
    for part in ("solutions", "browser"):
        assert chosen[part][-2:] == ["-k", "08_saliency"]
        assert "exhaustive" not in " ".join(chosen[part])
