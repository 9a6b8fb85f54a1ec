"""Answers to the exercises of chapter 06 that have found something in a check."""


@wrong("06.5", "not: backward() itself")
def arrive_at_leaf(grad, parts, hooks):
    arrived = sum(parts[1:], start=parts[0])
    for hook in hooks:
        returned = hook(arrived)
        if returned is not None:
            arrived = returned
    grad = arrived if grad is None else grad + arrived
