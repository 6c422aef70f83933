"""welvet.train: learning by epochs, with callbacks, held-back samples and a bar on the terminal."""
from __future__ import annotations

import sys
import time
import warnings
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._call import array, call, plain
from ._errors import InvalidArgument
from .network import Network, rows_of
from .training import Data, Trainer, _flat, at_least_one, check_settings, make_trainer, stops


class Progress(NamedTuple):
    """What a callback sees after a step."""

    step: int  # optimizer steps done
    steps: int  # that the training has
    epoch: int  # from 1
    epochs: int
    loss: float  # of this step, before its update
    rate: float  # its learning rate
    rows: int
    network: Network


class Epoch(NamedTuple):
    """What a callback sees after an epoch. `validation`: loss, and accuracy of classes, where samples were held back."""

    epoch: int  # from 1
    epochs: int
    step: int
    loss: float  # mean over the epoch's steps
    rate: float
    seconds: float
    validation: Dict[str, float]
    network: Network


class Callback:
    """Hooks of a training: override what is of interest. Returning False, Python's or NumPy's,
    stops the training after this step."""

    def on_begin(self) -> None:
        """Before the first step: what earlier trainings left is forgotten here."""

    def on_step(self, progress: Progress) -> Optional[bool]:
        """After each optimizer step."""

    def on_epoch(self, epoch: Epoch) -> Optional[bool]:
        """After each epoch."""


class EarlyStopping(Callback):
    """Stops after `patience` epochs without a loss that is lower by more than `delta`: of what was
    held back, or, without that, of the epochs. It begins anew in each training."""

    def __init__(self, patience: int = 3, delta: float = 0.0) -> None:
        self.patience, self.delta, self.best, self.stale = patience, delta, float("inf"), 0

    def on_begin(self) -> None:
        self.best, self.stale = float("inf"), 0

    def on_epoch(self, epoch: Epoch) -> Optional[bool]:
        loss = epoch.validation.get("loss", epoch.loss)
        if loss < self.best - self.delta:
            self.best, self.stale = loss, 0
        else:
            self.stale += 1
        return self.stale < self.patience


class History(Dict[str, List[float]]):
    """Lists with an entry per epoch, ready for matplotlib: plot(history["epoch"], history["loss"]). Keys: epoch, step, loss, rate, seconds, and with held-back
    samples validation_loss and, for classes, validation_accuracy. `steps` and `losses` have an entry per optimizer step; `stopped` says whether a
    callback ended the training."""

    steps: List[int]
    losses: List[float]
    stopped: bool

    def __init__(self) -> None:
        super().__init__()
        self.steps, self.losses, self.stopped = [], [], False


