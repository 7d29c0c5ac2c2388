"""What is asked of your module beyond calling its functions. It runs where your module runs, and knows no answers."""
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
    return {"text": written, "result": result}


def called(module, name, *args):
    """What the module's function gives, and what has become of its arguments."""
    return {"result": getattr(module, name)(*args), "arguments": list(args)}
