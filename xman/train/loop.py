"""fit: minibatch descent on a model's loss, by the compiled list of a training step."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from ..engines import ENGINES
from ..errors import XManError
from ..files.whole import only_writer
from ..manager import XMan
from ..scale.mpi import workers
from ..scale.signals import CtrlC, Ending, end_as_told
from ..show.progress import Progress
from .checkpoints import State
from .evaluation import Diverged, Result, TrainingError
from .objective import Objective
from .plot import learning_curve
from .run import DeviceRun, Run
from .second_order import METHODS, SecondOrder
from .settings import Settings, with_keywords_of


@with_keywords_of(Settings)
def fit(model: XMan, data: tuple, settings: Settings) -> Result:
    """Train the parameters of model on data and return the best; the model itself is not changed.

    model: an XMan with a register `loss`, a number; its `outputs` (n, classes) give the accuracy.
        It may have three more things. The method feed(X, y) turns rows and targets into inputs by name;
        without it they are the inputs X and y; the next minibatch overwrites feed's arguments. The method
        draw(random, rows) gives inputs that are drawn at random, by name, for rows with these numbers
        (`xman.scale.draws.Draws`); evaluation takes their defaults. The attribute `running` names inputs that
        a step updates, x by the register x_next; the result has them among its parameters.
    data, validation: pairs (X, y), of n rows each; strings in y become classes, in the order of `classes`, or
        sorted.
    epochs: passes over the data, each in an order drawn from `seed`.
    batch_size: rows of a minibatch (None: 32).
    optimizer: as for `training_list`; a rule may have other settings, functools.partial(adam, beta1=0.8), or
        be your own. "gauss-newton", "levenberg-marquardt" and "newton-cg" (`xman.train.second_order`) take
        one step of all rows per epoch, and none of the settings from batch_size to clip_value.
    lr: the learning rate (None: 0.1), or a dict with the rate of each parameter; the rate 0 keeps a parameter
        as it is (Adams, Computing Gradients with Backpropagation, after eq. 16).
    schedule: a function from a step's number, 1, 2, …, to a factor of lr, as in `xman.train.schedules`.
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
        which they may add, and copies of the parameters; a string that one returns ends the run.
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
    explain: if the loss, or a derivative of it, turns NaN or infinite, say why, with the line (`xman.why`).

    Workers (`xman.scale`) share the rows of each minibatch, and all get the parameters of one. The loss is
    computed in its stable form, `simplify(…, rewrites=EXACT + STABLE)`, which is finite wherever the loss is.
    Raises XManError for data and settings that do not fit, and Diverged, which names the register.
    """
    run, callbacks = run_of(model, data, settings), list(settings.callbacks)
    n, progress = run.minibatches.count, settings.progress and not run.workers.rank
    with (only_writer(None if run.workers.rank else settings.checkpoint), run.workers.together(),
          Progress(progress, settings.epochs * n, (run.state.epoch - 1) * n + run.state.batch) as shown,
          CtrlC(run.workers) as ctrl_c, errors_with_the_result(run), until_interrupted(run, ctrl_c)):
        started, run.reason = time.perf_counter(), why_over(run.state, settings)
        while not run.reason:
            for _ in run.steps(run.state, ctrl_c):
                shown.step()
            now = time.perf_counter()
            run.state, started = run.judged(run.state, now - started, ctrl_c), now
            row = run.state.history[-1]
            answers = [call(row, run.step.parameters(run.state.arrays)) for call in callbacks]
            shown.line(row)
            reason = why_over(run.state, settings) or run.step.over or next(filter(None, answers), "")
            run.reason = run.compare(run.state, reason)
            run.checkpoint.save(run.state)
    run.checkpoint.written()
    if settings.plot and not run.workers.rank:
        learning_curve(run.state.history, settings.plot)
    return run.result(run.state.best or run.step.parameters(run.state.arrays), run.reason)


def run_of(model: XMan, data: tuple, settings: Settings) -> Run:
    """The run, at its beginning or where its checkpoint left it."""
    objective = Objective(model, data, settings.seed, settings.sample_weight, settings.class_weight,
                          settings.l1, settings.l2, settings.classes)
    device = (engine := ENGINES.get(settings.engine)) and engine.on_device and engine.installed
    if isinstance(settings.optimizer, str) and settings.optimizer in METHODS:
        return SecondOrder(objective, settings)
    alone = device and workers().size * settings.accumulate == 1
    return (DeviceRun if settings.mesh or alone else Run)(objective, settings)


@contextlib.contextmanager
def until_interrupted(run: Run, ctrl_c: CtrlC) -> Iterator[None]:
    """A context that Ctrl-C ends; the checkpoint then has the state."""
    try:
        yield
    except KeyboardInterrupt as stop:
        run.check(run.state, ctrl_c)
        run.checkpoint.save(run.state)
        where = f"; {run.settings.checkpoint} has it all" if run.settings.checkpoint else ""
        run.reason = f"interrupted in epoch {run.state.epoch}{where}"
        if isinstance(stop, Ending):
            run.checkpoint.written()
            end_as_told(run.reason, run.workers)


@contextlib.contextmanager
def errors_with_the_result(run: Run) -> Iterator[None]:
    """A context whose errors bring the result up to then."""
    try:
        yield
    except XManError as error:
        stop = error if isinstance(error, Diverged) else TrainingError(str(error))
        stop.result = run.result(run.best_of(run.state), str(error))
        raise stop from error


def why_over(state: State, settings: Settings) -> str:
    """Why the run is over, in words; "" where it is not."""
    if state.epoch > settings.epochs:
        done = state.epoch - 1  # a checkpoint may have had more
        more = f": the checkpoint had {done}, and nothing was trained" * bool(done > settings.epochs)
        return f"all {settings.epochs} epochs done{more}"
    if settings.patience and state.history and state.epoch - 1 - state.best_epoch >= settings.patience:
        return f"no better for {settings.patience} epochs"
    if settings.threshold and state.history and state.history[-1]["adjustment"] < settings.threshold:
        return f"no parameter moved by {settings.threshold:g} in epoch {state.epoch - 1}"
    return ""
