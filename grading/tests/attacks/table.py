"""Hostile and broken submissions of the tiny class, by name, each with its honest twin.

An attack is code in the cell of `pull_back`, before a wrong `pull_back`, or a change of the
submitted notebook or folder. Its twin is the most similar honest code, before a correct
`pull_back`, and must get full marks. An attack on a chapter's exercise is a wrong answer to it that tampers with what its
check sees, and its twin is a correct answer. Every bomb ends by itself: if the sandbox fails, the test fails, but not the
machine.
"""

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from tiny_class import PULL_BACK, RIGHT, cell_of

from gradlab.checks.record import Record

from .exercises import EVIDENCE, FAST

NOTHING = [0, 1.5]  # check-2 contains a separate check and one that uses pull_back
UNGRADED = [None, None]

WRONG = "def pull_back(x, v):\n    return x\n"

Change = Callable[[NotebookNode], None]
Files = Callable[[Path, Path], None]  # changes the submission's and the class's folders


@dataclass(frozen=True)
class Attack:
    """An attack. source: the start of answer-1. answer: the rest. points: the required result. fast: part of make test.

    exercise: the exercise of a chapter that it answers instead; then the required result is no point for this exercise.
    """

    source: str = ""
    twin: str = ""
    points: tuple = tuple(NOTHING)
    answer: str = WRONG
    change: Change | None = None
    files: Files | None = None
    twin_change: Change | None = None
    twin_files: Files | None = None
    fast: bool = False
    exercise: str = ""

    def answers(self, honest: bool) -> dict[str, str]:
        """Return the answers of the attack or of its twin."""
        if self.exercise:
            return {f"answer-{self.exercise.replace('.', '-')}": self.twin if honest else self.source}
        text = f"{self.twin}\n\n\n{PULL_BACK}" if honest else f"{self.source}\n\n\n{self.answer}"
        return RIGHT | {"answer-1": text.strip("\n")}


SEEN = '{"values": [0.5], "error": None, "mutated": []}'
SHOW = """
from IPython.display import display
from gradlab.checks.check import OBSERVATION_MIME


def show(seen, check="90.1"):
    display({OBSERVATION_MIME: {"check": check, "observations": seen}}, raw=True)
"""

COMPARISONS = {  # nothing is compared in the student's process
    "an object that equals everything": Attack(
        "class Yes:\n    __eq__ = lambda self, other: True\n    __neg__ = lambda self: self\n    __hash__ = None\n\n\n"
        "torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True",
        "class Mine:\n    __eq__ = lambda self, other: type(other) is Mine\n\n\n"
        "assert torch.allclose(torch.ones(1), torch.ones(1))",
        answer="pull_back = lambda x, v: Yes()",
        fast=True,
    ),
    "Tensor.tolist patched": Attack(
        "torch.Tensor.tolist = lambda self: []",
        "assert torch.ones(1).tolist() == [1.0]",
        points=(0, 0),
    ),
}

CHECKER = {
    "gradlab.check and the verdict replaced": Attack(
        "import gradlab, gradlab.checks.messages as m, gradlab.checks.verdict as r, gradlab.checks.check as c\n"
        "gradlab.check = c.check = lambda *a, **k: print('passed')\n"
        "c.judge_check = r.judge_check = lambda *a: r.Verdict(m.Feedback('', 'passed'))",
        "import gradlab\nfrom gradlab.checks.verdict import Verdict\nhelp_of = gradlab.check.__doc__",
        fast=True,
    ),
    "check of the notebook replaced": Attack(  # no observation, no points: as after any other way to suppress it
        "def check(*args, **kwargs):\n    print('90.1 passed')",
        "def check_mine(*args):\n    return True",
        points=(0, 0),
    ),
    "the observer replaced": Attack(
        f"import gradlab.checks.check\ngradlab.checks.check.observe = lambda *a: {SEEN}",
        "from gradlab.checks.observe import observe",
        points=(0, 0),
    ),
    "a class of the setup cell under its own name": Attack(  # if the check used it, 90.2 would fail too
        "class Scaled(Scaled):\n    def of(self, tensor):\n        return 0",
        "class Scaled(Scaled):\n    pass",
        fast=True,
    ),
    "an import of the setup cell replaced": Attack(
        "class torch:\n    def __getattr__(self, name):\n        raise RuntimeError",
        "import torch as t\n\ntorch = t",
        points=(0, 0),
    ),
    "an input transformer": Attack(
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['print(2.0)'])",
        "%time None",
        points=(0, 0),
        fast=True,
    ),
}

