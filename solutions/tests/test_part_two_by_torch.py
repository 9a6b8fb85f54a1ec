"""Part two answered with torch: no check of chapters 11 to 14 passes, and each says why."""

import pytest

from authoring.chapter import chapter_names, load_chapter
from gradlab.checks.verdict import judge_check

SAYS = "Your answer used torch. In part two your own engine takes its place: use NumPy and the engine's Tensor."
LAYER = """class Linear(torch.nn.Linear):
    def __init__(self, weight, bias):
        super().__init__(weight.shape[1], weight.shape[0], dtype=torch.float64)
        self.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})
"""
DOOR = "\n{0}.tensor = lambda data, requires_grad=False: torch.tensor(data, requires_grad=requires_grad)"

ANSWERS = {
    "11.0": "def backward(root, gradient):\n    torch.autograd.backward([root], [torch.from_numpy(gradient)])",
    "11.1": "def edge_or_leaf(tensor):\n    return tuple(torch.autograd.graph.get_gradient_edge(tensor))",
    "11.2": "def record(node, inputs, output):\n    output.grad_fn = torch.add(*inputs).grad_fn",
    "11.3": "no_grad = torch.no_grad",
    "11.4": "def save(node, known):\n    return {name: torch.as_tensor(value) for name, value in known.items()}",
    "11.5": """class Formulas:
    def neg_self(grad):
        return torch.neg(torch.from_numpy(grad)).numpy()
""",
    "11.6": "def sum_to(gradient, shape):\n    return torch.from_numpy(gradient).sum_to_size(shape).numpy()",
    "11.8": "def apply_formulas(node, gradient):\n    return [torch.from_numpy(gradient)]",
    "11.9": "def call(kind, forward, args):\n    return torch.ones(2)",
    "11.10": "def of_my_choice():\n    return 'exp', lambda x: torch.exp(torch.from_numpy(x.data))",
    "12.1": "def accumulate(leaf, gradient):\n    leaf.grad = torch.from_numpy(gradient)",
    "12.2": "def count_dependencies(edges):\n    return {torch.ones(1, requires_grad=True).exp().grad_fn: len(edges)}",
    "12.3": "def weight(tensor, gradient=None):\n    return torch.ones_like(tensor).numpy()",
    "12.4": "def run(roots, gradients, keep_graph=False):\n    torch.autograd.backward(roots, gradients)",
    "12.5": "def release(node):\n    torch.autograd.backward([node])",
    "12.6": "def backward(tensor, gradient=None, retain_graph=False):\n    torch.autograd.backward(tensor, gradient)",
    "13.1": """def add_hook(hooks, hook):
    handle = torch.utils.hooks.RemovableHandle(OrderedDict())
    hooks[handle.id] = hook
    return handle
""",
    "13.2": "def register_hook(tensor, hook):\n    return torch.Tensor.register_hook(tensor, hook)",
    "13.3": "def call_tensor_hooks(node, gradient):\n    return torch.from_numpy(gradient)",
    "13.4": "def arrive(node, gradient):\n    node.variable.grad = torch.from_numpy(gradient)\n    return []",
    "13.5": "def leading_to(targets, nodes):\n    return {torch.tensor(1.0)}",
    "13.6": "def call_module(module, *args):\n    return torch.nn.Module.__call__(module, *args)",
    "13.7": "class BackwardHook(torch.utils.hooks.BackwardHook):\n    pass",
    "14.1": "def sigmoid(x):\n    return torch.sigmoid(x)",
    "14.2": "def matmul(self, other):\n    return torch.matmul(self, other)",
    "14.3": "def log_softmax(x, dim):\n    return torch.log_softmax(torch.tensor(x.data, requires_grad=True), dim)",
    "14.4": "def nll_loss(input, target):\n    return torch.nn.functional.nll_loss(input, target)",
    "14.5": LAYER,
    "14.6": "class SGD(torch.optim.SGD):\n    pass",
}

# Objects made before the check runs, so that only their type reveals torch.
BEFORE = {
    "11.1": "made = torch.ones(2, requires_grad=True).exp()\n\n\ndef edge_or_leaf(tensor):\n    return made.grad_fn, 0",
    "12.1": "made = torch.ones(2)\n\n\ndef accumulate(leaf, gradient):\n    leaf.grad = made",
    "14.1": "made = torch.ones(2, requires_grad=True).sigmoid()\n\n\ndef sigmoid(x):\n    return made",
    "14.3": """
def gradient(grad, result, dim):
    x = torch.tensor(result, requires_grad=True)
    return torch.autograd.grad(torch.log_softmax(x, dim), x, torch.tensor(grad))[0].numpy()


log_softmax = operation("LogSoftmaxBackward0", log_softmax_of, self=gradient)
""",
}


@pytest.fixture(scope="module")
def checks():
    return {
        key: check for name in chapter_names() if "11" < name < "15" for key, check in load_chapter(name).checks.items()
    }


def message(check, source: str) -> str:
    """What the check says of the answer in a text, "" where it passes."""
    namespace = dict(check.scenario.__globals__)
    exec(source, namespace)
    answer = namespace[check.answer_name]
    record = check.record([1], slips=False)
    return judge_check(record, check.observe(answer, record.cases), check.judge).feedback.lead


def test_there_is_an_answer_by_torch_for_every_exercise(checks):
    assert ANSWERS.keys() == checks.keys()
    assert not any(check.torch for check in checks.values())


@pytest.mark.parametrize("check_id", ANSWERS)
def test_an_answer_by_torch_is_refused_and_told_so(checks, check_id):
    assert message(checks[check_id], ANSWERS[check_id]) == SAYS


@pytest.mark.parametrize("check_id", ["11.10", "12.6", "13.2", "14.1", "14.2", "14.4", "14.5", "14.6"])
def test_no_attribute_of_an_answer_lets_torch_in(checks, check_id):
    assert message(checks[check_id], ANSWERS[check_id] + DOOR.format(checks[check_id].answer_name)) == SAYS


@pytest.mark.parametrize("check_id", BEFORE)
def test_what_torch_made_before_the_check_is_refused_too(checks, check_id):
    assert message(checks[check_id], BEFORE[check_id]) == SAYS
