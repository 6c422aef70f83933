"""Learning by epochs, with callbacks, held-back samples and a bar on the terminal."""
from __future__ import annotations

import sys
import time
import warnings
from contextlib import nullcontext
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from .._core.call import array, call, plain, seed_of
from .._core.errors import InvalidArgument
from .._core.outputs import (heads_of, joined, joined_targets, judge, judge_heads, names_of,
                             outputs_of,
                       targets_of)
from .._core.rows import rows_of
from ..network import Network
from .batches import Batches, check as check_batches, come_one_by_one, parts_of
from .trainer import (IGNORED, Data, Trainer, at_least_one, check_settings, classes_of,
                       data_of_arrays, make_trainer, stops)


class Progress(NamedTuple):
    """What a callback sees after a step."""

    step: int  # optimizer steps done
    steps: int  # that the training has
    epoch: int  # from 1
    epochs: int
    loss: float  # of this step, before its update
    lr: float  # its learning rate
    rows: int
    network: Network


class Epoch(NamedTuple):
    """What a callback sees after an epoch. `validation`: loss, and accuracy of classes, where
    samples were held back."""

    epoch: int  # from 1
    epochs: int
    step: int
    loss: float  # mean over the epoch's steps
    lr: float
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
    """Lists with an entry per epoch, ready for matplotlib: plot(history["epoch"], history["loss"]).
    Keys: epoch, step, loss, lr, seconds, and with held-back samples validation_loss and, for
    classes, validation_accuracy; with target_propagation reach. `steps` and `losses` have an entry
    per optimizer step, `parts`, with target_propagation, the parts of Trainer.info per epoch;
    `events` are those of Trainer.observe, where train() was asked for them; `stopped` says whether
    a callback ended the training."""

    steps: List[int]
    losses: List[float]
    parts: List[List[Dict[str, Any]]]
    events: List[Dict[str, Any]]
    stopped: bool

    def __init__(self) -> None:
        super().__init__()
        self.steps, self.losses, self.parts, self.stopped = [], [], [], False
        self.events = []


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
            p.epoch, p.epochs, 100 * p.step // p.steps, "#" * full, " " * (self.WIDTH - full),
            p.step, p.steps, _clock(passed), _clock(left), p.step / passed, p.loss)
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


_Held = Tuple[np.ndarray, np.ndarray, Optional[np.ndarray]]  # x, y and the weights of samples
Callbacks = Iterable[Union[Callback, Callable[[Progress], Optional[bool]]]]


_EITHER = "train: give either epochs or steps"
# What a spec or Keras calls otherwise.
_SPELLED = {
    "batch": "batch_size", "callback": "callbacks=[...]", "classes": "integers as y",
    "validation_split": "validation=0.2",
    "validation_data": "validation=(x, y)", "learning_rate": "lr",
    "verbose": "progress=True", "criterion": "loss",
}


def train(network: Network, x: Any, y: Any = None, /, *, validation: Any = None,
          callbacks: Optional[Callbacks] = None, progress: Optional[bool] = None,
          steps_per_epoch: Optional[int] = None, observe: Union[bool, Dict[str, Any]] = False,
          **keywords: Any) -> History:
    """Network.train, which says what is what."""
    if isinstance(validation, (list, str, dict)) or not isinstance(
            validation, (int, float, tuple, type(None))):
        raise TypeError("validation: expects a share of the samples, or (x, y) or (x, y, "
                        "sample_weight) of others, got %s" % type(validation).__name__)
    fit = _Fit(network, **keywords)
    if isinstance(validation, tuple):
        fit.hold(validation)
    bar, hooks = _Bar(progress), list(callbacks or ())
    if y is None and come_one_by_one(x):
        first, batches = fit.batches(x, steps_per_epoch, validation)
        with fit.trainer(first, None, None) as trainer:
            with _observed(trainer, observe) as events:
                return _run(trainer, network, 1, batches.per_epoch, fit.held, hooks, bar,
                            _steps_on(trainer, first, batches), events)
    if steps_per_epoch is not None:
        raise ValueError("train: steps_per_epoch is for batches from an iterator: here an epoch is "
                         "all samples once")
    if fit.streams and validation is not None:
        raise ValueError("train: streams: nothing is held back of one: keep its end to yourself "
                         "and run a Session over it, or use loom train, which judges by the end")
    data, values, classes = fit.data(x, y, validation)
    samples = data.info["samples"] if isinstance(data, Data) else len(data)
    with fit.trainer(data, values, classes) as trainer:
        took = fit.spec.get("batch", 1)
        if fit.streams:
            took, samples = 1, trainer.info["streams"]["windows"]
        with _observed(trainer, observe) as events:
            return _run(trainer, network, took, samples, fit.held, hooks, bar,
                        lambda: trainer._run("trainer_step", 1), events)


