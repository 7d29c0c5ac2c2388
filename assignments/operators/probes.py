"""What is asked of a submission beyond calling its functions: a rule with another unbroadcast, and whether arguments stay."""
import numpy as np


def with_unbroadcast(module, unbroadcast, name, *args):
    """module.<name>(*args), where the module's unbroadcast is the grader's, so that the one does not depend on the other."""
    own, module.unbroadcast = getattr(module, "unbroadcast", None), unbroadcast
    try:
        return getattr(module, name)(*args)
    finally:
        module.unbroadcast = own


def keeps_its_arguments(module, name, *args):
    """For each argument: whether it is the same after a call of the submission's function as before."""
    before = [np.array(arg) for arg in args]
    getattr(module, name)(*args)
    return [bool(np.array_equal(now, then)) for now, then in zip(args, before, strict=True)]
