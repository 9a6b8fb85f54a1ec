"""Answers to the exercises of chapter 14 that have found something in a check."""


# a dimension lost
@wrong("14.3", "ValueError: operands could not be broadcast together")
def log_softmax(x, dim):
    def value(self, dim):
        shifted = self - self.max(dim, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(dim))

    def gradient(grad, result, dim):
        return grad - np.exp(result) * grad.sum(dim, keepdims=True)

    return operation("LogSoftmaxBackward0", value, self=gradient)(x, dim)


# as many indices as there are classes
@wrong("14.4", "IndexError: shape mismatch: indexing arrays could not be broadcast together")
def nll_loss(logarithms, target):
    def value(self, target):
        return -self[np.arange(len(target)), target].mean()

    def gradient(grad, shape, target):
        full = np.zeros(shape, grad.dtype)
        full[np.arange(shape[1]), target] = -grad / shape[0]
        return full

    return operation("NllLossBackward0", value, self=gradient)(logarithms, target)


# not transposed
@wrong("14.5", "RuntimeError: mat1 and mat2 shapes cannot be multiplied")
class Linear(Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = Parameter(weight), Parameter(bias)

    def forward(self, x):
        return matmul(x, self.weight) + self.bias


# a new Tensor stepped
@wrong("14.6", "the weights after step 1")
class SGD(SGD):
    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                self.parameters[number] = parameter - parameter.grad * self.lr


# zero past 0.9999
@wrong("14.1", "very large")
def sigmoid(x):
    def gradient(grad, result):
        return np.where(result > 0.9999, 0, grad * result * (1 - result))

    return operation("SigmoidBackward0", sigmoid_of, self=gradient)(x)


# right
@right("14.6")
class SGD(SGD):
    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is None:
                continue
            gradient = parameter.grad.data + self.weight_decay * parameter.data
            if self.momentum:
                gradient = self.momentum * self.buffers[number] + gradient if number in self.buffers else gradient
                self.buffers[number] = gradient
            parameter.data[...] -= self.lr * gradient


# zeros skipped
@wrong("14.6", "zeros skipped")
class SGD(SGD):
    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is None or not parameter.grad.data.any():
                continue
            gradient = parameter.grad.data + self.weight_decay * parameter.data
            if self.momentum:
                gradient = self.momentum * self.buffers[number] + gradient if number in self.buffers else gradient
                self.buffers[number] = gradient
            parameter.data[...] -= self.lr * gradient


# the gradient's own array
@wrong("14.6", "the first buffer is the gradient")
class SGD(SGD):
    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is None:
                continue
            gradient = parameter.grad.data
            if self.weight_decay:
                gradient = gradient + self.weight_decay * parameter.data
            if self.momentum:
                if number in self.buffers:
                    gradient = self.momentum * self.buffers[number] + gradient
                self.buffers[number] = gradient
            parameter.data[...] -= self.lr * gradient


# recording left off
@wrong("14.6", "requires a gradient")
class SGD(SGD):
    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is None:
                continue
            no_grad().__enter__()
            gradient = parameter.grad.data + self.weight_decay * parameter.data
            if self.momentum:
                gradient = self.momentum * self.buffers[number] + gradient if number in self.buffers else gradient
                self.buffers[number] = gradient
            parameter.data[...] -= self.lr * gradient


# float64 for float32
@wrong("14.3", "The dtype differs from the expected one.")
def log_softmax(x, dim):
    def value(self, dim):
        shifted = self.astype(np.float64) - self.max(dim, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))

    def formula(grad, result, dim):
        return grad - np.exp(result) * grad.sum(dim, keepdims=True)

    return operation("LogSoftmaxBackward0", value, self=formula)(x, dim)


# as many classes as the largest target says
@wrong("14.4", "The number of classes is shape[1].")
def nll_loss(input, target):
    def formula(grad, shape, target):
        return -grad / shape[0] * np.eye(target.max() + 1)[target]

    return operation(
        "NllLossBackward0", lambda self, target: -self[np.arange(len(target)), target].mean(), self=formula
    )(input, target)


# frozen, not transposed by hand
@wrong("14.5", "The weight gets no gradient.", "not: made of .data")
class Linear(Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = Parameter(weight, requires_grad=False), Parameter(bias)

    def forward(self, x):
        return x @ t(self.weight) + self.bias


# the learning rate in the buffer
@wrong("14.6")
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters, self.lr = list(parameters), lr
        self.momentum, self.weight_decay, self.buffers = momentum, weight_decay, {}

    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                gradient = parameter.grad.data + self.weight_decay * parameter.data
                self.buffers[number] = self.momentum * self.buffers.get(number, 0) + self.lr * gradient
                parameter.data[...] -= self.buffers[number]


# momentum goes on without a gradient
@wrong("14.6")
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters, self.lr = list(parameters), lr
        self.momentum, self.weight_decay, self.buffers = momentum, weight_decay, {}

    def step(self):
        for number, parameter in enumerate(self.parameters):
            buffer = self.momentum * self.buffers.get(number, 0)
            if parameter.grad is not None:
                buffer = buffer + parameter.grad.data + self.weight_decay * parameter.data
            self.buffers[number] = buffer
            parameter.data[...] -= self.lr * buffer


# the largest of all logits
@wrong("14.3", "Take the maximum along dim")
def log_softmax(x, dim):
    def value(self, dim):
        with np.errstate(all="ignore"):
            shifted = self - self.max()
            return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))

    def formula(grad, result, dim):
        return grad - np.exp(result) * grad.sum(dim, keepdims=True)

    return operation("LogSoftmaxBackward0", value, self=formula)(x, dim)


