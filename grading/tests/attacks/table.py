"""Hostile and broken submissions of the tiny class, by name, each with its honest twin.

An attack is code in the cell of `pull_back`, before a wrong `pull_back`, or a change of the
submitted notebook or folder. Its twin is the most similar honest code, before a correct
`pull_back`, and must get full marks. An attack on a chapter's exercise is a wrong answer to it that tampers with what its
check sees, and its twin is a correct answer. Every bomb ends by itself: if the sandbox fails, the test fails, but not the
machine.
"""

import dataclasses
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from tiny_class import NAME, PULL_BACK, RIGHT

from gradlab.checks.record import Record

from .exercises import EVIDENCE, FAST

NOTHING = [0, 1.5]  # check-2 contains a separate check and one that uses pull_back
ALL = [2, 3]
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

COMPARISONS = {
    "an object that equals everything": Attack(
        "class Yes:\n    __eq__ = lambda self, other: True\n    __neg__ = lambda self: self\n    __hash__ = None",
        "class Mine:\n    __eq__ = lambda self, other: type(other) is Mine",
        answer="pull_back = lambda x, v: Yes()",
        fast=True,
    ),
    "a tensor that equals everything": Attack(
        "class Yes(torch.Tensor):\n    def __eq__(self, other):\n        return torch.ones(1, dtype=torch.bool)",
        "class Named(torch.Tensor):\n    pass",
        answer="pull_back = lambda x, v: torch.zeros_like(x).as_subclass(Yes)",
    ),
    "torch.allclose patched": Attack(
        "torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True",
        "assert torch.allclose(torch.ones(1), torch.ones(1))",
    ),
    "Tensor.tolist patched": Attack(
        "torch.Tensor.tolist = lambda self: []",
        "assert torch.ones(1).tolist() == [1.0]",
        points=(0, 0),
    ),
}

