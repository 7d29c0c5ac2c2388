import numpy as np

# ---- Tries: to say that all are asleep
# parts: gates and tanh that are asleep


def asleep(steps, values, below):
    return {z: 1.0 for z, g, _ in steps if g in ("sigmoid", "tanh")}


# ---- Tries: deltas as they are, which are short enough sometimes
# parts: the deltas' norm is limited
# parts: deltas of zeros, and deltas that stay as they are


def clipped(deltas, most):
    return {name: d.copy() for name, d in deltas.items()}


# ---- Tries: deltas that are zero, which are short enough always
# parts: the deltas' norm is limited
# parts: deltas of zeros, and deltas that stay as they are


def clipped(deltas, most):
    return {name: 0 * d for name, d in deltas.items()}


# ---- Tries: an end where all titles of one step end
# parts: where each title ends
# parts: where titles with unknown characters end


def ends(X):
    return np.eye(X.shape[1])[np.full(len(X), X.shape[1] - 1)]


# ---- Tries: descent that asks for no validation loss
# parts: passes over the data
# parts: back to the best, with half the rate


def train(parameters, gradient, validation_loss, batches, epochs, rate):
    for _ in range(epochs):
        for batch in batches():
            deltas = gradient(parameters, batch)
            parameters = {name: w - rate * deltas[name] for name, w in parameters.items()}
    return parameters


# ---- Tries: to search for parameters by the validation loss, without a gradient
# parts: it learns names
# parts: a step goes down the gradient
# parts: back to the best, with half the rate


def train(parameters, gradient, validation_loss, batches, epochs, rate):
    best, least = parameters, validation_loss(parameters)
    for _ in range(epochs):
        batches()
        tried = {name: w + 0.2 * np.random.randn(*w.shape) for name, w in best.items()}
        loss = validation_loss(tried)
        if loss < least:
            best, least = tried, loss
    return best
