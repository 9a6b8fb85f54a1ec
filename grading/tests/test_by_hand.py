"""If an exercise forbids autograd, no disguised use of it passes, and all honest answers do."""

import sys
import types

import pytest
import torch

from autograder.views.flags import Look
from gradlab.checks.encoding import encode
from gradlab.checks.observe import observe

pytestmark = [
    pytest.mark.filterwarnings("ignore:Exception in thread"),  # errors in a thread are printed there
    pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated"),
]

# Each defines f(x, v), the gradient of 3 * x ** 2 with respect to x for the external gradient v.
WALK = "    leaf = x.clone().requires_grad_()\n    return torch.autograd.grad(3 * leaf**2, leaf, v)[0]\n"
INDENTED = WALK.replace("    ", "        ")
FORWARD = "    cube = lambda x: 3 * x**2\n    return torch.func.jvp(cube, (x,), (torch.ones_like(x),))[1] * v\n"

DISGUISES = {
    "a default argument": [f"def g(x, v):\n{WALK}", "def f(x, v, g=g):\n    return g(x, v)"],
    "a default argument of torch's": [
        "def f(x, v, grad=torch.autograd.grad):\n    x.requires_grad_()\n    return grad(3 * x**2, x, v)[0]"
    ],
    "a method of one's own class": [f"class A:\n    def g(self, x, v):\n{INDENTED}", "f = A().g"],
    "a class that is called": [f"class A:\n    def __call__(self, x, v):\n{INDENTED}", "f = A()"],
    "an attribute of a function": [f"def f(x, v):\n    return f.g(x, v)\ndef h(x, v):\n{WALK}\nf.g = h"],
    "def inside of if": [f"if True:\n    def g(x, v):\n{INDENTED}", "def f(x, v):\n    return g(x, v)"],
    "def inside of with": [f"with torch.no_grad():\n    def g(x, v):\n{INDENTED}", "def f(x, v):\n    return g(x, v)"],
    "global": [f"def make():\n    global g\n    def g(x, v):\n{INDENTED}\nmake()", "def f(x, v):\n    return g(x, v)"],
    "import *": [
        "from torch.autograd import *",
        "def f(x, v):\n    x.requires_grad_()\n    return grad(3 * x**2, x, v)[0]",
    ],
    "match": [
        "match torch.autograd:\n    case a:\n        pass",
        f"def f(x, v):\n{WALK.replace('torch.autograd', 'a')}",
    ],
    "locals()": [f"def g(x, v):\n{WALK}", "names = locals()", "def f(x, v):\n    return names['g'](x, v)"],
    "partial": [f"import functools\ndef g(kind, x, v):\n{WALK}", "f = functools.partial(g, 1)"],
    "a name bound again later": [f"def g(x, v):\n{WALK}", "kept = g", "g = 1", "def f(x, v):\n    return kept(x, v)"],
    "a name put together": [
        "def f(x, v):\n    x.requires_grad_()\n    return getattr(torch, 'auto' + 'grad').grad(3 * x**2, x, v)[0]"
    ],
    "aten": [
        "def f(x, v):\n    x.requires_grad_()\n    y = (3 * x**2 * v).sum()\n"
        "    getattr(torch.ops.aten, '_back' + 'ward')(y, [x], None, False, False)\n    return x.grad"
    ],
    "TorchScript in a string": [
        "unit = torch.jit.CompilationUnit('''\ndef g(x, v):\n    y = (3 * x**2 * v).sum()\n"
        "    z = torch.autograd.grad([y], [x])[0]\n    assert z is not None\n    return z\n''')",
        "def f(x, v):\n    return unit.g(x.requires_grad_(), v)",
    ],
    "a package beside the notebook": ["import disguise", "def f(x, v):\n    return disguise.g(x, v)"],
    "a long comment": ["#" * 300_000 + f"\ndef f(x, v):\n{WALK}"],
    "backward kept before": [
        "walk = torch.Tensor.backward",
        "def f(x, v):\n    x.requires_grad_()\n    walk(3 * x**2, v)\n    return x.grad",
    ],
    "jacobian kept before": [
        "j = torch.autograd.functional.jacobian",
        "def f(x, v):\n    return j(lambda x: (3 * x**2 * v).sum(), x)",
    ],
    "hvp kept before": [
        "h = torch.autograd.functional.hvp",
        "def f(x, v):\n    return h(lambda x: (x**3).sum(), x, v)[1]",
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
    "the nodes by hand": [
        "def f(x, v):\n    y = x.clone().requires_grad_() ** 2\n    return 3 * getattr(y, 'grad' + '_fn')(v)"
    ],
    "a thread that records": [
        "import threading\ndef g(x, out):\n    y = x.clone().requires_grad_() ** 2\n"
        "    out.append(getattr(y, 'grad' + '_fn'))",
        "def f(x, v):\n    out = []\n    t = threading.Thread(target=g, args=(x, out))\n    t.start()\n    t.join()\n"
        "    return 3 * out[0](v)",
    ],
    "a bare thread that records": [
        "import _thread, time\ndef g(x, out):\n    y = x.clone().requires_grad_() ** 2\n"
        "    out.append(getattr(y, 'grad' + '_fn'))",
        "def f(x, v):\n    out = []\n    _thread.start_new_thread(g, (x, out))\n"
        "    while not out:\n        time.sleep(0.01)\n    return 3 * out[0](v)",
    ],
    "an executor that records": [
        "from concurrent.futures import ThreadPoolExecutor\ndef g(x):\n"
        "    return getattr(x.clone().requires_grad_() ** 2, 'grad' + '_fn')",
        "def f(x, v):\n    with ThreadPoolExecutor() as pool:\n        return 3 * pool.submit(g, x).result()(v)",
    ],
    "asyncio": [
        "import asyncio\ndef g(x):\n    return getattr(x.clone().requires_grad_() ** 2, 'grad' + '_fn')",
        "def f(x, v):\n    loop = asyncio.new_event_loop()\n    try:\n"
        "        return 3 * loop.run_until_complete(asyncio.wait_for(loop.run_in_executor(None, g, x), 9))(v)\n"
        "    finally:\n        loop.close()",
    ],
    "a subprocess": [
        "import subprocess, sys",
        "def f(x, v):\n    code = f'import torch; x = torch.tensor({x.tolist()}).double().requires_grad_(); '\n"
        "    code += f'(3 * x**2).back' + f'ward(torch.tensor({v.tolist()})); print(x.grad.tolist())'\n"
        "    return torch.tensor(eval(subprocess.check_output([sys.executable, '-c', code]))).double()",
    ],
    "a fork": [
        "import os, json",
        "def f(x, v):\n    pipe = os.pipe()\n    if os.fork() == 0:\n        try:\n"
        "            os.write(pipe[1], json.dumps((6 * x * v).tolist()).encode())\n        finally:\n"
        "            os._exit(0)\n    return torch.tensor(json.loads(os.read(pipe[0], 999))).double()",
    ],
    "func.jvp": [f"def f(x, v):\n{FORWARD}"],
    "forward_ad": [
        "import torch.autograd.forward_ad as ad",
        "def f(x, v):\n    with ad.dual_level():\n        y = 3 * ad.make_dual(x, torch.ones_like(x)) ** 2\n"
        "        return ad.unpack_dual(y).tangent * v",
    ],
    "forward_ad kept before": [
        "import torch.autograd.forward_ad as ad\nlevel, make, unpack = ad.dual_level, ad.make_dual, ad.unpack_dual",
        "def f(x, v):\n    with level():\n        return unpack(3 * make(x, torch.ones_like(x)) ** 2).tangent * v",
    ],
    "checkpoint": [
        "from torch.utils.checkpoint import checkpoint",
        "def f(x, v):\n    x.requires_grad_()\n    y = checkpoint(lambda x: 3 * x**2, x, use_reentrant=True)\n"
        "    getattr(y, 'back' + 'ward')(v)\n    return x.grad",
    ],
}

KEPT = {  # by name in torch.func: what f returns, if k is that function
    "jvp": "k(lambda x: 3 * x**2, (x,), (torch.ones_like(x),))[1] * v",
    "vjp": "k(lambda x: 3 * x**2, x)[1](v)[0]",
    "grad": "k(lambda x: (3 * x**2 * v).sum())(x)",
    "jacrev": "k(lambda x: (3 * x**2 * v).sum())(x)",
    "jacfwd": "k(lambda x: (3 * x**2 * v).sum())(x)",
    "hessian": "k(lambda x: (x**3).sum() / 2)(x).diagonal() * x * v / x",
    "linearize": "k(lambda x: 3 * x**2, x)[1](torch.ones_like(x)) * v",
}
for name, text in KEPT.items():
    DISGUISES[f"func.{name} kept before"] = [f"k = torch.func.{name}", f"def f(x, v):\n    return {text}"]

# Each reaches a node of a graph recorded before the block, and puts the values of the case into it.
RECORDED = "leaf = torch.zeros(3, dtype=torch.float64, requires_grad=True)\nrecorded = leaf**2"
REPLAYED = "def f(x, v):\n    leaf.data = x\n    return 3 * node(v)"
NODES = {
    "plainly": "node = recorded.grad_fn",
    "by getattr": "node = getattr(recorded, 'grad' + '_fn')",
    "by map": "(node,) = map(getattr, [recorded], ['grad' + '_fn'])",
    "by a pattern": "match recorded:\n    case torch.Tensor(grad_fn=node):\n        pass",
    "by a hint": "def g():\n"
    "    def h(a: recorded.grad_fn):\n        pass\n    return h.__annotations__['a']\nnode = g()",
    "by a hint of its own": "def h(a: recorded.grad_fn):\n"
    "    pass\nimport typing\nnode = typing.get_type_hints(h)['a']",
    "by a format": "import string\nnode, _ = string.Formatter().get_field('0.grad' + '_fn', (recorded,), {})",
    "by a base's dict": "node = vars(type(leaf).__base__)['grad' + '_fn'].__get__(recorded)",
    "by resolve_name": "import pkgutil\n"
    "node = pkgutil.resolve_name('torch._C:_TensorBase.grad' + '_fn').__get__(recorded)",
    "by timeit": "import timeit\nout = []\n"
    "timeit.timeit('out.append(recorded.grad' + '_fn)', number=1, globals=globals())\n"
    "node = out[0]",
    "by attrgetter": "import operator\nnode = operator.attrgetter('grad' + '_fn')(recorded)",
    "by reduce": "import functools\nnode = functools.reduce(getattr, ['grad' + '_fn'], recorded)",
    "by inspect": "import inspect\nnode = inspect.getattr_static(recorded, 'grad' + '_fn').__get__(recorded)",
    "by dir": "name = next(n for n in dir(recorded) if n.startswith('grad_f'))\nnode = getattr(recorded, name)",
    "by its edge": "from torch.autograd.graph import get_gradient_edge as edge\nnode = edge(recorded).node",
    "by a hook's closure": "kept = []\nrecorded.register_hook(print)\nnode = recorded._backward_hooks and None",
    "in another thread": "import threading\ndef g():\n    global node\n    node = getattr(recorded, 'grad' + '_fn')\n"
    "t = threading.Thread(target=g)\nt.start()\nt.join()",
}

HONEST = {
    "plain": ["def f(x, v):\n    return 6 * x * v"],
    "a helper whose name a later cell uses otherwise": [
        "def helper(x):\n    return 6 * x",
        "def f(x, v):\n    return helper(x) * v",
    ],
    "a helper whose name an earlier cell used otherwise": [
        "helper = torch.autograd.grad",
        "def helper(x):\n    return 6 * x",
        "def f(x, v):\n    return helper(x) * v",
    ],
    "a class with a backward of its own": [
        "class Square:\n    def __init__(self, x):\n        self.x, self.grad_fn = x, None\n"
        "    def backward(self, v):\n        self.grad_fn = self.backward\n        return 6 * self.x * v",
        "def f(x, v):\n    square = Square(x)\n    return square.backward(v) if square.grad_fn is None else None",
    ],
    "a namedtuple of backward functions": [
        "from dataclasses import dataclass\nfrom typing import Any\n@dataclass\nclass Rule:\n    backward: Any",
        "def f(x, v):\n    return Rule(lambda v: 6 * x * v).backward(v)",
    ],
    "with torch.no_grad()": ["def f(x, v):\n    with torch.no_grad():\n        return 6 * x * v"],
    "with torch.enable_grad()": ["def f(x, v):\n    with torch.enable_grad():\n        return (6 * x * v).detach()"],
    "type hints": [
        "def f(x: torch.Tensor, v: torch.autograd.Variable) -> torch.autograd.Function:\n"
        "    y: torch.autograd.graph.Node = 6 * x * v\n    return y"
    ],
    "in place, views and slices": [
        "def f(x, v):\n    y = x.clone()\n    y.mul_(6)\n    y.view(-1)[:] *= v.reshape(-1)\n    return y"
    ],
    "a class of parts": [
        "class Mul:\n    def __call__(self, x, v):\n        return 6 * x * v",
        "f = Mul()",
    ],
    "a comment that says backward": ['def f(x, v):\n    "What backward does."\n    return 6 * x * v  # torch.autograd'],
    "vmap": ["def f(x, v):\n    return torch.vmap(lambda x, v: 6 * x * v)(x, v)"],
}

CASE = encode({"x": torch.tensor([2.0, 3.0, 5.0]).double(), "v": torch.tensor([1.0, 2.0, 4.0]).double()})


def run(cells: list[str]):
    """Run cells as a notebook does; return what f does in a case, and what a right answer does."""
    names = {"__name__": "__main__", "torch": torch}
    for cell in cells:
        exec(compile(cell, "<cell>", "exec"), names)
    right = observe(lambda x, v: 6 * x * v, lambda f, case: f(**case), CASE)
    seen = observe(names["f"], lambda f, case: f(**case), CASE, autograd=False)
    return seen, right


@pytest.fixture(autouse=True)
def package(monkeypatch):
    module = types.ModuleType("disguise")
    exec(f"import torch\ndef g(x, v):\n{WALK}", vars(module))
    monkeypatch.setitem(sys.modules, "disguise", module)


@pytest.mark.parametrize("name", DISGUISES)
def test_disguised_autograd_raises_the_expected_error(name):
    seen, _ = run(DISGUISES[name])
    assert seen.error is not None
    silent = {"the nodes by hand": "TypeError"}
    assert seen.error.type == silent.get(name, "gradlab.checks.shortcuts.ShortcutError")


@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize("together", [True, False], ids=["in one cell", "in two"])
def test_a_graph_from_before_does_not_pass_unflagged(name, together, tmp_path):
    cells = [f"{RECORDED}\n{NODES[name]}", REPLAYED]
    cells = ["\n".join(cells)] if together else cells
    seen, right = run(cells)
    flags = Look(tmp_path, "90_tiny", ["f"]).find([(f"cell {n}", cell) for n, cell in enumerate(cells)])
    assert seen != right or flags


def test_what_an_answer_returns_cannot_let_autograd_compute_later():
    def answer(x, v):
        class Later:
            def __neg__(self):
                leaf = x.clone().requires_grad_()
                return torch.autograd.grad(-3 * leaf**2, leaf, v)[0]

        return Later()

    assert observe(answer, lambda f, case: -f(**case), CASE).error is None
    seen = observe(answer, lambda f, case: -f(**case), CASE, autograd=False)
    assert seen.error.type == "gradlab.checks.shortcuts.ShortcutError"


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_answer_passes_and_is_not_flagged(name, tmp_path):
    seen, right = run(HONEST[name])
    assert seen == right
    look = Look(tmp_path, "90_tiny", ["f"])
    assert look.find([(f"cell {n}", cell) for n, cell in enumerate(HONEST[name])]) == []


@pytest.mark.parametrize(
    "line", ["torch.ops.aten.mse_loss_backward(v, x, x, 1)", "torch.nn.grad.conv2d_input(x, v, v)"]
)
def test_torchs_own_gradient_formula_is_flagged(line, tmp_path):
    assert Look(tmp_path, "90_tiny", ["f"]).find([("a cell", f"import torch\n\ndef f(x, v):\n    return {line}")])


def test_torch_is_unchanged_afterwards():
    for cells in DISGUISES.values():
        run(cells)
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    (x**2).sum().backward()
    assert x.grad.tolist() == [4, 6]
    assert torch.func.jvp(lambda x: x**2, (torch.tensor(3.0),), (torch.tensor(1.0),))[1] == 6
    assert not torch._C._dispatch_tls_is_dispatch_key_excluded(torch._C.DispatchKey.AutogradFunctionality)


def test_an_answer_given_a_graph_may_read_and_record_but_not_run_backward():
    def scenario(answer, case):
        x = case["x"].requires_grad_()
        return answer((3 * x**2), case["v"])

    def by_nodes(y, v):
        return y.grad_fn(v)[0]

    def by_walk(y, v):
        return torch.ops.aten._backward(y.sum(), [], None, False, False)

    assert observe(by_nodes, scenario, CASE, autograd=False).error is None
    assert observe(by_walk, scenario, CASE, autograd=False).error.type.endswith("ShortcutError")


def test_a_students_own_error_may_use_torchs_words():
    def answer(x, v):
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")

    assert observe(answer, lambda f, case: f(**case), CASE, autograd=False).error.type == "RuntimeError"