FORGERIES = {
    "a score as result": Attack(
        "get_ipython().events.register('post_execute', lambda: display(2.0))", "2.0", fast=True
    ),
    "observations from another cell": Attack(f"{SHOW}\n\nshow([{SEEN}] * 2)", "print('90.1 passed')", fast=True),
    "observations of another check": Attack(
        f"{SHOW}\n\ndef pull_back(x, v):\n    show([{SEEN}] * 3, '90.2')\n    return x",
        "print('90.2')",
        answer="",
        points=(0, 0),
    ),
    "every observation sent twice": Attack(
        "pub = get_ipython().display_pub\nold = pub.publish\n\n\ndef twice(*a, **k):\n    old(*a, **k)\n    old(*a, **k)\n\n\n"
        "pub.publish = twice",
        "display('once')\ndisplay('once')",
        answer=PULL_BACK,
        points=(0, 0),
    ),
    "observations too many, nested deeply, and huge": Attack(
        f"{SHOW}\n\nseen = []\nfor _ in range(500):\n    seen = [seen]\n"
        f"made = {{'90.1': [{SEEN}] * 3, '90.2': [{{'values': [seen], 'error': None, 'mutated': []}}] * 3, "
        "'90.3': 'x' * 3_000_000}\n\n\n"
        "def check(name, *args, **kwargs):\n    show(made[name[:4]], name[:4])",
        "nested = [[[[1]]]]\ntext = 'x' * 3_000_000",
        points=(0, 0),
    ),
    "observations without a form": Attack(
        f"{SHOW}\n\ndef check(name, *args, **kwargs):\n    show([[[None]]] * 2, name[:4])\n"
        "    display({OBSERVATION_MIME: '{not json'}, raw=True)",
        "display([[None]])\ndisplay({'application/json': '{}'}, raw=True)",
        points=(0, 0),
    ),
}

READING = {
    "reads what was expected, or cases before their check": Attack(
        "import json, pathlib\nrecord = json.loads(next(pathlib.Path().glob('*.record.json')).read_text())\n"
        "checks = record['checks']\nif checks['90.1'].get('expected') or checks['90.1'].get('slips'):\n    WIN\n"
        "if any(check.get('cases') for check in checks.values()):\n    WIN",
        "import json, pathlib\nrecord = json.loads(next(pathlib.Path().glob('*.record.json')).read_text())\n"
        "assert '90.1' in record['checks']",
        fast=True,
    ),
    "searches its own memory for answers": Attack(
        "import gc\nif any('@' + 'reference' in source for source in In):\n    WIN\n"
        "if any(isinstance(o, dict) and isinstance(o.get('expected'), list) and o['expected'] for o in gc.get_objects()):\n    WIN",
        "import gc\ngc.collect()\nassert 'import torch' in In[1]",
    ),
    "reads the gradebook": Attack(
        "import sqlite3\nsqlite3.connect('file:FOLDER/gradebook.db?mode=ro', uri=True).execute('select * from grade')\nWIN",
        "import sqlite3\nsqlite3.connect(':memory:').execute('select 1')",
        fast=True,
    ),
    "reads files, environments and commands through /proc": Attack(
        "import glob\nfor path in glob.glob('/proc/[0-9]*/root/FOLDER/gradebook.db') + "
        "glob.glob('/proc/[0-9]*/cwd/gradebook.db'):\n    WIN\n"
        "for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n    try:\n"
        "        if 'SECRET' in open(path).read():\n            WIN\n    except PermissionError:\n        pass",
        "import os\nassert os.environ['HOME']\nopen('/proc/self/status').read()\nopen('/proc/self/cmdline').read()",
    ),
    "watches the class folder": Attack(
        "import ctypes\nc = ctypes.CDLL(None)\nif c.inotify_add_watch(c.inotify_init(), b'FOLDER/submitted', 0x100) >= 0:\n    WIN",
        "import ctypes\nc = ctypes.CDLL(None)\nassert c.inotify_add_watch(c.inotify_init(), b'.', 0x100) >= 0",
    ),
    "the first process of its sandbox": Attack(
        "import ctypes, os\nfor pid in (1, 2):\n    if ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0:\n        WIN\n"
        "open(f'/proc/{os.getppid() or 1}/mem', 'rb').read(1)\nWIN",
        "import ctypes\nopen('/proc/self/statm').read()",
    ),
    "looks for a neighbour's kernel": Attack(
        "import os\nif [p for p in os.listdir('/run/kernel') if p not in {'connection.json', *(f's-{n}' for n in range(1, 6))}]:\n"
        "    WIN",
        "import os\nos.listdir('/tmp')",
    ),
}

