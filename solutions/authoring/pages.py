"""Generate the pages beside the chapters: the glossary, a cheat sheet of their tables, and an index of errors."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from .chapter import chapter_names, source_path
from .places import SOLUTIONS, SOURCES

PAGES = SOLUTIONS.parent / "course/chapters/pages"
WRITTEN = ("glossary.md", "from_the_notes.md")  # beside the solved chapters, whose links lead there, too

# The tables on the cheat sheet: the chapter, the cell with the table, the title above it.
TABLES = [
    ("01_graph", "s2-explain", "What does every tensor carry?"),
    ("03_accumulation", "s8", "When is `retain_graph=True` the right answer?"),
    ("05_freezing", "s6", "What stops a gradient?"),
    ("07_module_hooks", "s5-none-explain", "Which hooks does a module have?"),
    ("15_clinic", "triage", "Which question comes first?"),
    ("16_more_than_one_gradient", "s8", "What does `torch.func` offer?"),
    ("17_in_the_wild", "s6", "What does an operator's label say?"),
]

# Messages that lessons explain, in addition to those in Help folds: the chapter, the cell that shows the message,
# the beginning of the message, and what to do.
EXPLAINED = [
    (
        "01_graph",
        "s2-run",
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed",
        "Only leaves receive a `.grad`. Call `retain_grad()` on the tensor before the backward pass, or ignore the "
        "warning.",
    ),
    (
        "01_graph",
        "s2-errors",
        "RuntimeError: Only Tensors of floating point and complex dtype can require gradients",
        "Give the tensor a floating-point dtype: `torch.tensor([1.0, 2.0])`.",
    ),
    (
        "01_graph",
        "s2-errors",
        "RuntimeError: Can't call numpy() on Tensor that requires grad",
        "NumPy would lose the history. If you don't need it, write `x.detach().numpy()`.",
    ),
    (
        "02_external_gradients",
        "s2-run",
        "RuntimeError: grad can be implicitly created only for scalar outputs",
        "Pass an external gradient of the output's shape to `backward`, or reduce the output to one value first.",
    ),
    (
        "02_external_gradients",
        "s2-shapes",
        "RuntimeError: Mismatch in shape: grad_output[0] has a shape of",
        "The external gradient must have the shape of the output, not of the input.",
    ),
    (
        "03_accumulation",
        "s1-loop",
        "RuntimeError: Trying to backward through the graph a second time",
        "The first backward pass freed the saved values. Compute the forward pass again, or detach the tensor that "
        "carries the old graph along. Use `retain_graph=True` only if you mean to run the same graph again.",
    ),
    (
        "03_accumulation",
        "s1-loop",
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation",
        "A value that a node saved was overwritten before the backward pass, often by an optimizer step between two "
        "passes over one graph. Chapter 09, section 1, shows how to find the write.",
    ),
    (
        "15_clinic",
        "p1-loop",
        "RuntimeError: Trying to backward through the graph a second time",
        "If the loop calls `backward` once on each loss, something carries an old graph along. Pages 1 to 4 find it.",
    ),
    (
        "15_clinic",
        "p6-run",
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation",
        "The message names a version. Page 6 finds the tensor that is at it.",
    ),
    (
        "04_grad_fn",
        "s3-deep",
        "RecursionError: maximum recursion depth exceeded",
        "A graph can be deeper than Python's stack. Keep a list of nodes to visit instead of recursing.",
    ),
    (
        "05_freezing",
        "s6-run",
        "RuntimeError: Inference tensors cannot be saved for backward",
        "Compute the features under `no_grad` instead of `inference_mode`, or clone them outside the block.",
    ),
    (
        "06_tensor_hooks",
        "s3-errors",
        "RuntimeError: hook 'wrong' has changed the size of value",
        "A tensor hook must return a gradient of the same shape and dtype, or None.",
    ),
    (
        "06_tensor_hooks",
        "s7-wrong",
        "RuntimeError: post accumulate grad hooks cannot be registered on non-leaf tensors",
        "Only leaves accumulate. On any other tensor, use `register_hook`.",
    ),
    (
        "06_tensor_hooks",
        "s7-wrong",
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
        "Write under `torch.no_grad()`, or compute a new tensor.",
    ),
    (
        "07_module_hooks",
        "s5-run",
        "UserWarning: Full backward hook is firing when gradients are computed with respect to module outputs",
        "No input of the module requires a gradient, so `grad_input` is None. This is not an error.",
    ),
    (
        "07_module_hooks",
        "s7-relu",
        "RuntimeError: Output 0 of BackwardHookFunction is a view and is being modified inplace",
        "An in-place module follows a full backward hook. Use `inplace=False`, or a tensor hook on the output.",
    ),
    (
        "09_when_gradients_go_wrong",
        "s6-anomaly-run",
        "RuntimeError: Function 'MulBackward0' returned nan values in its 0th output.",
        "Anomaly mode found the node that produced the first nan. Its warning shows the forward line.",
    ),
    (
        "09_when_gradients_go_wrong",
        "s9-unused",
        "RuntimeError: The differentiated Tensor at index 1 appears to not have been used in the graph",
        "No path leads from the output to this tensor. Pass `allow_unused=True` if that is intended.",
    ),
    (
        "10_functions_of_your_own",
        "s2-errors",
        "RuntimeError: function FaultyBackward returned an incorrect number of gradients",
        "Return one gradient for each argument of `forward`, and None for arguments that need none.",
    ),
    (
        "16_more_than_one_gradient",
        "s5-own-run",
        "RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable",
        "Its backward is not recorded. Write the backward with torch's operations and remove the decorator.",
    ),
    (
        "16_more_than_one_gradient",
        "s8-own",
        "RuntimeError: You tried to vmap over Cube, but it does not have vmap support",
        "Set `generate_vmap_rule = True` on the Function, or write its `vmap` method.",
    ),
    (
        "16_more_than_one_gradient",
        "s4-refused",
        "RuntimeError: During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place "
        "operation",
        "The function writes into a tensor that all samples share, such as a batch norm's running averages. Replace "
        "the batch norm by `GroupNorm`, or put it in evaluation mode.",
    ),
    (
        "16_more_than_one_gradient",
        "s4-refused",
        "ValueError: Expected more than 1 value per channel when training",
        "A batch norm in training cannot normalize one sample. Give it a larger batch, or use `GroupNorm`.",
    ),
    (
        "16_more_than_one_gradient",
        "s6-missing-run",
        "RuntimeError: derivative for aten::_scaled_dot_product_flash_attention_for_cpu_backward is not implemented",
        "This attention has no second derivative. Choose one that has: "
        "`with torch.nn.attention.sdpa_kernel(SDPBackend.MATH):`.",
    ),
    (
        "17_in_the_wild",
        "s2-frozen-run",
        "UserWarning: None of the inputs have requires_grad=True. Gradients will be None",
        "A reentrant checkpoint sees only its inputs, so no parameter inside it receives a gradient. Pass "
        "`use_reentrant=False`.",
    ),
    (
        "17_in_the_wild",
        "s4-twice",
        "RuntimeError: torch.compile with aot_autograd does not currently support double backward",
        "The compiled backward step cannot be differentiated. Compute the gradient penalty without compiling.",
    ),
    (
        "17_in_the_wild",
        "s5-unused-run",
        "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one",
        "A parameter received no gradient, so the gradients of the last pass were not averaged. Remove it, or pass "
        "`find_unused_parameters=True`.",
    ),
    (
        "17_in_the_wild",
        "s6-run",
        "RuntimeError: Trying to backward through wild.cbrt.default but no autograd formula was registered.",
        "Register the operator's backward step with `register_autograd`.",
    ),
    (
        "17_in_the_wild",
        "appendix-half-run",
        "ValueError: Attempting to unscale FP16 gradients.",
        "Keep the parameters in float32, and let `autocast` convert inside the forward pass.",
    ),
]

_TABLE = re.compile(r"(?:^\|.*\|$\n?)+", re.MULTILINE)
_HELP = re.compile(r"<details><summary>Help: (.*?)</summary>(.*?)</details>", re.DOTALL)
EXERCISE = re.compile(r"^### Exercise (\S+)", re.MULTILINE)
_MESSAGE = re.compile(r"<code>([^<]*\b\w*(?:Error|Warning)\b[^<]*)</code>")


class Cure(NamedTuple):
    """The fix for a message, and the place that explains it: an exercise or section, in words."""

    place: str
    link: str
    says: str


def made() -> dict[str, str]:
    """Return the generated pages by file name."""
    return written() | {"cheat_sheet.md": cheat_sheet(), "errors.md": error_index()}


def written() -> dict[str, str]:
    """Return the pages that nothing generates, by file name."""
    return {name: (SOURCES / "pages" / name).read_text(encoding="utf-8") for name in WRITTEN}


def cheat_sheet() -> str:
    """Return the page of tables that chapters build up, each with a link to its explanation."""
    parts = ["# Cheat sheet", "The tables of the chapters on one page. Each links to where it is explained."]
    for chapter, cell, title in TABLES:
        notebook = _notebook(chapter)
        table = next(_TABLE.finditer(_cell(notebook, cell).source))[0].strip()
        parts += [f"## {title}", table, f"[{_section(notebook, chapter, cell)}]({_link(chapter, cell)})"]
    return "\n\n".join(parts) + "\n"


def cures() -> dict[str, list[Cure]]:
    """Return the errors and warnings that the chapters explain, in alphabetical order, each with its cures."""
    cures: dict[str, list[Cure]] = {}
    for chapter, cell, message, says in EXPLAINED:
        place = _section(_notebook(chapter), chapter, cell)
        cures.setdefault(message, []).append(Cure(place, _link(chapter, cell), says))
    for chapter in chapter_names():
        for message, cure in _from_help(_notebook(chapter), chapter):
            known = next((text for text in cures if message.startswith(text) or text.startswith(message)), message)
            cures.setdefault(known, []).append(cure)
    return dict(sorted(cures.items()))


def error_index() -> str:
    """Return the page of errors and warnings that the chapters explain."""
    rows = []
    for message, fixes in cures().items():
        rows.append([f"`{message}`", "<br>".join(f"[{cure.place}]({cure.link}): {cure.says}" for cure in fixes)])
    head = [
        "# Errors and warnings",
        "What each message means here and how to fix it, in alphabetical order. "
        "An exercise's number leads to its help; a chapter's section shows the error. If there is no message, or it "
        "doesn't say which line is at fault, begin with the "
        "[clinic](../15_clinic/15_clinic.ipynb#cell-id=triage), which leads from a symptom to a question and a tool.",
        "\n".join(["| message | where, and what to do |", "|---|---|", *map(_row, rows)]),
    ]
    return "\n\n".join(head) + "\n"


def _row(columns: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in columns)} |"


def _from_help(notebook: NotebookNode, chapter: str) -> Iterator[tuple[str, Cure]]:
    """Yield each message that a Help fold quotes, with the fold's advice."""
    exercise = ""
    for cell in notebook.cells:
        if heading := EXERCISE.search(cell.source):
            exercise = heading[1]
        for title, says in _HELP.findall(cell.source) if cell.cell_type == "markdown" else ():
            for message in _MESSAGE.findall(title):
                cure = Cure(exercise, _link(chapter, cell.id), " ".join(says.split()))
                yield html.unescape(message), cure


def _notebook(chapter: str) -> NotebookNode:
    return nbformat.read(source_path(chapter), as_version=4)


def _cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == name)


def _section(notebook: NotebookNode, chapter: str, name: str) -> str:
    """Return the chapter and section of a cell in words, from the last heading in or above the cell."""
    position = notebook.cells.index(_cell(notebook, name))
    above = "\n".join(cell.source for cell in notebook.cells[: position + 1] if cell.cell_type == "markdown")
    number = re.findall(r"^## (?:(\d+) ·)?", above, re.MULTILINE)[-1]
    return f"chapter {chapter[:2]}" + f", section {number}" * bool(number)


def _link(chapter: str, cell: str) -> str:
    return f"../{chapter}/{chapter}.ipynb#cell-id={cell}"
