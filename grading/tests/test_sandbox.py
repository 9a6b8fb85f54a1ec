"""The sandboxed kernel: containment, output, cleanup, and machines without a sandbox."""

import ctypes
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from tiny_class import NAME, RIGHT

from autograder.errors import ClassError
from autograder.run.grade import grade
from autograder.sandbox import machine, provisioner
from autograder.sandbox.__main__ import ESCAPES, escaped
from autograder.sandbox.forkserver.kernel_memory import groups_folder
from autograder.sandbox.manager import SandboxManager, TypedSession
from autograder.sandbox.provisioner import SERVER, SandboxProvisioner


def texts(folder: Path, *sources: str) -> list[str]:
    """Run cells in one sandboxed kernel that starts in `folder`; return each cell's output or error."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(notebook, kernel_manager_class=SandboxManager, allow_errors=True, timeout=300)
    client.shutdown_kernel = "immediate"
    client.resources = {"metadata": {"path": str(folder)}}
    client.execute()
    return ["".join(o.get("text", "") or f"{o.ename}: {o.evalue}" for o in cell.outputs) for cell in cells]


@pytest.fixture
def no_memory_of_the_machine():
    """Clear the cached check of the machine, before and after."""
    machine.require.cache_clear()
    yield
    machine.require.cache_clear()


def test_every_escape_attempt_is_blocked():
    out, _ = escaped()
    assert out == []


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("unshare"), reason="there is no unshare")
def test_an_ordinary_user_gets_the_same_sandbox():
    """Most graders are ordinary users; root becomes one in a namespace, and files stay readable."""
    ordinary = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []
    command = [*ordinary, sys.executable, "-m", "autograder.sandbox"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert f"{len(ESCAPES)} of {len(ESCAPES)} escape attempts were blocked" in tried.stdout


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ('{"text/plain": "a", "application/x+json": [NaN, {"b": []}]}', None),
        ('{"text/plain": {"a": 1}, "text/html": ["a"], "image/png": "a"}', {"image/png": "a"}),
        ('{"application/json": [1,[]], "x/y+json": [1]}', {"application/json": "[1,[]]"}),
        (r'{"text/plain": "\\ud800 \ud800 \ud834\udd1e"}', {"text/plain": "\\ud800 \ufffd \U0001d11e"}),
        (b'{"text/plain": "\xff"}', {"text/plain": "\ufffd"}),
        (json.dumps({"text/plain": [[]] * 2_000_000}), {}),
        (json.dumps(dict.fromkeys(map(str, range(400_000)), "")), None),
    ],
)
def test_a_message_is_read_as_text_and_json_that_nobody_has_parsed(data, kept):
    session, header = TypedSession(key=b"key"), b'{"msg_id": "1", "msg_type": "display_data"}'
    data = data if isinstance(data, bytes) else data.encode()
    parts = [header, b"{}", b"{}", b'{"metadata": {"a": [[]]}, "data": ' + data + b"}"]
    message = session.deserialize([session.sign(parts), *parts])
    assert message["content"] == ({} if kept is None else {"data": kept, "metadata": {}})


BECOME_SUBREAPER = 36  # for prctl: orphaned processes become children of this one
HOARD = """
import os, time
for _ in range(10):
    if os.fork() == 0:
        block = bytearray(b'x' * (150 << 20))
        time.sleep(60)
        os._exit(0)
time.sleep(60)  # even if Linux has ended every child, the sandbox must end, too
"""


def most_held(folder: Path) -> int:
    """Return a control group's peak memory in MiB, as counted by Linux."""
    return max(int(path.read_text()) >> 20 for path in folder.glob("gradlab-*/memory.*") if path.name in PEAKS)


@pytest.fixture
def given_orphans():
    """Let Linux give this process orphans, as it gives them to a container's first process."""
    set_subreaper = functools.partial(ctypes.CDLL(None).prctl, BECOME_SUBREAPER)
    set_subreaper(1, 0, 0, 0)
    yield
    set_subreaper(0, 0, 0, 0)


def test_a_grader_to_which_linux_gives_orphans_does_not_wait_for_them(tmp_path, monkeypatch, given_orphans):
    monkeypatch.setattr(SandboxProvisioner, "memory_mib", 600)
    with pytest.raises(DeadKernelError):
        texts(tmp_path, HOARD)
    assert [one for one in psutil.Process().children() if one.name() == "bwrap"] == []


PEAKS = "memory.peak", "memory.max_usage_in_bytes"  # versions 2 and 1


@pytest.mark.skipif(groups_folder() is None, reason="this machine delegates no control group")
def test_a_control_group_limits_all_of_a_kernels_processes_in_total(tmp_path, monkeypatch):
    folder = groups_folder()
    held = []
    end = SandboxProvisioner.end
    monkeypatch.setattr(SandboxProvisioner, "memory_mib", 600)
    monkeypatch.setattr(SandboxProvisioner, "end", lambda self: (held.append(most_held(folder)), end(self)))
    with pytest.raises(DeadKernelError):
        pytest.fail(f"the cell ended: {texts(tmp_path, HOARD)}, with at most {held} MiB")
    assert 300 < max(held) <= 600