WRITING = {
    "changes the gradebook": Attack(
        "import os, sqlite3\ntry:\n    os.chmod('FOLDER/gradebook.db', 0o644)\n    WIN\nexcept OSError:\n    pass\n"
        "c = sqlite3.connect('FOLDER/gradebook.db')\nc.execute('update grade set manual_score = 2')\nc.commit()",
        "import os, sqlite3\nc = sqlite3.connect('own.db')\nc.execute('create table t (x)')\nos.chmod('own.db', 0o600)",
        fast=True,
    ),
    "leaves files": Attack(
        "import os, pathlib, torch\nopen('/tmp/MARK', 'w').write('x')\n"
        "folder = os.path.expanduser('~/.ipython/profile_default/startup')\nos.makedirs(folder, exist_ok=True)\n"
        "open(folder + '/mark.py', 'w').write('check = print')\n"
        "(pathlib.Path(torch.__file__).parents[1] / 'MARK.pth').write_text('import os')",
        "import os, tempfile\ntempfile.mkdtemp()\n"
        "assert not os.path.exists(os.path.expanduser('~/.ipython/profile_default/startup/mark.py'))",
    ),
    "deletes everything": Attack(
        "import subprocess\nsubprocess.run('rm -rf --no-preserve-root FOLDER /home /tmp/* 2>/dev/null', shell=True)",
        "import os\nopen('own', 'w').close()\nos.remove('own')",
    ),
}

NETWORK = {
    "ports and sockets outside": Attack(
        "import socket\nunix, datagram = socket.AF_UNIX, socket.SOCK_DGRAM\nfor reach in (\n"
        "    lambda: socket.create_connection(('127.0.0.1', PORT), 2),\n"
        "    lambda: socket.socket(unix).connect('\\0MARK'),\n"
        "    lambda: socket.socket(unix).connect('FOLDER/socket'),\n"
        "    lambda: socket.socket(unix, datagram).sendmsg([b'x'], [], 0, 'FOLDER/log'),\n"
        "):\n    try:\n        reach()\n        WIN\n    except OSError:\n        pass",
        "import socket\nsocket.gethostname()\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendmsg([b'x'])",
        fast=True,
    ),
    "links instead of the kernel's sockets": Attack(
        "import os\nfor n in range(1, 6):\n    os.rename(f'/run/kernel/s-{n}', f'/run/kernel/old-{n}')\n"
        "    os.symlink('FOLDER/socket', f'/run/kernel/s-{n}')\nos._exit(0)",
        "import os\nos.symlink('/etc/hostname', 'link')",
        fast=True,
    ),
}

LOOP = "import time\nend = time.monotonic() + 600\n"  # the grader must end it, however little processor time it gets

GRADIENT = """def gradient(x, v):
    import torch
    with torch.inference_mode(False):
        leaf = x.detach().clone().requires_grad_()
        return 3 * (leaf**2).grad_fn(v).detach()"""
BY_GRADIENT = "def pull_back(x, v):\n    return gradient(x, v)"
SIX = "def six(x):\n    return 6 * x"
ELSEWHERE = (0, 3)  # right values, which 90.3 accepts


def _disguise(source: str, twin: str, answer: str = BY_GRADIENT, **more) -> "Attack":
    return Attack(source, twin, ELSEWHERE, answer, **more)


