"""Data to learn from, and trainers."""
from __future__ import annotations

import json
import os
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .._core import call as _call
from .._core.call import array, call, library, new_bytes, numbers, plain, together
from .._core.errors import InvalidArgument
from .._core.object import Object, Runner
from .._core.outputs import flat, heads_of, joined_targets, outputs_of
from .._core.rows import rows_of
from ..network import Network, Path
from ..observe import KEPT, Observation
from ..sinks import Sink

IGNORED = -100  # the class that is not counted, where a spec names no other
_SLICE = 0.05  # seconds between looks at callbacks and Ctrl-C


class Step(NamedTuple):
    """Where a training stands."""

    step: int  # optimizer steps done since the beginning
    steps: int  # that the training has
    loss: float  # mean loss of the last step, before its update
    lr: float  # its learning rate
    rows: int  # rows seen since the last report


class Data(Object):
    """Samples, copied into the library. Immutable; any thread."""

    _instead = "pickle the arrays that it was made of"

    def __init__(self) -> None:
        raise TypeError("use Data.values, Data.classes, Data.ids, Data.tokens or Data.table")

    @classmethod
    def values(cls, x: Any, y: Any) -> "Data":
        """Rows and their targets: x (samples, width), y (samples, targets). Cells that compute in
        f64 learn from float64 as it is; for those of f32 it is rounded, and training refuses a
        column in which that makes values the same."""
        x, y = together(_rows(x, "x"), _rows(y, "y"))
        made = call(_typed("data_values", x), x, x.shape[1], y, y.shape[1])
        return cls._of(made)  # type: ignore[no-any-return]

    @classmethod
    def classes(cls, x: Any, classes: Any) -> "Data":
        """Rows and their classes: x (samples, width), classes (samples,), or (samples, places...):
        one for every step or pixel; the number that a training's `ignore` names, -100, is not
        counted."""
        x, classes = _rows(x, "x"), array(classes, np.int32, "classes")
        _same(x, classes)
        made = call(_typed("data_classes", x), x, x.shape[1], classes.reshape(-1))
        return cls._of(made)  # type: ignore[no-any-return]

    @classmethod
    def ids(cls, ids: Any, y: Any = None, classes: Any = None) -> "Data":
        """Rows of ids, each a sequence of its own: ids (samples, steps), y (samples, targets) or
        classes as Data.classes takes them."""
        ids = array(ids, np.int32, "ids")
        if ids.ndim != 2:
            raise ValueError("ids: expects (samples, steps), got the shape %s" % (ids.shape,))
        if (y is None) == (classes is None):
            raise TypeError("Data.ids: give either y or classes")
        if classes is None:
            y = _rows(y, "y")
            _same(ids, y)
            made = call(_typed("data_id_values", y), ids, ids.shape[1], y, y.shape[1])
            return cls._of(made)  # type: ignore[no-any-return]
        classes = array(classes, np.int32, "classes")
        _same(ids, classes)
        return cls._of(call("data_id_classes", ids, ids.shape[1],
                            classes.reshape(-1)))  # type: ignore[no-any-return]

    @classmethod
    def tokens(cls, ids: Any, length: int = 256) -> "Data":
        """Token ids to predict one by one, cut into sequences of at most `length`: one stream (n,),
        or documents, none of which goes on in the next: (documents, n), or a list of them."""
        ends: Any = []
        if hasattr(ids, "dtype") or hasattr(ids, "__dlpack__"):
            ids = array(ids, np.int32, "ids")
            if ids.ndim == 2:
                ends = np.arange(1, len(ids) + 1, dtype=np.int64) * ids.shape[1]
            elif ids.ndim != 1:
                raise ValueError("ids: expects (n,), or (documents, n), got the shape %s"
                                 % (ids.shape,))
            ids = ids.reshape(-1)
        elif len(ids) > 0 and hasattr(ids[0], "__len__"):
            documents = [array(document, np.int32, "ids") for document in ids]
            for i, document in enumerate(documents):
                if document.ndim != 1:
                    raise ValueError("ids: expects (n,) for a document, got the shape %s for "
                                     "document %d" % (document.shape, i))
            ends = np.cumsum([len(document) for document in documents])
            ids = np.concatenate(documents)
        return cls._of(call("data_tokens", ids, ends, length))  # type: ignore[no-any-return]

    @classmethod
    def table(cls, csv: Union[str, bytes, "os.PathLike[str]"], **options: Any) -> "Data":
        """CSV: its text, or the path of a file (a text without a line break that is the name of
        one). Options: targets=["column", ...] or class="column" (as **{"class": ...}), header,
        separator. Raises ValueError for a name of a .csv file that does not exist."""
        name = isinstance(csv, str) and "\n" not in csv and "\r" not in csv
        if isinstance(csv, os.PathLike) or (name and os.path.isfile(csv)):
            with open(csv, "rb") as file:
                csv = file.read()
        elif isinstance(csv, str) and name and csv.lower().endswith((".csv", ".tsv")):
            raise ValueError("csv: there is no file %r: give the path of one that exists, or the "
                             "table's text" % csv)
        return cls._of(call("data_table", csv, options))  # type: ignore[no-any-return]

    def weighted(self, weights: Any) -> "Data":
        """The same samples, each with a weight of its loss: (samples,), at least 0. A step's loss
        is the mean by weights."""
        weights = array(weights, np.float32, "weights")
        if weights.ndim != 1:
            raise ValueError("weights: expects (samples,), got the shape %s" % (weights.shape,))
        return Data._of(call("data_weighted", self._handle, weights))  # type: ignore[no-any-return]

    @property
    def info(self) -> Dict[str, Any]:
        """samples, max_rows, width or ids, targets or classes, weighted, sha256."""
        return call("data_info", self._handle)  # type: ignore[no-any-return]

    def _describe(self) -> str:
        return "%d samples" % self.info["samples"]


