"""Neuroevolution: genomes that evolve by NEAT, and whole networks."""
from __future__ import annotations

import operator
import os
from typing import Any, Callable, Dict, Optional, Union

import numpy as np

from ._core.call import array, call, library, new_bytes
from ._core.object import Runner
from .network import Network


def _whole(value: Any, name: str) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError("%s: expects a whole number, got %r" % (name, value)) from None


class Genome:
    """A genome or network of a generation. It computes until the population changes."""

    def __init__(self, population: "Population", index: int, generation: int) -> None:
        self._population, self.index, self._generation = population, index, generation

    def _check(self) -> None:
        now = self._population.generation  # no call: a game asks at every step
        if self.index >= 0 and now != self._generation:
            raise ValueError("this genome was of generation %d, the population is at %d"
                             % (self._generation, now))

    def activate(self, x: Any) -> np.ndarray:
        """Outputs: x is (inputs,) or (rows, inputs), the result (outputs,) or (rows, outputs),
        float32. A recurrent genome runs one tick a row and holds its values until reset(), or until
        another genome runs."""
        self._check()
        return self._population.activate(x, self.index)

    def reset(self) -> None:
        """The values of a recurrent genome are 0 again."""
        self._population.reset()

    @property
    def data(self) -> Dict[str, Any]:
        """inputs, outputs, recurrent, fitness (None before it is evaluated), sha256, nodes and
        edges. Of a network: fitness, feasible, bytes, milliseconds, layers, parameters, sha256,
        mutations, topology."""
        self._check()
        return self._population.genome(self.index)

    @property
    def network(self) -> Network:
        """A copy of a network, of a genome the network that answers as it does; setting gives a
        member of networks the weights of one that was trained."""
        self._check()
        return self._population.network(self.index)

    @network.setter
    def network(self, trained: Network) -> None:
        self._check()
        self._population.set_network(self.index, trained)


