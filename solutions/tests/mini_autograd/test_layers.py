"""The package is built in layers: a folder imports only from those before it, and no two modules import each other."""

import ast
import graphlib
from pathlib import Path

import pytest

import mini_autograd

ROOT = Path(mini_autograd.__file__).parent
LAYERS = ["values", "core", "ops", "functions", "autograd", "nn", "optim"]


def module_name(path):
    """Return the dotted name of a file, from the package's root: "nn.modules.state", "nn" for nn/__init__.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(name, source, is_package):
    """Return the modules of this package that `source`, the text of module `name`, imports anywhere in it."""
    here = name.split(".") if name else []
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            up = node.level - is_package
            start = here[: len(here) - up] if up else here
            base = ".".join([*start, *(node.module.split(".") if node.module else [])])
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "mini_autograd":
            base = node.module.removeprefix("mini_autograd").removeprefix(".")
        elif isinstance(node, ast.Import):
            own = [alias.name for alias in node.names if alias.name.split(".")[0] == "mini_autograd"]
            found |= {each.removeprefix("mini_autograd").removeprefix(".") for each in own}
            continue
        else:
            continue
        for alias in node.names:
            inside = f"{base}.{alias.name}" if base else alias.name
            found.add(inside if inside in FILES else base)
    return found


GRAPH = {name: imports(name, path.read_text("utf-8"), path.name == "__init__.py") for name, path in FILES.items()}


def test_every_folder_is_a_layer():
    """A file lies in one of the layers; only the package's own face stands above them."""
    assert {name.split(".")[0] for name in FILES} == {"", *LAYERS}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_from_itself_and_those_before_it(layer):
    """What comes later, and the package's face, is unknown to a layer, even inside a function."""
    allowed = set(LAYERS[: LAYERS.index(layer) + 1])
    crossed = {
        name: {each for each in GRAPH[name] if each.split(".")[0] not in allowed}
        for name in FILES
        if name.split(".")[0] == layer
    }
    assert len(crossed) > 1
    assert {name: others for name, others in crossed.items() if others} == {}


def test_no_module_imports_itself_by_way_of_others():
    """The modules can be read in an order in which each knows only what came before."""
    order = list(graphlib.TopologicalSorter(GRAPH).static_order())
    assert set(order) == set(FILES)


def test_an_import_in_any_form_is_seen():
    """The reader of imports finds modules and packages, at the top and inside functions."""
    source = "from . import state\ndef f():\n    from ...core.tensor import make\n    import mini_autograd.nn.init\n"
    source += "from .. import functional as F, Parameter\nfrom mini_autograd import ops\nimport math\n"
    expected = {"nn.modules.state", "core.tensor", "nn.init", "nn.functional", "nn", "ops"}
    assert imports("nn.modules.module", source, False) == expected
    assert imports("nn", "from . import init\nfrom .. import optim\n", True) == {"nn.init", "optim"}
