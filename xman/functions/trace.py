"""From a Python function to the Wengert list of the path that it takes."""
from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ops import Expression
from ops.facts import parameters_of

from ..errors import XManError
from ..register import as_arg
from ..traced.arraylike import ArrayLike
from ..validity import refuse_name
from ..wengert import Size, WengertList, needed, temporaries
from .call import callable_or_refused, constant_output, name_of, outcome
from .tracer import CallTape, Tracer, as_strong, is_on
from .trees import flattened_tree, leaf_names, unflatten


def trace(fn: Callable, *examples: Any, **fixed: Any) -> WengertList:
    """The list of what fn(*examples, **fixed) computes, with loops unrolled, calls entered, branches decided.

    fn: a function of numbers and arrays. examples: its positional arguments. Floats and arrays in them become
    inputs, with the names of fn's parameters; inside of lists, tuples and dicts with the path, as params_W1
    and params_0_b; and with a _ at the end if a list cannot have such a name. fixed: its keyword arguments.
    They, Python's ints, booleans, strings, None and functions, and all shapes are part of the program. The
    output has the name of fn, or else `result`; several outputs add their path: loss_0, loss_1. A register
    that a variable of fn holds at the return has the variable's name; others are z1, z2, … in order of
    evaluation. Lines that lead to no output are left out. XManError for a line of fn that cannot be traced,
    and without inputs.
    """
    return list_at(fn, examples, fixed, CallTape(exact=False))[0]


def list_at(fn: Callable, examples: Sequence, fixed: dict, tape: CallTape) -> tuple[WengertList, dict]:
    """(the list of `trace`, the values of its inputs). tape: a new one."""
    callable_or_refused("trace", fn)
    with tape:
        args, inputs, names = traced_arguments(fn, examples, tape)
        if not inputs:
            raise XManError(f"trace({name_of(fn)}, …) found no input among its examples: floats and arrays "
                            "are inputs, Python's ints, booleans and strings belong to the program; write "
                            "3.0, not 3")
        result, variables = watched(fn, args, fixed)
        ends, structure = flattened_tree(result)
        stems = leaf_names(structure, name_of(fn) if name_of(fn).isidentifier() else "result")
        ends = [end if is_on(tape, end) else constant_output("trace", fn, end) for end in ends]
        steps, *_ = written_down(tape, names, list(zip(stems, ends, strict=True)), variables)
        return steps, {names[x.name]: x.value for x in inputs}


def traced_arguments(fn: Callable, examples: Sequence, tape: CallTape) -> tuple[list, list, dict]:
    """(the examples with tracers in place of the inputs, these tracers, their names by those on the tape)."""
    names: dict[str, str] = {}
    inputs, args = [], []
    for name, example in zip(parameter_names(fn, len(examples)), examples, strict=True):
        leaves, structure = flattened_tree(example)
        for k, path in enumerate(leaf_names(structure, name)):
            if is_input(leaves[k]):
                leaves[k] = tape.argument(leaves[k])
                inputs.append(leaves[k])
                names[leaves[k].name] = unused(path, names.values())
        args.append(unflatten(structure, leaves))
    return args, inputs, names


