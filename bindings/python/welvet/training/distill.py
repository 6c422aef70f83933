"""Distillation: a network learns what a teacher returns (Hinton et al. 2015, arXiv 1503.02531)."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

import numpy as np

from .._core.call import numbers, plain, seed_of
from .._core.outputs import flat, outputs_of, places_of, targets_of
from ..graph import Graph
from ..network import Network
from .batches import come_one_by_one
from .fit import History
from .trainer import IGNORED, Data, at_least_one

Call = Callable[[Any], Any]


def distill(teacher: Any, student: Network, x: Any, y: Any = None, *,
            temperature: Optional[float] = None, alpha: Optional[float] = None,
            loss: str = "soft_cross_entropy", probabilities: Optional[bool] = None,
            keep: bool = True, teacher_batch: int = 256, **keywords: Any) -> History:
    """Trains `student` on what `teacher` returns for x, and returns the History.

    teacher: a Network, a Graph of from_onnx (one input, one output), a PyTorch module, a Keras
    model, a scikit-learn estimator, or any function of a batch of x that returns an array (JAX,
    a service, several networks at once). PyTorch modules run without gradients and in evaluation
    mode, and are left in the mode they had. x: (samples, ...), as the student takes it; the teacher
    gets slices of it of at most `teacher_batch` samples. It returns an array of the shape of the
    student's output.
    * `loss`: "soft_cross_entropy" for classes: temperature^2 times the cross-entropy of
      softmax(teacher / temperature) and softmax(student / temperature), whose gradient is that of
      Hinton's KL divergence; the student's output are logits. Others (mse, mae, huber, bce) take
      the teacher's values as targets.
    * `temperature` (1): of the softmax of both. `probabilities`: whether the teacher returns
      probabilities, whose logarithms are its logits; where nothing is said, it does where its first
      batch has rows of numbers from 0 to 1 that sum to 1.
    * y: labels of the samples, classes for "soft_cross_entropy", else values. The loss is then
      `alpha` (0.9) times that by the teacher and 1 - alpha times that by the labels, and reports
      name them "teacher" and "labels". A class of `ignore` (-100) has no label. Where y is given,
      the student's output is a row of values.
    * `keep`: the teacher runs once over x, before the training, and its answers stay in memory;
      False: it runs on each batch as that is learned, in an order drawn by `seed`. x may also give
      batches x, or (x, y), one by one, as for Network.train, which is never kept.
    * `validation`: a share of the samples where the teacher's answers are kept, or others: x, with
      labels (x, y).
    * Further keywords are those of Network.train: epochs, batch_size, optimizer, lr, method, ...

    Raises ValueError where the teacher's answers are of another shape than the student's, are not
    finite, or are no probabilities where they should be; TypeError for a student with several
    outputs, a teacher that cannot be called, and settings that do not go together."""
    made = _Distillation(teacher, student, y is not None, temperature, alpha, loss, probabilities,
                         at_least_one("teacher_batch", teacher_batch), keywords)
    if y is None and come_one_by_one(x):
        return student.train(_Made(x, made.learned), **made.of_batches(x))
    if isinstance(x, (Data, dict)):
        raise TypeError("distill: x: expects an array of samples, or batches one by one, got a %s"
                        % type(x).__name__)
    if made.alpha < 1 and y is None:
        raise TypeError("distill: alpha=%g mixes in labels: give y" % made.alpha)
    x = plain(x, "x")
    if y is not None and len(plain(y, "y")) != len(x):
        raise ValueError("distill: x has %d samples, y %d" % (len(x), len(plain(y, "y"))))
    if keep:
        return student.train(x, made.targets(x, y), **made.settings)
    take = made.settings.pop
    batches = _Passes(x, y if y is None else plain(y, "y"),
                      at_least_one("batch_size", take("batch_size", None) or 32),
                      take("shuffle", True), seed_of(made.settings.get("seed") or 0))
    return student.train(_Made(batches, made.learned), **made.of_batches(batches))


class _Distillation:
    """Targets that a teacher makes, and the training spec that goes with them."""

    def __init__(self, teacher: Any, student: Network, labels: bool, temperature: Optional[float],
                 alpha: Optional[float], loss: str, probabilities: Optional[bool], batch: int,
                 keywords: Dict[str, Any]) -> None:
        self.info, self.batch, self.loss = student.info, batch, loss
        self.soft, self.probabilities = loss == "soft_cross_entropy", probabilities
        if outputs_of(self.info):
            raise TypeError("distill: the student has several outputs: train it on the teacher's "
                            'answers with heads of the loss "soft_cross_entropy"')
        for key in ("heads", "loss_weights", "class_weight", "class_weights"):
            if keywords.get(key) is not None:
                raise TypeError("distill: %r does not go with a teacher" % key)
        for name, given in (("temperature", temperature), ("probabilities", probabilities)):
            if given is not None and not self.soft:
                raise TypeError('distill: %s is of the loss "soft_cross_entropy", not of %r'
                                % (name, loss))
        self.temperature = 1.0 if temperature is None else float(temperature)
        self.alpha = float(alpha) if alpha is not None else 0.9 if labels else 1.0
        if not 0 < self.alpha <= 1:
            raise ValueError("distill: alpha is above 0 and at most 1, got %r" % alpha)
        if labels and self.alpha == 1:
            raise TypeError("distill: alpha=1 leaves y without effect: leave it out")
        if not self.temperature > 0 or not np.isfinite(self.temperature):
            raise ValueError("distill: temperature is above 0, got %r" % temperature)
        self.ignore = keywords.get("ignore", IGNORED)
        self.call, from_shares = _callable(teacher, self.soft)
        if from_shares and probabilities is None:
            self.probabilities = True
        self.settings = {**keywords, **self._losses()}
        self.settings["validation"] = self.held(keywords.get("validation"))

    def _losses(self) -> Dict[str, Any]:
        own = {"loss": self.loss, **({"temperature": self.temperature} if self.soft else {})}
        if self.alpha == 1:
            return own
        if self.soft and places_of(self.info):
            raise TypeError("distill: the student returns classes for %s places of a sample, where "
                            "labels cannot be mixed in: leave y out" % (places_of(self.info),))
        columns = self.info["output"].get("width", 1)
        labels = "cross_entropy" if self.soft else self.loss
        return {"heads": [
            {"name": "teacher", "columns": columns, "weight": self.alpha, **own},
            {"name": "labels", "same_columns": True, "weight": 1 - self.alpha, "loss": labels}]}

    def answers(self, x: Any) -> np.ndarray:
        """(samples, numbers of a row) of the teacher, in float64."""
        rows = [_array(self.call(x[at:at + self.batch])) for at in range(0, len(x), self.batch)]
        if not rows:
            raise ValueError("distill: x has no samples")
        for at, part in zip(range(0, len(x), self.batch), rows):
            if part.ndim == 0 or len(part) != len(x[at:at + self.batch]):
                raise ValueError("distill: the teacher returned the shape %s for %d samples"
                                 % (part.shape, len(x[at:at + self.batch])))
        answer = np.concatenate(rows)
        dims = tuple(self.info["output"].get("dims", ())) or (self.info["output"]["width"],)
        if int(np.prod(answer.shape[1:])) != int(np.prod(dims)) or (
                len(dims) > 1 and answer.ndim > 2 and answer.shape[1:] != dims):
            raise ValueError("distill: the teacher returns %s for a sample, the student %s"
                             % (answer.shape[1:], dims))
        if np.isnan(answer).any() or not (self.soft or np.isfinite(answer).all()):
            raise ValueError("distill: the teacher's answers are not finite")
        return answer.reshape(len(answer), -1)

    def targets(self, x: Any, y: Any) -> np.ndarray:
        """What the student learns: the teacher's targets, and the labels beside them."""
        answer = self.answers(x)
        target = (self._shares(answer) if self.soft else answer).astype(np.float32)
        if self.alpha == 1:
            return target
        if y is None:
            raise TypeError("distill: alpha=%g mixes in labels: give y" % self.alpha)
        kind = "cross_entropy" if self.soft else self.loss
        labels = flat(targets_of(y, kind, self.info, ignore=self.ignore))
        if not self.soft and labels.shape != target.shape:
            raise ValueError("distill: y: expects the shape %s, got %s"
                             % (target.shape, labels.shape))
        return np.concatenate([target, labels.astype(np.float32)], axis=1)

    def _shares(self, answer: np.ndarray) -> np.ndarray:
        """softmax(answer / temperature) over the classes of each place."""
        places, shape = places_of(self.info), answer.shape
        first = self.info["output"].get("axis") == "channels"
        classes = shape[1] // int(np.prod(places))
        logits = answer.reshape((len(answer), classes, -1) if first else (len(answer), -1, classes))
        axis = 1 if first else 2
        shares = bool((logits >= 0).all() and (logits <= 1.001).all()
                      and (np.abs(logits.sum(axis=axis) - 1) < 1e-3).all())
        if self.probabilities is None:
            self.probabilities = shares
        elif self.probabilities and not shares:
            raise ValueError("distill: the teacher's answers are no probabilities: rows of numbers "
                             "from 0 to 1 that sum to 1 (probabilities=False: they are logits)")
        if self.probabilities:
            if self.temperature == 1:
                return answer
            with np.errstate(divide="ignore"):
                logits = np.log(logits)
        top = logits.max(axis=axis, keepdims=True)
        if not np.isfinite(top).all():
            raise ValueError("distill: the teacher's answers are not finite")
        e = np.exp((logits - top) / self.temperature)
        return (e / e.sum(axis=axis, keepdims=True)).reshape(shape)  # type: ignore[no-any-return]

    def of_batches(self, source: Any) -> Dict[str, Any]:
        """The settings for batches that come one by one."""
        if hasattr(source, "__len__"):
            self.settings.setdefault("steps_per_epoch", len(source))
        return self.settings

    def held(self, validation: Any) -> Any:
        """What is held back, with its targets."""
        if validation is None or isinstance(validation, (int, float)):
            return validation
        given = validation if isinstance(validation, tuple) else (validation,)
        labels = self.alpha < 1
        if len(given) != 1 + labels:
            raise TypeError("distill: validation: expects a share of the samples, or %s of others"
                            % ("(x, y)" if labels else "x"))
        x = plain(given[0], "validation")
        return x, self.targets(x, given[1] if labels else None)

    def learned(self, batch: Any) -> Tuple[Any, ...]:
        """(x, targets) of a batch x or (x, y)."""
        pair = isinstance(batch, (tuple, list)) and len(batch) == 2
        if pair and self.alpha == 1:
            raise TypeError("distill: batches have labels: give alpha below 1, or batches of x")
        if not pair and (isinstance(batch, (tuple, list, dict)) or self.alpha < 1):
            raise TypeError("distill: expects batches (x, y) with alpha below 1, else x")
        x = plain(batch[0] if pair else batch, "x")
        return x, self.targets(x, batch[1] if pair else None)


