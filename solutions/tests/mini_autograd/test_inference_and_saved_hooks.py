"""Inference mode, and hooks on saved tensors. The same code runs on torch and on mini_autograd.

The tests compare values, dtypes, names of nodes, error types and messages, warnings, and the order of hooks.
"""

import pytest
from both import assert_same_in, cases


def inference_and_saved_hooks(torch, see, show):
    """Inference mode, and hooks on what is saved."""
    T, A = torch.tensor, torch.autograd

    def X():
        return T([1.0, 2.0], requires_grad=True)

    with torch.inference_mode():
        it = T([1.0, 2.0])
        it2 = it * 2
    see("an inference tensor is not saved for backward", lambda: X() * it, raises=RuntimeError)
    see("an inference tensor may take part where nothing is saved", lambda: X() + it)
    see("an inference tensor cannot ask for gradients outside", lambda: it.requires_grad_(), raises=RuntimeError)
    see("an inference tensor has no version", lambda: it._version, raises=RuntimeError)
    see(
        "what is made of an inference tensor outside is a normal tensor, its views are not",
        lambda: (
            it,
            it.is_inference(),
            it2.clone().is_inference(),
            it.detach().is_inference(),
            it[0].is_inference(),
            (it + 1).is_inference(),
        ),
    )

    def f():
        x = X()
        y = x * 2
        with torch.inference_mode():
            z = y * 2
            w = y[:1]
            r = (z.is_inference(), z.requires_grad, w.is_inference(), T([1.0], requires_grad=True))
        return (r, w * X()[:1])

    see("results of inference mode cannot join a graph, views of normal tensors can", f)

    def f():
        x = X()
        y = x * 2
        with torch.inference_mode():
            y.add_(1)
        return (y, y._version, y.grad_fn)

    see("a normal tensor may be changed in inference mode", f)

    def f():
        with torch.inference_mode(), torch.enable_grad():
            return (X() * 2, torch.is_grad_enabled())

    see("enable_grad has no effect in inference mode", f)

    def f():
        x = X()
        ev = []
        with A.graph.saved_tensors_hooks(
            lambda t: (ev.append(("p", t.clone())), t)[1], lambda t: (ev.append("u"), t)[1]
        ):
            y = (x * x).exp() * 3
        y.sum().backward()
        return (ev, x.grad)

    see("saved-tensor hooks pack each saved tensor and unpack it when needed", f)


@pytest.mark.parametrize("label", cases(inference_and_saved_hooks))
def test_same_as_torch(label):
    assert_same_in(inference_and_saved_hooks, label)