@pytest.mark.parametrize(
    ("groups", "limits", "found"),
    [
        ("0::/user.slice/app.slice/run.scope", ["user.slice", "user.slice/app.slice"], "user.slice/app.slice"),
        ("0::/user.slice/session.scope", ["user.slice"], "user.slice"),
        ("0::/user.slice/session.scope", [], None),
        ("4:memory:/own\n3:cpu:/\n0::/", [], "memory/own"),
        ("3:cpu:/own\n0::/", [], None),
    ],
)
def test_groups_are_created_in_the_nearest_one_that_limits_memory(tmp_path, groups, limits, found):
    """As shown in /proc/self/cgroup, for versions 2 and 1."""
    mounted, own = tmp_path / "mounted", tmp_path / "own"
    own.write_text(f"{groups}\n")
    for line in groups.splitlines():
        _, kinds, path = line.split(":")
        folder = Path(mounted, kinds, path.lstrip("/"))
        folder.mkdir(parents=True, exist_ok=True)
        for one in [folder, *folder.parents]:
            if one.is_relative_to(mounted):
                (one / "cgroup.procs").touch()
                (one / "cgroup.subtree_control").write_text(
                    "cpu memory\n" if str(one.relative_to(mounted)) in limits else "cpu\n"
                )
    assert groups_folder(str(mounted), str(own)) == (mounted / found if found else None)


def test_a_kernel_sees_the_submissions_files_but_no_notebook(tmp_path):
    for name in ("data.csv", "x.ipynb", "näme with 空格.txt", "sub/deep.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("/etc/passwd")
    shown = texts(
        tmp_path,
        "import os; print(sorted(os.listdir()))",
        "print(open('sub/deep.txt').read())",
        "open('data.csv', 'a')",
        "open('own.txt', 'w').write('x'); print(open('own.txt').read())",
        "print(sorted(os.listdir(os.path.expanduser('~'))), os.environ['HOME'], len(os.environ) < 20)",
    )
    assert shown[0] == "['data.csv', 'näme with 空格.txt', 'sub']\n"
    assert shown[1] == "sub/deep.txt\n"
    assert "data.csv" in shown[2]
    assert "Error" in shown[2]
    assert shown[3] == "x\n"
    assert shown[4] == "['.ipython', 'work'] /home/student True\n"
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "link", "näme with 空格.txt", "sub", "x.ipynb"]


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="this Linux does not share the processor out by session"
)
def test_a_process_in_a_new_session_gets_no_more_processor_time(tmp_path):
    """Linux gives sessions equal shares: the kernel's has a lower priority, and any new one the lowest."""
    source = """
import os, time


def niceness(process):
    return int(open(f'/proc/{process}/autogroup').read().split()[-1])


child = os.fork()
if child == 0:
    os.setsid()
    time.sleep(9999)
while niceness(child) != 19:  # or until the cell's time is up
    time.sleep(0.05)
print(niceness('self'), niceness(child))
"""
    assert texts(tmp_path, source) == ["5 19\n"]


def test_two_kernels_do_not_draw_the_same_numbers_and_torch_is_as_in_a_fresh_process(tmp_path):
    source = "import numpy, torch; print(numpy.random.rand(), torch.initial_seed())"
    (first,), (second,) = texts(tmp_path, source), texts(tmp_path, source)
    assert first.split()[0] != second.split()[0]
    assert first.split()[1] == second.split()[1]


def test_a_fork_server_that_dies_takes_no_kernel_with_it_and_is_started_again(tmp_path, monkeypatch, given_orphans):
    launch = SandboxProvisioner.launch_kernel

    async def launch_and_kill(*arguments, **more):
        found = await launch(*arguments, **more)
        os.kill(SERVER._process.pid, signal.SIGKILL)
        SERVER._process.wait()
        return found

    monkeypatch.setattr(provisioner, "END_S", 3600)
    with monkeypatch.context() as patch:
        patch.setattr(SandboxProvisioner, "launch_kernel", launch_and_kill)
        assert texts(tmp_path, "print(1)") == ["1\n"]
    assert texts(tmp_path, "print(2)") == ["2\n"]
    assert "bwrap" not in [one.name() for one in psutil.Process().children()]


@pytest.mark.parametrize(
    ("platform", "path", "said"),
    [
        ("linux", "/nowhere", r"(?s)Debian, Ubuntu: sudo apt-get install .*Fedora: .*--no-sandbox"),
        ("linux", "{}:/usr/bin:/bin", r"(?s)No permissions to create new namespace.*sysctl.*--no-sandbox"),
        ("darwin", "{}", r"macOS: *in a container"),
    ],
    ids=["no bubblewrap", "no namespaces", "macOS"],
)
def test_without_a_sandbox_grading_stops_and_says_what_to_do(
    tmp_path, monkeypatch, no_memory_of_the_machine, platform, path, said
):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho bwrap: No permissions to create new namespace >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", path.format(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(ClassError, match=said):
        list(grade(tmp_path, NAME))


def test_on_windows_the_command_says_where_to_grade(tiny, tmp_path):
    """Imitates Windows: without modules that Windows lacks, and with its name once everything is imported."""
    program = (
        "import sys, distributed\n"  # with psutil and locket, which differ on Windows
        "for name in ('fcntl', 'resource', 'termios', 'grp', 'pty', 'readline', 'syslog'):\n"
        "    sys.modules[name] = None\n"
        "import autograder.run.grade, autograder.settings\n"  # imported when a command runs
        "from autograder.__main__ import main\n"
        "sys.platform = 'win32'\n"
        f"sys.exit(main(['--class', {str(tiny.folder)!r}, 'grade', {NAME!r}]))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 1
    assert re.search(r"which Windows does not have.*(?s:.*)Windows: *in WSL 2", run.stderr)
    assert "Traceback" not in run.stderr


def test_a_class_that_every_submission_could_read_is_refused():
    with pytest.raises(ClassError, match="/usr/share/class is inside /usr, which submissions can read"):
        machine.require_hidden(Path("/usr/share/class"))


def test_only_the_flag_turns_the_sandbox_off(tiny, monkeypatch, said, no_memory_of_the_machine):
    tiny.hand_in("anna", RIGHT)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "Install it" in said(tiny, "grade", NAME, code=1)
    said(tiny, "grade", NAME, "--no-sandbox")
    assert tiny.points("anna") == [2, 3]