def written_down(tape: CallTape, names: dict[str, str], ends: list[tuple[str, Any]],
                 variables: dict[str, Any]) -> tuple[WengertList, list[str], dict[str, Size]]:
    """(the list that leads to the ends, their names in it, its registers' shapes and precisions). names: of
    the inputs, by those on the tape. ends: (the wanted name, the value) of each. variables: of the function,
    which give registers their names."""
    lines = needed(tape.lines, [end.name for _, end in ends if is_on(tape, end)])
    computed, new = {line[0] for line in lines}, {**names}  # new: by those on the tape
    registers, outputs, copies = {*names.values()}, [], []  # copies: outputs without a line of their own
    for stem, end in ends:
        outputs.append(name := unused(stem, registers, "result"))
        registers.add(name)
        if is_on(tape, end) and end.name not in new:
            new[end.name] = name
        else:
            copies.append((name, end))
    for name, value in variables.items():
        while isinstance(value, Tracer) and value.tape is not tape:
            value = value.value  # it belongs to a derivative inside
        traced = isinstance(value, Tracer) and value.name in computed and value.name not in new
        if traced and name == unused(name, registers):
            new[value.name] = name
            registers.add(name)
    spare, values = temporaries(registers), tape.values
    for dst, _, _ in lines:
        if dst not in new:
            new[dst] = next(spare)
    # where all floats are float64, NumPy's numbers and Python's floats make no difference
    dtypes = {x.dtype for x in values.values()}
    double = all(np.finfo(dtype).dtype == np.float64 for dtype in dtypes if dtype.kind in "fc")

    def operand(a: Any, dst: str, op: str, args: tuple) -> Any:
        if type(a) is str:
            return new[a]
        if isinstance(a, np.generic):
            a = as_strong(a, {values[x].dtype for x in args if type(x) is str}, values[dst].dtype)
        return a.item() if type(a) is np.float64 and (double or op == "alias") else as_arg(a, op)
    (steps := WengertList()).extend([(new[line[0]], line[1], tuple([operand(a, *line) for a in line[2]]))
                                     for line in lines])  # it is checked when it runs
    constant = lambda x: as_arg(x.item() if type(x) is np.float64 else x, "alias")
    steps.extend([(name, "alias", (new[x.name] if is_on(tape, x) else constant(x),)) for name, x in copies])
    steps.places = {name: tape.places[x] for x, name in new.items() if x in tape.places}
    sizes = {name: (values[x].shape, values[x].dtype) for x, name in new.items()}
    return steps, outputs, sizes | {name: (np.shape(x), x.dtype) for name, x in copies}


def is_input(leaf: Any) -> bool:
    numbers = isinstance(leaf, np.ndarray) and leaf.dtype.kind in "biufc"
    return numbers or isinstance(leaf, (float, complex, np.generic, ArrayLike))


def parameter_names(fn: Callable, count: int) -> list[str]:
    """The names of the first `count` parameters, those of *args numbered; x or x1, x2, … by default."""
    names, _, variadic, _ = parameters_of(fn)
    if not (names or variadic):
        return ["x"] if count == 1 else [f"x{i}" for i in range(1, count + 1)]
    return [*names[:count], *(f"{variadic or 'x'}_{i}" for i in range(count - len(names)))]


def unused(name: str, names: Iterable[str], instead: str | None = None) -> str:
    """The name, or `instead`, if it is free and allowed for a register; else with underscores at its end."""
    names = set(names)
    while name in names or not allowed(name):
        name, instead = (name + "_" if instead is None else instead), None
    return name


def allowed(name: str) -> bool:
    try:
        refuse_name(name)
    except XManError:
        return False
    return True


def watched(fn: Callable, args: Sequence, fixed: dict, also: Any = None, code_of: Any = None,
            run: Callable = outcome) -> tuple[Any, dict[str, Any]]:
    """run(fn, args, fixed), and the variables at its end, or code_of's. also: is called at each event."""
    code, variables, before = getattr(inspect.unwrap(code_of or fn), "__code__", None), {}, sys.getprofile()

    def look(frame, event, result):
        if event == "call" or event == "c_call":
            if also:
                also(frame, event, result)
        elif event == "return" and frame.f_code is code:
            variables.clear()  # the first call of a recursive function returns last
            # only Expressions are kept: a user's generator, suspended in np.errstate, has to end before we do
            variables.update((name, x) for name, x in frame.f_locals.items() if isinstance(x, Expression))

    look.of_users = True
    sys.setprofile(look)
    try:
        return run(fn, args, fixed), variables
    finally:
        sys.setprofile(None if hasattr(before, "enable") else before)
        if hasattr(before, "enable"):  # cProfile's profiler, which cannot be called
            before.enable()
