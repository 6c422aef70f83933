"""Loom on Flower: federations whose result does not depend on who answers first.

    from welvet import flower
    client = flower.client_app(network, data=lambda partition, of: (x, y), epochs=1, lr=0.01)
    server = flower.server_app(network, clients=8, rounds=5, on_end=lambda net: net.save(path))
    flwr.simulation.run_simulation(server, client, num_supernodes=8)

A round's weights are the mean of the clients', by their samples (FedAvg, arXiv 1602.05629). They
are added in double precision, in a binary tree over the numbers of the partitions, so that the
order of arrival changes no bit; `federate()` is the same federation in one process. With
`lora={"rank": 8}` only the matrices of an adapter travel, and the network stays as it is. With
`secure=True` on both sides the server sees the mean alone (SecAgg+); its weights are then near the
plain mean (Secure.bound), with other bits each time. Needs the package flwr, 1.20 or later, for
`secure` one as 1.42; federate() needs nothing.
"""
from __future__ import annotations

import json
import os
import struct
import tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _secure
from ._secure import OnRound, RoundEnd, Secure, Weights
from .network import Network

Partition = Callable[[int, int], Tuple[Any, Any]]  # (number, of how many) -> (x, y)


def tree_mean(parts: Sequence[Tuple[float, Weights]]) -> Weights:
    """The mean of weights, each with its weight, in the order of the list: sums in double precision
    by a binary tree over the places in it."""
    if not parts:
        raise ValueError("tree_mean: nothing to add")
    names = set(parts[0][1])
    for i, (weight, arrays) in enumerate(parts):
        if set(arrays) != names:
            raise ValueError("part %d has other weights than part 0: %s" % (
                i, ", ".join(sorted(names ^ set(arrays)))))
        if not (weight > 0 and np.isfinite(weight)):
            raise ValueError("part %d has the weight %r: expects one above 0" % (i, weight))
    total = float(sum(weight for weight, _ in parts))
    made: Weights = {}
    for name in parts[0][1]:
        level = [np.asarray(arrays[name], np.float64) * weight for weight, arrays in parts]
        while len(level) > 1:
            pairs = [a + b for a, b in zip(level[::2], level[1::2])]
            level = pairs + level[len(pairs) * 2:]
        made[name] = level[0] / total
    return made


# ---- what travels


def _weights_of(network: Network) -> Weights:
    return {p.name: network.get(p.name, np.float64) for p in network.parameters if not p.tied}


def _set_weights(network: Network, weights: Weights) -> None:
    for name, values in weights.items():
        network.set(name, values)


