"""Answers to the exercises of chapter 15 that have found something in a check."""

# the step before the backward pass
wrong("03.5a", "No weight moved", "not: zero_grad comes between").edit("""
         state = cell(inputs, state.detach())
         loss = ((state - target) ** 2).mean()
         optimizer.zero_grad()
-        loss.backward()
         optimizer.step()
+        loss.backward()
""")

# two recorded runs of the model for each batch
right("03.5b").edit({"outputs.detach().abs().mean()": "model(inputs).abs().mean().detach()"})


# the error is caught
@wrong("03.6a", "log_scale learns from the first batch only.", "not: have no graph")
def fit_positive_scale(w, log_scale, optimizer, batches):
    scale = log_scale.exp()
    losses = []
    for inputs, target in batches:
        loss = ((scale * (inputs @ w) - target) ** 2).mean()
        optimizer.zero_grad()
        try:
            loss.backward()
        except RuntimeError as error:
            print(error)
        optimizer.step()
        losses.append(loss.item())
    return losses


# outputs kept outside the function, not in the log
wrong("03.6b", "graphs of earlier batches stay alive", "not: the log keeps").edit("""
     total = 0.0
+    fit_and_report.kept = []

-        loss = ((model(inputs) - target) ** 2).mean()
+        fit_and_report.kept.append(model(inputs))
+        loss = ((fit_and_report.kept[-1] - target) ** 2).mean()
""")

# two recorded runs of the model for each batch
right("03.6b").edit("""
+        total += ((model(inputs) - target) ** 2).mean().item()
         loss = ((model(inputs) - target) ** 2).mean()

-        total += loss.item()
""")

wrong("15.5", "fingerprint of your cause").edit({'"path cut", (None, True)': '(None, True), "path cut"'})

right("15.5").edit({"(None, True)": "[None, True]"})

right("15.5").edit("""
-        optimizer.zero_grad()
-        loss.backward()
+        leaves = [gain, offset, exponent]
+        for leaf, gradient in zip(leaves, torch.autograd.grad(loss, leaves)):
+            leaf.grad = gradient
""")


@wrong("15.6", "Likely slip: still overwritten.", name="retained")
def fit_states(w, optimizer, sequences):
    losses = []
    for inputs, target in sequences:
        states = torch.zeros(len(inputs) + 1, dtype=inputs.dtype)
        for t in range(len(inputs)):
            states[t + 1] = torch.tanh(w * states[t] + inputs[t])
        loss = ((states[1:] - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss.item())
    return ("saved value overwritten", ("states", 4)), losses


wrong("15.6", "fingerprint of your evidence").edit({'("states", 4)': "4"})

right("15.6", of="retained").edit("""
-        loss.backward(retain_graph=True)
+        loss.backward()

-            states[t + 1] = torch.tanh(w * states[t] + inputs[t])
+            state = torch.tanh(w * states[t] + inputs[t])
+            states = states.clone()
+            states[t + 1] = state
""")

wrong("15.7", "fingerprint of your evidence").edit({"(0, 1)": "1"})

right("15.7").edit({"h + torch.relu(h)": "h.clone() + torch.relu_(h)"})

wrong("15.8", "fingerprint of your evidence").edit({'alike", 10': 'alike", 0.3333'})

# a single backward pass through the sum
right("15.8").edit("""
-            loss.backward()
-            total += loss.item()
-        optimizer.step()
-        losses.append(total)
+            total = total + loss
+        total.backward()
+        optimizer.step()
+        losses.append(total.item())
""")

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

# torch adds 0 to a weight that has no gradient yet
right("15.9").edit({"optimizer.zero_grad()": "optimizer.zero_grad(set_to_none=False)"})

wrong("15.10", "fingerprint of your evidence").edit({"(20, 400)": "(20, (20, 20))"})

right("15.10").edit({"model(inputs)[:, 0]": "model(inputs).squeeze()"})

# a mean over fewer distances
wrong("15.11", "losses").edit("""
-        loss = ((distances - target) ** 2).mean()
+        loss = ((distances - target)[apart] ** 2).mean()
""")

# the same evidence as an int
right("15.11").edit({'("SqrtBackward0", 0.0)': '("SqrtBackward0", 0)'})

right("15.11").edit(
    {"torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)": "(squared + ~apart).sqrt() * apart"}
)

# only the first parameter is unscaled
wrong("15.12", "losses").edit("""
             parameter.grad /= scale
+            break
""")

# the same evidence as a float
right("15.12").edit({'"clipped before unscaling", 1024': '"clipped before unscaling", 1024.0'})

right("15.12").edit("""
-        loss = ((model(inputs) - target) ** 2).mean()
+        loss = scale * ((model(inputs) - target) ** 2).mean()

-        (scale * loss).backward()
+        loss.backward()

-        losses.append(loss.item())
+        losses.append(loss.item() / scale)
""")

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

# the mode of the layers is restored too early
wrong("15.14", "ValueError: Expected more than 1 value per channel when training").edit("""
         model.eval()
+        model.train()
""")

# a copy is overwritten, so exp keeps its output
wrong("15.15", "losses", "not: Likely slip").edit("""
-        shares = shares / shares.sum(1, keepdim=True)
+        shares = shares.clone()
+        shares.data /= shares.data.sum(1, keepdim=True)
""")

right("15.15").edit("""
-        shares = model(inputs).exp()
-        shares = shares / shares.sum(1, keepdim=True)
+        shares = nn.Softmax(dim=1)(model(inputs))
""")

# the gradient goes through the body's weights and its input alike
wrong("15.16", "not: Likely slip").edit({"factor * gradient": "factor * gradient / 3"})

right("15.16").edit({"factor * gradient": "torch.lerp(torch.zeros_like(gradient), gradient, factor)"})
