"""compile: from a list to a function of its inputs, specialised for the shapes it meets.

The door knows no engine by name. The file or folder of an engine has an `ENGINE`, a record of what the door
has to know (`program.Engine`, whose docstring is the contract), and a line in `__init__.py` gives the record
to `register`; nothing else names the engine. The record imports no package that the engine needs.
The engine's `build(program)` makes a `Built` of a `Program`. If it raises an error, the engine gives way to
the next one, which the record names; an XManError says in a sentence for the user why the list is not for
this engine. `run` of a `Built` gives None for values that are not of the program's kinds. In that case, and
where it raises an error, it has written nothing, and the reference, the last engine, runs the values.
"""
from __future__ import annotations

import functools
import os
import threading
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import ops

from ..errors import XManError, refuse_unknown, with_habits
from ..interpreters import eval
from ..interpreters.context import missing, with_numpy_reals
from ..notation import apart_from_operators, in_notebooks, renamings, shortened
from ..passes.loops.roll import rolled_where_it_pays
from ..wengert import Steps, WengertList, checked_list, known_registers
from .adaptive import A_LOOP, BLINK, PATIENCE, Adaptive, contest, starter_and_rivals
from .program import Built, Engine, Program, Values
from .specialise import program_of
from .specialise.kinds import check_update, from_dlpack, kind_of, on_host, signature
from .specialise.loops import capacity_of_loops

ENGINES: dict[str, Engine] = {}  # by name, filled by `register`
REMEMBERED = 64  # how many sets of shapes a compiled list keeps programs for
MISSES = 3  # a program is dropped after this many refusals in a row of values of its own kinds


def register(engine: Engine) -> None:
    """Add the engine to those that `compile` has. engine: its record, which says when `auto` chooses it."""
    ENGINES[engine.name] = engine


@with_habits
def compile(steps: Steps, outputs: Iterable[str] | None = None, engine: str = "auto",
            inplace: Mapping[str, str] | None = None, threads: int | None = None) -> Compiled:
    """The list as a function: step(values) gives the outputs by name, as eval would.

        >>> step = xman.compile(steps, ["loss"], inplace={"W": "W_next"})
        >>> step({"X": X, "y": y, "W": W})["loss"]

    steps: the list. Its inputs may be arrays of any library with DLPack, and are not copied; outputs are
        NumPy's arrays, or JAX's if the inputs are JAX's.
    outputs: the registers that are wanted (None: the list's outputs).
    engine: interpret (the reference), numpy, llvm (the extra `fast`), jax (the extra `jax`), tape (lists of
        numbers), or auto, which chooses by sizes and by what is installed; `step.why` says why.
    inplace: {input: register}: each call writes the register, of the same shape and precision, over the
        input's own array; no other input is ever written to.
    threads: how many run the large loops of the engine llvm (None: as many as BLAS has, which
        OPENBLAS_NUM_THREADS says, or one for each core); results do not depend on it.

    With auto no call waits: while an engine takes long to build the program, another one answers, and then
    the faster of the two stays, so that the last bits of results may change with the clock. An engine that is
    named gives the same bits at every call, in every process of one machine, and so does auto after
    `step.settle()`. An engine that is not for a list, such as the tape for arrays, hands it on to
    numpy, and numpy to interpret; `step.why` says so. An engine that fails to build a list hands it on too,
    and warns once, unless auto chose it for a list that it is not for. An operator must depend on its
    arguments alone, and do nothing but return: the first call runs it several times, and a program may
    compute two equal lines once. Raises XManError for a list that is not valid, for names that it does not
    have, and for an engine that is not installed.
    """
    return Compiled(steps, outputs, engine, inplace, threads=threads)