class Population(Runner):
    """Genomes that evolve by NEAT, or whole networks (docs/reference/evolution.md has every key of
    a spec). `spec`: a task ("xor", "cart_pole", "double_pole") or a dict; options are keys of the
    spec. With `x` and `y` (rows x inputs, rows x outputs) the task is that table; else, without a
    task, fitness comes from a function. `network`: a Network or a topology with which evolution of
    networks begins. The same spec gives the same bits for any `threads` (0: one per core). Raises
    InvalidArgument by the key. One thread at a time (Busy otherwise).
    """

    _instead = "save() it, and load() that"
    _nothing = ("population_run", 1)

    def __init__(self, spec: Union[str, Dict[str, Any], None] = None, *, x: Any = None,
                 y: Any = None, network: Any = None, threads: int = 0, **options: Any) -> None:
        if spec is not None and not isinstance(spec, (str, dict)):
            raise TypeError("spec: expects a task or a dict, got " + type(spec).__name__)
        whole: Dict[str, Any] = {}
        if isinstance(spec, dict):
            whole.update(spec)
        elif spec is not None:
            whole["task"] = spec
        for key, value in options.items():
            if key in whole:
                raise TypeError("%s: is given twice" % key)
            whole[key] = value
        if (x is None) != (y is None):
            raise TypeError("x and y come together")
        if x is not None:
            whole.setdefault("task", "table")
            whole["data"] = {"x": self._table(x, "x"), "y": self._table(y, "y")}
        if network is not None:
            whole.setdefault("level", "networks")
        if isinstance(network, Network):
            self._start(call("population_create_from", network._handle, whole,
                             _whole(threads, "threads")))
            return
        if network is not None:
            whole["network"] = network
        self._start(call("population_create", whole, _whole(threads, "threads")))

    @staticmethod
    def _table(values: Any, name: str) -> Any:
        values = array(values, np.float32, name)
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim != 2:
            raise ValueError("%s: expects rows of values, got the shape %s" % (name, values.shape))
        if not np.isfinite(values).all():
            raise ValueError("%s: has values that are not finite" % name)
        return values.tolist()

    def _start(self, handle: int) -> None:
        self._own(handle)
        info = self.info
        spec = info["spec"]
        self._generation = int(info["generation"])
        self.inputs: int = info.get("inputs", spec.get("inputs"))
        self.outputs: int = info.get("outputs", spec.get("outputs"))
        self.size: int = spec["population"]

    @classmethod
    def load(cls, source: Any, *, threads: int = 0) -> "Population":
        """Continues from what save() made, a path or bytes, with the same bits. Raises Corrupt and
        Unsupported."""
        if isinstance(source, (str, os.PathLike)):
            with open(source, "rb") as file:
                source = file.read()
        handle = new_bytes(source)
        try:
            made = cls.__new__(cls)
            made._start(call("population_load", handle, _whole(threads, "threads")))
            return made
        finally:
            call("release", handle)

    def save(self, path: Any = None) -> bytes:
        """The whole state, data included, as bytes, and in a file where a path is given: all of it,
        or the path stays as it was."""
        file = call("population_save", self._handle)
        try:
            if path is not None:
                call("bytes_save", file, os.fspath(path))
        except BaseException:
            call("release", file)
            raise
        return library().take(file)

    @property
    def info(self) -> Dict[str, Any]:
        """generation, evaluated, evaluations, best, mean, worst, reached, champion (fitness, nodes,
        edges, sha256), species (id, size), spec (without its data), threads. Of networks also
        feasible, and of the champion feasible, bytes, milliseconds, layers and parameters."""
        return call("population_info", self._handle)  # type: ignore[no-any-return]

    def _describe(self) -> str:
        return "generation=%d, size=%d" % (self.generation, self.size)

    @property
    def generation(self) -> int:
        """Number of the generation, from 0."""
        return self._generation

    @property
    def champion(self) -> Genome:
        """The best genome so far. InvalidArgument before the first evaluation when it is used."""
        return Genome(self, -1, 0)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> Genome:
        """A genome of this generation."""
        index = _whole(index, "index")
        if not 0 <= index < self.size:
            raise IndexError("index: expects 0 to %d, got %d" % (self.size - 1, index))
        return Genome(self, index, self.generation)

    def genome(self, index: int = -1) -> Dict[str, Any]:
        """A genome as data; -1: the champion."""
        return call("population_genome", self._handle,  # type: ignore[no-any-return]
                    _whole(index, "index"))

    def network(self, index: int = -1) -> Network:
        """A copy of a network, by default of the champion, with the weights of its score. Of a
        genome: the network that answers as it does, one cell of the layer `genome`; Unsupported for
        a recurrent genome of a task that holds its values from row to row."""
        return Network._of(call("population_network", self._handle, _whole(index, "index")))

    def set_network(self, index: int, network: Network) -> None:
        """Gives a member the weights of a network of its topology, as training has left it; its
        children inherit them. InvalidArgument for another topology."""
        if not isinstance(network, Network):
            raise TypeError("network: expected a Network, got " + type(network).__name__)
        call("population_set_network", self._handle, _whole(index, "index"), network._handle)

    def activate(self, x: Any, index: int = -1) -> np.ndarray:
        """Outputs of a genome, by default of the champion; as Genome.activate."""
        x = array(x, np.float32, "x")
        if x.ndim not in (1, 2) or x.shape[-1] != self.inputs:
            raise ValueError("x: expects the shape (%d,) or (rows, %d), got the shape %s"
                             % (self.inputs, self.inputs, x.shape))
        y = np.empty(x.shape[:-1] + (self.outputs,), np.float32)
        call("population_activate", self._handle, _whole(index, "index"), x.reshape(-1),
             y.reshape(-1))
        return y

    def reset(self) -> None:
        """The values of a recurrent genome are 0 again."""
        call("population_reset", self._handle)

    def evaluate(self, fitness: Optional[Callable[[Genome], float]] = None) -> None:
        """Fitness of this generation: by the task, or by a function of each genome."""
        if fitness is None:
            self._run("population_evaluate")
            return
        now = self.generation
        self.set_fitness([float(fitness(Genome(self, i, now))) for i in range(self.size)])

    def set_fitness(self, fitness: Any) -> None:
        """One finite value for each genome; larger is better."""
        call("population_set_fitness", self._handle,
             array(fitness, np.float64, "fitness").reshape(-1))

    def step(self) -> None:
        """Breeds the next generation. InvalidArgument where this one has no fitness."""
        call("population_step", self._handle)
        self._generation += 1

    def run(self, generations: int = 300, fitness: Optional[Callable[[Genome], float]] = None,
            progress: Optional[Callable[[Dict[str, Any]], Any]] = None) -> Dict[str, Any]:
        """Evaluates up to as many generations, and breeds between them, until the goal is reached.
        Returns info. `progress` is called with it after each; a false result that is not None ends
        the run. Ctrl-C and cancel() end a run; the next one continues there."""
        generations = _whole(generations, "generations")
        if generations < 1:
            raise ValueError("generations: expects at least 1, got %d" % generations)
        if fitness is None and progress is None:
            try:
                self._run("population_run", generations, size=generations)
            finally:
                info = self.info
                self._generation = int(info["generation"])
            return info
        info = self.info
        for _ in range(generations):
            if info["reached"]:
                break
            if info["evaluated"]:
                self.step()
            self.evaluate(fitness)
            info = self.info
            if progress is not None:
                go_on = progress(info)
                if go_on is not None and not go_on:
                    break
        return info
