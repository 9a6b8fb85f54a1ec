"""Several processes started from a notebook: what they print, and that none of them is left behind."""

import signal
import socket
import subprocess
import sys

import pytest

from gradlab import ranks

NOTEBOOK = """
from gradlab.ranks import run_ranks

def worker(rank, world_size):
    import socket
    total = torch.tensor([10.0 + rank])
    dist.all_reduce(total)
    test = socket.create_connection(("127.0.0.1", {port}))
    test.sendall(f"{{total.item()}}\\n".encode())
    test.recv(1)  # until the end

run_ranks(worker)
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_no_process_outlives_the_notebook(tmp_path, ending):
    """Both ranks have exchanged a tensor and wait when the notebook's process ends. A dead rank's connection closes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)
        script = tmp_path / "notebook.py"
        script.write_text(NOTEBOOK.format(port=server.getsockname()[1]))
        with subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL) as notebook:
            connections = [server.accept()[0] for _ in range(2)]
            for connection in connections:
                connection.settimeout(120)
                with connection.makefile() as lines:
                    assert lines.readline() == "21.0\n"
            notebook.send_signal(ending)
            for connection in connections:
                with connection:
                    assert connection.recv(1) == b""


def worker(rank, world_size): ...


def test_after_the_time_limit_all_are_ended_and_what_they_printed_is_shown(monkeypatch, capsys):
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(ranks.subprocess, "Popen", Noted)
    monkeypatch.setattr(ranks, "_PROGRAM", "import sys; sys.stdin.read()")
    ranks.run_ranks(worker, timeout_s=0.1)
    assert capsys.readouterr().out.splitlines() == [
        f"rank {rank}: not finished after 0.1 s, so it was ended" for rank in (0, 1)
    ]
    assert [process.poll() is None for process in started] == [False, False]


def test_where_no_process_can_start_the_lesson_says_so(monkeypatch, capsys):
    monkeypatch.setattr(ranks.sys, "executable", "/nowhere/python")
    assert ranks.run_ranks(worker) == []
    assert "none can be started here" in capsys.readouterr().out
    monkeypatch.setenv("GRADLAB_ONE_PROCESS", "1")  # as while grading
    assert ranks.run_ranks(worker) == []
    assert "GRADLAB_ONE_PROCESS is set" in capsys.readouterr().out