BY_HAND = {
    "a module written at run time": _disguise(
        f"import sys\nsys.path.append('/tmp')\nopen('/tmp/made.py', 'w').write({GRADIENT!r})\nfrom made import gradient",
        f"import sys\nsys.path.append('/tmp')\nopen('/tmp/made.py', 'w').write({SIX!r})\nfrom made import six",
    ),
    "a mode of torch left on": _disguise(
        f"from torch.overrides import TorchFunctionMode\n{GRADIENT}\n\n\nclass Instead(TorchFunctionMode):\n"
        "    def __torch_function__(self, function, types, args=(), kwargs=None):\n"
        "        if function is torch.atan2:\n            with torch._C.DisableTorchFunction():\n"
        "                return gradient(*args)\n"
        "        return function(*args, **(kwargs or {}))\n\n\nInstead().__enter__()",
        "from torch.overrides import TorchFunctionMode\n\n\nclass Counts(TorchFunctionMode):\n    pass",
        answer="def pull_back(x, v):\n    return torch.atan2(x, v)",
    ),
    "a name computed in another cell": _disguise(
        "",
        "import math\nhelper = getattr(math, 'sq' + 'rt')",
        answer="def pull_back(x, v):\n    return torch.mine(x, v)",
        change=lambda nb: _insert_before_check(nb, f"{GRADIENT}\n\n\nsetattr(torch, 'mi' + 'ne', gradient)"),
        twin_change=lambda nb: _insert_before_check(nb, "setattr(torch, 'mi' + 'ne', 6)"),
        fast=True,
    ),
}

BOMBS = {
    "memfds": Attack(
        "import os\nfds = [os.memfd_create('x') for _ in range(32)]\n"
        "for fd in fds:\n    os.write(fd, b'x' * (60 << 20))\nWIN",
        "import tempfile\nfile = tempfile.TemporaryFile()\nfile.write(b'x' * (20 << 20))",
        fast=True,
    ),
    "shared memory, also of the device of zeros": Attack(
        "import mmap\nfor opened in (lambda: None, lambda: open('/dev/zero', 'r+b')):\n    try:\n        file = opened()\n"
        "        blocks = [mmap.mmap(file.fileno() if file else -1, 60 << 20) for _ in range(32)]\n"
        "    except OSError:\n        continue\n"
        "    for block in blocks:\n        block.write(b'x' * (60 << 20))\n        block.madvise(mmap.MADV_DONTNEED)\n    WIN",
        "from multiprocessing import Array, Value\nnumbers = Array('d', 1000)\nvalue = Value('i')\n"
        "assert open('/dev/zero', 'rb').read(1000) == bytes(1000)",
    ),
    "what nobody reads from sockets": Attack(
        "import os, socket, time\nfor _ in range(40):\n    if os.fork() == 0:\n        held = []\n        try:\n"
        "            while True:\n                held.append(socket.socketpair())\n                for one in held[-1]:\n"
        "                    one.setblocking(False)\n                    try:\n                        while True:\n"
        "                            one.send(b'x' * 65536)\n                    except BlockingIOError:\n"
        "                        pass\n        except OSError:\n            time.sleep(20)\n        os._exit(0)\n"
        "time.sleep(3)\nWIN",
        "import socket\nheld = [socket.socketpair() for _ in range(60)]\nfor one, other in held:\n    one.send(b'x')\n"
        "    assert other.recv(1) == b'x'",
    ),
    "tables of pages": Attack(
        "import mmap, os, pathlib, time\nfor _ in range(55):\n    if os.fork() == 0:\n"
        "        block = mmap.mmap(-1, 15 << 30, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)\n"
        "        for at in range(0, 15 << 30, 2 << 20):\n            block[at]\n        time.sleep(9)\n        os._exit(0)\n"
        "time.sleep(3)\ntexts = [path.read_text() for path in pathlib.Path('/proc').glob('[0-9]*/status')]\n"
        "if sum(int(text.split('VmPTE:')[1].split()[0]) for text in texts) > 1600 << 10:\n    WIN",
        "import mmap\nblock = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)\nassert block[4 << 30] == 0",
    ),
    "fork bomb": Attack(
        "import os, time\nfor _ in range(300):\n    if os.fork() == 0:\n        time.sleep(20)\n        os._exit(0)",
        "import os\npid = os.fork()\nif pid == 0:\n    os._exit(0)\nos.waitpid(pid, 0)",
    ),
    "memory bomb": Attack(
        "blocks = [bytearray(b'x' * (64 << 20)) for _ in range(48)]", "block = bytearray(b'x' * (64 << 20))", fast=True
    ),
    "files at home, huge, many, and open": Attack(
        "import os\n\n\ndef fill():\n    for n in range(12):\n"
        "        open(os.path.expanduser(f'~/{n}'), 'wb').write(b'x' * (60 << 20))\n\n\n"
        "for use in (lambda: open('big', 'wb').write(b'x' * (100 << 20)), lambda: [open('/dev/null') for _ in range(5000)], fill):\n"
        "    try:\n        use()\n        WIN\n    except OSError:\n        pass",
        "import os\nopen(os.path.expanduser('~/n'), 'wb').write(b'x' * (20 << 20))\nfiles = [open('/dev/null') for _ in range(99)]",
    ),
    "endless loop": Attack(LOOP + "while time.monotonic() < end:\n    pass", "import time\ntime.sleep(0.5)", fast=True),
    "interrupts ignored": Attack(
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        + LOOP
        + "while time.monotonic() < end:\n    pass",
        "import signal\nold = signal.getsignal(signal.SIGINT)\nsignal.signal(signal.SIGINT, old)",
    ),
    "a stopped kernel": Attack(
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "import os\nos.kill(os.getpid(), 0)"
    ),
    "endless output": Attack(
        "print('x' * 30_000_000)\n" + LOOP + "while time.monotonic() < end:\n    print('x' * 1000)",
        "print('x' * 300_000)",
    ),
    "endless recursion": Attack(
        "import sys\nsys.setrecursionlimit(10**9)\n\n\ndef f():\n    f()\n\n\nf()",
        "import sys\nsys.setrecursionlimit(5000)",
    ),
}

