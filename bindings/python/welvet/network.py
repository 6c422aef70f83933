"""Networks, and sessions that run them."""
from __future__ import annotations

import json
import os
from typing import (
    TYPE_CHECKING, Any, BinaryIO, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple,
    Union,
    overload,
)

import numpy as np

from ._core.call import array, call, library, new_bytes, numbers, place, plain, seed_of
from .layers._base import Layer, layer_of, tree, with_links
from .layers.model import Model
from ._core.outputs import Outputs, outputs_of, split
from ._core.object import Idle, Object, Runner, cell_name
from ._core.rows import number_type, one_sequence, rows_of
from ._core.source import is_file_object, open_file
from .layers.containers import Sequential
from .observe import Observation
from .sinks import Sink

if TYPE_CHECKING:
    from .online import Online
    from .training import History, Trainer
    from .training.fit import Callbacks

Path = Union[str, "os.PathLike[str]"]
Cell = Union[str, Sequence[int]]  # "z.y.x.l" or (z, y, x, l)
_Named = Union[str, Dict[str, Any], None]  # a name, or an object with its settings

_ROWS = 256  # of a run: longer inputs are cut
# A run costs some microseconds whatever it computes: where that counts, because 256 rows need less
# memory than _NARROW bytes, many rows are run at once.
_MANY_ROWS, _NARROW = 4096, 1 << 19


def _export_options(options: Dict[str, Any]) -> Dict[str, Any]:
    return {"as" if key == "as_" else key: value for key, value in options.items()}


class Parameter(NamedTuple):
    """One parameter of a network: `name` ("path:role") is what get() and set() take."""

    path: str
    role: str
    rows: int
    cols: int
    format: str
    tied: bool

    @property
    def name(self) -> str:
        return "%s:%s" % (self.path, self.role)


class Forecast(NamedTuple):
    """One step of Network.forecast. 80 (95) of 100 values lie between `low80` and `high80` (`low95`
    and `high95`); `measured`: training judged forecasts of as many steps, with these weights."""

    date: str
    forecast: float
    low80: float
    high80: float
    low95: float
    high95: float
    measured: bool