def stops(answer: Any) -> bool:
    """Whether a callback's answer ends a training: False does, of whichever library; None, 0 and
    the like do not."""
    if isinstance(answer, (bool, np.bool_)):
        return not answer
    kind = str(getattr(answer, "dtype", ""))  # of arrays without dimensions
    return getattr(answer, "shape", None) == () and "bool" in kind and not answer


def at_least_one(name: str, value: Any) -> int:
    """A count of a training. Raises ValueError for others than whole numbers above 0."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    if number and not isinstance(value, bool) and value >= 1 and value == value // 1:
        return int(value)
    raise ValueError("%s: expects a whole number of at least 1, got %r" % (name, value))


def _same(x: np.ndarray, y: np.ndarray) -> None:
    if len(x) != len(y):
        raise ValueError("%d samples with targets of %d" % (len(x), len(y)))


def _typed(function: str, x: np.ndarray) -> str:
    """The form of a function for the type of x."""
    return function + "_f64" if x.dtype == np.float64 else function


def _rows(x: Any, name: str) -> np.ndarray:
    x = numbers(x, name)
    if x.ndim == 1:
        x = x.reshape(-1, 1)
    if x.ndim != 2:
        raise ValueError("%s: expects (samples, width), got the shape %s" % (name, x.shape))
    return x


class Trainer(Runner):
    """Trains a network on data by a spec (docs/reference/training-spec.md). Network, data and spec
    decide every bit of the result; threads and pauses do not, nor does `mode`
    (docs/reference/modes.md: "cpu-sc", "gpu-mc", "auto", ...). One thread at a time (Busy
    otherwise); others may run the network meanwhile. Ctrl-C ends a step, as cancel() does from
    another thread: all is then as it was before that step, and going on gives the bits of a
    training that was not interrupted."""

    _instead = "to_bytes() is its checkpoint, which resume() of a new one takes"
    _nothing = ("trainer_step", 0)
    _seen: Optional[Observation] = None

    def __init__(self, network: Network, data: Data, spec: Dict[str, Any], threads: int = 0,
                 isa: str = "", mode: str = "") -> None:
        options = {"threads": threads, "isa": isa, "mode": mode}
        self._network = network
        self._own(call("trainer_create", network._handle, data._handle, spec, options))
        self._in_place = _call.python_layers and '"custom"' in json.dumps(network.topology)

    def observe(self, every: int = 1, passes: int = 0, window: int = 1, nested: bool = False,
                weights: bool = False, sink: Union[Sink, Sequence[Sink]] = ()) -> Observation:
        """Statistics of what every cell gives, and of the gradient of the mean loss for that, from
        the next step on (docs/guide/observe.md): a list that grows with each step, to be used in a
        `with` block, at whose end observation ends. `every`: steps 0, every, 2 * every, ... from
        here on are observed; `passes`: at most this many of them (0: all); `window`: observed steps
        that become one event; `nested`: layers inside cells have events, too; `weights`: so have
        the gradients of parameters; `sink`: as of Session.observe. What is learned keeps its bits.
        A second observation ends the first."""
        before = self._seen
        if before is not None:  # the library's ends also where the next one is refused
            before._owner = self._seen = None
        self._seen = Observation(self, "trainer", every, window, sink=sink, passes=passes,
                                 nested=nested, weights=weights)
        return self._seen

    def _run(self, name: str, *inputs: Any, size: Any = 1) -> Any:
        if self._seen is not None:
            self._seen._begins()
        try:
            result = super()._run(name, *inputs, size=size)
        except InvalidArgument:  # a loss that is not finite has events, too
            if self._seen is not None:
                self._seen._take()
            raise
        if self._seen is not None:
            self._seen._ran(size)
        return result

    def step(self, steps: int = 1) -> Step:
        """This many optimizer steps, fewer at the end of the training. Raises LoomError where a
        loss is not finite; the weights then are those before that step."""
        seen = 0
        while self._seen is not None and isinstance(steps, int) and steps > KEPT:
            seen += self._run("trainer_step", KEPT, size=KEPT)[3]
            steps -= KEPT
        done, loss, lr, rows = self._run("trainer_step", steps, size=steps)
        return Step(done, self.info["steps"], loss, lr, seen + rows)

    def run(self, callback: Optional[Callable[[Step], Optional[bool]]] = None) -> Step:
        """To the end of the training. callback(step) is called a few times a second; False,
        Python's or NumPy's, stops."""
        steps, size = self.info["steps"], 1
        last = Step(self.done, steps, float("nan"), 0.0, 0)
        while last.step < steps:
            begin = time.perf_counter()
            done, loss, lr, rows = self._run("trainer_step", size, size=size)
            seconds = time.perf_counter() - begin
            last = Step(done, steps, loss, lr, rows)
            if callback is not None and stops(callback(last)):
                break
            size = max(1, min(2 * size, int(size * _SLICE / max(seconds, 1e-9))))
            if self._seen is not None:
                size = min(size, KEPT)
        return last

    def shard(self, number: int, data: Optional[Data] = None) -> bytes:
        """One of the `micro_batches` of the next step, by itself: its gradients, for apply().
        Trainers of the same spec, network and data compute the shards of a step, here or on other
        machines, and each applies all of them. `data`: the shard's samples, at most a micro-batch,
        in place of the trainer's own. No weight changes."""
        if data is None:
            handle = call("trainer_shard", self._handle, number)
        else:
            handle = call("trainer_shard_on", self._handle, number, data._handle)
        return library().take(handle)

    def apply(self, shards: Sequence[Any]) -> Step:
        """The step of all its shards, in their order, with the bits of step(). A shard of another
        training, step or of other weights is refused by its number, and nothing changes."""
        handles: List[int] = []
        try:
            for shard in shards:
                handles.append(new_bytes(shard))
            done, loss, lr, rows = self._run("trainer_apply", handles)
        finally:
            for handle in handles:
                call("release", handle)
        return Step(done, self.info["steps"], loss, lr, rows)

    @property
    def moments(self) -> Dict[str, Tuple[int, int]]:
        """The optimizer's moments, and their shapes: "0.0.0.1:weight:velocity" of sgd, ":m" and
        ":v" of adamw and adam, ..."""
        return {m["name"]: (m["rows"], m["cols"]) for m in call("trainer_moments", self._handle)}

    def get_moment(self, name: str) -> np.ndarray:
        """A copy of a moment, in f64."""
        moments = self.moments
        values = np.zeros(moments.get(name, (1, 1)))
        call("trainer_get_moment", self._handle, name, values)
        return values

    def set_moment(self, name: str, values: Any) -> None:
        """New values for a moment, of its shape: to continue what another framework began."""
        values = np.ascontiguousarray(plain(values, "values"), np.float64)
        call("trainer_set_moment", self._handle, name, values)

    def set_step(self, step: int) -> None:
        """As if this number of steps were done: the schedule, the order of samples, noise and
        Adam's corrections count from there."""
        call("trainer_set_step", self._handle, step)

    @property
    def info(self) -> Dict[str, Any]:
        """step, steps, spec: the spec with everything resolved, and arena_bytes, which is planned
        for the values of a step. With streams also how they cut the data: rows of a lane, window
        and windows of it, and the rows at the end that are left_out. With target_propagation after
        a step: parts, a list of {path, budget, gap, learned, alignment, alignment_step}, the last
        two once measured, and reach (docs/guide/methods.md)."""
        return call("trainer_info", self._handle)  # type: ignore[no-any-return]

    def extend(self, *, epochs: Optional[int] = None, steps: Optional[int] = None) -> None:
        """Makes the training longer, by epochs or by steps: run() then goes on with the order of
        samples, the noise and the optimizer's moments, and gives the bits of one training of that
        length with that schedule. Raises TypeError unless one of the two is given, and LoomError
        where the schedule ends before: give it its `steps` at the beginning
        (`schedule={"type": "cosine", "steps": 1000}`)."""
        if (epochs is None) == (steps is None):
            raise TypeError("extend: give either epochs or steps")
        call("trainer_extend", self._handle, 0 if steps is None else at_least_one("steps", steps),
             0 if epochs is None else at_least_one("epochs", epochs))

    @property
    def done(self) -> int:
        """Optimizer steps done."""
        return self.info["step"]  # type: ignore[no-any-return]

    def digest(self) -> str:
        """SHA-256 over step, weights and moments."""
        return call("trainer_digest", self._handle)  # type: ignore[no-any-return]

    def save(self, path: Path) -> None:
        """A checkpoint, which is an .entity file too: all of it, or the path stays as it was. Where
        an adapter learns ("lora") a folder, which load_adapter and PEFT read."""
        call("trainer_save", self._handle, os.fspath(path))

    def to_bytes(self) -> bytes:
        """The checkpoint as bytes."""
        return library().take(call("trainer_save_bytes", self._handle))

    def resume(self, checkpoint: Any) -> None:
        """Goes on where a checkpoint (a path, or bytes) left off, with the same bits. Another spec,
        topology or data is refused by name."""
        if isinstance(checkpoint, (str, os.PathLike)):
            call("trainer_resume", self._handle, os.fspath(checkpoint))
            return
        handle = new_bytes(checkpoint)
        try:
            call("trainer_resume_bytes", self._handle, handle)
        finally:
            call("release", handle)

    def _describe(self) -> str:
        info = self.info
        return "step %d of %d" % (info["step"], info["steps"])


