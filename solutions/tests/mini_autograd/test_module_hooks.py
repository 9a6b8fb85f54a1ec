"""Module hooks: the two kinds on all modules, and what hooks keep alive. More of them is in `cells/module_hooks.py`."""

import gc
import weakref

import pytest
import torch as real_torch
from both import assert_same

import mini_autograd as mini


@pytest.fixture
def no_kind_of_global_backward_hook():
    """Both libraries remember for good which kind was registered on all modules."""

    def forget():
        real_torch.nn.modules.module._global_is_full_backward_hook = None
        mini.nn.modules.hooks.every_module.is_full_backward_hook = None

    forget()
    yield
    forget()


@pytest.mark.parametrize("first", ["backward_hook", "full_backward_hook"])
@pytest.mark.parametrize("second", ["backward_hook", "full_backward_hook"])
@pytest.mark.usefixtures("no_kind_of_global_backward_hook")
def test_the_two_kinds_of_global_backward_hook_exclude_each_other(first, second):
    def both(torch):
        """Register one kind after the other."""
        registering = [getattr(torch.nn.modules.module, f"register_module_{kind}") for kind in (first, second)]
        with registering[0](print), registering[1](print):
            pass

    assert_same(both, None if first == second else RuntimeError)


@pytest.mark.usefixtures("no_kind_of_global_backward_hook")
def test_global_legacy_hook():
    def seen(torch):
        log, sigmoid = [], torch.nn.Sigmoid()
        sigmoid.register_full_backward_hook(lambda m, gi, go: log.append(("own", gi, go)))
        register = torch.nn.modules.module.register_module_backward_hook
        with register(lambda m, gi, go: log.append((m, gi, go))):
            net = torch.nn.Sequential(torch.nn.Tanh(), sigmoid)
            net(torch.ones(2, requires_grad=True)).sum().backward()
        return log

    assert_same(seen)


def test_a_hooked_module_and_its_graph_are_freed_by_reference_counts():
    """Neither the hook nor its handle keeps the module or the graph of its last call alive."""
    gc.collect()
    gc.disable()
    try:
        net = mini.nn.Sequential(mini.nn.Linear(2, 3), mini.nn.Sigmoid())
        handle = net.register_full_backward_hook(lambda m, gi, go: None)
        net[0].register_forward_hook(lambda m, args, out: None)
        out = net(mini.ones(2, requires_grad=True))
        out.sum().backward()
        node, layer, module = weakref.ref(out.grad_fn), weakref.ref(net[0]), weakref.ref(net)
        del out
        assert node() is None
        del net
        assert module() is None
        assert layer() is None
        handle.remove()
    finally:
        gc.enable()