class Session(Runner):
    """Runs a network; holds its memory and its KV caches. One thread at a time (Busy otherwise).
    Where the network changes, the session follows. Ctrl-C ends a run, as cancel() does from another
    thread: its rows then count as not given.

    Options: those of session_create in docs/reference/options.md.
    """

    # what Network has asked for
    _asked: Dict[str, Any] = {}
    _positions, _rows = 0, _ROWS
    _instead = "pickle the network, and make a session of it"
    _nothing = ("session_run", 0, (), np.empty(0, np.float32))

    def __init__(self, network: "Network", **options: Any) -> None:
        self._network = network
        self._own(call("session_create", network._handle, options))
        self._seen: Optional[Observation] = None
        info = self.info
        self.input_width, self.output_width = info["input_width"], info["output_width"]
        self._in_place = info["numerics"].startswith("custom(")

    @property
    def info(self) -> Dict[str, Any]:
        """target (what computes), threads, input_width, output_width, arena_bytes, state_bytes,
        weight_bytes."""
        return call("session_info", self._handle)  # type: ignore[no-any-return]

    def observe(self, every: int = 1, passes: int = 0, window: int = 1, nested: bool = False,
                total: bool = False, sink: Union[Sink, Sequence[Sink]] = ()) -> Observation:
        """Statistics of what every cell hands on, from the next run on (docs/guide/observe.md): a
        list that grows with each run, to be used in a `with` block, at whose end observation ends.
        `every`: runs 0, every, 2 * every, ... are observed; `passes`: at most this many of them (0:
        all); `window`: observed runs that become one event per cell; `nested`: layers inside cells
        have events, too; `total`: all passes together as well; `sink`: a welvet.sinks.Sink, or
        several, which take each event, too, and are flushed where observation ends, but not closed.
        The outputs keep their bits. A second observation ends the first."""
        before = self._seen
        seen = Observation(self, "session", every, window, total, sink, passes=passes,
                           nested=nested)
        if before is not None:
            before._owner = None
        self._seen = seen
        return seen

    def trace(self) -> List[Dict[str, Any]]:
        """What the rules of the network's metacognitions have done after runs of this session
        (docs/guide/metacognition.md): a dict for each act with pass (the run, from 0), path, rule,
        statistic, value, act, before and after. The last 65,536 acts, the oldest first."""
        lines = call("session_trace", self._handle)
        return [json.loads(line) for line in lines.splitlines()]

    def _within(self, budget_us: Optional[int], name: str, *inputs: Any, size: Any = 1) -> bool:
        if self._seen is not None:
            self._seen._begins()
        done = super()._within(budget_us, name, *inputs, size=size)
        if done and self._seen is not None:
            self._seen._ran()
        return done

    @overload
    def run(self, x: Any, out: Any = None) -> np.ndarray: ...
    @overload
    def run(self, x: Any, out: Any = None, *, budget_us: int) -> Optional[np.ndarray]: ...

    def run(self, x: Any, out: Any = None, *,
            budget_us: Optional[int] = None) -> Optional[np.ndarray]:
        """Rows of values: x is (rows, input width), the result (rows, output width), float32; `out`
        takes it where given. float64 goes in and comes out as it is where x has that type and the
        network takes it. `budget_us`: returns None after about this many microseconds where it is
        not done, and the same call again continues, with the same bits; another run drops it."""
        x = plain(x, "x")
        wide = x.dtype == np.float64 and self._network._takes_f64()
        kind = np.float64 if wide else np.float32
        x = array(x, kind, "x")
        if x.ndim != 2:
            raise ValueError("x: expects (rows, width), got the shape %s" % (x.shape,))
        y = place(out, kind, (x.shape[0], self.output_width))
        if not self._within(budget_us, "session_run_f64" if wide else "session_run", x.shape[0],
                            x, y, size=x.shape[0]):
            return None
        return y if out is None else out  # type: ignore[no-any-return]

    @overload
    def run_ids(self, ids: Any, out: Any = None) -> np.ndarray: ...
    @overload
    def run_ids(self, ids: Any, out: Any = None, *, budget_us: int) -> Optional[np.ndarray]: ...

    def run_ids(self, ids: Any, out: Any = None, *,
                budget_us: Optional[int] = None) -> Optional[np.ndarray]:
        """Rows of ids, each a sequence of its own: ids is (rows, steps of the input), the result
        (rows, output width). `budget_us`: as of run()."""
        ids = array(ids, np.int32, "ids")
        if ids.ndim != 2:
            raise ValueError("ids: expects (rows, steps), got the shape %s" % (ids.shape,))
        y = place(out, np.float32, (ids.shape[0], self.output_width))
        if not self._within(budget_us, "session_run_ids", ids, y, size=len(ids)):
            return None
        return y if out is None else out  # type: ignore[no-any-return]

    @overload
    def run_tokens(self, ids: Any, positions: Any, sequences: Any = (), head: Any = (),
                   out: Any = None) -> np.ndarray: ...
    @overload
    def run_tokens(self, ids: Any, positions: Any, sequences: Any = (), head: Any = (),
                   out: Any = None, *, budget_us: int) -> Optional[np.ndarray]: ...

    def run_tokens(self, ids: Any, positions: Any, sequences: Any = (), head: Any = (),
                   out: Any = None, *, budget_us: Optional[int] = None) -> Optional[np.ndarray]:
        """Token ids at positions of sequences (all 0 where empty). The result has one row of output
        width per row in `head` (the last one where empty). Keys and values of earlier runs stay in
        the caches. `budget_us`: as of run()."""
        head = array(head, np.int32, "head")
        y = place(out, np.float32, (max(1, head.size), self.output_width))
        ids = array(ids, np.int32, "ids")
        if not self._within(budget_us, "session_run_tokens", ids, positions, sequences, head, y,
                            size=ids.size):
            return None
        return y if out is None else out  # type: ignore[no-any-return]


# What PyTorch and Keras call otherwise.
_ELSEWHERE = {
    "state_dict": "parameters, and get(name) for the values of one",
    "load_state_dict": "set(name, values), or Network.load(path)",
    "named_parameters": "parameters, whose items have a name",
    "eval": "network(x) as it is: only train() trains", "fit": "train(x, y)",
    "predict": "network(x)", "summary": "print(network)", "modules": "topology",
    "compile": "train(x, y, optimizer=..., loss=...)", "evaluate": "train(..., validation=(x, y))",
    **dict.fromkeys(("to", "cuda", "cpu"), 'train(..., mode="gpu-mc"), session(device="gpu")'),
    **dict.fromkeys(("half", "bfloat16", "float", "double"), 'morph("bf16") and the like'),
}


def _shape(given: Dict[str, Any]) -> str:
    """The shape of a row, without the samples before it."""
    return repr(tuple(given.get("dims") or [given.get("width", 1)]))


def _printed(cell: Dict[str, Any], weights: List[Parameter], shape: str) -> str:
    """A cell as print(network) shows it; `shape`: that of its output, of one sample."""
    links: List[str] = []
    of: Dict[str, List[str]] = {}
    for link in cell.get("links", []):
        for how, at in link.items():
            of.setdefault(how, []).append(".".join(map(str, at)))
    for how, cells in of.items():
        joined = how == "read" and len(cells) > 1
        links.append("%s %s" % (cell.get("merge", "concat") + " of" if joined else how,
                                ", ".join(cells)))
    if "type" not in cell:
        return "# %s -> %s" % (", ".join(links) or "passes its input on", shape)
    links.append("-> " + shape)
    notes = links + ["%s (%d, %d)" % (p.role, p.rows, p.cols) for p in weights if not p.tied][:4]
    count = sum(p.rows * p.cols for p in weights if not p.tied)
    if "layers" in cell:
        notes = links
    if count:
        notes.append("%s parameters" % format(count, ","))
    first, *rest = repr(layer_of(cell)).split("\n")
    return "\n".join([first + "  # " + ", ".join(notes), *rest])