def data_of_arrays(network: Network, x: Any, y: Any, classes: Any) -> Data:
    """Data of arrays for what the network takes."""
    given = network.info["input"]
    x, _ = rows_of(x, given, to_learn=True)
    if "ids" in given:
        return Data.ids(x, y=None if y is None else flat(y), classes=classes)
    return Data.values(x, flat(y)) if classes is None else Data.classes(x, classes)


# Keys of a training spec that say what arguments say here, or what only the program does.
_ELSEWHERE = {
    "checkpoint_every": "no path is named here to write to: call network.save(path) in a callback, "
                        "or save(path) of a welvet.Trainer, which resume(path) continues",
    "log_every": "callbacks see each step, and progress=True draws a bar",
    "data": "x and y are the data",
    "network": "the network is the one that is given",
    "network_file": "the network is the one that is given: Network.load(path) reads one",
    "base": "the network is the one that is given: Network.load(path) reads one",
    "base_dtype": "the network is the one that is given",
}


def check_settings(settings: Dict[str, Any]) -> None:
    """Raises ValueError for settings that would have no effect."""
    for key, instead in _ELSEWHERE.items():
        if key in settings:
            raise ValueError("train: %r has no effect here: %s" % (key, instead))


def classes_of(info: Dict[str, Any]) -> int:
    """The classes of a network's output, of each of its steps or pixels."""
    output = info["output"]
    dims = output.get("dims") if info["version"] > 1 else None
    if not dims:
        return int(output["width"])
    return int(dims[0] if output.get("axis") == "channels" else dims[-1])