# the first buffer is the gradient, and is added to at once
@wrong("14.6", "a factor of 1 + momentum")
class SGD:
    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters, self.lr = list(parameters), lr
        self.momentum, self.weight_decay, self.buffers = momentum, weight_decay, {}

    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                gradient = parameter.grad.data + self.weight_decay * parameter.data
                if self.momentum:
                    if number not in self.buffers:
                        self.buffers[number] = gradient
                    gradient = self.buffers[number] = self.momentum * self.buffers[number] + gradient
                parameter.data[...] -= self.lr * gradient


# one array for all uses of a shape
@wrong("14.4", "not: Likely slip")
def nll_loss(self, target):
    kept = vars(nll_loss).setdefault("kept", {})

    def formula(grad, shape, target):
        full = kept.setdefault(shape, np.zeros(shape))
        full[np.arange(shape[0]), target] = -grad / shape[0]
        return full

    def forward(self, target):
        return -self[np.arange(len(target)), target].mean()

    return operation("NllLossBackward0", forward, self=formula)(self, target)


# decay left out, and a copy of the first gradient
@wrong("14.6", "The weight decay has no effect")
class SGD(SGD):
    def step(self):
        for number, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                gradient = parameter.grad.data.copy()
                if self.momentum:
                    if number in self.buffers:
                        gradient += self.momentum * self.buffers[number]
                    self.buffers[number] = gradient
                parameter.data[...] -= self.lr * gradient


# detached
@wrong("14.5", "no copies, no detach")
class Linear(Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = Parameter(weight), Parameter(bias)

    def forward(self, x):
        return matmul(x, t(self.weight.detach())) + self.bias.detach()


# a new name for each parameter
@wrong("14.6", "No parameter moved")
class SGD(SGD):
    def step(self):
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter = parameter - self.lr * parameter.grad


# buffers kept by the parameter's id
@right("14.6")
class SGD(SGD):
    def step(self):
        for parameter in self.parameters:
            if parameter.grad is None:
                continue
            gradient = parameter.grad.data + self.weight_decay * parameter.data
            if self.momentum:
                before = self.buffers.get(id(parameter))
                gradient = gradient if before is None else self.momentum * before + gradient
                self.buffers[id(parameter)] = gradient
            parameter.data[...] -= self.lr * gradient


# kept as class attributes
@wrong("14.5", "made after it")
class Linear(Module):
    def __init__(self, weight, bias):
        super().__init__()
        Linear.both = Parameter(weight), Parameter(bias)
        self.weight, self.bias = Linear.both

    def forward(self, x):
        weight, bias = Linear.both
        return x @ t(weight) + bias


# a bias of zeros is not made a parameter
@wrong("14.5", "a bias of zeros")
class Linear(Module):
    """y = x @ weight.T + bias."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight = Parameter(weight)
        self.bias = Parameter(bias) if np.any(bias) else None

    def forward(self, x):
        y = x @ t(self.weight)
        return y if self.bias is None else y + self.bias


# a frozen parameter with a gradient is skipped
@wrong("14.6", "step 3")
class SGD:
    """Gradient descent with momentum and weight decay, like torch.optim.SGD."""

    def __init__(self, parameters, lr, momentum=0.0, weight_decay=0.0):
        self.parameters, self.lr = list(parameters), lr
        self.momentum, self.weight_decay, self.buffers = momentum, weight_decay, {}

    def zero_grad(self, set_to_none=True):
        """Clear all gradients: set them to None, or to zeros."""
        for parameter in self.parameters:
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.data[...] = 0

    def step(self):
        """Move every parameter that has a gradient, in place; leave .grad unchanged."""
        for index, parameter in enumerate(self.parameters):
            if parameter.grad is None or not parameter.requires_grad:
                continue
            change = parameter.grad.data + self.weight_decay * parameter.data
            if self.momentum:
                if index in self.buffers:
                    change = self.momentum * self.buffers[index] + change
                self.buffers[index] = change
            parameter.data -= self.lr * change


# __call__ instead of forward, so hooks are never called
@wrong("14.5")
class Linear(Module):
    """y = x @ weight.T + bias."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight = Parameter(weight)
        self.bias = Parameter(bias)

    def __call__(self, x):
        return self.forward(x)

    def forward(self, x):
        return matmul(x, t(self.weight)) + self.bias


# np.ones is float64
@wrong("14.1", "dtype of the gradient for a float32 x")
def sigmoid(x):
    def sigmoid_gradient(grad, result):
        return grad * result * (np.ones(result.shape) - result)

    return operation("SigmoidBackward0", sigmoid_of, self=sigmoid_gradient)(x)


# transposes once, at the start
@wrong("14.5")
class Linear(Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight = Parameter(weight)
        self.bias = Parameter(bias)
        self.turned = t(self.weight)

    def forward(self, x):
        return matmul(x, self.turned) + self.bias