class _Made:
    """Batches with their targets, as often as `source` can be iterated."""

    def __init__(self, source: Any, learned: Callable[[Any], Tuple[Any, ...]]) -> None:
        self._source, self._learned = source, learned

    def __iter__(self) -> Iterator[Any]:
        return map(self._learned, iter(self._source))


class _Passes:
    """Batches of arrays, each pass in an order of its number and the seed."""

    def __init__(self, x: np.ndarray, y: Any, size: int, shuffle: bool, seed: int) -> None:
        self._x, self._y, self._size, self._shuffle = x, y, size, shuffle
        self._random = np.random.RandomState(seed & 0xFFFFFFFF)  # noqa: NPY002: always these

    def __len__(self) -> int:
        return -(-len(self._x) // self._size)

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(len(self._x))
        if self._shuffle:
            order = self._random.permutation(len(order))
        for at in range(0, len(order), self._size):
            some = order[at:at + self._size]
            yield self._x[some] if self._y is None else (self._x[some], self._y[some])


def _array(answer: Any) -> np.ndarray:
    """What a teacher returned, in float64: of PyTorch with gradients, of a device."""
    for name in ("detach", "cpu"):
        if hasattr(answer, name):
            answer = getattr(answer, name)()
    if isinstance(answer, (tuple, list, dict)) and not _is_rows(answer):
        raise TypeError("distill: the teacher returned a %s: expects one array"
                        % type(answer).__name__)
    if hasattr(answer, "to") and hasattr(answer, "is_floating_point"):
        answer = answer.double().numpy()  # bfloat16 is no type of NumPy
    return numbers(answer, "the teacher's answers").astype(np.float64)


def _is_rows(answer: Any) -> bool:
    return isinstance(answer, list) and all(isinstance(row, (list, float, int)) for row in answer)


def _made_by(teacher: Any, package: str) -> bool:
    return any(kind.__module__.split(".")[0] == package for kind in type(teacher).__mro__)


def _callable(teacher: Any, soft: bool) -> Tuple[Call, bool]:
    """A function of a batch, and whether it returns probabilities for certain."""
    if isinstance(teacher, Network):
        return teacher.forward, (teacher.inputs or {}).get("answers") == "probabilities"
    if isinstance(teacher, Graph):
        return _of_graph(teacher), False
    if _made_by(teacher, "torch") and hasattr(teacher, "parameters"):
        return _of_torch(teacher), False
    if _made_by(teacher, "keras") and callable(teacher):
        return lambda x: _of_keras(teacher, x), False
    if _made_by(teacher, "sklearn"):
        return _of_sklearn(teacher, soft)
    if not callable(teacher):
        raise TypeError("distill: the teacher is a %s: expects a Network, a Graph, a model or a "
                        "function of a batch" % type(teacher).__name__)
    return teacher, False


def _of_graph(graph: Graph) -> Call:
    info = graph.info
    for what in ("inputs", "outputs"):
        if len(info[what]) != 1:
            raise TypeError("distill: the graph has %d %s: give a function of a batch that runs it"
                            % (len(info[what]), what))
    given, wanted = info["inputs"][0]["name"], info["outputs"][0]["name"]
    return lambda x: graph.run({given: x})[wanted]


def _of_torch(module: Any) -> Call:
    import torch

    def call(x: Any) -> Any:
        some = next(iter(module.parameters()), None)
        tensor = torch.from_numpy(np.ascontiguousarray(x))
        if some is not None:
            tensor = tensor.to(some.device)
            if tensor.is_floating_point():
                tensor = tensor.to(some.dtype)
        with _evaluated(module), torch.no_grad():
            return module(tensor)

    return call


@contextmanager
def _evaluated(module: Any) -> Iterator[None]:
    """In evaluation mode; each part in its own mode again behind that."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _of_keras(model: Any, x: Any) -> Any:
    import keras

    return keras.ops.convert_to_numpy(model(x, training=False))


def _of_sklearn(estimator: Any, soft: bool) -> Tuple[Call, bool]:
    if not soft:
        return estimator.predict, False
    if not hasattr(estimator, "predict_proba"):
        raise TypeError("distill: %s has no predict_proba: give a loss of values, or a function of "
                        "a batch" % type(estimator).__name__)
    classes = np.asarray(estimator.classes_)
    if not np.array_equal(classes, np.arange(len(classes))):
        raise TypeError("distill: the classes of the %s are %s: a student's are 0 to %d: give a "
                        "function of a batch that returns probabilities in their order"
                        % (type(estimator).__name__, classes[:8].tolist(), len(classes) - 1))
    return estimator.predict_proba, True
