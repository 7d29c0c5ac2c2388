"""What is asked of your module beyond calling its functions. It runs where your module runs, and knows no answers."""
import copy

import numpy as np


def run(module, steps, inputs, outputs, text, values, names):
    """What the function gives that the module writes, and its text. names: what the text may use besides np."""
    written = module.source(steps, inputs, outputs, text, "f")
    if not isinstance(written, str):
        raise TypeError(f"source returned a {type(written).__name__}, not a text")
    space = {"np": np, **names}
    try:
        exec(compile(written, "<the text>", "exec"), space)
        result = space["f"](*values)
    except Exception as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        raise RuntimeError(f"{type(error).__name__}: {error}{line}, in the text\n{written}") from None
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    return {"text": written, "values": values, "tuple": isinstance(result, tuple)}


def keeps_its_arguments(module, name, *args):
    """What the module's function gives, and for each argument whether it is the same after the call as before."""
    before = copy.deepcopy(args)
    result = getattr(module, name)(*args)
    return {"result": result, "same": [now == then for now, then in zip(args, before, strict=True)]}
