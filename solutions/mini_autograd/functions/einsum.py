"""`einsum`: sums of products over named dimensions, reduced to existing operations as in torch.

All operands are brought to one order of dimensions, those of the output first, and multiplied from left to right, so
einsum needs no gradient formula. Dimensions covered by an ellipsis have numbers as labels, counted from the left of the
longest ellipsis.
"""

import math

from ..core.tensor import Tensor
from ..ops import elementwise, linalg, reduce, shape

ELLIPSIS = "..."


def einsum(*args):
    """Sum products according to an equation: `einsum("ij,jk->ik", a, b)`, or `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    equation, operands = _from_lists(args) if isinstance(args[0], Tensor) else (args[0], args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return einsum(equation, *operands[0])
    for number, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            kind = type(operand).__name__
            raise TypeError(f"expected Tensor as element {number} in argument 1, but got {kind}")
    inputs, output = _parse(equation, operands)
    used = [label for labels in inputs for label in labels]
    order = output + sorted((label for label in dict.fromkeys(used) if label not in output), key=_rank)
    sizes, aligned = {}, []
    for number, (operand, labels) in enumerate(zip(operands, inputs, strict=True)):
        _note_sizes(sizes, operand, labels, number)
        aligned.append(_align(operand, labels, order))
    result = _multiply(aligned, len(output))
    if len(order) == len(output):
        return result
    if len(aligned) > 1:
        return shape.reshape(result, result.shape[: len(output)])
    return reduce.sum_dim(result, tuple(range(len(output), len(order))), False)


# ----- the equation -----


def _from_lists(args):
    """Return the equation and the operands, given lists of numbers instead of letters."""
    terms = ["".join(map(_letter, numbers)) for numbers in args[1::2]]
    if len(args) % 2:
        return f"{','.join(terms)}->{''.join(map(_letter, args[-1]))}", args[:-1:2]
    return ",".join(terms), args[::2]


def _letter(number):
    if number is Ellipsis:
        return ELLIPSIS
    if not 0 <= number < 52:
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return chr(ord("A") + number if number < 26 else ord("a") + number - 26)


def _rank(label):
    """Return a sort key that puts the dimensions of ellipses before the named ones."""
    return isinstance(label, str), label


def _parse(equation, operands):
    """Return the labels of each operand's dimensions, and of the output's."""
    left, arrow, _ = equation.partition("->")
    inputs, begin = [], 0
    for number, term in enumerate(left.split(",")):
        if number == len(operands):
            raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
        place = f"for operand {number}"
        again, part = f"{place} for which an ellipsis was", f"{place} that is not part of any ellipsis"
        inputs.append(_labels(equation, begin, begin + len(term), again, part))
        begin += len(term) + 1
    if len(inputs) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    covered = [_covered(operand, labels, i) for i, (operand, labels) in enumerate(zip(operands, inputs, strict=True))]
    longest = max(covered)
    inputs = [_spell_out(labels, longest - n, longest) for labels, n in zip(inputs, covered, strict=True)]
    used = [label for labels in inputs for label in labels]
    if not arrow:
        once = sorted(label for label in used if isinstance(label, str) and used.count(label) == 1)
        return inputs, [*range(longest), *once]
    again, part = "for output but an ellipsis (...) was", "for output that is not part of any ellipsis (...)"
    output = _labels(equation, len(left) + 2, len(equation), again, part)
    for label in output:
        if output.count(label) > 1 or label not in (ELLIPSIS, *used):
            wrong = "appears more than once in the output"
            wrong = wrong if label in used else "does not appear in the equation for any input operand"
            raise RuntimeError(f"einsum(): output subscript {label} {wrong}")
    return inputs, _spell_out(output, 0, longest)


def _labels(equation, begin, end, again, part):
    """Return the labels between two positions of the equation; `again` and `part` are for errors about an ellipsis."""
    labels = []
    while begin < end:
        letter = equation[begin]
        if letter == ".":
            if ELLIPSIS in labels:
                raise RuntimeError(f"einsum(): found '.' {again} already found")
            if equation[begin : min(begin + 3, end)] != ELLIPSIS:
                raise RuntimeError(f"einsum(): found '.' {part}")
            labels.append(ELLIPSIS)
            begin += 2
        elif letter.isascii() and letter.isalpha():
            labels.append(letter)
        elif letter != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {begin} in the equation string, subscripts must be in "
                "[a-zA-Z]"
            )
        begin += 1
    return labels


def _covered(operand, labels, number):
    """Return how many dimensions an operand's ellipsis covers, after checking the number of its labels."""
    named = len(labels) - labels.count(ELLIPSIS)
    start = f"einsum(): the number of subscripts in the equation ({named})"
    if ELLIPSIS not in labels and named != operand.ndim:
        raise RuntimeError(
            f"{start} does not match the number of dimensions ({operand.ndim}) for operand {number} and no ellipsis "
            "was given"
        )
    if named > operand.ndim:
        raise RuntimeError(f"{start} is more than the number of dimensions ({operand.ndim}) for operand {number}")
    return operand.ndim - named


