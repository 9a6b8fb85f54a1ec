"""Answers to the exercises of chapter 07 that have found something in a check."""

wrong("07.2", "calls of the first function").edit(
    {"with contextlib.suppress(Exception):": "with torch.inference_mode(), contextlib.suppress(Exception):"}
)

# the mode is left changed
wrong("07.2", "model.training = True").edit("""
+    model.train()
     with contextlib.suppress(Exception):
""")

# counts sets of hook functions, so one function registered twice counts once
wrong("07.2").edit({"len(module._forward_hooks)": "len({*module._forward_hooks.values()})"})


@right("07.3")
@contextlib.contextmanager
def capture(model, names):
    modules = dict(model.named_modules())
    name_of = {modules[name]: name for name in names}
    kept = {name: [] for name in names}

    def hook(module, input, output):
        if module in name_of:
            kept[name_of[module]].append(output.detach().clone())

    handle = nn.modules.module.register_module_forward_hook(hook)
    try:
        yield kept
    finally:
        handle.remove()


wrong("07.3", "First difference at 'names after the block'").edit("""
-        for name in names:
+        while names:
+            name = names.pop(0)
""")

wrong("07.3", "Your dict's keys differ from the expected ones.").edit("""
             handle.remove()
+        kept.clear()
""")

# removed after an Exception only
wrong("07.3", "hooks on the model after a block with KeyboardInterrupt").edit("""
-    finally:
+    except Exception:
+        for handle in handles:
+            handle.remove()
+        raise
+    else:
""")

# a clone replaces the output
wrong("07.3", "how many nodes capture adds to the graph").edit("""
                 kept[name].append(output.detach().clone())
+                return output.clone()
""")

# a tuple is detached
wrong("07.4", "AttributeError: 'tuple' object has no attribute 'detach'").edit(
    {"self.detached(input)": "input.detach()", "self.detached(output)": "output.detach()"}
)

# no self
wrong("07.4", "TypeError: Tap.hook() takes 3 positional arguments but 4 were given").edit(
    {"def hook(self, module, input, output):": "def hook(module, input, output):"}
)

# detached gradients replace those that pass
wrong("07.4", "a gradient with create_graph=True").edit("""
         self.output = None
+        self.backward = backward

         self.output = self.detached(output)
+        return self.input if self.backward else None
""")

# a bare tensor instead of a tuple
wrong("07.8", "Backward hook returned an invalid number of grad_input, got 6").edit(
    {"(grad_input[0].clamp(min=0),)": "grad_input[0].clamp(min=0)"}
)
