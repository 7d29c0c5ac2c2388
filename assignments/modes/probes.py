"""What is asked of your module beyond calling its functions. It runs where your module runs, and knows no answers."""


def compute(module, expression, **values):
    """The value of a Python expression in the functions of the module, such as compute("x * sin(x)", x=("Dual", 2.0, 1.0)).

    Duals come and go as tuples ("Dual", value, tangent, tag); on the way in the tag may be left out, and is 0 then.
    """
    return as_tuple(module, eval(expression, {**vars(module), **{name: as_dual(module, x) for name, x in values.items()}}))


def as_dual(module, x):
    """The Dual that a tuple stands for; what is no such tuple as it is."""
    is_dual = isinstance(x, tuple) and x[:1] == ("Dual",)
    return module.Dual(as_dual(module, x[1]), as_dual(module, x[2]), *x[3:4]) if is_dual else x


def as_tuple(module, x):
    """The tuple that stands for a Dual."""
    return ("Dual", as_tuple(module, x.value), as_tuple(module, x.tangent), x.tag) if isinstance(x, module.Dual) else x


def jacobian(module, steps, values, of, wrt, forward, backprop, columns=None, rows=None):
    """The module's jacobian; columns and rows, if given, take the place of the two functions that it may build on."""
    own = module.jacobian_by_columns, module.jacobian_by_rows
    if columns:
        module.jacobian_by_columns = lambda steps, values, of, wrt, forward: columns(steps, values, of, wrt)
        module.jacobian_by_rows = lambda steps, values, of, wrt, backprop: rows(steps, values, of, wrt)
    try:
        return module.jacobian(steps, values, of, wrt, forward, backprop)
    finally:
        module.jacobian_by_columns, module.jacobian_by_rows = own