class Compiled:
    """A list as a function of its inputs; made by `compile`, which explains steps, outputs, inplace, threads.

    The first call specialises it for the shapes and types of the values, and each call with new ones does so
    again; it remembers the last programs. Several threads may call it at once. Its `engine` is the name of
    the engine that runs, and `why` says why. adapts: whether auto measures which engine is faster. rolls:
    whether loops are looked for in a long list.
    """

    def __init__(self, steps: Steps, outputs: Iterable[str] | None, engine: str,
                 inplace: Mapping[str, str] | None, adapts: bool = True, threads: int | None = None,
                 rolls: bool = True):
        written = checked_list(steps)
        steps, renamed = apart_from_operators(with_plain_names(written))
        for sentence in renamings(renamed):
            warnings.warn(f"in the program that compile makes, {sentence}", stacklevel=3)
        self.steps = checked_list(steps, ops.G)
        if self.steps == written:
            self.steps.differentiates = written.differentiates
        refuse_unknown([engine], ("auto", *ENGINES), "there is no engine {!r}")
        if not self.steps:
            raise XManError("the list is empty: there is nothing to compile")
        self.inplace = overwritten(self.steps, inplace)
        names = known_registers(self.steps, self.steps.outputs if outputs is None else outputs, "outputs")
        self.outputs = tuple(str.__str__(x) for x in names)
        if threads is not None and (type(threads) is not int or threads < 1):
            raise XManError(f"threads is a whole number from 1 on, or None, not {shortened(threads)}")
        updates = {y: x for x, y in self.inplace.items()}
        self._written = Program(self.steps, {}, self.outputs, updates, self.steps)
        self.requested, self.adapts, self.threads, self.rolls = engine, adapts, threads, rolls
        self._programs: dict[tuple, Built | Adaptive] = {}
        self._choice = Built(None, None, None, engine, f"{engine} was asked for")  # for the latest kinds
        self._latest: Built | Adaptive | None = None  # the program that ran last, if its kinds can be checked
        self._capacities: dict[tuple, int] = {}  # by kinds: `capacity` where loops end on values
        # arrays that passed _check_memory: (input, array, the array whose memory it lies in, if that is
        # safe); a training loop passes the same ones in each call, so that `is` replaces the check
        self._checked: list[tuple[str, np.ndarray, np.ndarray | None]] = []
        self._locks: dict[int, threading.RLock] = {}  # by process id: a fork inherits none that is held
        self._warned = self.waits = False

    def __repr__(self) -> str:
        lines = f"{len(self.steps)} line{'s' * (len(self.steps) > 1)}"
        return f"<program of {lines} for {', '.join(self.outputs)}, engine {self.engine}>"

    _repr_html_ = in_notebooks("program_in_html")
    engine = property(lambda self: self._choice.engine)
    why = property(lambda self: self._choice.reason)
    source = property(lambda self: str(self._built().source), doc="The text of the program that ran last.")
    plan = property(lambda self: self._built().plan, doc="What that program is made of, to be printed.")

    def __reduce__(self) -> tuple:
        # a copy is compiled anew
        return Compiled, (self.steps, self.outputs, self.requested, self.inplace, self.adapts, self.threads)

    def __call__(self, values: Values) -> dict[str, Any]:
        """The outputs by name, arrays that nothing else uses. values: the inputs. XManError as for eval."""
        built = self._latest
        try:
            if (built and (not self._checked or self._were_checked(values))
                and (outputs := built.run(values)) is not None):
                return outputs
        except TimeoutError:
            raise  # a time limit that the user set
        except KeyboardInterrupt as stop:  # the interpreter adds the step to it
            stop.args = stop.args or (f"stopped in {self!r}",)
            raise
        except Exception:  # a value is missing or an operator fails: the interpreter, below, says which
            pass
        return self._specialised(values)

    def settle(self) -> None:
        """End the choice of auto, so that the bits of results change no more: this waits until the engine
        that suits the list best has built its program, and so do calls with new shapes. Before the first
        call, no clock has any part in the choice; an engine that has been found to be faster stays."""
        self.waits = True
        for built in self._programs.values():
            if isinstance(built, Adaptive):
                built.settle()

    def _built(self) -> Built:
        if not self._programs:
            raise XManError("a list is compiled for the shapes of its values: call the program once first")
        return self._latest or self._reference

    @functools.cached_property
    def _reference(self) -> Built:
        """The program that runs values which no other is for."""
        engine = next(engine for engine in ENGINES.values() if not engine.after)
        return engine.build(self._written)._replace(engine=engine.name)

    def _specialised(self, values: Values) -> dict[str, Any]:
        """The outputs, by the program for values of these kinds, which is built if the kinds are new."""
        values = with_numpy_reals(values, self.steps.inputs)
        values |= {x: from_dlpack(x, values[x]) for x in self.steps.inputs if x in values}
        missing(self.steps, values)
        self._check_memory(values)
        host_values = {name: on_host(x) for name, x in values.items()}
        key = self._kinds(values)
        with self._locks.setdefault(os.getpid(), threading.RLock()):
            if key not in self._programs:
                return self._first(key, values, host_values)
            built = self._latest = self._choice = self._programs[key]
        try:
            outputs = self._run(built, key, values, host_values)
        except TimeoutError:
            raise  # a time limit that the user set
        except Exception:  # the reference raises the sentence, unless shapes inside are others
            self._latest, outputs = None, self._reference.run(host_values)
        # a miss: shapes inside depend on the values, as in a loop that ends on them
        self._misses = 0 if self._latest else self._misses + 1
        if self._misses >= MISSES:
            self._programs[key] = self._reference._replace(
                reason=f"{built.reason}; interpreted, as {built.engine} is for shapes that the values change")
        return outputs

    def _kinds(self, values: Values) -> tuple: return tuple([signature(values[x]) for x in self.steps.inputs])

    def _first(self, key: tuple, values: Values, host_values: Values) -> dict[str, Any]:
        """The outputs, by a new program of the first engine that can build it and run it once."""
        steps = self._with_loops(host_values)
        name, reason, rivals = self._preferred(steps, values)
        capacity = self._capacities[key] = capacity_of_loops(
            self.steps, host_values, self._capacities.get(key, 0))
        specialised = functools.cache(functools.partial(self._program, steps, host_values))
        program = lambda to: self._written if to.as_written else specialised(capacity * to.open_loops)
        failure, built, self._misses = "", None, 0
        while not built:
            engine = ENGINES[name]
            try:
                built = engine.build(program(engine))._replace(engine=name, reason=reason)
                outputs = self._run(built, key, values, host_values)
            except TimeoutError:
                raise
            except Exception as error:
                eval(self.steps, host_values)  # raises the sentence if the values are at fault
                if not engine.after:
                    raise
                refused = isinstance(error, XManError)  # the engine itself says that the list is not for it
                problem = str(error) if refused else f"{type(error).__name__}, {shortened(str(error))}"
                # no warning if the user asked for no engine by its name
                if not refused or (self.requested, os.environ.get("XMAN_ENGINE", "auto")) != ("auto", "auto"):
                    failure = failure or f"the engine {name} cannot build this list: {problem}"
                name, reason = engine.after, f"{reason}; {name} gave way to {engine.after}: {problem}"
                built = None
        if capacity < self._capacities[key]:
            return outputs  # by another program, with room for more steps
        if rivals:
            built = contest(built, [ENGINES[x] for x in rivals], program, lambda v: key == self._kinds(v))
        self._programs[key] = self._latest = self._choice = built
        for oldest in list(self._programs)[:-REMEMBERED]:
            del self._programs[oldest]
        if failure and not self._warned:
            self._warned = True
            warnings.warn(f"{failure}; it runs on {name} instead", RuntimeWarning, stacklevel=4)
        return outputs

    def _preferred(self, steps: WengertList, values: Values) -> tuple[str, str, list[str]]:
        """The engine to begin with, the reason, and those to build meanwhile. steps: with loops."""
        name, reason, rivals = self.requested, f"{self.requested} was asked for", []
        if name == "auto":
            name, reason, rivals = chosen_engine(steps, values, self.inplace, self.adapts)
        if self.waits and rivals:
            name, reason, rivals = rivals[-1], "it was to settle", []
        if steps is not self.steps:
            reason += f"; loops were found, so that {len(self.steps):,} lines are {len(steps):,}"
        if not (engine := ENGINES[name]).installed:
            raise XManError(f"the engine {name} needs the package {engine.package}: "
                            f"pip install 'xman[{engine.extra}]'")
        return name, reason, rivals

    def _run(self, built: Built | Adaptive, key: tuple, values: Values, host_values: Values) -> dict:
        outputs = built.run(values if ENGINES[built.engine].on_device else host_values)
        if outputs is None:
            self._latest = None
            capacity = self._capacities[key]
            if capacity_of_loops(self.steps, host_values, capacity) > capacity:  # loops make more steps
                with self._locks[os.getpid()]:
                    return self._first(key, values, host_values)
            outputs = self._reference.run(host_values)
        return outputs

    def _with_loops(self, values: Values) -> WengertList:
        """The list, with loops in place of lines that repeat where that pays."""
        rolls = self.rolls and all(map(kind_of, values.values()))
        return rolled_where_it_pays(self.steps, self._written.at_the_end, values) if rolls else self.steps

    def _program(self, steps: WengertList, values: Values, capacity: int) -> Program:
        """The Program for values like these. steps: the list, or that with loops."""
        try:
            program = program_of(steps, values, self.outputs, self.inplace, capacity)
        except XManError as error:
            raise RuntimeError(str(error)) from error
        for y, x in program.inplace.items():
            check_update(x, y, program.kinds.get(x), program.kinds.get(y))
        stages = program.stages if steps is self.steps else [
            ("written", self.steps), ("rolled", steps), *program.stages[1:]]
        return program._replace(threads=self.threads or 0, stages=stages)

    def _check_memory(self, values: Values) -> None:
        """XManError unless the arrays to overwrite can be written, and share memory with no other input."""
        arrays = {x: values[x] for x in self.steps.inputs if isinstance(values[x], np.ndarray)}
        for x in self.inplace:
            subject = f"inplace: {x} is to be overwritten and"
            if on_host(values[x]) is not values[x]:
                raise XManError(f"inplace: {x} is no array of NumPy's and cannot be overwritten; leave "
                                f"inplace out, ask for {self.inplace[x]} among the outputs, and pass it as "
                                f"{x} at the next call")
            if x not in arrays or not arrays[x].flags.writeable:
                culprit = "a read-only one" if x in arrays else shortened(values[x])
                raise XManError(f"{subject} has to be an array that can be written to, not {culprit}")
            for name, array in arrays.items():
                if name != x and np.may_share_memory(arrays[x], array):
                    raise XManError(f"{subject} shares memory with {name}; give one of them a copy")
        targets = [arrays[x] for x in self.inplace]
        # batches X[0:32], X[32:64] are new arrays in the memory of one X: if all of X is apart from the
        # parameters, so is each batch
        apart = lambda owner: isinstance(owner, np.ndarray) and not any(np.may_share_memory(owner, x)
                                                                        for x in targets)
        self._checked = [(name, x, x.base if apart(x.base) else None)
                         for name, x in arrays.items() if targets]

    def _were_checked(self, values: Values) -> bool:
        """Whether the arrays are those that `_check_memory` saw last, or lie in the same memory."""
        for name, array, owner in self._checked:  # a loop: a comprehension takes twice as long
            x = values[name]
            if x is not array and (owner is None or x.base is not owner):
                return False
        return True


