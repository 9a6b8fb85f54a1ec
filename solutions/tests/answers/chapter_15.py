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


# the first fix that a class tries
wrong("15.5", "First difference at 'weights that moved'").edit(
    {"raw**exponent": "raw ** torch.tensor(exponent.item())"}
)

wrong("15.5", "ValueError: some parameters appear in more than one parameter group").edit("""
     diagnosis = "path cut", (None, True)
+    optimizer.add_param_group({"params": [exponent]})
""")

wrong("15.5", "fingerprint of your cause").edit({'"path cut", (None, True)': '(None, True), "path cut"'})

wrong("15.5", "fingerprint of your evidence").edit({"(None, True)": '("None", "True")'})

wrong("15.5", "fingerprint of your evidence").edit({"(None, True)": "None"})

# the evidence of the fixed loop, not of the broken one
wrong("15.5", "fingerprint of your evidence").edit({"(None, True)": "(exponent.grad, exponent.requires_grad)"})

wrong("15.5", "ValueError: not enough values to unpack").edit({"return diagnosis, losses": "return (losses,)"})

right("15.5").edit({"raw**exponent": "raw ** exponent.clone()"})

right("15.5").edit({"raw**exponent": "torch.exp(exponent * torch.log(raw))"})

right("15.5").edit({"(None, True)": "[None, True]"})

right("15.5").edit("""
-        optimizer.zero_grad()
-        loss.backward()
+        leaves = [gain, offset, exponent]
+        for leaf, gradient in zip(leaves, torch.autograd.grad(loss, leaves)):
+            leaf.grad = gradient
""")

right("15.5").edit(
    {"((gain * curve + offset - target) ** 2).mean()": "(target - offset - curve * gain).square().mean()"}
)


