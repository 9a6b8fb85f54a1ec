"""Answers to the exercises of chapter 05 that have found something in a check."""

wrong("05.1", "not: backward() itself", "Your function returned None").edit(
    {"    return sizes[True], sizes[False]": ""}
)

wrong("05.1", "modules in training mode").edit(
    {
        "model.requires_grad_(False)": "model.requires_grad_(False).eval()",
        "requires_grad_(True)": "requires_grad_(True).train()",
    }
)

wrong("05.1", "AttributeError: 'ModuleDict' object has no attribute 'body.2'").edit(
    {"model.get_submodule(part)": "getattr(model, part)"}
)

# something else changed in the model
wrong("05.1", "The dtype differs from the expected one.").edit("""
+    model.double()
     model.requires_grad_(False)
""")

wrong("05.1", "First difference at gradients[").edit("""
     model.requires_grad_(False)
+    model.zero_grad()
""")

# nothing was deleted
wrong("05.2", "Likely slip: the given weights changed.", "not: You deleted").edit("""
     model.load_state_dict(weights)
+    weights["fc.weight"] *= 2
""")


# a part whose name contains that of the head
@wrong("05.2", "old_fc", "not: Likely slip")
def with_new_head(model, weights, classes):
    model.load_state_dict(weights)
    model.fc = nn.Linear(model.fc.in_features, classes, dtype=model.fc.weight.dtype)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("fc." in name)


# the new head has a bias only if the old one had
wrong("05.2", "bias").edit({"dtype=old.weight.dtype": "bias=old.bias is not None, dtype=old.weight.dtype"})

wrong("05.3", "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn").edit(
    {"model.body.requires_grad_(False)": "model.requires_grad_(False)"}
)

wrong("05.4", "AttributeError: 'Sequential' object has no attribute 'grad'").edit(
    {"parameter.grad = None": "part.grad.zero_()"}
)

wrong("05.4", "Raised at line", "StopIteration").edit(
    {"in part.parameters():": "in [next(part.parameters()), *part.parameters()]:"}
)

# only what is still trainable
wrong("05.4", "frozen already, with a gradient", "not: Likely slip").edit(
    {"in part.parameters():": "in [each for each in part.parameters() if each.requires_grad]:"}
)

# parameters that have no gradient yet stay trainable
wrong("05.4", "requires_grad").edit(
    {"in part.parameters():": "in [each for each in part.parameters() if each.grad is not None]:"}
)

# eval changes what the rest of the network sees through the part's BatchNorm or dropout
wrong("05.4", "modules in training mode").edit("""
+    part.eval()
     for parameter in part.parameters():
""")

wrong("05.5", "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn").edit("""
-    probing = nn.functional.mse_loss(probe(h.detach()), extra)
-    (task + probing).backward()
+    probing = nn.functional.mse_loss(probe(h).detach(), extra)
+    task.backward()
+    probing.backward()
""")

wrong("05.5", "RuntimeError: Trying to backward through the graph a second time").edit("""
-    probing = nn.functional.mse_loss(probe(h.detach()), extra)
-    (task + probing).backward()
+    probing = nn.functional.mse_loss(probe(h), extra)
+    task.backward()
+    probing.backward()
""")

wrong("05.5", "modules in training mode").edit("""
+    probe.eval()
     h = backbone(x)
""")

# every module back in training mode, whatever its mode was
wrong("05.5", "'modules in training mode'").edit("""
     task = nn.functional.mse_loss(head(h), target)
+    probe.eval()
     probing = nn.functional.mse_loss(probe(h.detach()), extra)
+    probe.train()
""")

# modules already in eval were put into train, without train()
wrong("05.6", "Likely slip: everything put into train.", "not: train() sets them all").edit(
    {"module.training = training": "module.training = True"}
)
