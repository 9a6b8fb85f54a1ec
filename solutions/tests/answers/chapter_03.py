"""Answers to the exercises of chapter 03 that have found something in a check."""


@wrong("03.3", "The weights did not move: step is missing")
def step_in_pieces(loss_of, optimizer, inputs, targets, size):
    optimizer.zero_grad()
    mean = 0.0
    for piece, target in zip(inputs.split(size), targets.split(size), strict=True):
        loss = loss_of(piece, target) * (len(piece) / len(inputs))
        loss.backward()
        mean += loss.item()
    optimizer.zero_grad()
    return mean


@wrong("03.5a", "it, or what went into it, was detached or made under no_grad")
def follow_a_stream(cell, optimizer, state, chunks):
    losses = []
    for inputs, target in chunks:
        state = cell(inputs, state.detach())
        with torch.no_grad():
            loss = ((state - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