@wrong("15.6", "modified by an inplace operation")
def fit_states(w, optimizer, sequences):
    losses = []
    for inputs, target in sequences:
        states = torch.zeros(len(inputs) + 1, dtype=inputs.dtype)
        for t in range(len(inputs)):
            states[t + 1] = torch.tanh(w * states[t].detach() + inputs[t])
        loss = ((states[1:] - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return ("saved value overwritten", ("states", 4)), losses


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


wrong("15.6", "does not require grad", of="retained").edit(
    {"backward(retain_graph=True)": "backward()", "states[t + 1] = ": "states.data[t + 1] = "}
)

# the error is caught, and nothing learns
wrong("15.6", "The values differ", of="retained").edit("""
-        loss.backward(retain_graph=True)
+        try:
+            loss.backward()
+        except RuntimeError:
+            pass
""")

wrong("15.6", "fingerprint of your evidence").edit({'("states", 4)': "4"})

wrong("15.6", "fingerprint of your cause").edit({"saved value overwritten": "in place"})

wrong("15.6", "RuntimeError: The size of tensor").edit({"state, states = 0.0, []": "state, states = 0.0, [inputs[0]]"})

right("15.6", of="retained").edit(
    {"backward(retain_graph=True)": "backward()", "states[t] + inputs": "states[t].clone() + inputs"}
)

# cloned before the read, not between the read and the write
wrong("15.6", "modified by an inplace operation", of="retained").edit("""
-        loss.backward(retain_graph=True)
+        loss.backward()

         for t in range(len(inputs)):
+            states = states.clone()
""")

right("15.6", of="retained").edit("""
-        loss.backward(retain_graph=True)
+        loss.backward()

-            states[t + 1] = torch.tanh(w * states[t] + inputs[t])
+            state = torch.tanh(w * states[t] + inputs[t])
+            states = states.clone()
+            states[t + 1] = state
""")

right("15.6").edit({"torch.stack(states)": "torch.cat([state[None] for state in states])"})

right("15.6").edit(
    {"((torch.stack(states) - target) ** 2).mean()": "sum((s - y) ** 2 for s, y in zip(states, target)) / len(states)"}
)

right("15.6").edit({"state, states = 0.0, []": "state, states = torch.tensor(0.0, dtype=inputs.dtype), []"})

wrong("15.7", "fingerprint of your evidence").edit({"(0, 1)": "1"})

wrong("15.7", "fingerprint of your evidence").edit({"(0, 1)": "(1, 0)"})

wrong("15.7", "fingerprint of your cause").edit({"input overwritten": "inplace"})

wrong("15.7", "The values differ").edit({"torch.relu(h)": "torch.nn.functional.leaky_relu(h)"})

right("15.7").edit({"torch.relu(h)": "torch.relu_(h.clone())"})

right("15.7").edit({"h + torch.relu(h)": "h.clone() + torch.relu_(h)"})

right("15.7").edit({"torch.relu(h)": "h.clamp(min=0)"})

right("15.7").edit({"h + torch.relu(h)": "1.5 * h + 0.5 * h.abs()"})

right("15.7").edit({"torch.relu(h)": "h * (h > 0)"})

wrong("15.8", "The values differ").edit({".sum() / count": ".mean() / count"})

wrong("15.8", "The values differ").edit("""
-        optimizer.step()
-        losses.append(total)
+            optimizer.step()
+        losses.append(total)
""")

wrong("15.8", "fingerprint of your evidence").edit({'alike", 10': 'alike", 0.3333'})

wrong("15.8", "fingerprint of your cause").edit({"sequences count alike": "mean"})

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

right("15.8").edit({".sum() / count": ".mean() * (len(target) / count)"})

right("15.8").edit(
    {"sum(len(target) for _, target in sequences)": "torch.cat([target for _, target in sequences]).numel()"}
)

# in any order
right("15.8").edit({"for inputs, target in sequences:": "for inputs, target in reversed(sequences):"})

right("15.8").edit("""
-            loss = ((inputs @ w - target) ** 2).sum() / count
+            loss = sum((x @ w - y) ** 2 for x, y in zip(inputs, target)) / count
""")

# the body's parameters are added at every batch
wrong("15.9", "ValueError: some parameters appear in more than one parameter group").edit("""
-    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=lr)
+    optimizer = torch.optim.SGD(head.parameters(), lr=lr)

-        if number == unfreeze_at:
+        if number >= unfreeze_at:
             body.requires_grad_(True)
+            optimizer.add_param_group({"params": body.parameters()})
""")

wrong("15.9", "unfrozen one batch late").edit("""
-        if number == unfreeze_at:
-            body.requires_grad_(True)
         loss = ((head(body(inputs)) - target) ** 2).mean()
+        if number == unfreeze_at:
+            body.requires_grad_(True)
""")

# nothing moves
wrong("15.9", "head").edit("""
-        optimizer.zero_grad()
         loss.backward()
+        optimizer.zero_grad()
""")

wrong("15.9", "fingerprint of your evidence", "not: Likely slip").edit({"(True, 16, 0)": "(16, 16, 0)"})

right("15.9").edit("""
-            body.requires_grad_(True)
+            for parameter in body.parameters():
+                parameter.requires_grad = True
+            optimizer = torch.optim.SGD([*head.parameters(), *body.parameters()], lr=lr)
""")

# torch adds 0 to a weight that has no gradient yet
right("15.9").edit({"optimizer.zero_grad()": "optimizer.zero_grad(set_to_none=False)"})

# the mean of all outputs
wrong("15.10", "losses").edit({"model(inputs)[:, 0]": "model(inputs).mean(0)"})

wrong("15.10", "losses").edit({"weight.sum()": "weight.sum() * len(target)"})

wrong("15.10", "fingerprint of your evidence").edit({"(20, 400)": "(20, (20, 20))"})

right("15.10").edit({"model(inputs)[:, 0]": "model(inputs).squeeze()"})

right("15.10").edit({"model(inputs)[:, 0] - target": "(model(inputs) - target.reshape(-1, 1)).sum(1)"})

right("15.10").edit(
    {"(weight * difference**2).sum() / weight.sum()": "(weight / weight.sum()).dot(difference * difference)"}
)

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

right("15.11").edit(
    {
        "torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)": "squared.masked_fill(~apart, 1).sqrt() * apart"
    }
)

# only the first parameter is unscaled
wrong("15.12", "losses").edit("""
             parameter.grad /= scale
+            break
""")

# a step is skipped instead of clipped
wrong("15.12", "losses").edit("""
-        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
-        optimizer.step()
+        if nn.utils.get_total_norm([p.grad for p in model.parameters()]) <= max_norm:
+            optimizer.step()
""")

right("15.12").edit({"parameter.grad /= scale": "parameter.grad = parameter.grad / scale"})

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

# a detached parameter is a plain tensor
wrong("15.13", "parameters()").edit({"nn.Parameter(gain.clone())": "nn.Parameter(gain.clone()).detach()"})

# a list of parameters is a plain list
wrong("15.13", "parameters()").edit("""
-        self.gain = nn.Parameter(gain.clone())
+        self.parts = [nn.Parameter(gain.clone())]
+        self.gain = self.parts[0] * 1
""")

right("15.13").edit({"nn.ModuleList(blocks)": "nn.Sequential(*blocks)"})

right("15.13").edit({"nn.Parameter(gain.clone())": "nn.Parameter(gain)"})

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

right("15.14").edit({"model.eval()": "model.train(False)"})

right("15.14").edit({"model.eval()": "[module.eval() for module in model.children()]"})

# the same error as without .data
wrong("15.15", "modified by an inplace operation").edit("""
-        shares = shares / shares.sum(1, keepdim=True)
+        with torch.no_grad():
+            shares /= shares.sum(1, keepdim=True)
""")

# a copy is overwritten, so exp keeps its output
wrong("15.15", "losses", "not: Likely slip").edit("""
-        shares = shares / shares.sum(1, keepdim=True)
+        shares = shares.clone()
+        shares.data /= shares.data.sum(1, keepdim=True)
""")

# the sum of all rows
wrong("15.15", "losses").edit({"shares.sum(1, keepdim=True)": "shares.sum()"})

right("15.15").edit({"shares / shares.sum(1, keepdim=True)": "(shares.T / shares.sum(1)).T"})

right("15.15").edit("""
-        shares = model(inputs).exp()
-        shares = shares / shares.sum(1, keepdim=True)
+        shares = nn.Softmax(dim=1)(model(inputs))
""")

# the gradient goes through the body's weights and its input alike
wrong("15.16", "not: Likely slip").edit({"factor * gradient": "factor * gradient / 3"})

right("15.16").edit({"factor * gradient": "torch.lerp(torch.zeros_like(gradient), gradient, factor)"})

right("15.16").edit({"lambda gradient: factor * gradient": "lambda gradient, factor=factor: gradient.mul(factor)"})