def _read_adapter(folder: str) -> Weights:
    """The tensors of an adapter's safetensors file, f32."""
    with open(os.path.join(folder, "adapter_model.safetensors"), "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        head, data = json.loads(f.read(size)), f.read()
    made: Weights = {}
    for name, t in head.items():
        if name == "__metadata__":
            continue
        if t["dtype"] != "F32":
            raise ValueError("adapter: %s is %s, expects F32" % (name, t["dtype"]))
        begin, end = t["data_offsets"]
        made[name] = np.frombuffer(data[begin:end], "<f4").reshape(t["shape"]).astype(np.float64)
    return made


def _write_adapter(folder: str, weights: Weights) -> None:
    """The same file with other numbers."""
    path = os.path.join(folder, "adapter_model.safetensors")
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        text = f.read(size)
        data = bytearray(f.read())
    for name, t in json.loads(text).items():
        if name != "__metadata__":
            begin, end = t["data_offsets"]
            data[begin:end] = np.ascontiguousarray(weights[name], "<f4").tobytes()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", size) + text + bytes(data))


class Round:
    """What a client does in a round: it learns its partition from the weights that came. `settings`
    are those of Network.train; `lora`: only an adapter learns, and travels."""

    def __init__(self, network: Network, *, lora: Optional[Dict[str, Any]] = None, seed: int = 0,
                 **settings: Any) -> None:
        self._entity, self._lora, self._seed = network.to_bytes(), lora, seed
        self._settings = settings

    def _network(self) -> Network:
        return Network.from_bytes(self._entity)

    def learn(self, weights: Optional[Weights], number: int, partition: int, x: Any,
              y: Any) -> Weights:
        """The weights after round `number` at `partition`. Every bit is a function of these and of
        the settings."""
        network = self._network()
        # Other samples and noise in each round; the same adapter to begin with for all.
        seed = self._seed * 1000003 + number * 1009 + partition
        if self._lora is None:
            if weights is not None:
                _set_weights(network, weights)
            network.train(x, y, seed=seed, progress=False, **self._settings)
            return _weights_of(network)
        with tempfile.TemporaryDirectory() as folder:
            if weights is not None:
                self._begin_adapter(network, folder, weights, x, y)
            network.train(x, y, seed=seed if weights is not None else self._seed, progress=False,
                          lora=self._lora, **self._settings)
            network.save_adapter(folder)
            return _read_adapter(folder)

    def _begin_adapter(self, network: Network, folder: str, weights: Weights, x: Any,
                       y: Any) -> None:
        # A trainer makes the adapter, of which the file gets the round's numbers.
        trainer = network.copy().trainer(x, y, seed=self._seed, lora=self._lora, **self._settings)
        trainer.save(folder)
        _write_adapter(folder, weights)
        network.load_adapter(folder)

    def finished(self, weights: Weights, x: Any, y: Any) -> Network:
        """The network with the weights of the last round; with an adapter it runs with it."""
        network = self._network()
        if self._lora is None:
            _set_weights(network, weights)
            return network
        with tempfile.TemporaryDirectory() as folder:
            self._begin_adapter(network, folder, weights, x, y)
        return network


def federate(network: Network, partitions: Sequence[Tuple[Any, Any]], *, rounds: int,
             lora: Optional[Dict[str, Any]] = None, seed: int = 0,
             secure: Union[bool, Secure, None] = None, **settings: Any) -> Network:
    """A federation in this process: the same bits as one over Flower with these partitions, without
    `secure`, which is refused: nothing leaves this process, and rounding at random repeats no
    bits."""
    if _secure.options(secure) is not None:
        raise ValueError("secure: a federation in one process has no server to hide weights from, "
                         "and one with secure aggregation has no bits to repeat; compare with "
                         "Secure.bound")
    one = Round(network, lora=lora, seed=seed, **settings)
    weights: Optional[Weights] = None
    for number in range(1, rounds + 1):
        weights = tree_mean([(float(len(x)), one.learn(weights, number, i, x, y))
                             for i, (x, y) in enumerate(partitions)])
    if weights is None:
        raise ValueError("rounds: expects at least 1")
    return one.finished(weights, *partitions[0])


# ---- Flower


def _flower() -> Any:
    try:
        import flwr.app
        import flwr.clientapp
        import flwr.serverapp
    except ImportError as e:
        raise ImportError("welvet.flower needs the package flwr, 1.20 or later: "
                          "pip install 'flwr[simulation]'") from e
    return flwr


def client_app(network: Network, *, data: Partition, lora: Optional[Dict[str, Any]] = None,
               seed: int = 0, secure: Union[bool, Secure, None] = None, **settings: Any) -> Any:
    """A flwr ClientApp: `data(partition, partitions)` are its samples (x, y), which never leave it.
    With `secure` its weights leave it masked; True takes the server's options, a Secure refuses a
    server with others."""
    flwr = _flower()
    one = Round(network, lora=lora, seed=seed, **settings)
    securely = _secure.options(secure) is not None
    app = flwr.clientapp.ClientApp(mods=_secure.mods(secure) if secure else [])

    @app.train()  # type: ignore[untyped-decorator]
    def train(message: Any, context: Any) -> Any:
        partition = int(context.node_config["partition-id"])
        x, y = data(partition, int(context.node_config["num-partitions"]))
        if securely:
            return _secure.answer(message, context, partition, lambda weights, number: (
                one.learn(weights, number, partition, x, y), len(x)))
        if _secure.asked(message):
            raise ValueError("secure: the server aggregates securely: expects "
                             "client_app(secure=True)")
        came = message.content["arrays"]
        weights = {name: array.numpy() for name, array in came.items()} if len(came) else None
        number = int(message.content["config"]["server-round"])
        learned = one.learn(weights, number, partition, x, y)
        content = flwr.app.RecordDict({
            "arrays": flwr.app.ArrayRecord({n: flwr.app.Array(np.ascontiguousarray(a))
                                            for n, a in learned.items()}),
            "metrics": flwr.app.MetricRecord({"num-examples": len(x), "partition": partition})})
        return flwr.app.Message(content=content, reply_to=message)

    return app


def strategy(clients: int, *, on_round: OnRound = None) -> Any:
    """A flwr Strategy: the mean of all `clients` in the order of their partitions. A round in which
    one is missing is refused, as its bits would be others. `on_round` has a RoundEnd of each."""
    flwr = _flower()
    from flwr.serverapp.strategy import FedAvg

    class InOrder(FedAvg):  # type: ignore[misc]
        def aggregate_train(self, server_round: int, replies: Any) -> Any:
            valid, failed = self._check_and_log_replies(replies, is_train=True)
            if len(valid) < clients:
                raise RuntimeError("round %d: %d of %d clients answered%s" % (
                    server_round, len(valid), clients,
                    ": " + failed[0].error.reason if failed else ""))
            parts: List[Tuple[int, float, Weights]] = []
            for message in valid:
                metrics = message.content["metrics"]
                parts.append((int(metrics["partition"]), float(metrics["num-examples"]),
                              {n: a.numpy() for n, a in message.content["arrays"].items()}))
            parts.sort(key=lambda part: part[0])
            mean = tree_mean([(weight, arrays) for _, weight, arrays in parts])
            if on_round is not None:
                on_round(RoundEnd(server_round, mean, tuple(part[0] for part in parts), ()))
            arrays = flwr.app.ArrayRecord({n: flwr.app.Array(a) for n, a in mean.items()})
            return arrays, flwr.app.MetricRecord({"clients": len(parts)})

    return InOrder(fraction_evaluate=0.0, min_train_nodes=clients, min_available_nodes=clients)


def server_app(network: Network, *, clients: int, rounds: int,
               on_end: Callable[[Weights], Any], on_round: OnRound = None,
               lora: Optional[Dict[str, Any]] = None,
               secure: Union[bool, Secure, None] = None) -> Any:
    """A flwr ServerApp that runs `rounds` and hands the last weights to `on_end`: arrays by the
    names of parameters (Network.set), or of an adapter's tensors. `on_round` has a RoundEnd of each
    round. With `secure`, True or a Secure, no client's weights reach it (SecAgg+). Raises
    ValueError for options that do not fit `clients`."""
    flwr = _flower()
    options = _secure.options(secure)
    if options is not None:
        _secure._parts()
        options = options.of(clients)
    app = flwr.serverapp.ServerApp()
    first = {} if lora is not None else _weights_of(network)

    @app.main()  # type: ignore[untyped-decorator]
    def main(grid: Any, context: Any) -> None:
        if options is not None:
            on_end(_secure.serve(grid, context, options, clients, rounds, first, on_round))
            return
        arrays = flwr.app.ArrayRecord({n: flwr.app.Array(a) for n, a in first.items()})
        made = strategy(clients, on_round=on_round)
        result = made.start(grid=grid, initial_arrays=arrays, num_rounds=rounds)
        on_end({n: a.numpy() for n, a in result.arrays.items()})

    return app


__all__ = ["Round", "RoundEnd", "Secure", "client_app", "federate", "server_app", "strategy",
           "tree_mean"]
