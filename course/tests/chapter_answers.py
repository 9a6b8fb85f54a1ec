"""Text to type into each chapter's notebook in the browser: a wrong and a right answer to an early exercise."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Exercise:
    """An early exercise of a chapter: a wrong and a right answer, and what its check says to each.

    lessons: the ids of the lesson cells that its payoff draws on.
    """

    chapter: str
    number: str
    title: str
    wrong: str
    wrong_says: str
    right: str
    right_says: str
    lessons: tuple[str, ...] = ()


SLOPE = """
def slope(f, x):
    leaf = x.clone().requires_grad_()
    f(leaf).backward()
    return leaf.grad
"""

LEDGER = """
def ledger(x, events):
    grad, entries = None, []
    for kind, value in events:
        if kind == "walk":
            grad = value * 3 * x**2 + (0 if grad is None else grad)
        elif grad is not None:
            grad = None if value else torch.zeros_like(grad)
        entries.append(grad)
    return entries
"""

WAY = """
def way_to_a_leaf(tensor):
    names, node = [], tensor.grad_fn
    while node is not None:
        names.append(type(node).__name__)
        node = next((child for child, _ in node.next_functions if child is not None), None)
    return names
"""

RECORDING = """
@contextlib.contextmanager
def recording(tensors):
    seen = []
    handles = [
        tensor.register_hook(lambda gradient, name=name: seen.append((name, gradient.clone())))
        for name, tensor in tensors.items()
    ]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
"""

FREEZE = """
def freeze_all_but(model, part):
    model.requires_grad_(False)
    model.get_submodule(part).requires_grad_(True)
    numbers = [(parameter.requires_grad, parameter.numel()) for parameter in model.parameters()]
    return sum(n for on, n in numbers if on), sum(n for on, n in numbers if not on)
"""

SILENCE = """
def silence(module, channels):
    def hook(module, input, output):
        output = output.clone()
        output[:, channels] = 0
        return output

    return module.register_forward_hook(hook)
"""
CALL_HOOKS = """
def call_tensor_hooks(node, gradient):
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient
"""

WRITTEN = """
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, tensor in tensors.items():
        version, numbers = before[name]
        if tensor._version != version:
            found[name] = "counted"
        elif not same_numbers(tensor.detach(), numbers):
            found[name] = "in silence"
    return found
"""

HVP = """
def hvp(function, x, u):
    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(leaf), leaf, create_graph=True)
    (product,) = torch.autograd.grad(gradient, leaf, u)
    return product
"""

SIGMOID = """
def sigmoid_gradient(grad, result):
    return grad * result * (1 - result)


sigmoid = operation("SigmoidBackward0", sigmoid_of, self=sigmoid_gradient)
"""

RECORD = """
def accumulator(leaf):
    leaf._accumulator = leaf._accumulator or AccumulateGrad(leaf)
    return leaf._accumulator


def edge_or_leaf(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return (None, 0)
    return (tensor.grad_fn or accumulator(tensor), 0)


def record(node, inputs, output):
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, ((output.shape, output.dtype),)
        output.grad_fn, output.requires_grad = node, True
"""

COUNT = """
def count_dependencies(edges):
    counts, waiting = {}, list(edges)
    for node, _ in waiting:
        if node is not None:
            counts[node] = counts.get(node, 0) + 1
            if counts[node] == 1:
                waiting.extend(node.next_functions)
    return counts
"""

SALIENCY = """
def saliency(model, image, k):
    leaf = image.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(leaf[None])[0, k], leaf)
    return gradient.abs().amax(0)