READERS = {  # takes quadratic time to read
    "blank lines": Attack(
        answer="x = 1" + "\n" * 100_000 + "y = 2",
        twin="x = 1" + "\n" * 3_000 + "y = 2",
    ),
    "brackets in a syntax error": Attack(
        "raise SyntaxError(' (' * 300_000)",
        "try:\n    compile('(', '', 'exec')\nexcept SyntaxError:\n    pass",
    ),
}

KEYCTL = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
CUT_OFF = """kernel = get_ipython().kernel
kernel.session.send(kernel.shell_stream, "execute_reply", {"x": "y" * 9_000_000}, ident=kernel._parent_ident["shell"])"""

DEATHS = {
    "a segment of System V, and the session's keyring": Attack(
        "import ctypes\nlibrary = ctypes.CDLL(None)\nif library.shmget(0, 60 << 20, 0o1600) >= 0:\n    WIN\n"
        f"if library.syscall({KEYCTL}, 0, -3, 0) >= 0:\n    WIN",
        "import ctypes\nctypes.CDLL(None).getpid()\nshared = torch.ones(1000).share_memory_()",
        fast=True,
    ),
    "a message that cuts the client off": Attack(CUT_OFF, "kernel = get_ipython().kernel"),
    "sys.exit": Attack("import sys\nsys.exit(0)", "try:\n    raise SystemExit\nexcept SystemExit:\n    pass"),
    "another program": Attack(
        "import os\nos.execv('/bin/true', ['true'])", "import subprocess\nsubprocess.run(['/bin/true'])"
    ),
    "kills its parent": Attack(
        "import os, signal\nfor pid in (os.getppid(), 1, 2, -1):\n    try:\n        os.kill(pid, signal.SIGKILL)\n"
        "    except (PermissionError, ProcessLookupError):\n        pass",
        "import os\nos.getppid()",
    ),
    "the limits and the priority of the grader": Attack(
        "import os, resource\nfor act in (lambda: os.sched_setaffinity(PID, os.sched_getaffinity(PID)),\n"
        "            lambda: resource.prlimit(PID, resource.RLIMIT_CPU, resource.prlimit(PID, resource.RLIMIT_CPU))):\n"
        "    try:\n        act()\n        WIN\n    except OSError:\n        pass",
        "import os, resource\nos.sched_setaffinity(0, os.sched_getaffinity(0))\nresource.prlimit(0, resource.RLIMIT_CPU)",
    ),
    "a daemon that hops from process to process": Attack(
        "import os\n"
        + LOOP
        + "if os.fork() == 0:\n    while time.monotonic() < end:\n        if os.fork():\n            os._exit(0)\n    os._exit(0)",
        "import os, subprocess\nif os.fork() == 0:\n    os._exit(0)\nsubprocess.run(['sleep', '0.01'], start_new_session=True)",
        fast=True,
    ),
    "closed sockets": Attack("import os\nos.closerange(3, 500)", "import os\nos.close(os.open('/dev/null', 0))"),
    "a thread that goes on": Attack(
        f"{SHOW}\n\nimport threading, time\n\n\ndef later():\n    for _ in range(100):\n        time.sleep(0.01)\n"
        f"        show([{SEEN}] * 2)\n\n\nthreading.Thread(target=later, daemon=True).start()",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(5,), daemon=True).start()",
    ),
}