def _observed(trainer: Trainer, observe: Union[bool, Dict[str, Any]]) -> Any:
    """A block with the events of the trainer's steps."""
    if observe is False or observe is None:
        return nullcontext([])
    if observe is not True and not isinstance(observe, dict):
        raise TypeError("train: observe: expects True, or a dict of what Trainer.observe takes, "
                        "got %r" % (observe,))
    return trainer.observe(**({} if observe is True else observe))


def trainer_of(network: Network, x: Any, y: Any = None, /, **keywords: Any) -> Trainer:
    """Network.trainer: what train() would learn by, not begun."""
    if y is None and come_one_by_one(x):
        raise TypeError("trainer: batches that come one by one are for Network.train: give arrays, "
                        "or a Data object")
    fit = _Fit(network, **keywords)
    return fit.trainer(*fit.data(x, y, None))


class _Fit:
    """What a training makes of its keywords, its spec and arrays, and what it is judged by."""

    def __init__(self, network: Network, /, *, spec: Optional[Dict[str, Any]] = None,
                 loss: Any = None, loss_weights: Any = None, optimizer: Any = None,
                 schedule: Any = None, lr: Optional[float] = None, method: Any = None,
                 epochs: Optional[int] = None,
                 steps: Optional[int] = None, batch_size: Optional[int] = None,
                 ignore: Optional[int] = None, sample_weight: Any = None,
                 class_weight: Any = None, seed: Optional[int] = None, threads: int = 0,
                 isa: str = "", mode: str = "", **settings: Any) -> None:
        for key, right in _SPELLED.items():
            if key in settings:
                raise TypeError("train: %r: write %s" % (key, right))
        merged: Dict[str, Any] = {**(spec or {}), **settings}
        check_settings(merged)
        if epochs is not None and steps is not None:
            raise TypeError(_EITHER)
        if epochs is not None or steps is not None:  # in place of the spec's
            merged.pop("epochs", None), merged.pop("steps", None)
        self.epochs = merged.pop("epochs", None) if epochs is None else epochs
        self.steps = merged.pop("steps", None) if steps is None else steps
        if self.epochs is not None and self.steps is not None:
            raise TypeError(_EITHER)
        self.batch_size = merged.pop("batch", None)
        if batch_size is not None:
            self.batch_size = batch_size
        for key, value in (("ignore", ignore), ("class_weight", class_weight), ("loss", loss),
                           ("sample_weight", sample_weight), ("seed", seed)):
            if value is not None:
                merged[key] = value
        merged["seed"] = seed_of(merged.get("seed", 0))
        if optimizer is not None:
            merged["optimizer"] = _typed("optimizer", optimizer)
        if schedule is not None:
            merged["schedule"] = _typed("schedule", schedule)
        if method is not None:
            merged["method"] = _typed("method", method)
        if lr is not None:
            merged["schedule"] = {**merged.get("schedule", {"type": "constant"}), "lr": lr}
        self.network, self.info, self.spec = network, network.info, merged
        known = (str, dict, list, tuple, type(None))
        if not isinstance(merged.get("loss"), known):
            raise TypeError('train: loss: expects a name, as "cross_entropy" or "mse", got %r'
                            % (merged["loss"],))
        self.loss, self.weights = merged.pop("loss", None), merged.pop("sample_weight", None)
        self.ignore = merged.get("ignore", IGNORED)
        self.streams, self.run = merged.get("streams") or 0, (threads, isa, mode)
        self.held: Optional[_Held] = None
        self._heads(loss_weights)

    def _heads(self, loss_weights: Any) -> None:
        """The losses of a network with several outputs."""
        several, spec = outputs_of(self.info), self.spec
        if several and "heads" in spec and (self.loss is not None or loss_weights is not None):
            raise TypeError("train: give either heads or loss and loss_weights")
        if several and "heads" not in spec:
            spec["heads"] = heads_of(self.info, self.loss, loss_weights)
            self.loss = None
        elif loss_weights is not None or isinstance(self.loss, (dict, list, tuple)):
            raise TypeError(
                "train: losses by name are for a network with several outputs: this one "
                            "has one, %s" % (self.info["output"],))

    def batches(self, source: Any, per_epoch: Optional[int], validation: Any) -> Tuple[Data,
            Batches]:
        """The first of batches that come one by one, and those behind it."""
        check_batches({**self.spec, "batch_size": self.batch_size, "sample_weight": self.weights,
                       "validation": validation})
        batches = Batches(source, self.data_of, self.steps, self.epochs, per_epoch)
        first = batches.next()
        self.spec.update(steps=batches.steps, batch=first.info["samples"])
        return first, batches

    def data(self, x: Any, y: Any, validation: Any) -> Tuple[Any, Any, Any]:
        """Rows, and their values or classes; or a Data object. What is held back is held."""
        if self.batch_size is not None or not self.streams:
            size = 32 if self.batch_size is None else self.batch_size
            self.spec["batch"] = at_least_one("batch_size", size)
        if self.steps is None:
            self.spec["epochs"] = at_least_one("epochs", 10 if self.epochs is None else self.epochs)
        else:
            self.spec["steps"] = at_least_one("steps", self.steps)
        if isinstance(x, Data):
            if y is not None or validation is not None:
                raise TypeError("train: a Data object has its targets, and nothing of it is held "
                                "back")
            self._at_most(x.info["samples"])
            return x, None, None
        if y is None:
            raise TypeError("train: give y, the targets, or a Data object")
        rows, targets = rows_of(x, self.info["input"], to_learn=True)[0], self.targets(y)
        if len(rows) != len(targets):
            raise ValueError("train: x has %d samples, y %d" % (len(rows), len(targets)))
        self.weights = weights = _weights(self.weights, len(rows), "sample_weight")
        if validation and not isinstance(validation, tuple):
            learned, back = _hold_back(targets, float(validation), self.spec["seed"], self.ignore)
            self.held = rows[back], targets[back], None if weights is None else weights[back]
            rows, targets = rows[learned], targets[learned]
            self.weights = None if weights is None else weights[learned]
        self._at_most(len(rows))
        return (rows, None, targets) if targets.dtype == np.int32 else (rows, targets, None)

    def _at_most(self, samples: int) -> None:
        if "batch" in self.spec and not self.streams:
            self.spec["batch"] = min(self.spec["batch"], max(1, samples))

    def trainer(self, data: Any, values: Any, classes: Any) -> Trainer:
        """A trainer of the network by the spec. Raises where what is held back cannot be judged."""
        if self.loss is not None:
            self.spec["loss"] = self.loss
        if self.held is not None and self.held[1].dtype == np.int32:
            _check_classes(self.held[1], self.info, self.ignore)
        if not isinstance(data, Data):
            data = data_of_arrays(self.network, data, values, classes)
        if self.weights is not None:
            data = data.weighted(self.weights)
        return make_trainer(self.network, data, self.spec, *self.run)

    def targets(self, y: Any) -> np.ndarray:
        """Classes in int32, or values in float32 or float64; the first ones choose the loss."""
        if outputs_of(self.info):
            return joined_targets(y, self.spec["heads"], self.info, self.ignore)
        targets = targets_of(y, self.loss, self.info, ignore=self.ignore)
        if self.loss is None and "heads" not in self.spec:
            self.loss = "cross_entropy" if targets.dtype == np.int32 else "mse"
        return targets

    def hold(self, validation: Tuple[Any, ...]) -> None:
        rows = rows_of(validation[0], self.info["input"], to_learn=True)[0]
        y = self.targets(validation[1])
        if len(y) != len(rows):
            raise ValueError("validation: x has %d samples, y %d" % (len(rows), len(y)))
        weights = validation[2] if len(validation) > 2 else None
        self.held = rows, y, _weights(weights, len(rows), "validation")

    def data_of(self, number: int, batch: Any) -> Data:
        """The data of a batch."""
        if isinstance(batch, Data):
            return batch
        x, y, weights = parts_of(number, batch)
        rows, targets = rows_of(x, self.info["input"], to_learn=True)[0], self.targets(y)
        if len(rows) != len(targets):
            raise ValueError("train: batch %d: x has %d samples, y %d"
                             % (number, len(rows), len(targets)))
        whole = targets.dtype == np.int32
        data = data_of_arrays(self.network, rows, None if whole else targets,
                              targets if whole else None)
        return data if weights is None else data.weighted(weights)