CHECKER = {
    "gradlab.check replaced": Attack(
        "import gradlab, gradlab.checks.check\ngradlab.check = gradlab.checks.check.check = lambda *a, **k: print('passed')",
        "import gradlab\nhelp_of = gradlab.check.__doc__",
        fast=True,
    ),
    "check of the notebook replaced": Attack(
        "def check(*args, **kwargs):\n    print('90.1 passed')",
        "def check_mine(*args):\n    return True",
        points=(0, 0),
    ),
    "a check that reports something else": Attack(
        f"{SHOW}\n\ndef check(name, *args, **kwargs):\n    show([{SEEN}] * 2, name[:4])",
        "def report(*values):\n    print(*values)",
        points=(0, 0),
    ),
    "the verdict replaced": Attack(
        "import gradlab.checks.messages as m, gradlab.checks.verdict as r, gradlab.checks.check as c\nc.judge_check = r.judge_check = lambda *a: r.Verdict(m.Feedback('', 'passed'))",
        "from gradlab.checks.verdict import Verdict",
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
    "errors swallowed": Attack(
        "get_ipython().showtraceback = lambda *a, **k: None",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass",
        answer="pull_back = None",
    ),
}

IPYTHON = {
    "an input transformer": Attack(
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['print(2.0)'])",
        "%time None",
        points=(0, 0),
        fast=True,
    ),
    "do_execute replaced": Attack(
        "async def do(*a, **k):\n    return {'status': 'ok', 'execution_count': 1, 'user_expressions': {}, 'payload': []}\n\n\n"
        "get_ipython().kernel.do_execute = do",
        "get_ipython().kernel",
        points=(0, 0),
    ),
    "a hook that prints a score": Attack(
        "get_ipython().events.register('post_run_cell', lambda result: print(2.0))",
        "get_ipython().events.register('post_run_cell', lambda result: None)",
    ),
    "the display publisher replaced": Attack(
        "get_ipython().display_pub.publish = lambda *a, **k: None",
        "display('hello')",
        points=(0, 0),
    ),
    "every observation sent twice": Attack(
        "pub = get_ipython().display_pub\nold = pub.publish\n\n\ndef twice(*a, **k):\n    old(*a, **k)\n    old(*a, **k)\n\n\n"
        "pub.publish = twice",
        "display('once')\ndisplay('once')",
        answer=PULL_BACK,
        points=(0, 0),
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
    "the attributes of a reference by torch": Attack(
        "",
        "def pull_back():\n    pass\n\n\npull_back.tensor = torch.tensor",
        answer="def pull_back(x, v):\n    return x\n\n\npull_back.tensor = pull_back.answer = lambda *a, **k: 6 * a[0] * a[1]",
    ),
    "an observation too many": Attack(
        f"{SHOW}\n\ndef check(name, *args, **kwargs):\n    show([{SEEN}] * 3, name[:4])",
        "def report(*values):\n    print(*values)",
        points=(0, 0),
    ),
    "an observation without a form": Attack(
        f"{SHOW}\n\ndef check(name, *args, **kwargs):\n    show([[[None]]] * 2, name[:4])",
        "display([[None]])",
        points=(0, 0),
    ),
    "a deeply nested observation": Attack(
        f"{SHOW}\n\nseen = []\nfor _ in range(500):\n    seen = [seen]\n\n\n"
        "def check(name, *args, **kwargs):\n    show([{'values': [seen], 'error': None, 'mutated': []}] * 2, "
        "name[:4])",
        "nested = [[[[1]]]]",
        points=(0, 0),
    ),
    "a huge observation": Attack(
        f"{SHOW}\n\ndef pull_back(x, v):\n    show('x' * 3_000_000)\n    return x",
        "text = 'x' * 3_000_000",
        answer="",
        points=(0, 0),
    ),
    "an observation that is no JSON": Attack(
        f"{SHOW}\n\ndef pull_back(x, v):\n    display({{OBSERVATION_MIME: '{{not json'}}, raw=True)\n    return x",
        "display({'application/json': '{}'}, raw=True)",
        answer="",
    ),
    "observations overwritten afterwards": Attack(
        "from IPython.display import display, update_display\n\n\ndef pull_back(x, v):\n"
        "    display('a', display_id='one')\n    update_display({'application/vnd.gradlab.observation+json': {'check': '90.1', "
        f"'observations': [{SEEN}] * 2}}}}, raw=True, display_id='one')\n    return x",
        "from IPython.display import update_display",
        answer="",
    ),
    "outputs cleared": Attack(
        "from IPython.display import clear_output\nget_ipython().events.register('post_run_cell', lambda r: clear_output())",
        "from IPython.display import clear_output\nclear_output()",
        points=(0, 0),
    ),
    "a record with the wanted answers": Attack(
        "import json, pathlib\nfor path in pathlib.Path().glob('*.record.json'):\n    path.write_text('{}')",
        "import json, pathlib\nrecord = json.loads(next(pathlib.Path().glob('*.record.json')).read_text())",
    ),
}

READING = {
    "reads the notebook": Attack(
        "import glob\nfound = glob.glob('/**/*.ipynb', recursive=True)[:1]\n"
        "if [f for f in glob.glob('*.ipynb') + glob.glob('/home/**/*.ipynb', recursive=True)]:\n    WIN",
        "import glob\nglob.glob('*')",
    ),
    "reads what was expected": Attack(
        "import json, pathlib\nrecord = json.loads(next(pathlib.Path().glob('*.record.json')).read_text())\n"
        "if record['checks']['90.1']['expected'] or record['checks']['90.1']['slips']:\n    WIN",
        "import pathlib\nassert list(pathlib.Path().glob('*.record.json'))",
        fast=True,
    ),
    "reads the cases before their check": Attack(
        "import json, pathlib\nrecord = json.loads(next(pathlib.Path().glob('*.record.json')).read_text())\n"
        "if any(check.get('cases') for check in record['checks'].values()):\n    WIN",
        "import json, pathlib\nrecord = json.loads(next(pathlib.Path().glob('*.record.json')).read_text())\n"
        "assert '90.1' in record['checks']",
    ),
    "reads In": Attack(
        "if any('@' + 'reference' in source for source in In):\n    WIN", "assert 'import torch' in In[1]"
    ),
    "reads the gradebook": Attack(
        "import sqlite3\nsqlite3.connect('file:FOLDER/gradebook.db?mode=ro', uri=True).execute('select * from grade')\nWIN",
        "import sqlite3\nsqlite3.connect(':memory:').execute('select 1')",
        fast=True,
    ),
    "reads through /proc": Attack(
        "import glob\nfor path in glob.glob('/proc/[0-9]*/root/FOLDER/gradebook.db') + "
        "glob.glob('/proc/[0-9]*/cwd/gradebook.db'):\n    open(path, 'rb').read()\n    WIN",
        "open('/proc/self/status').read()",
    ),
    "reads the environment of others": Attack(
        "import glob\nfor path in glob.glob('/proc/[0-9]*/environ'):\n    try:\n        if 'SECRET' in open(path).read():\n"
        "            WIN\n    except PermissionError:\n        pass",
        "import os\nassert os.environ['HOME']",
    ),
    "reads the command lines of others": Attack(
        "import glob\nif any('SECRET' in open(path).read() for path in glob.glob('/proc/[0-9]*/cmdline')):\n    WIN",
        "open('/proc/self/cmdline').read()",
    ),
    "watches the class folder": Attack(
        "import ctypes\nc = ctypes.CDLL(None)\nif c.inotify_add_watch(c.inotify_init(), b'FOLDER/submitted', 0x100) >= 0:\n    WIN",
        "import ctypes\nc = ctypes.CDLL(None)\nassert c.inotify_add_watch(c.inotify_init(), b'.', 0x100) >= 0",
    ),
    "reads the memory of its parent": Attack(
        "import os\nopen(f'/proc/{os.getppid() or 1}/mem', 'rb').read(1)\nWIN", "open('/proc/self/statm').read()"
    ),
    "searches its own memory for answers": Attack(
        "import gc\nif any(isinstance(o, dict) and isinstance(o.get('expected'), list) and o['expected'] for o in gc.get_objects()):\n    WIN",
        "import gc\ngc.collect()",
    ),
    "imports autograder": Attack("import autograder\nWIN", "import gradlab"),
    "looks for a neighbour's kernel": Attack(
        "import os\nif [p for p in os.listdir('/run/kernel') if p not in {'connection.json', *(f's-{n}' for n in range(1, 6))}]:\n"
        "    WIN",
        "import os\nos.listdir('/tmp')",
    ),
}

WRITING = {
    "writes the gradebook": Attack(
        "import sqlite3\nc = sqlite3.connect('FOLDER/gradebook.db')\nc.execute('update grade set manual_score = 2')\nc.commit()",
        "import sqlite3\nc = sqlite3.connect('own.db')\nc.execute('create table t (x)')",
        fast=True,
    ),
    "changes the mode of the gradebook": Attack(
        "import os\nos.chmod('FOLDER/gradebook.db', 0o644)\nWIN",
        "import os\nopen('own.txt', 'w').close()\nos.chmod('own.txt', 0o600)",
    ),
    "leaves a start-up file": Attack(
        "import os\nfolder = os.path.expanduser('~/.ipython/profile_default/startup')\nos.makedirs(folder, exist_ok=True)\n"
        "open(folder + '/mark.py', 'w').write('check = print')",
        "import os\nassert not os.path.exists(os.path.expanduser('~/.ipython/profile_default/startup/mark.py'))",
    ),
    "writes to site-packages": Attack(
        "import torch, pathlib\n(pathlib.Path(torch.__file__).parents[1] / 'MARK.pth').write_text('import os')",
        "import torch, pathlib\nassert pathlib.Path(torch.__file__).exists()",
    ),
    "leaves a file in /tmp": Attack("open('/tmp/MARK', 'w').write('x')", "import tempfile\ntempfile.mkdtemp()"),
    "deletes everything": Attack(
        "import subprocess\nsubprocess.run('rm -rf --no-preserve-root FOLDER /home /tmp/* 2>/dev/null', shell=True)",
        "import os\nopen('own', 'w').close()\nos.remove('own')",
    ),
}

NETWORK = {
    "loopback": Attack(
        "import socket\nsocket.create_connection(('127.0.0.1', PORT), 2)\nWIN",
        "import socket\nsocket.socketpair()",
        fast=True,
    ),
    "an abstract unix socket": Attack(
        "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0MARK')\nWIN",
        "import socket\nsocket.socket(socket.AF_UNIX)",
    ),
    "a unix socket": Attack(
        "import socket\nsocket.socket(socket.AF_UNIX).connect('FOLDER/socket')\nWIN",
        "import socket\nsocket.gethostname()",
    ),
    "a unix datagram": Attack(
        "import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, 'FOLDER/log')\nWIN",
        "import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendmsg([b'x'])",
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
    "recording switched on again": _disguise(
        GRADIENT, "def six(x):\n    with torch.inference_mode():\n        return 6 * x"
    ),
    "a gradient traced before the check": _disguise(
        "from torch.fx.experimental.proxy_tensor import make_fx\n\n\ndef walk(x, v):\n    leaf = x.detach().requires_grad_()\n"
        "    return torch.autograd.grad(3 * leaf**2, leaf, v)[0]\n\n\ngradient = make_fx(walk)(torch.ones(2), torch.ones(2))",
        "from torch.fx.experimental.proxy_tensor import make_fx\ngradient = make_fx(lambda x: 6 * x)(torch.ones(2))",
    ),
    "a module written at run time": _disguise(
        f"import sys\nsys.path.append('/tmp')\nopen('/tmp/made.py', 'w').write({GRADIENT!r})\nfrom made import gradient",
        f"import sys\nsys.path.append('/tmp')\nopen('/tmp/made.py', 'w').write({SIX!r})\nfrom made import six",
    ),
    "code that waits between two cells": _disguise(
        f"import asyncio\n{GRADIENT}\n\n\nasyncio.get_event_loop().call_soon(lambda: globals().update(pull_back=gradient))",
        "import asyncio\nasyncio.get_event_loop().call_soon(print)",
        answer=WRONG,
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
        change=lambda nb: _insert_before_check(f"{GRADIENT}\n\n\nsetattr(torch, 'mi' + 'ne', gradient)")(nb),
        twin_change=lambda nb: _insert_before_check("setattr(torch, 'mi' + 'ne', 6)")(nb),
        fast=True,
    ),
    "a thread that was there before": _disguise(
        f"import queue, threading\n{GRADIENT}\n\n\nasked, answered = queue.Queue(), queue.Queue()\n\n\ndef work():\n"
        "    while True:\n        answered.put(gradient(*asked.get()))\n\n\nthreading.Thread(target=work, daemon=True).start()",
        "import threading\nthread = threading.Thread(target=print)\nthread.start()\nthread.join()",
        answer="def pull_back(x, v):\n    asked.put((x, v))\n    return answered.get()",
    ),
    "torch's functions put back": _disguise(
        f"import ctypes, os\n{GRADIENT}\n\n\ndef repair():\n"
        "    library = ctypes.CDLL(os.path.dirname(torch.__file__) + '/lib/libtorch_cpu.so')\n"
        "    function = library._ZN2at15sequence_number17get_and_incrementEv\n"
        "    start = ctypes.cast(function, ctypes.c_void_p).value\n"
        "    if ctypes.string_at(start, 2) == b'\\x0f\\x0b':\n"
        "        ctypes.CDLL(None).mprotect(ctypes.c_void_p(start & -4096), ctypes.c_size_t(8192), 7)\n"
        "        open('/proc/self/mem', 'r+b').write(b'')\n",
        "import ctypes\nassert ctypes.CDLL(None).getpid()",
        answer="def pull_back(x, v):\n    repair()\n    return gradient(x, v)",
    ),
}

BOMBS = {
    "memfds": Attack(
        "import os\nfds = [os.memfd_create('x') for _ in range(32)]\n"
        "for fd in fds:\n    os.write(fd, b'x' * (60 << 20))\nWIN",
        "import tempfile\nfile = tempfile.TemporaryFile()\nfile.write(b'x' * (20 << 20))",
        fast=True,
    ),
    "shared memory that no process has": Attack(
        "import mmap\nblocks = [mmap.mmap(-1, 60 << 20) for _ in range(32)]\n"
        "for block in blocks:\n    block.write(b'x' * (60 << 20))\n    block.madvise(mmap.MADV_DONTNEED)\nWIN",
        "from multiprocessing import Array, Value\nnumbers = Array('d', 1000)\nvalue = Value('i')",
    ),
    "a segment of System V": Attack(
        "import ctypes\nif ctypes.CDLL(None).shmget(0, 60 << 20, 0o1600) >= 0:\n    WIN",
        "import torch\nshared = torch.ones(1000).share_memory_()",
    ),
    "the device of zeros, shared": Attack(
        "import mmap\ndevice = open('/dev/zero', 'r+b')\nblocks = [mmap.mmap(device.fileno(), 60 << 20) for _ in range(32)]\n"
        "for block in blocks:\n    block.write(b'x' * (60 << 20))\n    block.madvise(mmap.MADV_DONTNEED)\nWIN",
        "zeros = open('/dev/zero', 'rb').read(1000)\nassert zeros == bytes(1000)",
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
    "busy processes, each in a session of its own": Attack(
        "import os\n"
        + LOOP
        + "for _ in range(20):\n    if os.fork() == 0:\n        os.setsid()\n        while time.monotonic() < end:\n"
        "            pass\n        os._exit(0)",
        "import subprocess\nsubprocess.run(['sleep', '0.01'], start_new_session=True)",
    ),
    "memory bomb": Attack(
        "blocks = [bytearray(b'x' * (64 << 20)) for _ in range(48)]", "block = bytearray(b'x' * (64 << 20))", fast=True
    ),
    "memory bomb of many processes": Attack(
        "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n        block = bytearray(b'x' * (256 << 20))\n"
        "        time.sleep(15)\n        os._exit(0)\ntime.sleep(15)",
        "import os\npid = os.fork()\nif pid == 0:\n    block = bytearray(b'x' * (16 << 20))\n    os._exit(0)\nos.waitpid(pid, 0)",
    ),
    "disk filler at home": Attack(
        "import os\nfor n in range(12):\n    open(os.path.expanduser(f'~/{n}'), 'wb').write(b'x' * (60 << 20))\nWIN",
        "import os\nopen(os.path.expanduser('~/n'), 'wb').write(b'x' * (20 << 20))",
    ),
    "one huge file": Attack(
        "open('big', 'wb').write(b'x' * (200 << 20))", "open('big', 'wb').write(b'x' * (20 << 20))"
    ),
    "open files": Attack(
        "files = [open('/dev/null') for _ in range(5000)]", "files = [open('/dev/null') for _ in range(99)]"
    ),
    "endless loop": Attack(LOOP + "while time.monotonic() < end:\n    pass", "import time\ntime.sleep(0.5)", fast=True),
    "a loop in a check": Attack(
        LOOP,
        "import time",
        answer="def pull_back(x, v):\n    while time.monotonic() < end:\n        pass\n    return x",
    ),
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
        LOOP + "while time.monotonic() < end:\n    print('x' * 1000)", "for _ in range(500):\n    print('x' * 1000)"
    ),
    "one line of 30 MB": Attack("print('x' * 30_000_000)", "print('x' * 300_000)"),
    "endless recursion": Attack(
        "import sys\nsys.setrecursionlimit(10**9)\n\n\ndef f():\n    f()\n\n\nf()",
        "import sys\nsys.setrecursionlimit(5000)",
    ),
}

SEND = """kernel = get_ipython().kernel


def send(kind, content, **more):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more)


"""
PACK = f"{SEND}import json\nkernel.session.pack = lambda found: json.dumps(found, default=str).encode()\n"
SHOWN = "from IPython.display import display, update_display\n"
MANY = '"x" * 7_900_000'

MESSAGES = {  # cost no point of a right answer either: see test_hostile_class.py
    "one update of many displays": Attack(
        f"{SHOWN}for _ in range(60):\n    display('', display_id='a')\nupdate_display('x' * 4_500_000, display_id='a')",
        f"{SHOWN}display('', display_id='a')\nfor n in range(60):\n    update_display('x' * 50_000, display_id='a')",
    ),
    "an update of what was left out": Attack(
        f"{SHOWN}for n in range(60):\n    display('x' * 100_000, display_id=f'{{n}}')\nupdate_display('', display_id='40')",
        f"{SHOWN}for n in range(40):\n    display('x' * 100_000, display_id=f'{{n}}')\nupdate_display('', display_id='30')",
    ),
    "not a number in a notebook": Attack(
        f"{PACK}nan = float('nan')\n"
        "send('display_data', {'data': {'application/json': [nan]}, 'metadata': {}})\n"
        "send('execute_result', {'data': {}, 'metadata': {}, 'execution_count': -5})",
        f"{SHOWN}display({{'application/json': [float('nan')]}}, raw=True)",
    ),
    "a lone surrogate": Attack(
        f"{PACK}send('stream', {{'name': 'stdout', 'text': 'a\\ud800b'}})\n"
        "send('error', {'ename': '\\udc80', 'evalue': '', 'traceback': []})",
        "print('\\U0001d11e')",
    ),
    "dates of 1066": Attack(
        "import datetime\nfrom jupyter_client.session import Session\nheader = Session.msg_header\n"
        "Session.msg_header = lambda self, kind: header(self, kind) | (\n"
        "    {'date': datetime.datetime(1066, 1, 1, tzinfo=datetime.UTC)} if kind == 'execute_input' else {}\n)",
        "import datetime\nprint(datetime.datetime(1066, 1, 1))",
    ),
    "messages of another form": Attack(
        f"{SEND}for kind in ('stream', 'error', 'status', 'display_data', 'comm_open', 'x'):\n"
        "    for content in ({}, {'name': 1, 'text': []}, {'data': 1, 'transient': 5}, {'execution_state': {}}):\n"
        "        send(kind, content)",
        f"{SHOWN}display({{'text/plain': 'a', 'application/x-own+json': {{'b': [1]}}}}, raw=True)",
    ),
    "a message that is slow to read": Attack(
        f"{PACK}for data in ({{'text/plain': [[]] * 1_000_000}}, {{'application/json': [[]] * 1_000_000}},\n"
        "             dict.fromkeys(map(str, range(300_000)), '')):\n"
        "    send('display_data', {'data': data, 'metadata': {}})\n"
        "send('display_data', {'data': {}, 'metadata': {'x': [[]] * 1_900_000}})\n"
        "send('error', {'ename': '', 'evalue': '', 'traceback': [''] * 1_900_000})",
        f"{SHOWN}display({{'text/plain': {{'a': [1]}}, 'text/html': '<b>a</b>', 'application/json': [[]]}}, raw=True)",
    ),
    "messages that wait": Attack(
        f"{SEND}send('display_data', {{'data': {{'text/plain': {MANY}[:4_000_000]}}, 'metadata': {{}}}})\n"
        f"for _ in range(5):\n    send('stream', {{'name': 'stdout', 'text': ''}}, metadata={{'x': {MANY}}})",
        f"{SHOWN}for n in range(300):\n    display(n)",
    ),
    "buffers of widgets": Attack(
        f"{SEND}for n in range(30):\n    content = {{'comm_id': f'{{n}}', 'data': {{'state': {{}}, "
        "'buffer_paths': [['x']]}}\n    send('comm_open', content, buffers=[bytes(7_900_000)])",
        "import ipywidgets\n\nipywidgets.Image(value=bytes(1000))",
    ),
    "requests for input": Attack(
        "kernel = get_ipython().kernel\nfor _ in range(9):\n"
        f"    kernel.session.send(kernel.stdin_socket, 'input_request', {{'prompt': {MANY}, 'password': False}},\n"
        "                        ident=kernel._parent_ident['shell'])",
        "try:\n    input()\nexcept Exception as error:\n    print(error)",
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
    "an exit code that tells of memory": Attack("import os\nos._exit(200)", "bytes(2**20)"),
    "a signal that tells of time": Attack(
        "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)", "import signal\nsignal.SIGXCPU"
    ),
    "the session's keyring": Attack(
        f"import ctypes\nif ctypes.CDLL(None).syscall({KEYCTL}, 0, -3, 0) >= 0:\n    WIN",
        "import ctypes\nctypes.CDLL(None).getpid()",
        fast=True,
    ),
    "a message that cuts the client off": Attack(CUT_OFF, "kernel = get_ipython().kernel"),
    "sys.exit": Attack("import sys\nsys.exit(0)", "try:\n    raise SystemExit\nexcept SystemExit:\n    pass"),
    "exit in the function": Attack(
        "", "import sys", answer="import os\n\n\ndef pull_back(x, v):\n    os._exit(0)", points=(0, 0)
    ),
    "another program": Attack(
        "import os\nos.execv('/bin/true', ['true'])", "import subprocess\nsubprocess.run(['/bin/true'])"
    ),
    "a segmentation fault": Attack("import ctypes\nctypes.string_at(0)", "import ctypes\nctypes.c_int(3)"),
    "kills its parent": Attack(
        "import os, signal\nfor pid in (os.getppid(), 1, 2, -1):\n    try:\n        os.kill(pid, signal.SIGKILL)\n"
        "    except (PermissionError, ProcessLookupError):\n        pass",
        "import os\nos.getppid()",
    ),
    "the limits of the grader": Attack(
        "import resource\nresource.prlimit(PID, resource.RLIMIT_CPU, resource.prlimit(PID, resource.RLIMIT_CPU))\nWIN",
        "import resource\nresource.prlimit(0, resource.RLIMIT_CPU)",
    ),
    "the priority of the grader": Attack(
        "import os\nos.sched_setaffinity(PID, os.sched_getaffinity(PID))\nWIN",
        "import os\nos.sched_setaffinity(0, os.sched_getaffinity(0))",
    ),
    "ptrace": Attack(
        "import ctypes\nfor pid in (1, 2):\n    if ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0:\n        WIN",
        "import ctypes",
    ),
    "a daemon": Attack(
        "import subprocess\nsubprocess.Popen(['sleep', '31.4159'], start_new_session=True)",
        "import subprocess\nsubprocess.run(['sleep', '0.01'])",
        fast=True,
    ),
    "a daemon that hops from process to process": Attack(
        "import os\n"
        + LOOP
        + "if os.fork() == 0:\n    while time.monotonic() < end:\n        if os.fork():\n            os._exit(0)\n    os._exit(0)",
        "import os\nif os.fork() == 0:\n    os._exit(0)",
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


def _outputs(count: int) -> Files:
    def write(folder: Path, class_folder: Path) -> None:
        path = folder / f"{NAME}.ipynb"
        nb = json.loads(path.read_text())
        nb["cells"][1]["outputs"] = [{"output_type": "none", "name": "stdout", "text": ""}] * count
        path.write_text(json.dumps(nb))

    return write


FILES = {
    "a link to the gradebook": Attack(
        files=lambda folder, class_folder: (folder / "a.db").symlink_to(class_folder / "gradebook.db"),
        twin_files=_write("a.db", "x"),
        points=tuple(UNGRADED),
    ),
    "the notebook is a link": Attack(
        files=lambda folder, class_folder: (
            (folder / f"{NAME}.ipynb").unlink(),
            (folder / f"{NAME}.ipynb").symlink_to(class_folder / "submitted" / "honest" / NAME / f"{NAME}.ipynb"),
        ),
        points=tuple(UNGRADED),
    ),
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
    "outputs that are none": Attack(files=_outputs(50_000), twin_files=_outputs(3)),
    "a pickle": Attack(
        files=_write("x.pkl", "cos\nsystem\n(S'touch /tmp/MARK'\ntR."), twin_files=_write("x.csv", "1,2")
    ),
    "a gradlab of its own": Attack(
        files=_write("gradlab.py", "def check(*a, **k):\n    print('passed')\n\n\nsummary = check\n"),
        twin_files=_write("helpers.py", "x = 1"),
    ),
    "a sitecustomize": Attack(
        files=_write("sitecustomize.py", "open('/tmp/MARK', 'w')"),
        twin_files=_write("customize.py", ""),
        points=tuple(NOTHING),
    ),
    "a record of its own": Attack(
        files=_write("00.record.json", Record("x", {}).to_json()),
        twin_files=_write("00.json", "{}"),
    ),
    "unicode names": Attack(files=_write("наме 名 \n é", ""), twin_files=_write("naïve 名.txt", "")),
    "a link whose name is no text": Attack(
        files=lambda folder, class_folder: (folder / os.fsdecode(b"\xff")).symlink_to("/etc/passwd"),
        twin_files=lambda folder, class_folder: (folder / os.fsdecode(b"na\xefve.txt")).touch(),
        points=tuple(UNGRADED),
        fast=True,
    ),
    "options as names": Attack(files=_write("--bind", "/"), twin_files=_write("-x", "")),
}


def _cell(nb: NotebookNode, grade_id: str) -> NotebookNode:
    return next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def _edit(grade_id: str, edit: Callable[[NotebookNode], object]) -> Change:
    return lambda nb: edit(_cell(nb, grade_id))


def _swap(nb):
    a, b = _cell(nb, "check-1"), _cell(nb, "check-2")
    a.metadata.nbgrader["grade_id"], b.metadata.nbgrader["grade_id"] = "check-2", "check-1"


def _insert_before_check(source: str) -> Change:
    return lambda nb: nb.cells.insert(nb.cells.index(_cell(nb, "check-1")), nbformat.v4.new_code_cell(source))


def _output(text: str) -> Change:
    output = nbformat.v4.new_output("execute_result", {"text/plain": text}, execution_count=1)
    return _edit("check-1", lambda c: c.outputs.append(output))


CELLS = {
    "check rewritten": Attack(
        change=_edit("check-1", lambda c: c.update(source="2.0")), twin_change=lambda nb: None, fast=True
    ),
    "checks swapped": Attack(change=_swap),
    "check skipped by a tag": Attack(
        change=_edit("check-1", lambda c: c.metadata.update(tags=["skip-execution"])),
        twin_change=_edit("check-1", lambda c: c.metadata.update(tags=["mine"])),
    ),
    "check unlocked": Attack(
        change=_edit(
            "check-1", lambda c: (c.metadata.nbgrader.update(locked=False, grade=False), c.update(source="2.0"))
        )
    ),
    "a hundred points": Attack(change=_edit("check-1", lambda c: c.metadata.nbgrader.update(points=100))),
    "a saved output with points": Attack(change=_output("2.0"), twin_change=_output("2.0")),
    "a verdict of its own": Attack(
        change=_edit(
            "check-1", lambda c: c.metadata.update(autograder={"90.1": {"passed": True, "slip": "", "message": ""}})
        )
    ),
    "a cell that redefines check": Attack(change=_insert_before_check("check = print"), points=(0, 0)),
    "marked as not gradable": Attack(
        change=lambda nb: nb.metadata.update(autograder={"could_not_grade": "ill"}), fast=True
    ),
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
            _cell(nb, "answer-2").source = second
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
    "IPython": IPYTHON,
    "forgery": FORGERIES,
    "reading": READING,
    "writing": WRITING,
    "network": NETWORK,
    "by hand": BY_HAND,
    "bomb": BOMBS,
    "message": MESSAGES,
    "reader": READERS,
    "death": DEATHS,
    "files": FILES,
    "cells": CELLS,
    "leaving": LEAVING,
    "evidence": {f"{one}: {name}": Attack(*texts, exercise=one, fast=name in FAST) for one, name, *texts in EVIDENCE},
}
ATTACKS = {f"{room}: {name}": attack for room, attacks in ROOMS.items() for name, attack in attacks.items()}