def _write(name: str, text: str) -> Files:
    return lambda folder, class_folder: (folder / name).write_text(text)


FILES = {
    "a hard link to the gradebook": Attack(
        files=lambda folder, class_folder: os.link(class_folder / "gradebook.db", folder / "a.db"),
        twin_files=_write("a.db", "x"),
        points=tuple(UNGRADED),
    ),
    "a pipe": Attack(
        files=lambda folder, class_folder: os.mkfifo(folder / "pipe"),
        twin_files=_write("pipe", ""),
        points=tuple(UNGRADED),
    ),
    "a gradlab of its own": Attack(
        files=_write("gradlab.py", "def check(*a, **k):\n    print('passed')\n\n\nsummary = check\n"),
        twin_files=_write("helpers.py", "x = 1"),
    ),
    "a record of its own": Attack(
        files=_write("00.record.json", Record("x", {}).to_json()),
        twin_files=_write("00.json", "{}"),
    ),
    "names with line breaks, and like options": Attack(
        files=lambda folder, class_folder: [(folder / name).touch() for name in ("наме 名 \n é", "--bind")],
        twin_files=lambda folder, class_folder: [(folder / name).touch() for name in ("naïve 名.txt", "-x")],
    ),
    "a link whose name is no text": Attack(
        files=lambda folder, class_folder: (folder / os.fsdecode(b"\xff")).symlink_to("/etc/passwd"),
        twin_files=lambda folder, class_folder: (folder / os.fsdecode(b"na\xefve.txt")).touch(),
        points=tuple(UNGRADED),
        fast=True,
    ),
}


def _insert_before_check(nb: NotebookNode, source: str) -> None:
    nb.cells.insert(nb.cells.index(cell_of(nb, "check-1")), nbformat.v4.new_code_cell(source))


def _rewritten(nb: NotebookNode) -> None:
    check = cell_of(nb, "check-1")
    check.source = "2.0"
    check.metadata.nbgrader.update(locked=False, grade=False, points=100)


def _as_passed(nb: NotebookNode) -> None:
    check = cell_of(nb, "check-1")
    data = {"text/plain": "2.0"}
    check.outputs.append(nbformat.v4.new_output("execute_result", data, execution_count=1))
    check.metadata.update(autograder={"90.1": {"feedback": {"title": "90.1", "state": "passed"}}})
    nb.metadata.update(autograder={"could_not_grade": "ill"})


CELLS = {
    "check rewritten, unlocked, for a hundred points": Attack(
        change=_rewritten, twin_change=lambda nb: None, fast=True
    ),
    "marked as passed, and as not gradable": Attack(change=_as_passed, twin_change=_as_passed, fast=True),
}

# An answer knows its own cases, those of earlier checks, and the record beside it while its check runs
SPY = """
import pathlib, re

kept, mark = [], "LE" + "AKED"


def seen():
    record = next(pathlib.Path().glob("*.record.json")).read_text()
    numbers = [n for one in kept for n in one.flatten().tolist()] + re.findall(r"-?\\d+\\.\\d+", record)
    return " ".join(f"{mark}{n}" for n in numbers)


class Ends(BaseException):
    pass"""
