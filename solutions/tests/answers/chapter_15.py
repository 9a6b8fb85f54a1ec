"""Answers to the exercises of chapter 15 that have found something in a check."""

# two recorded runs of the model for each batch
right("03.5b").edit({"outputs.detach().abs().mean()": "model(inputs).abs().mean().detach()"})

wrong("15.5", "fingerprint of your cause").edit({'"path cut", (None, True)': '(None, True), "path cut"'})

right("15.5").edit({"(None, True)": "[None, True]"})

wrong("15.7", "fingerprint of your evidence").edit({"(0, 1)": "1"})

right("15.7").edit({"h + torch.relu(h)": "h.clone() + torch.relu_(h)"})

wrong("15.8", "fingerprint of your evidence").edit({'alike", 10': 'alike", 0.3333'})

# in any order
right("15.8").edit({"for inputs, target in sequences:": "for inputs, target in reversed(sequences):"})

# the body's parameters are added at every batch
wrong("15.9", "ValueError: some parameters appear in more than one parameter group").edit("""
-    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=lr)
+    optimizer = torch.optim.SGD(head.parameters(), lr=lr)

-        if number == unfreeze_at:
+        if number >= unfreeze_at:
             body.requires_grad_(True)
+            optimizer.add_param_group({"params": body.parameters()})
""")

wrong("15.9", "fingerprint of your evidence", "not: Likely slip").edit({"(True, 16, 0)": "(16, 16, 0)"})

right("15.11").edit(
    {"torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)": "(squared + ~apart).sqrt() * apart"}
)

# the same evidence as a float
right("15.12").edit({'"clipped before unscaling", 1024': '"clipped before unscaling", 1024.0'})

wrong("15.13", "AttributeError: cannot assign module before Module.__init__() call").edit("""
-        super().__init__()
-        self.diagnosis = "not registered", (7, 2)
-        self.blocks = nn.ModuleList(blocks)
+        self.diagnosis = "not registered", (7, 2)
+        self.blocks = nn.ModuleList(blocks)
+        super().__init__()
""")

# an optimizer finds all weights, a checkpoint does not
wrong("15.13", "First difference at 'shapes in the state dict'", "not: backward() itself returns None").edit("""
-        self.blocks = nn.ModuleList(blocks)
+        self.blocks = blocks
+        self.parameters = lambda: [weight for module in [*blocks, head] for weight in module.parameters()] + [self.gain]

-        self.gain = nn.Parameter(gain.clone())
+        self.gain = gain.clone().requires_grad_()
""")

# a copy is overwritten, so exp keeps its output
wrong("15.15", "losses", "not: Likely slip").edit("""
-        shares = shares / shares.sum(1, keepdim=True)
+        shares = shares.clone()
+        shares.data /= shares.data.sum(1, keepdim=True)
""")