def chosen_engine(steps: WengertList, values: Values, inplace: Mapping[str, str],
                  adapts: bool = False) -> tuple[str, str, list[str]]:
    """The engine for a list, the reason, and the engines to build meanwhile. XMAN_ENGINE, if set, decides."""
    preferences = {name: engine.preference(steps, values, inplace) for name, engine in ENGINES.items()}
    best = max(preferences, key=lambda name: preferences[name][0])
    setting = os.environ.get("XMAN_ENGINE", "auto")
    if ENGINES[best].on_device:
        return best, preferences[best][1], []
    if setting != "auto":
        if setting not in ENGINES:
            raise XManError(f"XMAN_ENGINE is {setting!r}; there are auto, {', '.join(ENGINES)}")
        return setting, f"XMAN_ENGINE is {setting}", []
    seconds = {name: engine.seconds(steps) for name, engine in ENGINES.items()}
    loops = any(op in ("scan", "while_loop") for _, op, _ in steps)
    patience = (A_LOOP if loops else BLINK) if adapts else PATIENCE
    ranks = {name: rank for name, (rank, _) in preferences.items()}
    starter, rivals = starter_and_rivals(ranks, seconds, patience)
    reasons = [preferences[starter][1] or "; ".join(reason for rank, reason in preferences.values()
                                               if not rank and reason)]
    if rivals:
        reasons.append(f"to build {len(steps):,} lines takes {', '.join(rivals)} long, and where they are "
                       "the steps of a loop, xman.scan has them once")
    return starter, "; ".join(filter(None, reasons)), rivals if adapts else []


def with_plain_names(steps: WengertList) -> WengertList:
    """The list with plain strings as names: a class derived from str may print itself as anything."""
    name = lambda a: str.__str__(a) if isinstance(a, str) else a
    return WengertList((name(dst), name(op), tuple(map(name, args))) for dst, op, args in steps)


def overwritten(steps: WengertList, inplace: Mapping[str, str] | None) -> dict[str, str]:
    """inplace itself. XManError unless it leads from inputs of the list to registers of it."""
    inplace = {} if inplace is None else inplace
    if not isinstance(inplace, Mapping):
        raise XManError(f"inplace is a dictionary from inputs to the registers that overwrite them, {{'W': "
                        f"'W_next'}}, not {shortened(inplace)}")
    if strange := [x for x in known_registers(steps, inplace, "inplace") if x not in steps.inputs]:
        raise XManError(f"inplace names {strange[0]!r}, which is computed; only an input can be overwritten")
    if strange := [y for y in known_registers(steps, inplace.values(), "inplace") if y in steps.inputs]:
        raise XManError(f"inplace: {strange[0]!r} is an input; name a computed register")
    if len(set(inplace.values())) < len(inplace):
        raise XManError("inplace: a register overwrites one input; give each of them its own")
    return dict(inplace)