class Network(Object):
    """A grid of layers with its weights. Any number of threads may use one.

    `spec` is layers.Sequential(layers.Input(...), ...), a layers.Model, a topology
    (docs/reference/topology.md) as a dict, or the path of a .json file with one, or of an .entity
    file with the weights. A topology's parameters are random, a function of `seed` alone; seed=None
    leaves them zero.
    """

    def __init__(self, spec: Union[Dict[str, Any], Model, Path], seed: Optional[int] = 0) -> None:
        self._sessions = Idle()
        if isinstance(spec, (Sequential, Model)):
            spec = spec.topology()
        elif isinstance(spec, Layer):
            raise TypeError("Network: expects Sequential(Input(...), ...), a Model, a topology or "
                            "a path, got the layer %r" % spec)
        if not isinstance(spec, dict):
            path = os.fspath(spec)
            with open(path, "rb") as file:
                if file.read(1) != b"{":
                    self._own(call("network_load", path))
                    return
            with open(path, encoding="utf-8") as text:
                spec = json.load(text)
            if isinstance(spec, dict) and spec.get("format") == "loom-network":
                self._own(call("network_load", path))
                return
        self._own(call("network_create", spec))
        if seed is not None:
            self.initialize(seed)

    @classmethod
    def _of(cls, handle: int) -> "Network":
        made: Network = super()._of(handle)
        made._sessions = Idle()
        return made

    @classmethod
    def load(cls, path: Union[Path, BinaryIO]) -> "Network":
        """The network of an .entity file, or of JSON with weights, complete or refused: a path, or
        a binary file with seek and readinto, which stays open as long as the network, whose packed
        weights lie in it."""
        if not is_file_object(path):
            return cls._of(call("network_load", os.fspath(path)))  # type: ignore[arg-type]
        handle = open_file(path)
        try:
            return cls._of(call("network_load_file", handle))
        finally:
            call("release", handle)

    @classmethod
    def from_bytes(cls, data: Any) -> "Network":
        """The network of an .entity file, or JSON with weights, in memory."""
        handle = new_bytes(data)
        try:
            return cls._of(call("network_load_bytes", handle))
        finally:
            call("release", handle)

    def close(self) -> None:
        self._sessions.close()
        super().close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError("'Network' object has no attribute %r%s" % (
                name, ": use " + _ELSEWHERE[name] if name in _ELSEWHERE else ""))

    _known: Tuple[int, Dict[str, Any]] = (-1, {})

    def _shapes(self) -> Dict[str, Any]:
        """info, which the library is asked for where it may have changed."""
        revision = call("network_revision", self._handle)
        if self._known[0] != revision:
            self._known = revision, self.info
        return self._known[1]

    def _takes_f64(self) -> bool:
        """Whether numbers go in as float64."""
        return bool(number_type(self._shapes()["input"]) == np.float64)

    def __repr__(self) -> str:
        """The layers by their cells, as PyTorch prints a module. Behind # stand the shape of a
        layer's output for one sample (-> (4, 6)), and those of its weights."""
        if self.closed:
            return super().__repr__()
        topology = self.topology
        described, weights = topology["input"], self.parameters
        dims = described.get("dims", [described["width"]] if "width" in described else [])
        said = [("%r" % (d,)) for d in dims]
        said += ["%s=%r" % item for item in described.items() if item[0] not in ("dims", "width")]
        info = self.info
        shapes = {given["path"]: _shape(given) for given in info["cells"]}
        parts = [("input", "Input(%s)" % ", ".join(said))]
        for cell in topology["cells"]:
            path = ".".join(map(str, cell["at"]))
            own = [p for p in weights if p.path == path or p.path.startswith(path + "/")]
            parts.append((path, _printed(cell, own, shapes[path])))
        parts.append(("output", _shape(info["output"])))
        return tree("Network", parts, ["# " + self._describe()])

    def _describe(self) -> str:
        info = self.info
        read = "ids below %d" % info["input"]["ids"] if "ids" in info["input"] else str(
            info["input"]["width"])
        return "%s -> %d, %s parameters" % (read, info["output"]["width"],
                                            format(info["parameters"], ","))

    def initialize(self, seed: int) -> None:
        """Random parameters; each depends on seed, cell and index alone."""
        call("network_initialize", self._handle, seed_of(seed) % 2**64)

    def save(self, path: Path) -> None:
        """Writes an .entity file, or JSON with the weights where the path ends in .json: all of it,
        or the path stays as it was."""
        call("network_save", self._handle, os.fspath(path))

    def to_bytes(self) -> bytes:
        """The .entity file as bytes."""
        return library().take(call("network_save_bytes", self._handle))

    def to_json(self) -> str:
        """Topology and weights as JSON (docs/reference/entity.md), exactly: load() reads its file,
        from_bytes() its bytes."""
        return call("network_save_json", self._handle)  # type: ignore[no-any-return]

    def export(self, path: Path, **options: Any) -> Dict[str, Any]:
        """Writes the network for other programs, by the end of the path: .onnx. Options: opset,
        as_ (a format: "f16"), external_data, decoder, matmul_nbits (docs/reference/options.md,
        network_export; `as` is a word of Python). Returns format, inputs, outputs, nodes and
        dtypes. Unsupported names what the format cannot express."""
        return call(  # type: ignore[no-any-return]
            "network_export", self._handle, os.fspath(path), _export_options(options))

    def export_bytes(self, format: str = "onnx", **options: Any) -> bytes:
        """The same as bytes, by the format's name."""
        return library().take(
            call("network_export_bytes", self._handle, format, _export_options(options)))

    def copy(self) -> "Network":
        """An independent network with the same topology and values."""
        return Network._of(call("network_copy", self._handle))

    __copy__ = copy

    def __reduce__(self) -> Tuple[Any, Tuple[bytes]]:
        return Network.from_bytes, (self.to_bytes(),)

    # ---- what it is

    @property
    def topology(self) -> Dict[str, Any]:
        """What Network() would make it of."""
        return call("network_topology", self._handle)  # type: ignore[no-any-return]

    @property
    def info(self) -> Dict[str, Any]:
        """depth, rows, cols, layers_per_cell, input: {width or ids, dims, parts}, output: {width,
        dims, parts}, cells: [{path, width or ids, dims}], the output of each layer of the grid,
        parameters; parts: inputs or outputs by name."""
        return call("network_info", self._handle)  # type: ignore[no-any-return]

    @property
    def inputs(self) -> Optional[Dict[str, Any]]:
        """What raw data are, and what answers mean (docs/reference/entity.md, inputs): columns with
        their names, labels of classes, answers; None where nothing says it. It is set whole, goes
        into the network's files, and Predictor and `loom predict` read it there:

            network.inputs = {"labels": ["cat", "dog"]}

        Raises InvalidArgument for what does not fit the network."""
        return call("network_inputs", self._handle)  # type: ignore[no-any-return]

    @inputs.setter
    def inputs(self, inputs: Optional[Dict[str, Any]]) -> None:
        call("network_set_inputs", self._handle, inputs)

    def blueprint(self, id: str = "network") -> Dict[str, Any]:
        """The layers of the grid with shapes and parameters, for displays: models: [{id,
        total_layers, total_parameters, layers: [{z, y, x, l, path, type, name, enabled, activation,
        dtype, parameters, input_shape, output_shape, combine_mode, links, branches}]}]. Shapes are
        those of a row; branches are the layers inside (docs/guide/telemetry.md)."""
        return call("network_blueprint", self._handle, id)  # type: ignore[no-any-return]

    def digest(self) -> str:
        """SHA-256 over topology and all values as the network sees them."""
        return call("network_digest", self._handle)  # type: ignore[no-any-return]

    def dna(self) -> Dict[str, Any]:
        """What identifies each weighted layer (docs/reference/dna.md): grid, and layers: [{path,
        at, type, format, rows, cols, values, sha256, norm, sketch}]."""
        return call("network_dna", self._handle)  # type: ignore[no-any-return]

    def compare_dna(self, other: "Network") -> Dict[str, Any]:
        """How the layers of another network relate to these, whatever their dtypes, the order of
        their units and their widths: overlap (mean cosine by coordinate), similarity (corrected for
        chance: 1 for equal networks, 0 for unrelated ones), layers and shifts (layers at another
        path): [{from, to, cosine, encoded, matched, chance, score, coverage, moved_units, small}];
        only_a, only_b: paths. Raises InvalidArgument for weights that are not finite."""
        if not isinstance(other, Network):
            raise TypeError("compare_dna: expected a Network, got " + type(other).__name__)
        return call("network_compare_dna", self._handle,  # type: ignore[no-any-return]
                    other._handle)

    def splice(self, other: "Network", **options: Any) -> Tuple["Network", Dict[str, Any]]:
        """A child of this network and another, and a report: this one's topology and formats, and
        weights of both where layers match (docs/reference/evolution.md). Options: method ("blend",
        "point", "uniform", "layer_wise"), alpha (share of the other) or fitness_a and fitness_b,
        match ("place", "dna"), per ("unit", "weight"), min_score, align, seed. Raises
        InvalidArgument by the option."""
        if not isinstance(other, Network):
            raise TypeError("splice: expected a Network, got " + type(other).__name__)
        child, report = call("network_splice", self._handle, other._handle, options)
        return Network._of(child), report

    @staticmethod
    def graft(networks: Sequence["Network"], **options: Any) -> "Network":
        """One network whose branches are whole networks with one input shape. Options: combine
        ("concat", "add", "avg", "gated"), residual, stitch, softmax (of each output first). Raises
        InvalidArgument with what differs."""
        networks = list(networks)
        for i, one in enumerate(networks):
            if not isinstance(one, Network):
                raise TypeError("graft: expected Networks, got %s at %d" % (type(one).__name__, i))
        handles = np.array([one._handle for one in networks], np.int64)
        return Network._of(call("network_graft", handles, options))

    def mutate(self, seed: int = 0, **rates: Any) -> Tuple["Network", Dict[str, Any]]:
        """A mutated copy that runs, and a report of what was done. `rates` are probabilities of
        the kinds of mutation and limits (docs/reference/evolution.md)."""
        child, report = call("network_mutate", self._handle, rates, seed_of(seed))
        return Network._of(child), report

    def program(self, **options: Any) -> str:
        """The program that a Session of these options runs, a line per instruction."""
        return call("network_program", self._handle, options)  # type: ignore[no-any-return]

    def save_program(self, **options: Any) -> bytes:
        """The same as bytes, which welvet.Program runs with the weights of a network."""
        return library().take(call("network_save_program", self._handle, options))

    # ---- parameters

    @property
    def parameters(self) -> List[Parameter]:
        """All of them in the order of the grid."""
        return [Parameter(**p) for p in call("network_parameters", self._handle)]

    def _parameter(self, name: str) -> Parameter:
        if not isinstance(name, str):
            raise TypeError('name: expects a text, "path:role", got %s' % type(name).__name__)
        for p in self.parameters:
            if p.name == name:
                return p
        path, _, role = name.rpartition(":")
        return Parameter(path, role, 0, 0, "", False)  # the library says what is wrong with it

    def get(self, name: str, dtype: Any = np.float32, out: Any = None) -> np.ndarray:
        """The values of parameter "path:role" as the network sees them, (rows, cols) of float32 or
        float64. Raises NotFound."""
        p = self._parameter(name)
        values = place(out, np.dtype(dtype), (p.rows, p.cols))
        call("network_get_f64" if values.dtype == np.float64 else "network_get_f32", self._handle,
             p.path, p.role, values)
        return values if out is None else out  # type: ignore[no-any-return]

    def set(self, name: str, values: Any) -> None:
        """Sets parameter "path:role" from values of the shape (rows, cols) that get() gives, or
        (cols,) where it has one row; its format stays. Float64 arrays go in as they are. Raises
        NotFound, and ValueError for another shape."""
        p = self._parameter(name)
        values = plain(values, "values")
        shapes = [(p.rows, p.cols)] + [(p.cols,)] * (p.rows == 1)
        if p.rows and values.shape not in shapes:
            hint = ""
            if values.shape == (p.cols, p.rows):
                hint = ": give its transpose, values.T"
            elif values.size == p.rows * p.cols:
                hint = ": where they are in that order, give values.reshape%s" % (shapes[0],)
            raise ValueError("values: %s has the shape %s, got the shape %s%s"
                             % (name, shapes[0], values.shape, hint))
        function = "network_set_f64" if values.dtype == np.float64 else "network_set_f32"
        call(function, self._handle, p.path, p.role, values)

    # ---- cells

    def cell(self, cell: Cell) -> Dict[str, Any]:
        """One cell as the topology has it."""
        return call("network_cell", self._handle, cell_name(cell))  # type: ignore[no-any-return]

    def set_cell(self, cell: Cell, layer: Dict[str, Any]) -> None:
        """Puts a layer into a cell, with all parameters zero (initialize, set). Other cells keep
        their values where they keep their size; where what arrives there has another one, they are
        zero, too. On an error nothing has changed."""
        if isinstance(layer, Layer):
            layer = with_links([layer])[0]
        call("network_set_cell", self._handle, cell_name(cell), layer)

    def set_links(self, cell: Cell, links: Sequence[Dict[str, Sequence[int]]]) -> None:
        """Gives a cell other links: [{"read": [z, y, x, l]}, ...] ("read", "send", "run"). All
        weights stay: links with which one would need another size are refused. On an error nothing
        has changed."""
        call("network_set_links", self._handle, cell_name(cell), list(links))

    def enable(self, cell: Cell, enabled: bool = True) -> None:
        """Switches a cell on or off; off, it hands on what arrives."""
        call("network_enable", self._handle, cell_name(cell), enabled)

    def morph(self, dtype: str, cell: Optional[Cell] = None) -> None:
        """Changes how the matrices of a cell, or of all, are stored and multiplied: "f32", "bf16",
        "i8", "i4", "ternary", "q4_0", ... The master values stay, so that morphing back loses
        nothing."""
        call("network_morph", self._handle, dtype, "" if cell is None else cell_name(cell))

    def pack(self, dtype: str) -> None:
        """The same for all cells, for running alone: the masters go."""
        call("network_pack", self._handle, dtype)

    # ---- adapters

    def load_adapter(self, folder: Path) -> None:
        """Runs with a LoRA adapter from now on, in place of the one it has: a folder with
        adapter_config.json and adapter_model.safetensors, as Trainer.save and PEFT write it. The
        weights stay as they are. Raises NotFound, Unsupported, Corrupt, or InvalidArgument for one
        of another network."""
        call("network_load_adapter", self._handle, os.fspath(folder))

    def save_adapter(self, folder: Path) -> None:
        """Writes the adapter that the network has, loaded or learned, as PEFT does. Raises
        InvalidArgument where it has none."""
        call("network_save_adapter", self._handle, os.fspath(folder))

    def unload_adapter(self) -> None:
        """Runs without an adapter again."""
        call("network_unload_adapter", self._handle)

    def merge_adapter(self) -> None:
        """Adds the adapter to the weights, encoded again where they are packed; the network then
        has none. Raises InvalidArgument where it has none before."""
        call("network_merge_adapter", self._handle)

    # ---- running

    def session(self, **options: Any) -> Session:
        """A Session of its own: for token ids in several sequences, or a number of threads."""
        return Session(self, **options)

    def replay(self, trace: Iterable[Dict[str, Any]], **options: Any) -> Session:
        """A Session that does what a trace (Session.trace) says after the runs that it names, and
        evaluates no rules. With a network that was as this one is and the same runs, outputs and
        weights have the same bits. Raises InvalidArgument for the trace of another network, Corrupt
        for what is none; then the network is as before."""
        session = Session(self, **options)
        call("session_replay", session._handle, "".join(json.dumps(act) + "\n" for act in trace))
        return session

    def forward(self, x: Any, *, out: Any = None) -> Outputs:
        """y of x. x: (..., dimensions of the input), anything that NumPy or DLPack takes, or (...,
        their product); where inputs have names, a dict of such arrays by name, or a tuple in their
        order; y: (..., dimensions of the output), a dict of such arrays by name where the network
        has several outputs (a tuple where the Model was given a list); float32, or float64 of a
        network whose cells compute in f64, which x then is, too; `out` takes it where given. A
        network of ids takes integers: (..., steps), or, where a row is one id, one sequence, as
        forward_tokens does. Raises ValueError for another shape, TypeError for several sequences of
        such a network."""
        info = self._shapes()
        given, gives = info["input"], info["output"]
        if "ids" in given and "dims" not in given:
            return self.forward_tokens(x, out=out)
        if out is not None and outputs_of(info):
            raise TypeError("out: takes one output, the network has several")
        x, lead = rows_of(x, given)
        dims = tuple(gives.get("dims", ())) if info["version"] > 1 else ()
        y = place(out, number_type(given), lead + (dims or (gives["width"],)))
        rows_out = y.reshape(-1, gives["width"])
        session = self._session(max_rows=_ROWS)
        if len(x) >= _MANY_ROWS > session._rows and session.info["arena_bytes"] <= _NARROW:
            session = self._new_session({**session._asked, "max_rows": _MANY_ROWS})
        run, rows = session.run_ids if "ids" in given else session.run, session._rows
        for begin in range(0, len(x), rows):
            run(x[begin:begin + rows], out=rows_out[begin:begin + rows])
        self._sessions.put(session)
        return split(y, info) if out is None else out

    __call__ = forward

    def observe(self, x: Any, every: int = 1, nested: bool = False) -> List[Dict[str, Any]]:
        """Statistics of what each cell hands on for x, as forward() takes it: a list of dicts, one
        per cell (Observation has the keys), and with `nested` one per layer inside it. `every`: of
        the passes of 256 rows that a long x is cut into, the first one and each `every`-th after it
        are observed."""
        info = self.info
        given = info["input"]
        tokens = "ids" in given and "dims" not in given
        x = one_sequence(array(x, np.int32, "ids")) if tokens else rows_of(x, given)[0]
        if tokens and (x.ndim != 1 or x.size == 0):
            raise ValueError("ids: expects (n,) with n at least 1, got the shape %s" % (x.shape,))
        if len(x) == 0:
            raise ValueError("x: expects at least one row")
        room = {"max_rows": _ROWS, "max_head_rows": _ROWS} if tokens else {"max_rows": _ROWS}
        if tokens:
            room["max_positions"] = max(512, len(x))
        session = Session(self, ignore_rules=True, **room)
        blocks = [np.arange(begin, min(begin + _ROWS, len(x)), dtype=np.int32)
                  for begin in range(0, len(x), _ROWS)]
        window = 1 + (len(blocks) - 1) // every if every > 0 else 1
        with session.observe(every=every, window=window, nested=nested) as cells:
            for block in blocks:
                if tokens:
                    session.run_tokens(x[block], block, head=block - block[0])
                elif "ids" in given:
                    session.run_ids(x[block])
                else:
                    session.run(x[block])
        session.close()
        return list(cells)

    def forecast(self, horizon: int = 12, history: Any = None, last: Any = None) -> List[Forecast]:
        """The next `horizon` steps of a time series that `loom train` learned, after the values of
        training, or after `history`: numbers in the same steps, the latest last, of which `last` is
        the date of the last one ("1960-12", a datetime.date). Raises Unsupported where the network
        learned no series, InvalidArgument for dates that are none of its steps and for too few
        values."""
        if history is not None:
            history = array(history, np.float64, "history")
            if history.ndim != 1 or history.size == 0:
                raise ValueError("history: expects (values,), got the shape %s" % (history.shape,))
        options = {"horizon": horizon, "last": "" if last is None else str(last)}
        session = self._session(max_rows=_ROWS)
        given = () if history is None else history
        steps = call("session_forecast", session._handle, options, given)
        self._sessions.put(session)
        return [Forecast(**step) for step in steps]

    def forward_tokens(self, ids: Any, last: bool = False, *, out: Any = None) -> Outputs:
        """The outputs after each id of a sequence from its beginning: (len(ids), output width);
        with last=True after the last alone: (output width,). Raises OutOfRange for ids that the
        network does not know, and TypeError for several sequences at once."""
        ids = one_sequence(array(ids, np.int32, "ids"))
        if ids.ndim != 1 or ids.size == 0:
            raise ValueError("ids: expects (n,) with n at least 1, got the shape %s" % (ids.shape,))
        info = self._shapes()
        if out is not None and outputs_of(info):
            raise TypeError("out: takes one output, the network has several")
        width = info["output"]["width"]
        y = place(out, np.float32, (width,) if last else (ids.size, width))
        positions = np.arange(ids.size, dtype=np.int32)
        session = self._session(max_rows=_ROWS, max_head_rows=_ROWS,
                                max_positions=max(512, 1 << int(ids.size - 1).bit_length()))
        for begin in range(0, ids.size, _ROWS):
            end = min(begin + _ROWS, ids.size)
            head = np.arange(end - begin, dtype=np.int32)[-1 if last else 0:]
            target = y.reshape(1, -1) if last else y[begin:end]
            session.run_tokens(ids[begin:end], positions[begin:end], head=head, out=target)
        self._sessions.put(session)
        return split(y, info) if out is None else out

    def _session(self, **options: Any) -> Session:
        """An idle session that is large enough, or a new one. The caller puts it back when all went
        well."""
        session = self._sessions.take()
        if session is None or session._positions < options.get("max_positions", 0):
            session = self._new_session(options)
        # another one where the topology has changed
        session.output_width = self._shapes()["output"]["width"]
        return session  # type: ignore[no-any-return]

    def _new_session(self, options: Dict[str, Any]) -> Session:
        session = Session(self, ignore_rules=True, **options)
        session._asked, session._rows = options, options["max_rows"]
        session._positions = options.get("max_positions", 0)
        return session

    # ---- learning

    def trainer(self, x: Any, y: Any = None, *, spec: Optional[Dict[str, Any]] = None,
                loss: Any = None, loss_weights: Any = None, optimizer: _Named = None,
                schedule: _Named = None, lr: Optional[float] = None, method: _Named = None,
                epochs: Optional[int] = None, steps: Optional[int] = None,
                batch_size: Optional[int] = None, ignore: Optional[int] = None,
                sample_weight: Any = None, class_weight: Any = None, seed: Optional[int] = None,
                threads: int = 0, isa: str = "", mode: str = "", **settings: Any) -> "Trainer":
        """A Trainer, which learns step by step, saves and resumes: of what train() takes."""
        from .training.fit import trainer_of

        return trainer_of(
            self, x, y, spec=spec, loss=loss, loss_weights=loss_weights, optimizer=optimizer,
            schedule=schedule, lr=lr, method=method, epochs=epochs, steps=steps,
            batch_size=batch_size, ignore=ignore, sample_weight=sample_weight,
            class_weight=class_weight, seed=seed, threads=threads, isa=isa, mode=mode, **settings)

    def online(self, *, spec: Optional[Dict[str, Any]] = None, loss: Optional[str] = None,
               optimizer: _Named = None, schedule: _Named = None, lr: Optional[float] = None,
               method: _Named = None, batch_size: Optional[int] = None, seed: Optional[int] = None,
               **options: Any) -> "Online":
        """An Online, which learns a copy of the network while it answers, in one thread. Keywords
        are those of train(); `loss` is mse where nothing is said; `spec` has further keys of a
        training spec. options: those of online_create in docs/reference/options.md, deadline_ms,
        recent, forget, detector and more."""
        from .online import Online, spec_of

        named = {"loss": loss, "optimizer": optimizer, "schedule": schedule, "lr": lr,
                 "method": method, "batch": batch_size, "seed": seed}
        return Online(self, spec_of(spec, named), **options)

    def train(self, x: Any, y: Any = None, *, spec: Optional[Dict[str, Any]] = None,
              loss: Any = None, loss_weights: Any = None, optimizer: _Named = None,
              schedule: _Named = None, lr: Optional[float] = None, method: _Named = None,
              epochs: Optional[int] = None, steps: Optional[int] = None,
              steps_per_epoch: Optional[int] = None, batch_size: Optional[int] = None,
              ignore: Optional[int] = None, sample_weight: Any = None, class_weight: Any = None,
              validation: Union[float, Tuple[Any, ...], None] = None,
              callbacks: Optional["Callbacks"] = None, progress: Optional[bool] = None,
              seed: Optional[int] = None, threads: int = 0, isa: str = "", mode: str = "",
              observe: Any = False, **settings: Any) -> "History":
        """Learns, and returns the History: lists of losses by epoch.

        x: (samples, width) or with the dimensions of the network's input; or a Data object, without
        y. y: (samples,) integers, the classes, or (samples, targets) values. Keywords:
        * `epochs` (10), or `steps`, optimizer steps, in their place; `batch_size` (32).
        * `loss`: mse, mae, huber, bce, cross_entropy, soft_cross_entropy (y: probabilities); where
          nothing is said cross_entropy for integers, mse for values. A network with several outputs
          takes y, and `loss` and `loss_weights` where they are given, as a dict by their names (or
          a list in their order); the loss is the sum of theirs, each times its weight (1).
        * `optimizer`: a name (adamw, sgd, rmsprop, lion) or its settings as a dict; likewise
          `schedule`, of the learning rate `lr` (0.001), and `method` (docs/guide/methods.md).
        * `validation`: a share of the samples to hold back, picked by `seed` in the proportions of
          the classes, or (x, y) or (x, y, sample_weight) of others.
        * `ignore` (-100): the class of rows, steps or pixels that are not counted; any other below
          0 is refused. `sample_weight`: (samples,), of the losses of rows; `class_weight`: {class:
          weight}, a list, or "balanced". A step's loss is the mean by weights, and so is that of
          the validation, whose accuracy counts each row once.
        * `callbacks`: Callback objects or functions of a step's Progress; False stops. `progress`:
          a bar (None: on a terminal). `observe`: True or a dict for Trainer.observe: History.events
        * `mode`, `threads`, `isa`: what computes (docs/reference/modes.md).
        * `spec`: a training spec (docs/reference/training-spec.md) as a dict, whose values the
          keywords replace; `settings`: further keys of one (heads, lora, checkpoint,
          micro_batches, shuffle, ...). Those that have no effect here (checkpoint_every, log_every,
          data, network, ...) are a ValueError.
        * `streams`: truncated back-propagation through time, as PyTorch's loop with h.detach() and
          Keras' stateful=True: x is cut into this many lanes, each step takes the next window of
          all, and recurrent layers continue from their state. It takes no batch_size, no shuffle
          and no validation.

        x may also give batches (x, y) or (x, y, sample_weight) of any size, one a step, in their
        order: a generator, an iterator, or what can be iterated again, as PyTorch's DataLoader. How
        long it trains is `steps`, or `epochs` of `steps_per_epoch` (where x has a length: that).
        What cannot be known of them is refused: a share for validation, shuffle, batch_size,
        "balanced".

        The weights are a function of network, data and settings: no bit depends on threads or
        callbacks. Raises LoomError where something does not fit, where x or y has a value that is
        NaN or infinite (a NaN in x is a missing value to Standardize(missing=True)), and where a
        loss is not finite, that of the validation too; ValueError for arrays whose lengths differ,
        for masked values, and where batch_size or epochs are no whole numbers above 0. Ctrl-C
        stops between two steps; the weights are those of the last one."""
        from .training.fit import train

        return train(
            self, x, y, spec=spec, loss=loss, loss_weights=loss_weights, optimizer=optimizer,
            schedule=schedule, lr=lr, method=method, epochs=epochs, steps=steps,
            steps_per_epoch=steps_per_epoch, batch_size=batch_size, ignore=ignore,
            sample_weight=sample_weight, class_weight=class_weight, validation=validation,
            callbacks=callbacks, progress=progress, observe=observe, seed=seed, threads=threads,
            isa=isa, mode=mode, **settings)