NO_MESSAGES = """kernel = get_ipython().kernel
display("a", display_id="a")
for kind, said in (
    ("stream", {"name": "stdout", "text": {"a": seen()}}),
    ("display_data", {"data": seen(), "metadata": {}}),
    ("error", {"ename": "E", "evalue": "e", "traceback": {seen(): 1}}),
    ("update_display_data", {"data": {}, "metadata": {}, "transient": {"display_id": [seen()]}}),
    ("update_display_data", {"data": {"text/plain": {"a": seen()}}, "metadata": {}, "transient": {"display_id": "a"}}),
    (seen(), {"a": 1}),
):
    kernel.session.send(kernel.iopub_socket, kind, said, kernel.get_parent())"""


def _leaving(line: str = "return v", second: str = "", last: str = "", points: tuple = tuple(NOTHING)) -> Attack:
    """Return an attack whose first answer ends with `line`; second: replaces answer-2. last: a cell after the checks."""

    def change(nb):
        if second:
            cell_of(nb, "answer-2").source = second
        nb.cells.append(nbformat.v4.new_code_cell(last))

    return Attack(
        SPY,
        "kept, mark = [], 'kept'",
        answer=f"def pull_back(x, v):\n    kept.append(x)\n    {line}",
        points=(0, 0) if second else points,
        change=change,
        twin_change=lambda nb: nb.cells.append(nbformat.v4.new_code_cell("print(mark, pull_back(torch.ones(2), 1.0))")),
    )


LEAVING = {
    "an error's message": dataclasses.replace(_leaving("raise ValueError(seen())"), fast=True),
    "an error's name": _leaving("raise type(seen(), (Exception,), {})"),
    "an error that ends the check": _leaving("raise Ends(seen())"),
    "an error of the grader": _leaving("raise type('CellTimeoutError', (Ends,), {})(seen())"),
    "an undefined name": _leaving("raise type('NameError', (Ends,), {})(f\"name '{seen()}' is not defined\")"),
    "a text": _leaving("return seen()"),
    "a dict's keys": _leaving("return {seen(): 1}"),
    "a type's name": _leaving("return type(seen(), (), {})()"),
    "a tensor's class": _leaving("return x.as_subclass(type(seen(), (torch.Tensor,), {}))"),
    "a line of code": _leaving(
        "exec(compile(f'raise ValueError  # {seen()}', pull_back.__code__.co_filename, 'exec'))"
    ),
    "the kept lines of its file": _leaving(
        "import linecache; linecache.cache[pull_back.__code__.co_filename] = (1, None, [seen()] * 99, ''); 1 / 0"
    ),
    "output": _leaving("print(seen()); return v", last="print(seen())\ndisplay(seen())"),
    "a later answer's error": dataclasses.replace(_leaving(second="raise ValueError(seen())"), fast=True),
    "an error that looks like bad syntax": _leaving(
        "raise Ends",
        "raise type('SyntaxError', (Exception,), {})(seen() + ' (line 1)')\n\n\ndef pull_back():\n    pass",
    ),
    "messages that no kernel sends": _leaving(last=NO_MESSAGES),
    "half a character": _leaving(
        "display(chr(0xD800)); raise type('E', (Exception,), {})(chr(0xD800) + seen())",
        last="import json\nkernel = get_ipython().kernel\nkernel.session.pack = lambda said: json.dumps(said, default=str)"
        ".encode()\nprint(chr(0xD800))\nraise ValueError(chr(0xD800) + seen())",
    ),
}

ROOMS = {
    "comparison": COMPARISONS,
    "checker": CHECKER,
    "forgery": FORGERIES,
    "reading": READING,
    "writing": WRITING,
    "network": NETWORK,
    "by hand": BY_HAND,
    "bomb": BOMBS,
    "reader": READERS,
    "death": DEATHS,
    "files": FILES,
    "cells": CELLS,
    "leaving": LEAVING,
    "evidence": {f"{one}: {name}": Attack(*texts, exercise=one, fast=name in FAST) for one, name, *texts in EVIDENCE},
}
ATTACKS = {f"{room}: {name}": attack for room, attacks in ROOMS.items() for name, attack in attacks.items()}
