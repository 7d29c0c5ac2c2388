"""The loss of a recurrent network with gates whose weights are diagonal, and its gradient."""
import numpy as np

import xman


def prepare(given):
    return tuple(np.array(given[name]) for name in ("main_params", "extra_params", "state", "sequence"))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def loss(main, extra, state, sequence):
    (steps, bits), layers = sequence.shape, len(main) // 2
    weights, biases = main[0::2].reshape(layers, 4, bits), main[1::2].reshape(layers, 4, bits)

    def step(carry, x):
        hidden, cells = map(list, carry)
        x = x * extra[0]
        for k in range(layers):
            w, b = weights[k], biases[k]
            forget, out = sigmoid(x * w[0] + b[0]), sigmoid(x * w[2] + b[2])
            enter, change = sigmoid(hidden[k] * w[1] + b[1]), np.tanh(hidden[k] * w[3] + b[3])
            cells[k] = cells[k] * forget + enter * change
            hidden[k] = x = out * np.tanh(cells[k])
        return (hidden, cells), x

    guess = xman.scan(step, (list(state[0::2]), list(state[1::2])), sequence[:-1])[1] * extra[1] + extra[2]
    total = np.sum(sequence[1:] * (guess - np.log(2 + np.sum(np.exp(guess), axis=1, keepdims=True))))
    return -total / ((steps - 1) * bits)


objective = xman.jit(loss)
jacobian = xman.jit(xman.grad(loss, (0, 1)))


def written(function, output):
    return output if function == "objective" else np.concatenate([part.ravel() for part in output])