def class_weights(weights: Any, info: Dict[str, Any]) -> Any:
    """The spec's "class_weights" of what Keras and scikit-learn take: a dict of classes, those that
    are not named having 1, "balanced", or a weight for each class."""
    if weights is None or isinstance(weights, str):
        return weights
    if not isinstance(weights, dict):
        return array(weights, np.float64, "class_weight").reshape(-1).tolist()
    classes = classes_of(info)
    named = array(list(weights), np.int32, "class_weight")
    if named.size and (named.min() < 0 or named.max() >= classes):
        raise ValueError("class_weight: names the class %d, the network has 0 to %d"
                         % (named.min() if named.min() < 0 else named.max(), classes - 1))
    whole = [1.0] * classes
    for number, weight in weights.items():
        whole[int(number)] = float(weight)
    return whole


def make_trainer(network: Network, data: Data, spec: Dict[str, Any], threads: int, isa: str,
                 mode: str) -> Trainer:
    """A trainer by a spec in which Python's class weights and defaults still stand."""
    whole = dict(spec)
    weights = whole.pop("class_weight", None)
    if weights is not None:
        whole["class_weights"] = class_weights(weights, network.info)
    if not whole.get("heads"):
        whole.setdefault("loss", "mse" if "targets" in data.info else "cross_entropy")
    return Trainer(network, data, whole, threads, isa, mode)
