"""What a model of another framework became."""
from __future__ import annotations

import os
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple,
                    Union)

import numpy as np

from .cells import Port, Value
from .constant import Constant, Read
from .graph import Graph
from .lengths import Lengths
from .shape import dims_of, from_rows, to_rows

if TYPE_CHECKING:
    from ..wire import Pushed


class Absorbed:
    """A network, its weights, and how arrays go in and out as the framework has them.

    topology    the network's (docs/reference/topology.md)
    inputs      ports: names, shapes with the batch's axis
    outputs     the same
    report      a line for each cell: module, layer
    metadata    what else came along, as JSON: framework, classes, preprocessing, names
    described   the network's own `inputs`: names of columns and classes; None: nothing says them
    training    the optimizer's settings, where they came along (docs/reference/training-spec.md)
    step        the steps that were done with them
    lengths     axes of inputs that are open up to a maximum, or None

    `network()` is the network itself (it needs the package welvet), `predict()` runs it as the
    model runs, `push()` sends it to a `loom bridge`.
    """

    def __init__(self, graph: Graph, outputs: Sequence[Tuple[str, Value]], read: Read, *,
                 structure: Optional[Callable[[List[np.ndarray]], Any]] = None,
                 metadata: Optional[Dict[str, Any]] = None) -> None:
        """`read`: a parameter's or buffer's array by its name, of the live model."""
        shapes = [(name, value.shape) for name, value in outputs]
        self.topology = graph.topology(outputs)
        self.inputs: List[Port] = list(graph._inputs)
        self.outputs: List[Port] = [Port(name, shape) for name, shape in shapes]
        self.report: List[Tuple[str, str]] = list(graph.report)
        self.metadata: Dict[str, Any] = dict(metadata or {})
        self.described: Optional[Dict[str, Any]] = None
        self.training: Dict[str, Any] = {}
        self.step = 0
        self.lengths: Optional[Lengths] = None
        self._moments: Optional[Callable[[], Iterator[Tuple[str, str, np.ndarray]]]] = None
        self._fills: List[Tuple[str, Constant]] = graph.fills()
        self._read, self._structure = read, structure
        self._network: Any = None

    # ---- weights

    def weights(self) -> Iterator[Tuple[str, np.ndarray]]:
        """The parameters of the network ("0.0.0.3:weight") with the model's present numbers."""
        return self.arranged(self._read)

    def arranged(self, read: Read, trainable: bool = False) -> Iterator[Tuple[str, np.ndarray]]:
        """The same of other arrays by the model's names, such as an optimizer's moments;
        `trainable`: only of what learns."""
        for parameter, constant in self._fills:
            if constant.trainable or not trainable:
                yield parameter, np.asarray(constant.read(read))

    @property
    def names(self) -> Dict[str, Tuple[str, ...]]:
        """For each parameter of the network the names that the model has for it; none for numbers
        of the model's code."""
        return {parameter: constant.names for parameter, constant in self._fills}

    def moments_of(self, read: Callable[[], Iterator[Tuple[str, str, np.ndarray]]]) -> None:
        """What moments() yields."""
        self._moments = read

    def moments(self) -> Iterator[Tuple[str, str, np.ndarray]]:
        """The optimizer's present moments: parameter, the moment's name ("velocity", "m", "v",
        "mean"), numbers."""
        return iter(()) if self._moments is None else self._moments()

    def trainer(self, x: Any, y: Any, network: Any = None, **settings: Any) -> Any:
        """A welvet.Trainer that continues from here: with the settings, moments and step that came
        along. x, y as Network.train takes them; `settings` are its keywords, which count before
        those that came along."""
        network = self.network() if network is None else network
        trainer = network.trainer(x, y, **{**self.training, **settings})
        moments = list(self.moments())
        if moments:
            shapes = trainer.moments
            for parameter, name, array in moments:
                key = "%s:%s" % (parameter, name)
                trainer.set_moment(key, np.asarray(array, np.float64).reshape(shapes[key]))
        if self.step:
            trainer.set_step(self.step)
        return trainer

    def overlaps(self) -> List[str]:
        """Parameters that learn and lie in several places here, so that training on would move the
        copies apart: what they are used as, one by one."""
        sizes: Dict[str, int] = {}

        def sized(name: str) -> np.ndarray:
            sizes[name] = np.size(self._read(name))
            return np.arange(sizes[name]).reshape(np.shape(self._read(name)))

        taken: Dict[str, Any] = {}
        found: List[str] = []
        for parameter, constant in self._fills:
            if not constant.trainable or len(constant.names) != 1:
                continue
            name = constant.names[0]
            places = np.asarray(constant.read(sized)).ravel()
            used = taken.setdefault(name, np.zeros(sizes[name], bool))
            if used[places].any():
                found.append("%s is in several places: %s too" % (name, parameter))
            used[places] = True
        return found

    # ---- here

    def network(self, seed: int = 0) -> Any:
        """A welvet.Network with these weights."""
        import welvet
        network = welvet.Network(self.topology, seed=seed)
        self.update(network)
        if self.described is not None:
            network.inputs = self.described
        return network

    def update(self, network: Any) -> None:
        """Sets the weights of a network of this topology to the model's present ones."""
        shapes = {p.name: (p.rows, p.cols) for p in network.parameters}
        for parameter, array in self.weights():
            network.set(parameter, np.asarray(array, np.float64).reshape(shapes[parameter]))

    def rows(self, *arrays: Any, **named: Any) -> Dict[str, np.ndarray]:
        """Arrays as the model takes them, by place or by name, as the network takes them: open
        lengths with what says how long they are."""
        return self._rows(self._given(arrays, named))

    def _ports(self) -> List[Port]:
        """The inputs that the model has, too."""
        own = self.lengths.ports if self.lengths is not None else []
        return [p for p in self.inputs if p.name not in own]

    def _given(self, arrays: Sequence[Any], named: Dict[str, Any]) -> Dict[str, Any]:
        names = [p.name for p in self._ports()]
        given = dict(zip(names, arrays))
        if len(arrays) > len(names) or set(given) & set(named) or set(named) - set(names):
            raise TypeError("takes %s" % ", ".join(names))
        given.update(named)
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError("missing: %s" % ", ".join(missing))
        return given

    def _rows(self, given: Dict[str, Any]) -> Dict[str, np.ndarray]:
        made = {}
        found = self.lengths.found(given) if self.lengths is not None else {}
        for port in self._ports():
            array = given[port.name]
            if self.lengths is not None:
                array = self.lengths.padded(port.name, array, port.shape)
            try:
                rows = to_rows(array, port.shape)
            except ValueError as e:
                raise ValueError("%s: %s" % (port.name, e)) from None
            dims = dims_of(port.shape)
            if len(dims) > 1:  # one row of (1, n) would else be taken for a row's dimensions
                rows = rows.reshape(len(rows), *dims)
            made[port.name] = rows.astype(np.int32 if port.ids else np.float32)
        if len({len(rows) for rows in made.values()}) > 1:
            raise ValueError("inputs of different numbers of samples: %s" % ", ".join(
                "%s %d" % (name, len(rows)) for name, rows in made.items()))
        if self.lengths is not None:
            made.update(self.lengths.rows(found, len(next(iter(made.values())))))
        return made

    def predict(self, *arrays: Any, network: Any = None, **named: Any) -> Any:
        """What the network answers, in the arrays of the model. `network`: one of this topology,
        in place of its own, which is made once."""
        if network is None:
            if self._network is None:
                self._network = self.network()
            network = self._network
        given = self._given(arrays, named)
        answer = network(self._rows(given))
        parts = [answer] if len(self.outputs) == 1 else [answer[p.name] for p in self.outputs]
        rows = [from_rows(np.asarray(part).reshape(len(part), -1), port.shape)
                for part, port in zip(parts, self.outputs)]
        if self.lengths is not None:
            rows = self.lengths.cut(rows, self.lengths.found(given))
        if self._structure is not None:
            return self._structure(rows)
        return rows[0] if len(rows) == 1 else tuple(rows)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes an .entity file."""
        self.network().save(path)

    def state_dict(self, network: Any = None) -> Dict[str, np.ndarray]:
        """A network's weights under the model's own names and in its own layouts: what training
        here made of them goes back into the model (PyTorch: load_state_dict). `network`: one of
        this topology; none: the one that predict() runs. What the network has no place for is as in
        the model. Raises ValueError with the parameter for numbers that the model does not have as
        they are here, once they have changed."""
        if network is None:
            if self._network is None:
                self._network = self.network()
            network = self._network
        from .returned import state_dict
        return state_dict(self, network)

    # ---- there

    def push(self, url: str, *, token: str, name: str, weights_only: bool = False,
             progress: Optional[Callable[[int, int], Any]] = None) -> "Pushed":
        """Sends it to a `loom bridge`, or the present weights of what was sent before under this
        name."""
        from ..wire import push, push_weights
        tensors = [(p, "f32", list(a.shape), np.ascontiguousarray(a, "<f4").reshape(-1).view(
            np.uint8).data) for p, a in self.weights()]
        if weights_only:
            return push_weights(url, token, tensors, name=name, progress=progress)
        return push(url, token, self.topology, tensors, metadata=self.metadata, name=name,
                    inputs=self.described, progress=progress)
