"""The weights that come with a chapter, trained once, because training results depend on the processor."""

import hashlib
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import torch
from nbformat import NotebookNode

from .build import write
from .cells import tags
from .chapter import source_path
from .places import ChapterError

TAG = "weights"
TRAIN = "train_"
FILE = re.compile(r"weights-[0-9a-f]{8}\.pt")


def make(name: str) -> Path:
    """Train a chapter's networks as its cells do, save their weights beside the solved notebook, and return the path.

    The file's name, also written into the notebook, contains its hash, so a notebook never loads the wrong weights.
    """
    path = source_path(name)
    notebook = nbformat.read(path, as_version=4)
    content = packed(trained(notebook, name))
    for old in path.parent.glob("weights-*.pt"):
        old.unlink()
    file = path.with_name(file_name(content))
    file.write_bytes(content)
    for cell in notebook.cells:
        cell.source = FILE.sub(file.name, cell.source)
    write(notebook, path)
    return file


def file_name(content: bytes) -> str:
    """Return the name for a file with this content; as in torch.hub, it ends with the first digits of the hash."""
    return f"weights-{hashlib.sha256(content).hexdigest()[:8]}.pt"


def trained(notebook: NotebookNode, name: str) -> dict[str, list[dict[str, torch.Tensor]]]:
    """Run the setup cells and those tagged `weights`; return the weights from each function train_x, keyed by x."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook.cells:
        if cell.cell_type == "code" and {"setup", TAG} & set(tags(cell)):
            exec(compile(cell.source, f"<{name}:{cell.id}>", "exec"), namespace)
    functions = {key.removeprefix(TRAIN): train for key, train in namespace.items() if key.startswith(TRAIN)}
    if not functions:
        raise ChapterError(f"{name} trains nothing: no cell tagged `{TAG}` defines a function named {TRAIN}….")
    return {key: [net.state_dict() for net in train()] for key, train in functions.items()}


def packed(weights: dict[str, list[dict[str, torch.Tensor]]]) -> bytes:
    """Return the weights as bytes for torch.load; floats are stored in half precision, which is accurate enough."""
    small = {
        key: [{k: v.half() if v.is_floating_point() else v.clone() for k, v in state.items()} for state in states]
        for key, states in weights.items()
    }
    file = io.BytesIO()
    torch.save(small, file)
    return file.getvalue()
