"""fit: minibatch descent on a model's loss, by the compiled list of a training step."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..engines import ENGINES
from ..errors import XManError
from ..manager import XMan
from ..scale import workers
from ..tables import Prepared
from .checkpoints import State
from .evaluation import Diverged, Result, TrainingError, at_least
from .objective import Objective
from .optimizers import Rule
from .plot import check_plot, learning_curve
from .progress import CtrlC, Progress
from .run import Run
from .schedules import Schedule
from .second_order import METHODS, SecondOrder

Callback = Callable[[dict[str, float], dict[str, np.ndarray]], str | None]


def fit(model: XMan, data: tuple, *, validation: tuple | None = None, epochs: int = 10,
        batch_size: int | None = None, optimizer: str | Rule = "sgd",
        lr: float | dict[str, float] | None = None, schedule: Schedule | None = None,
        weight_decay: float | None = None, clip: float | None = None, clip_value: float | None = None,
        l1: float | dict[str, float] | None = None, l2: float | dict[str, float] | None = None,
        sample_weight: Any = None, class_weight: dict[Any, float] | str | None = None, seed: int = 0,
        patience: int | None = None, threshold: float | None = None, callbacks: Iterable[Callback] = (),
        checkpoint: str | Path | None = None, plot: str | Path | None = None, engine: str = "auto",
        progress: bool = True, prepared: Prepared | None = None, accumulate: int = 1,
        checkpoint_every: float = 60.0, mesh: str | None = None, precision: str | None = None) -> Result:
    """Train the parameters of model on data and return the best; the model itself is not changed.

    model: an XMan with a register `loss`, a number; `outputs` (n, classes), if it has one, gives the
    accuracy.
        It may have three more things. The method feed(X, y) turns rows and targets into inputs by name;
        without it they are the inputs X and y; the next minibatch overwrites feed's arguments. The method
        draw(random, rows) gives inputs that are drawn at random, by name, for rows with these numbers
        (`xman.scale.draws.Draws`); evaluation takes their defaults. The attribute `running` names inputs that
        a step updates, x by the register x_next; the result has them among its parameters.
    data, validation: pairs (X, y), of n rows each; strings in y become classes, in sorted order.
    epochs: passes over the data, each in an order drawn from `seed`.
    batch_size: rows of a minibatch (None: 32).
    optimizer: as for `training_list`; a rule may have other settings, functools.partial(adam, beta1=0.8), or
        be your own. "gauss-newton", "levenberg-marquardt" and "newton-cg" (`xman.train.second_order`) take
        one step of all rows per epoch, and none of the settings from batch_size to clip_value.
    lr: the learning rate (None: 0.1), or a dict with the rate of each parameter; the rate 0 keeps a parameter
        as it is (Adams, Computing Gradients with Backpropagation, after eq. 16).
    schedule: a function from the number of the step, 1, 2, …, to a factor of lr, as `xman.train.schedules`
        makes them.
    weight_decay, clip, clip_value: as for `training_list`.
    l1, l2: the loss gets l1 Σ|w| + ½ l2 Σw² more, for all parameters but those that are only added (biases),
        or, with a dict, for those that it names.
    sample_weight: a weight for each row (n,): a mean over rows in the loss becomes Σ w v / Σ w. Validation
        and accuracy have no weights.
    class_weight: a dict with a weight for each class, by which sample_weight is multiplied; or "balanced",
        n / (the number of classes · the rows of the class).
    seed: of the order of the rows, and of `draw`.
    patience: stop after this many epochs without a better validation loss.
    threshold: stop when no entry of a parameter moved by more than this from the beginning of an epoch to its
        end (Reps §6); the history has this move as `adjustment`.
    callbacks: functions of (row, parameters) that are called after each epoch with its row of the history, to
        which they may add, and copies of the parameters; a string that one returns ends the run, as its
        reason.
    checkpoint: a file, which `xman.load` reads as a model; it is written after each epoch, on Ctrl-C, and
        within an epoch every checkpoint_every seconds. If it exists the run goes on from it, and with the
        same engine to the same bits as without a break.
    plot: a .png for the learning curve.
    engine: as for `compile`; auto takes numpy if an epoch has fewer than 400 minibatches.
    progress: show a bar on a terminal, or a line per epoch elsewhere.
    prepared: how a table became these rows, so that the trained model and the checkpoint read its columns.
    accumulate: compute a minibatch in this many pieces one after another, for less memory.
    mesh: JAX's devices, "data=2,model=2", over which rows and matrices are cut.
    precision: "mixed" rounds the arguments of products to bfloat16.

    Processes that mpiexec started (`xman.scale`) share the rows of each minibatch, and all get the parameters
    that one process would get. The loss is computed in its stable form, `simplify(…, rewrites=EXACT +
    STABLE)`, which is finite wherever the loss is. Raises XManError for data and settings that do not fit,
    and Diverged, which names the first register that was NaN.
    """
    given = dict(locals())  # the arguments by name
    for name, value, least in (("epochs", epochs, 0), ("patience", patience, 1), ("threshold", threshold, 0)):
        if value is not None:
            at_least(name, value, least)
    at_least("accumulate", accumulate, 1, whole=True)
    if mesh and accumulate > 1:
        raise XManError("a mesh takes the rows of a minibatch at once: leave accumulate, or the mesh, away")
    callbacks = list(callbacks)
    if plot:
        check_plot(plot)
    if checkpoint and not (folder := Path(checkpoint).parent).is_dir():
        raise XManError(f"the checkpoint {checkpoint} could not be written: there is no folder {folder}; "
                        "make it first")
    objective = Objective(model, data, seed, sample_weight, class_weight, l1, l2)
    device = engine in ENGINES and ENGINES[engine].on_device and ENGINES[engine].installed
    kind: type[Run] = Run
    if isinstance(optimizer, str) and optimizer in METHODS:
        kind = SecondOrder
    elif mesh or device and workers().size * accumulate == 1:
        from .device_run import DeviceRun as kind
    run = kind(objective, given)
    state = run.resumed(checkpoint) if checkpoint and Path(checkpoint).exists() else run.start()
    reason = why_over(state, epochs, patience, threshold)
    started = time.perf_counter()
    done = (state.epoch - 1) * run.batches + state.batch
    progress = progress and not run.workers.rank
    with (run.workers.together(), Progress(progress, total=epochs * run.batches, done=done) as shown,
          CtrlC(run.workers) as ctrl_c):
        try:
            try:
                while not reason:
                    run.epoch(state, ctrl_c, shown)
                    now = time.perf_counter()
                    state = run.epoch_done(state, now - started, ctrl_c)
                    started = now
                    answers = [call(state.history[-1], run.parameters(state.arrays)) for call in callbacks]
                    shown.line(state.history[-1])
                    run.save(state)
                    reason = (why_over(state, epochs, patience, threshold) or run.over
                              or next(filter(None, answers), ""))
            except KeyboardInterrupt:
                run.check(state, ctrl_c)
                run.save(state)
                kept = f"; {checkpoint} has it all" if checkpoint else ""
                reason = f"interrupted in epoch {state.epoch}{kept}"
        except XManError as error:
            stop = error if isinstance(error, Diverged) else TrainingError(str(error))
            stop.result = run.result(run.best_of(state), state, str(error))
            raise stop from error
    run.written()
    if plot and not run.workers.rank:
        learning_curve(state.history, plot)
    return run.result(state.best or run.parameters(state.arrays), state, reason)


def why_over(state: State, epochs: int, patience: int | None, threshold: float | None) -> str:
    """Why the run is over, in words; "" where it is not."""
    if state.epoch > epochs:
        return f"all {epochs} epochs done"
    if patience and state.history and state.epoch - 1 - state.best_epoch >= patience:
        return f"no better for {patience} epochs"
    if threshold and state.history and state.history[-1]["adjustment"] < threshold:
        return f"no parameter moved by {threshold:g} in epoch {state.epoch - 1}"
    return ""
