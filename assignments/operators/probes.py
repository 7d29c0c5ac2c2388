"""What is asked of a submission beyond calling its functions: a rule with another unbroadcast."""


def with_unbroadcast(module, unbroadcast, name, *args):
    """module.<name>(*args), where the module's unbroadcast is the grader's, so that the one does not depend on the other."""
    own, module.unbroadcast = getattr(module, "unbroadcast", None), unbroadcast
    try:
        return getattr(module, name)(*args)
    finally:
        module.unbroadcast = own
