"""An answer that may not use autograd or torch passes only alone, where torch cannot do what is forbidden.

No disguise of a name matters there, and all honest answers pass.
"""

import json

import pytest
import torch

from autograder.steps.alone import Task, in_a_room
from gradlab.checks.alone import require
from gradlab.checks.encoding import encode
from gradlab.checks.observation import read_observation
from gradlab.checks.reached import cells_behind
from gradlab.checks.record import Case

# Each defines f(x, v), the gradient of 3 * x ** 2 with respect to x for the external gradient v.
WALK = "    leaf = x.clone().requires_grad_()\n    return torch.autograd.grad(3 * leaf**2, leaf, v)[0]\n"
INDENTED = WALK.replace("    ", "        ")

DISGUISES = {
    "TorchScript in a string": [
        "unit = torch.jit.CompilationUnit('''\ndef g(x, v):\n    y = (3 * x**2 * v).sum()\n"
        "    z = torch.autograd.grad([y], [x])[0]\n    assert z is not None\n    return z\n''')",
        "def f(x, v):\n    return unit.g(x.requires_grad_(), v)",
    ],
    "inference mode reset": [f"def f(x, v):\n    with torch.inference_mode(False):\n{INDENTED}"],
    "another thread": [
        f"import threading\ndef g(x, v, out):\n{WALK.replace('return ', 'out.append(')[:-1]})\n",
        "def f(x, v):\n    out = []\n    t = threading.Thread(target=g, args=(x, v, out))\n    t.start()\n"
        "    t.join()\n    return out[0]",
    ],
    "the engine itself": [
        "def f(x, v):\n    leaf = x.clone().requires_grad_()\n    with torch.inference_mode(False):\n"
        "        y = 3 * leaf**2\n"
        "    torch._C._ImperativeEngine().run_backward((y,), (v,), False, False, (), True, True)\n"
        "    return leaf.grad"
    ],
    "forward_ad kept before": [
        "import torch.autograd.forward_ad as ad\nlevel, make, unpack = ad.dual_level, ad.make_dual, ad.unpack_dual",
        "def f(x, v):\n    with level():\n        return unpack(3 * make(x, torch.ones_like(x)) ** 2).tangent * v",
    ],
    "a graph recorded before": [
        "leaf = torch.zeros(3, dtype=torch.float64, requires_grad=True)\nnode = (leaf**2).grad_fn",
        "def f(x, v):\n    leaf.data = x\n    return 3 * node(v)",
    ],
}

HONEST = {
    "plain": ["def f(x, v):\n    return 6 * x * v"],
    "a helper whose name a later cell uses otherwise": [
        "def helper(x):\n    return 6 * x",
        "def f(x, v):\n    return helper(x) * v",
    ],
    "a class with a backward of its own": [
        "class Square:\n    def __init__(self, x):\n        self.x, self.grad_fn = x, None\n"
        "    def backward(self, v):\n        self.grad_fn = self.backward\n        return 6 * self.x * v",
        "def f(x, v):\n    square = Square(x)\n    return square.backward(v) if square.grad_fn is None else None",
    ],
    "with torch.no_grad()": ["def f(x, v):\n    with torch.no_grad():\n        return 6 * x * v"],
    "with torch.enable_grad()": ["def f(x, v):\n    with torch.enable_grad():\n        return (6 * x * v).detach()"],
    "in place, views and slices": [
        "def f(x, v):\n    y = x.clone()\n    y.mul_(6)\n    y.view(-1)[:] *= v.reshape(-1)\n    return y"
    ],
    "vmap": ["def f(x, v):\n    return torch.vmap(lambda x, v: 6 * x * v)(x, v)"],
}


CASE = {"x": torch.tensor([2.0, 3.0, 5.0]).double(), "v": torch.tensor([1.0, 2.0, 4.0]).double()}
CHECK = 'check("90.1 f", f, autograd=False)'
GRAPH = """def scenario(answer, case):
    return answer((3 * case["x"].requires_grad_() ** 2).sum(), torch.ones(()).double(), case)


check("90.1 f", f, scenario, autograd=False)"""


@pytest.fixture(scope="module")
def alone():
    """Return a function that observes answers alone in one sandbox, given the cells of each."""

    def alone(answers, check=CHECK, case=None, torch=True):
        fields = {
            "check_cell": check,
            "check_id": "90.1",
            "torch": torch,
            "records": "torch" in check.split("check(")[0],
        }
        task = Task(fields, [Case(encode(case or CASE))] * 2, {"f"})
        first = "import numpy as np, torch" if torch else "import numpy as np"
        reached = [[cells[n] for n in sorted(cells_behind({"f"}, cells))] for cells in answers]
        tasks = [task.after([first, *cells]) for cells in reached]
        return in_a_room({"beside.py": b"SIX = 6"}, {}, 300, lambda room: room.observe(tasks))

    return alone


