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

# Torch's own form of what is asked for; to any other exercise, the answer is something that torch made.
ANSWERS = {
    "11.3": "no_grad = torch.no_grad",
    "11.5": """class Formulas:
    def neg_self(grad):
        return torch.neg(torch.from_numpy(grad)).numpy()
""",
    "12.6": "def backward(tensor, gradient=None, retain_graph=False):\n    torch.autograd.backward(tensor, gradient)",
    "13.1": """def add_hook(hooks, hook):
    handle = torch.utils.hooks.RemovableHandle(torch.nn.Module()._forward_hooks)
    hooks[handle.id] = hook
    return handle
""",
    "13.2": "def register_hook(tensor, hook):\n    return torch.Tensor.register_hook(tensor, hook)",
    "13.7": "class BackwardHook(torch.utils.hooks.BackwardHook):\n    pass",
    "14.1": "def sigmoid(x):\n    return torch.sigmoid(x)",
    "14.4": "def nll_loss(input, target):\n    return torch.nn.functional.nll_loss(input, target)",
    "14.5": LAYER,
    "14.6": "class SGD(torch.optim.SGD):\n    pass",
}
MADE = "def {0}(*args, **kwargs):\n    return torch.ones(2)"

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


CHECKS = {
    check_id: check
    for name in chapter_names()
    if "11" < name < "15"
    for check_id, check in load_chapter(name).checks.items()
}


def by_torch(check_id: str) -> str:
    return ANSWERS.get(check_id, MADE.format(CHECKS[check_id].answer_name))


def message(check, source: str) -> str:
    """What the check says of the answer in a text, "" where it passes."""
    namespace = dict(check.scenario.__globals__)
    exec(source, namespace)
    answer = namespace[check.answer_name]
    record = check.record([1], slips=False)
    return judge_check(record, check.observe(answer, record.cases), check.judge).feedback.lead


def test_no_check_of_part_two_permits_torch():
    assert not any(check.torch for check in CHECKS.values())


@pytest.mark.parametrize("check_id", CHECKS)
def test_an_answer_by_torch_is_refused_and_told_so(check_id):
    assert message(CHECKS[check_id], by_torch(check_id)) == SAYS


@pytest.mark.parametrize("check_id", ["11.10", "12.6", "13.2", "14.1", "14.4", "14.5", "14.6"])
def test_no_attribute_of_an_answer_lets_torch_in(check_id):
    door = DOOR.format(CHECKS[check_id].answer_name)
    assert message(CHECKS[check_id], by_torch(check_id) + door) == SAYS


@pytest.mark.parametrize("check_id", BEFORE)
def test_what_torch_made_before_the_check_is_refused_too(check_id):
    assert message(CHECKS[check_id], BEFORE[check_id]) == SAYS