"""

EXERCISES = [
    Exercise(
        chapter="01_graph",
        number="01-1",
        title="01.1 the slope of anything",
        wrong=SLOPE.replace("leaf = x.clone()", "leaf = x"),
        wrong_says="The second slope contains the first",
        right=SLOPE,
        right_says="passed",
    ),
    Exercise(
        chapter="02_external_gradients",
        number="02-1",
        title="02.1 the gradient that arrives at x",
        wrong="def pull_back(x, v):\n    return v",
        wrong_says="It still has to be multiplied by dy/dx",
        right="def pull_back(x, v):\n    return 3 * x**2 * v",
        right_says="passed",
    ),
    Exercise(
        chapter="03_accumulation",
        number="03-1",
        title="03.1 the ledger of a leaf",
        wrong=LEDGER.replace(" + (0 if grad is None else grad)", ""),
        wrong_says="Each backward pass replaced the last gradient",
        right=LEDGER,
        right_says="passed",
    ),
    Exercise(
        chapter="04_grad_fn",
        number="04-1",
        title="04.1 a path to a leaf",
        wrong="def way_to_a_leaf(tensor):\n    return [type(tensor.grad_fn).__name__] if tensor.grad_fn else []",
        wrong_says="Its next_functions lead on",
        right=WAY,
        right_says="passed",
    ),
    Exercise(
        chapter="05_freezing",
        number="05-1",
        title="05.1 everything frozen but one part",
        wrong=FREEZE.replace("requires_grad_(True)", "train()"),
        wrong_says="Unfreeze the part after you freeze the rest",
        right=FREEZE,
        right_says="passed",
    ),
    Exercise(
        chapter="06_tensor_hooks",
        number="06-1",
        title="06.1 a recorder of gradients",
        wrong=RECORDING.replace("handle.remove()", "pass"),
        wrong_says="Likely slip: hooks left behind. After the block your hooks still fire and record.",
        right=RECORDING,
        right_says="passed",
    ),
    Exercise(
        chapter="07_module_hooks",
        number="07-1",
        title="07.1 silence some channels",
        wrong=SILENCE.replace("        return output", "        output = None"),
        wrong_says="A hook has no effect if it returns nothing",
        right=SILENCE,
        right_says="passed",
    ),
    Exercise(
        chapter="08_saliency",
        number="08-2",
        title="08.2 saliency",
        wrong=SALIENCY.replace(".abs()", ""),
        wrong_says="Take the absolute value first",
        right=SALIENCY,
        right_says="passed",
        lessons=("s7-train", "s7-theirs", "s1-train", "s1-nets"),
    ),
    Exercise(
        chapter="09_when_gradients_go_wrong",
        number="09-1",
        title="09.1 a detector of in-place writes",
        wrong=WRITTEN.replace(".clone()", ""),
        wrong_says="finds no silent write",
        right=WRITTEN,
        right_says="passed",
    ),
    Exercise(
        chapter="10_functions_of_your_own",
        number="10-5",
        title="10.5 a Hessian-vector product",
        wrong=HVP.replace("create_graph=True", "create_graph=False"),
        wrong_says="The first gradient has no graph",
        right=HVP,
        right_says="passed",
    ),
    Exercise(
        chapter="11_record",
        number="11-2",
        title="11.2 record an operation",
        wrong=RECORD.replace("if state.grad and any", "if any"),
        wrong_says="although state.grad was off",
        right=RECORD,
        right_says="passed",
    ),
    Exercise(
        chapter="12_backward",
        number="12-2",
        title="12.2 count the dependencies",
        wrong=COUNT.replace("            if counts[node] == 1:\n    ", "            if True:\n    "),
        wrong_says="The counts below shared nodes are too large",
        right=COUNT,
        right_says="passed",
    ),
    Exercise(
        chapter="13_hooks_and_freezing",
        number="13-3",
        title="13.3 calling the tensor hooks",
        wrong=CALL_HOOKS.replace(".values())", ".values())[::-1]"),
        wrong_says="The hooks are called in the opposite order.",
        right=CALL_HOOKS,
        right_says="passed",
    ),
    Exercise(
        chapter="14_train",
        number="14-1",
        title="14.1 backward through the sigmoid",
        wrong=SIGMOID.replace(" * (1 - result)", ""),
        wrong_says="the factor (1 - result) is missing",
        right=SIGMOID,
        right_says="passed",
    ),
]
