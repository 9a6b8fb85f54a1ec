"""Answers to the exercises of chapter 14 that have found something in a check."""


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


# zeros passed over
@wrong("14.6", "zeros passed over")
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
