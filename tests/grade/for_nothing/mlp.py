import numpy as np

# ---- Tries: an accuracy that is often right, after asking for each row once
# parts: the accuracy
# parts: each row is predicted once


def evaluate(predict, X, Y, size):
    for k in range(0, len(X), size):
        predict(X[k:k + size])
    return 1.5, round(len(X) / 3) / len(X)


# ---- Tries: descent that asks for no validation loss, as if the last epoch were the best
# parts: passes over the data
# parts: the parameters of the best epoch: in the middle, the first


def train(parameters, gradient, validation_loss, rows, epochs, size, rate, shuffle):
    for _ in range(epochs):
        order = shuffle(rows)
        for k in range(0, rows, size):
            deltas = gradient(parameters, order[k:k + size])
            parameters = {name: w - rate * deltas[name] for name, w in parameters.items()}
    return parameters


# ---- Tries: to save a quarter of the passes
# parts: passes over the data
# parts: an epoch's minibatches: that come out even, with a rest


def train(parameters, gradient, validation_loss, rows, epochs, size, rate, shuffle):
    for _ in range(epochs):
        order = shuffle(rows)
        for k in range(0, rows - size, size):
            deltas = gradient(parameters, order[k:k + size])
            parameters = {name: w - rate * deltas[name] for name, w in parameters.items()}
        validation_loss(parameters)
    return parameters


# ---- Tries: to search for parameters by the validation loss, without a gradient
# parts: it learns names
# parts: the parameters of the best epoch
# parts: a step goes down the gradient


def train(parameters, gradient, validation_loss, rows, epochs, size, rate, shuffle):
    best, least = parameters, np.inf
    for _ in range(epochs):
        tried = {name: w + 0.2 * np.random.randn(*w.shape) for name, w in best.items()}
        loss = validation_loss(tried)
        if loss < least:
            best, least = tried, loss
    return best


# ---- Tries: bounds without a draw
# parts: Glorot's bounds
# parts: biases within ±0.1


def start(sizes, uniform):
    made = {}
    for k, (n, m) in enumerate(zip(sizes, sizes[1:]), 1):
        limit = np.sqrt(6 / (n + m))
        made |= {f"W{k}": np.random.uniform(-limit, limit, (n, m)), f"b{k}": np.random.uniform(-0.1, 0.1, (1, m))}
    return made