def values(seen):
    """Return what was observed in each case, None if it cannot be read."""
    found = (read_observation(json.loads(line or "null")) for line in seen.replies)
    return [one and (one.values, one.error and one.error.type) for one in found]


def test_no_disguise_of_autograd_passes_and_every_honest_answer_does(alone):
    right = ([encode(6 * CASE["x"] * CASE["v"])], None)
    answers = DISGUISES | HONEST
    seen = dict(zip(answers, alone([*answers.values()]), strict=True))
    assert [name for name in DISGUISES if right in values(seen[name])] == []
    assert [name for name in HONEST if values(seen[name]) != [right, right]] == []
    assert {"inference mode reset", "another thread", "the engine itself"} <= {
        n for n in DISGUISES if seen[n].forbidden
    }


def test_an_answer_that_receives_a_graph_may_call_its_nodes_but_not_the_engine(alone):
    by_nodes = "def f(y, v, case):\n    return y.grad_fn(v).sum()"
    by_engine = (
        "def f(y, v, case):\n    torch._C._ImperativeEngine().run_backward((y,), (v,), False, False, (), True, True)\n"
        "    return case['x'].grad.sum()"
    )
    nodes, engine = alone([[by_nodes], [by_engine]], GRAPH)
    assert [error for _, error in values(nodes)] == [None, None]
    assert engine.forbidden


TORCH = {  # each computes 6 * x * v, given arrays
    "TorchScript": "g = torch.jit.CompilationUnit('def g(x, v):\\n    return 6 * x * v\\n').g\n"
    "def f(x, v):\n    with torch._C.DisableTorchFunction():\n"
    "        return g(torch.tensor(x), torch.tensor(v)).numpy()",
    "from_numpy": "def f(x, v):\n    return (6 * torch.from_numpy(x) * torch.from_numpy(v)).numpy()",
    "overrides": "def f(x, v):\n    import torch.overrides as o\n    stack = o._get_current_function_mode_stack()\n"
    "    for _ in stack:\n        o._pop_mode()\n    y = (6 * torch.tensor(x) * torch.tensor(v)).numpy()\n"
    "    for one in stack:\n        o._push_mode(one)\n    return y",
}


def test_where_torch_is_forbidden_no_tensor_is_made_and_arrays_are_free(alone):
    arrays = {name: value.numpy() for name, value in CASE.items()}
    check = 'check("90.1 f", f, autograd=False, torch=False)'
    right = ([encode(6 * arrays["x"] * arrays["v"])], None)
    tried = "y = torch.from_numpy(np.ones(2))\ndef f(x, v):\n    return 6 * x * v"  # only to compare
    honest = [
        ["def f(x, v):\n    return 6 * x * v"],
        ["import torch", tried],
        ["import beside", "def f(x, v):\n    return beside.SIX * x * v"],
    ]
    *seen, plain, compared, beside = alone(
        [*(["import torch", text] for text in TORCH.values()), *honest], check, arrays, torch=False
    )
    assert [values(one) for one in (plain, compared, beside)] == [[right, right]] * 3
    assert [name for name, one in zip(TORCH, seen, strict=True) if right in values(one)] == []


def test_what_ends_or_floods_its_process_is_not_observed_and_the_next_answer_is(alone):
    texts = ["import os\nos._exit(0)", "import os\nos.kill(0, 9)", "x = bytearray(1 << 40)", "x = 1"]
    seen = alone([[f"{text}\ndef f(x, v):\n    return 6 * x * v"] for text in texts])
    assert [len(list(filter(None, one.replies))) for one in seen[-2:]] == [2, 2]


def test_a_torch_without_one_of_the_functions_is_refused_by_the_function_s_name(monkeypatch):
    monkeypatch.setattr("gradlab.checks.alone._RECORDS", [("libc10.so", "renamed")])
    with pytest.raises(AttributeError, match=r"libc10.so of torch .* has no function renamed"):
        require()


@pytest.mark.parametrize("call", ["execve", "mprotect", "memory"])
def test_no_program_runs_and_no_memory_becomes_code(alone, call):
    tried = {
        "execve": "import subprocess\nsubprocess.run(['/bin/true'])",
        "mprotect": "import ctypes\nif ctypes.CDLL(None).mprotect(ctypes.c_void_p(id(1) & -4096), 4096, 7):\n"
        "    raise OSError",
        "memory": "open('/proc/self/mem', 'rb')",
    }[call]
    text = "def f(x, v):\n" + "".join(f"    {line}\n" for line in tried.split("\n"))
    (seen,) = alone([[text]])
    assert [error for _, error in values(seen)] in ([kind] * 2 for kind in ("PermissionError", "OSError"))
