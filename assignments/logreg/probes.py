"""What is asked of a submission beyond calling its functions: what has become of the arguments that it was given?"""


def kept(module, name, *args):
    """What a call of the submission's function gives back, and its arguments after it."""
    return {"result": getattr(module, name)(*args), "arguments": list(args)}


def kept_minibatches(module, X, y, size, seed):
    """The same of an epoch of minibatches, whose rng does not cross the pipe."""
    import numpy as np
    return {"result": list(module.minibatches(X, y, size, np.random.default_rng(seed))), "arguments": [X, y]}