class _Bar:
    """A line on stderr that is written over: nothing where stderr is no terminal."""

    WIDTH, EVERY = 24, 0.1

    def __init__(self, shown: Optional[bool]) -> None:
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.begun, self.last, self.length = time.perf_counter(), 0.0, 0

    def update(self, p: Progress, force: bool = False) -> None:
        now = time.perf_counter()
        if not self.shown or (now - self.last < self.EVERY and not force):
            return
        self.last = now
        passed = max(now - self.begun, 1e-9)
        left = passed / p.step * (p.steps - p.step)
        full = self.WIDTH * p.step // p.steps
        line = "epoch %d/%d  %3d%%|%s%s| %d/%d [%s<%s, %.1f steps/s, loss %.4g]" % (
            p.epoch, p.epochs, 100 * p.step // p.steps, "#" * full, " " * (self.WIDTH - full), p.step, p.steps, _clock(passed), _clock(left), p.step / passed, p.loss)
        sys.stderr.write("\r" + line + " " * max(0, self.length - len(line)))
        sys.stderr.flush()
        self.length = len(line)

    def close(self) -> None:
        if self.shown and self.length:
            sys.stderr.write("\n")
            sys.stderr.flush()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return "%d:%02d:%02d" % (hours, minutes, seconds) if hours else "%02d:%02d" % (minutes, seconds)


Callbacks = Iterable[Union[Callback, Callable[[Progress], Optional[bool]]]]


def train(network: Network, x: Any, y: Any = None, *, loss: Optional[str] = None, optimizer: Union[str, Dict[str, Any], None] = None, schedule: Union[str, Dict[str, Any], None] = None,
          rate: Optional[float] = None, epochs: Optional[int] = None,
          steps: Optional[int] = None, batch: int = 32, callbacks: Callbacks = (), validation: Union[float, Tuple[Any, Any], None] = None, seed: int = 0,
          progress: Optional[bool] = None, threads: int = 0, isa: str = "", **settings: Any) -> History:
    """Trains a network and returns its History.

    x: (samples, width) or with the dimensions of the network's input; or a Data object, without y. y: (samples,) integers, the classes, or (samples,
    targets) values. `loss`: mse, mae, huber, bce, cross_entropy; where nothing is said cross_entropy for integers, mse for values. `optimizer`: a name
    (adamw, sgd, rmsprop, lion) or its settings as a dict; `schedule` likewise, `rate` is its learning rate (0.001). `validation`: a share of the samples to
    hold back, picked by `seed` in the proportions of the classes, or (x, y) of others. `callbacks`:
    Callback objects, or functions of a step's Progress; False stops. `progress`: a bar on stderr;
    None: where that is a terminal. `epochs` (10), or `steps`,
    optimizer steps, in their place. `settings`: further keys of docs/reference/training-spec.md (heads, lora, checkpoint, micro_batches, shuffle, ...);
    those that have no effect here (checkpoint_every, log_every, data, network, ...) are a ValueError.

    The weights are a function of network, data and settings: no bit depends on threads or
    callbacks. Raises LoomError where something does not fit, where x or y has a value that is NaN
    or infinite (a NaN in x is a missing value to Standardize(missing=True)), and where a loss is
    not finite, that of the validation too; ValueError for arrays whose lengths differ, for masked
    values, and where batch or epochs are no whole numbers above 0. Ctrl-C stops between two steps;
    the weights are those of the last one."""
    spec: Dict[str, Any] = dict(settings)
    check_settings(settings)
    if epochs is not None and steps is not None:
        raise TypeError("train: give either epochs or steps")
    batch = at_least_one("batch", batch)
    length = ({"epochs": at_least_one("epochs", 10 if epochs is None else epochs)}
              if steps is None else {"steps": at_least_one("steps", steps)})
    held: Optional[Tuple[np.ndarray, np.ndarray]] = None
    classes = values = None
    data: Any = x
    if not isinstance(x, Data):
        if y is None:
            raise TypeError("train: give y, the targets, or a Data object")
        info = network.info
        data, targets = rows_of(x, info["input"])[0], _targets(y, loss, info)
        if len(data) != len(targets):
            raise ValueError("train: x has %d samples, y %d" % (len(data), len(targets)))
        if isinstance(validation, tuple):
            held = rows_of(validation[0], info["input"])[0], _targets(validation[1], loss, info)
        elif validation:
            data, targets, held = _hold_back(data, targets, float(validation), seed)
        classes, values = (targets, None) if targets.dtype == np.int32 else (None, targets)
        if loss is None and "heads" not in spec:
            loss = "cross_entropy" if classes is not None else "mse"
    elif y is not None or validation is not None:
        raise TypeError("train: a Data object has its targets, and nothing of it is held back")
    if held is not None and "heads" in spec:
        raise TypeError("train: validation judges one loss, not heads")
    if loss is not None:
        spec["loss"] = loss
    if optimizer is not None:
        spec["optimizer"] = {"type": optimizer} if isinstance(optimizer, str) else dict(optimizer)
    if schedule is not None or rate is not None:
        spec["schedule"] = {"type": schedule or "constant"} if schedule is None or isinstance(schedule, str) else dict(schedule)
        if rate is not None:
            spec["schedule"]["rate"] = rate
    spec.update(length, seed=seed)
    samples = data.info["samples"] if isinstance(data, Data) else len(data)
    spec["batch"] = min(batch, max(1, samples))
    with make_trainer(network, data, values, classes, None, threads, isa, spec) as trainer:
        return _run(trainer, network, samples, spec, held, list(callbacks), _Bar(progress))


def _run(trainer: Trainer, network: Network, samples: int, spec: Dict[str, Any], held: Optional[Tuple[np.ndarray, np.ndarray]], callbacks: List[Any], bar: _Bar) -> History:
    history, steps, epochs = History(), trainer.info["steps"], spec.get("epochs")
    if epochs is None:
        epochs = -(-steps * spec["batch"] // samples)
    done, begun, of_epoch = 0, time.perf_counter(), []
    for callback in callbacks:
        if isinstance(callback, Callback):
            callback.on_begin()
    try:
        while done < steps and not history.stopped:
            epoch = done * spec["batch"] // samples + 1
            done, loss, rate, rows = call("trainer_step", trainer._handle, 1)
            history.steps.append(done)
            history.losses.append(loss)
            of_epoch.append(loss)
            now = Progress(done, steps, epoch, epochs, loss, rate, rows, network)
            history.stopped = not all([_asked(c.on_step if isinstance(c, Callback) else c, now) for c in callbacks])
            bar.update(now, force=done == steps)
            if done < steps and done * spec["batch"] < epoch * samples and not history.stopped:
                continue
            judged = _judge(network, held, spec) if held is not None else {}
            if not np.isfinite(judged.get("loss", 0.0)):
                raise InvalidArgument("train: after epoch %d the loss of the validation is %s"
                    % (epoch, judged["loss"]))
            seconds, begun = time.perf_counter() - begun, time.perf_counter()
            report = Epoch(epoch, epochs, done, float(np.mean(of_epoch)), rate, seconds, judged, network)
            of_epoch = []
            for key, value in (("epoch", epoch), ("step", done), ("loss", report.loss), ("rate", rate), ("seconds", seconds), *(("validation_" + k, v) for k, v in judged.items())):
                history.setdefault(key, []).append(value)
            history.stopped |= not all([_asked(c.on_epoch, report) for c in callbacks if isinstance(c, Callback)])
    finally:
        bar.close()
    return history


def _asked(hook: Callable[[Any], Optional[bool]], what: Any) -> bool:
    return not stops(hook(what))


def _places(info: Dict[str, Any]) -> Tuple[int, ...]:
    """The dimensions of a row's output that have a class each: all but that of the classes, which is the
    last, or, behind a convolution, the first."""
    gives = info["output"]
    dims = tuple(gives.get("dims", ())) if info["version"] > 1 else ()
    return dims[1:] if gives.get("axis") == "channels" else dims[:-1]


def _targets(y: Any, loss: Optional[str], info: Dict[str, Any]) -> np.ndarray:
    """int32 classes, one for each place of a row, or float32 rows."""
    y, places = plain(y, "y"), _places(info)
    whole = np.issubdtype(y.dtype, np.integer)
    by_place = y.size == len(y) * int(np.prod(places)) and (y.ndim == 1 or bool(places)) if y.ndim else False
    if by_place and (loss == "cross_entropy" or (loss is None and whole)):
        return array(y.reshape((len(y), -1) if places else -1), np.int32, "y")
    if loss == "cross_entropy" or (loss is None and whole and places):
        wanted = ", ".join(["samples", *("%d" % d for d in places)])
        raise ValueError("y: expects classes of the shape (%s), got the shape %s" % (wanted, y.shape))
    return _flat(y)


def _hold_back(x: np.ndarray, y: np.ndarray, share: float, seed: int) -> Tuple[np.ndarray, np.ndarray, Tuple[np.ndarray, np.ndarray]]:
    if not 0 < share < 1:
        raise ValueError("validation: a share is above 0 and below 1, got %r" % share)
    count = min(len(x) - 1, max(1, round(share * len(x))))
    if count < 1:
        raise ValueError("validation: %d samples are too few to hold any back" % len(x))
    order = np.random.RandomState(seed & 0xFFFFFFFF).permutation(len(x))  # noqa: NPY002: its numbers never change
    classes = y.dtype == np.int32 and y.ndim == 1
    held = np.sort(_stratified(order, y, count) if classes else order[:count])
    learned = np.setdiff1d(order, held)
    return x[learned], y[learned], (x[held], y[held])


def _stratified(order: np.ndarray, y: np.ndarray, count: int) -> np.ndarray:
    """The first of the order, in the proportions of the classes (largest remainders), with one of
    each on both sides where there are two. Those below 0, which do not count, are a class, too."""
    classes, sizes = np.unique(y, return_counts=True)
    quota, left = np.divmod(count * sizes, len(y))
    quota[np.argsort(-left, kind="stable")[:count - quota.sum()]] += 1
    quota = np.where(classes < 0, quota, np.clip(quota, np.minimum(sizes - 1, 1), sizes - 1))
    single = classes[(sizes == 1) & (classes >= 0)]
    if not quota[classes >= 0].any():
        raise ValueError("validation: no class has two samples, so that none can be held back")
    if len(single):
        names = ", ".join(map(str, single[:6])) + (", ..." if len(single) > 6 else "")
        warnings.warn("validation: classes of one sample are learned, and nothing judges them: "
                      + names, stacklevel=4)
    return np.concatenate([order[y[order] == c][:n] for c, n in zip(classes, quota)])


def _judge(network: Network, held: Tuple[np.ndarray, np.ndarray], spec: Dict[str, Any]) -> Dict[str, float]:
    """The loss, in f64, of what was held back."""
    x, y = held
    out, loss = network.forward(x).astype(np.float64), spec["loss"]
    if loss == "cross_entropy":
        if _places(network.info):
            first = network.info["output"].get("axis") == "channels"
            out = np.moveaxis(out, 1, -1) if first else out
            out, y = out.reshape(-1, out.shape[-1]), y.reshape(-1)
        counted = y >= 0
        out, y = out[counted], y[counted]
        out -= out.max(axis=1, keepdims=True)
        right = out[np.arange(len(y)), y]
        return {"loss": float((np.log(np.exp(out).sum(axis=1)) - right).mean()), "accuracy": float((out.argmax(axis=1) == y).mean())}
    d = out.reshape(len(out), -1) - y
    if loss == "mae":
        return {"loss": float(np.abs(d).mean())}
    if loss == "huber":
        delta = spec.get("delta", 1.0)
        return {"loss": float(np.where(np.abs(d) <= delta, d * d / 2, delta * (np.abs(d) - delta / 2)).mean())}
    if loss == "bce":
        out = d + y
        return {"loss": float((np.logaddexp(0, out) - y * out).mean()), "accuracy": float(((out > 0) == (y > 0.5)).mean())}
    return {"loss": float((d * d).mean())}