def _spell_out(labels, first, end):
    """Return `labels` with an ellipsis replaced by the numbers from `first` to `end` - 1."""
    return [each for label in labels for each in (range(first, end) if label == ELLIPSIS else [label])]


# ----- the operands -----


def _note_sizes(sizes, operand, labels, number):
    """Record the size of each of an operand's labels in `sizes`; it must be 1 or the same in all operands."""
    for dim, (label, size) in enumerate(zip(labels, operand.shape, strict=True)):
        first = labels.index(label)
        if size != operand.shape[first]:
            raise RuntimeError(
                f"einsum(): subscript {label} is repeated for operand {number} but the sizes don't match, {size} != "
                f"{operand.shape[first]}"
            )
        seen = sizes.get(label, 1)
        if 1 not in (seen, size) and seen != size:
            if isinstance(label, int):
                raise RuntimeError(
                    f"einsum(): dimension {dim} covered by ellipsis in operand {number}has size {size} which does not "
                    f"broadcast with previously seen ellipsis with size {seen} for the respective dimension"
                )
            raise RuntimeError(
                f"einsum(): subscript {label} has size {size} for operand {number} which does not broadcast with "
                f"previously seen size {seen}"
            )
        sizes[label] = size if seen == 1 else seen


def _align(operand, labels, order):
    """Return a view of `operand` with its dimensions in `order`, and size 1 for those it lacks."""
    kept = []
    for label in labels:
        if label not in kept:
            kept.append(label)
            continue
        first = kept.index(label)
        operand = shape.diagonal(operand, 0, first, len(kept))  # diagonal() puts it last; move it back to `first`
        dims = list(range(operand.ndim - 1))
        operand = shape.permute(operand, (*dims[:first], len(dims), *dims[first:]))
    for label in order:
        if label not in kept:
            operand = shape.unsqueeze(operand, operand.ndim)
            kept.append(label)
    return shape.permute(operand, tuple(kept.index(label) for label in order))


def _multiply(operands, output_ndim):
    """Return the product of `operands`, summed over the dimensions from `output_ndim` on, which keep size 1."""
    waiting = [sum(operand.shape[dim] != 1 for operand in operands) for dim in range(operands[0].ndim)]
    result, *others = operands
    for other in others:
        together, alone = [], ([], [])
        for dim in range(output_ndim, result.ndim):
            where = [i for i, each in enumerate((result, other)) if each.shape[dim] != 1]
            waiting[dim] -= len(where) == 2
            if waiting[dim] == 1 and where:
                (together if len(where) == 2 else alone[where[0]]).append(dim)
                waiting[dim] = 0
        result, other = (
            reduce.sum_dim(each, tuple(dims), True) if dims else each
            for each, dims in zip((result, other), alone, strict=True)
        )
        result = _product(result, other, together) if together else elementwise.mul(result, other)
    return result


def _product(left, right, summed):
    """Return the product of two tensors, summed over the dimensions `summed`, as one batched matrix product."""
    rest = [dim for dim in range(left.ndim) if dim not in summed]
    both = [dim for dim in rest if left.shape[dim] != 1 and right.shape[dim] != 1]
    rows = [dim for dim in rest if left.shape[dim] != 1 and dim not in both]
    columns = [dim for dim in rest if dim not in both and dim not in rows]
    linalg._same_dtype("expected scalar type {} but found {}", left, right)
    a = shape.permute(left, (*both, *rows, *summed, *columns))
    b = shape.permute(right, (*both, *summed, *columns, *rows))
    batch, n, k, m = (
        math.prod(each.shape[dim] for dim in dims)
        for each, dims in ((left, both), (left, rows), (left, summed), (right, columns))
    )
    product = linalg.bmm(shape.reshape(a, (batch, n, k)), shape.reshape(b, (batch, k, m)))
    order = [*both, *rows, *summed, *columns]
    sizes = [1 if dim in summed else left.shape[dim] if dim not in columns else right.shape[dim] for dim in order]
    return shape.permute(shape.reshape(product, tuple(sizes)), tuple(order.index(dim) for dim in range(len(order))))