_EXAMPLES = {"optimizer": "adamw", "schedule": "cosine", "method": "mono_forward"}


def _typed(name: str, given: Any) -> Dict[str, Any]:
    """An object of a spec of its type alone, or of a dict."""
    if not isinstance(given, (str, dict)):
        raise TypeError("train: %s: expects a name, as %r, or a dict with its settings, got %r"
                        % (name, _EXAMPLES[name], given))
    return {"type": given} if isinstance(given, str) else dict(given)


def _steps_on(trainer: Trainer, first: Data, batches: Batches) -> Callable[[],
        Tuple[int, float, float, int]]:
    """Steps on batches that come one by one, of which the first is here already."""
    waiting = [first]

    def step() -> Tuple[int, float, float, int]:
        data = waiting.pop() if waiting else batches.next()  # maybe the caller's: not closed
        return trainer._run("trainer_step_on", data._handle)  # type: ignore[no-any-return]

    return step


def _run(trainer: Trainer, network: Network, batch: int, samples: int, held: Optional[_Held],
         callbacks: List[Any], bar: _Bar,
         step: Callable[[], Tuple[int, float, float, int]],
         events: List[Dict[str, Any]]) -> History:
    """An epoch is `samples`, of which a step takes `batch`."""
    history, info = History(), trainer.info
    history.events = events
    steps, epochs = info["steps"], info["spec"].get("epochs") or -(
        -info["steps"] * batch // samples)
    done, begun, of_epoch = 0, time.perf_counter(), []
    for callback in callbacks:
        if isinstance(callback, Callback):
            callback.on_begin()
    try:
        while done < steps and not history.stopped:
            epoch = done * batch // samples + 1
            done, loss, lr, rows = step()
            history.steps.append(done)
            history.losses.append(loss)
            of_epoch.append(loss)
            now = Progress(done, steps, epoch, epochs, loss, lr, rows, network)
            history.stopped = not all(
                [_asked(c.on_step if isinstance(c, Callback) else c, now) for c in callbacks])
            bar.update(now, force=done == steps)
            if done < steps and done * batch < epoch * samples and not history.stopped:
                continue
            judged = _judge(network, held, info["spec"]) if held is not None else {}
            if not np.isfinite(judged.get("loss", 0.0)):
                raise InvalidArgument("train: after epoch %d the loss of the validation is %s"
                    % (epoch, judged["loss"]))
            seconds, begun = time.perf_counter() - begun, time.perf_counter()
            report = Epoch(epoch, epochs, done, float(np.mean(of_epoch)), lr, seconds, judged,
                           network)
            of_epoch = []
            for key, value in (("epoch", epoch), ("step", done), ("loss", report.loss), ("lr", lr),
                               ("seconds", seconds),
                               *(("validation_" + k, v) for k, v in judged.items())):
                history.setdefault(key, []).append(value)
            learned = trainer.info
            if "parts" in learned:
                history.parts.append(learned["parts"])
                history.setdefault("reach", []).append(learned["reach"])
            history.stopped |= not all(
                [_asked(c.on_epoch, report) for c in callbacks if isinstance(c, Callback)])
    finally:
        bar.close()
    return history


def _asked(hook: Callable[[Any], Optional[bool]], what: Any) -> bool:
    return not stops(hook(what))


def _check_classes(y: np.ndarray, info: Dict[str, Any], ignore: int) -> None:
    """Raises ValueError for classes to judge by that the network does not have."""
    classes = classes_of(info)
    wrong = (y != ignore) & ((y < 0) | (y >= classes))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError("validation: y, row %d has the class %d: expects 0 to %d, or %d, which is "
                         "not counted (ignore)" % (at // (y.size // len(y)), y.reshape(-1)[at],
                                                   classes - 1, ignore))


def _weights(weights: Any, samples: int, name: str) -> Optional[np.ndarray]:
    if weights is None:
        return None
    weights = array(weights, np.float32, name)
    if weights.shape != (samples,):
        raise ValueError("%s: expects a weight for each of %d samples, got the shape %s"
                         % (name, samples, weights.shape))
    if not (weights >= 0).all() or not np.isfinite(weights).all() or not weights.any():
        raise ValueError("%s: weights are at least 0, and not all 0" % name)
    return weights


def _hold_back(y: np.ndarray, share: float, seed: int, ignore: int) -> Tuple[np.ndarray,
        np.ndarray]:
    """The places of what is learned and of what is held back, classes in proportion."""
    samples = len(y)
    if not 0 < share < 1:
        raise ValueError("validation: a share is above 0 and below 1, got %r" % share)
    count = min(samples - 1, max(1, round(share * samples)))
    if count < 1:
        raise ValueError("validation: %d samples are too few to hold any back" % samples)
    order = np.random.RandomState(seed & 0xFFFFFFFF).permutation(
        samples)  # noqa: NPY002: its numbers never change
    classes = y.dtype == np.int32 and y.ndim == 1
    held = np.sort(_stratified(order, y, count, ignore) if classes else order[:count])
    return np.setdiff1d(order, held), held


def _stratified(order: np.ndarray, y: np.ndarray, count: int, ignore: int) -> np.ndarray:
    """The first of the order, in the proportions of the classes (largest remainders), with one of
    each on both sides where there are two. What is not counted is a class, too."""
    classes, sizes = np.unique(y, return_counts=True)
    quota, left = np.divmod(count * sizes, len(y))
    quota[np.argsort(-left, kind="stable")[:count - quota.sum()]] += 1
    counted = classes != ignore
    quota = np.where(counted, np.clip(quota, np.minimum(sizes - 1, 1), sizes - 1), quota)
    single = classes[(sizes == 1) & counted]
    if not quota[counted].any():
        raise ValueError("validation: no class has two samples, so that none can be held back")
    if len(single):
        names = ", ".join(map(str, single[:6])) + (", ..." if len(single) > 6 else "")
        warnings.warn("validation: classes of one sample are learned, and nothing judges them: "
                      + names, stacklevel=4)
    return np.concatenate([order[y[order] == c][:n] for c, n in zip(classes, quota)])


def _judge(network: Network, held: _Held, spec: Dict[str, Any]) -> Dict[str, float]:
    """The loss, in f64, of what was held back, by weights where there are some."""
    x, y, weights = held
    w = np.ones(len(x)) if weights is None else weights.astype(np.float64)
    info, spec = network.info, {"ignore": IGNORED, **spec}
    if spec.get("heads"):
        return judge_heads(joined(network.forward(x), len(x)), y, w, info, spec)
    out = network.forward(x)
    return judge(out.astype(np.float64), y, w, info, spec)  # type: ignore[union-attr]
