"""Secure aggregation of welvet.flower (SecAgg+, eprint 2020/704): Flower's workflow on the server,
its modifier on the client, and what both refuse."""
from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

Weights = Dict[str, np.ndarray]
_MODULUS = 1 << 32  # of Flower's masks


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError("secure: %s: expects a whole number from %d to %d, got %r"
                         % (name, low, high, value))


def _number(name: str, value: Any, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or \
            not low <= value <= high:
        raise ValueError("secure: %s: expects a number from %g to %g, got %r"
                         % (name, low, high, value))


@dataclasses.dataclass(frozen=True)
class Secure:
    """Options of secure aggregation, with Flower's names. The server learns the mean of the
    clients' weights and how many samples each has, no client's weights.

    num_shares: clients that hold a part of a client's key, 3 or more; below the number of clients
        it is odd. By default all clients.
    reconstruction_threshold: parts that make a key again, 2 to num_shares; by default more than
        half of them.
    clipping_range: the largest magnitude that a weight may have. A client whose weights are larger
        is refused, nothing is clipped.
    quantization_range: steps from -clipping_range to clipping_range, 2 to 2**30; times the clients
        it stays below 2**32.
    max_weight: the most samples that a client may have, up to quantization_range. With powers of
        two for both the clients' shares in the mean are exact.
    missing: how many clients may fail in a round after the keys are exchanged; the mean is then
        that of the others. At most num_shares - reconstruction_threshold.
    timeout: seconds to wait for answers; without it the server waits for all.

    Raises ValueError for a value out of these ranges.
    """

    num_shares: Optional[int] = None
    reconstruction_threshold: Optional[int] = None
    clipping_range: float = 8.0
    quantization_range: int = 1 << 22
    max_weight: float = 1024
    missing: int = 0
    timeout: Optional[float] = None

    def __post_init__(self) -> None:
        if self.num_shares is not None:
            _whole("num_shares", self.num_shares, 3, _MODULUS)
        if self.reconstruction_threshold is not None:
            _whole("reconstruction_threshold", self.reconstruction_threshold, 2,
                   self.num_shares or _MODULUS)
        _number("clipping_range", self.clipping_range, 1e-30, 1e30)
        _whole("quantization_range", self.quantization_range, 2, 1 << 30)
        _number("max_weight", self.max_weight, 1, self.quantization_range)
        _whole("missing", self.missing, 0, _MODULUS)
        if self.timeout is not None:
            _number("timeout", self.timeout, 1e-3, 1e9)

    def of(self, clients: int) -> "Secure":
        """These options with every default filled in for a number of clients. Raises ValueError
        where they do not go together."""
        if clients < 3:
            raise ValueError("secure: expects at least 3 clients, got %d: of two, each knows the "
                             "other's weights by the mean" % clients)
        shares = clients if self.num_shares is None else self.num_shares
        if shares > clients:
            raise ValueError("secure: num_shares: %d is more than the %d clients"
                             % (shares, clients))
        if shares < clients and shares % 2 == 0:
            raise ValueError("secure: num_shares: expects an odd number or the %d clients, got %d"
                             % (clients, shares))
        threshold = self.reconstruction_threshold
        threshold = shares // 2 + 1 if threshold is None else threshold
        if threshold > shares:
            raise ValueError("secure: reconstruction_threshold: %d is more than the %d shares"
                             % (threshold, shares))
        if self.missing > shares - threshold:
            raise ValueError("secure: missing: expects at most %d, as %d of %d shares make a key, "
                             "got %d" % (shares - threshold, threshold, shares, self.missing))
        if self.quantization_range * clients >= _MODULUS:
            raise ValueError("secure: quantization_range: expects at most %d for %d clients, got %d"
                             % ((_MODULUS - 1) // clients, clients, self.quantization_range))
        return dataclasses.replace(self, num_shares=shares, reconstruction_threshold=threshold)

    def bound(self, samples: Sequence[int]) -> float:
        """How far a weight of the mean can be from the mean in real numbers, for clients with these
        numbers of samples, K of them. Client i sends q_i = round(samples_i * Q / max_weight), and
        each weight times q_i / Q in steps of 2C / Q, rounded up or down at random: an error below
        one step. K of these are divided by sum(q) / Q: 2CK / sum(q). The shares q_i / sum(q)
        differ from samples_i / sum(samples) by what `max_weight` leaves, times C at most. Rounding
        of float64 adds Q * 2**-48 of the first part at most."""
        q = [round(n / self.max_weight * self.quantization_range) for n in samples]
        for n, part in zip(samples, q):
            if not 1 <= n <= self.max_weight or part < 1:
                raise ValueError("secure: a client has %d samples: expects 1 to max_weight, %g"
                                 % (n, self.max_weight))
        total, count = sum(q), sum(samples)
        steps = 2 * self.clipping_range * len(q) / total
        shares = math.fsum(abs(part / total - n / count) for n, part in zip(samples, q))
        return steps * (1 + self.quantization_range * 2.0**-48) + self.clipping_range * shares


class RoundEnd(NamedTuple):
    """What a round ended with: its number, the mean, the partitions it is of, and, in words, what
    the others failed with (only with Secure(missing=...))."""

    number: int
    weights: Weights
    partitions: Tuple[int, ...]
    failures: Tuple[str, ...]


OnRound = Optional[Callable[[RoundEnd], Any]]


def options(secure: Union[bool, Secure, None]) -> Optional[Secure]:
    if secure is None or secure is False:
        return None
    if secure is True:
        return Secure()
    if isinstance(secure, Secure):
        return secure
    raise TypeError("secure: expects True or welvet.flower.Secure, got %r" % (secure,))


class _Parts(NamedTuple):
    """What Flower has for it."""

    workflow: Any   # SecAggPlusWorkflow
    rounds: Any     # DefaultWorkflow
    mod: Any        # secaggplus_mod
    context: Any    # LegacyContext
    strategy: Any   # the strategy FedAvg of workflows
    compat: Any     # messages as workflows have them
    common: Any     # FitRes and what belongs to it
    config: Any     # ServerConfig


def _parts() -> _Parts:
    try:
        import flwr.common as common
        import flwr.compat.common.recorddict_compat as compat
        from flwr.client.mod import secaggplus_mod
        from flwr.server import LegacyContext, ServerConfig
        from flwr.server.strategy import FedAvg
        from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
    except ImportError as e:
        import flwr
        raise ImportError(
            "secure: flwr %s has no SecAgg+ as its versions around 1.42 have it "
            "(SecAggPlusWorkflow, secaggplus_mod): %s" % (getattr(flwr, "__version__", "?"), e)
        ) from e
    return _Parts(SecAggPlusWorkflow, DefaultWorkflow, secaggplus_mod, LegacyContext, FedAvg,
                  compat, common, ServerConfig)


_CONFIGS, _STATE = "secaggplus_configs", "secaggplus_state"  # of Flower's messages, and contexts


def asked(message: Any) -> bool:
    """Whether a message belongs to secure aggregation."""
    return _CONFIGS in message.content.config_records


def _order(weights: Weights) -> str:
    """Names and shapes in the order in which arrays travel."""
    return json.dumps([[name, list(np.shape(weights[name]))] for name in sorted(weights)])


# ---- the client


def mods(given: Union[bool, Secure]) -> List[Any]:
    """Modifiers of a ClientApp. With a Secure, a server with other options is refused."""
    made = _parts()
    wanted = given if isinstance(given, Secure) else None

    def guard(message: Any, context: Any, call_next: Any) -> Any:
        if not asked(message):
            raise ValueError("secure: the server does not aggregate securely: expects "
                             "server_app(secure=...)")
        configs = message.content.config_records[_CONFIGS]
        if wanted is not None and configs["stage"] == "setup":
            mine = wanted.of(int(configs["sample_num"]))
            for name, key in (("num_shares", "share_num"),
                              ("reconstruction_threshold", "threshold"),
                              ("clipping_range", "clipping_range"),
                              ("quantization_range", "target_range"),
                              ("max_weight", "max_weight")):
                if configs[key] != getattr(mine, name):
                    raise ValueError("secure: %s: the server has %r, this client expects %r"
                                     % (name, configs[key], getattr(mine, name)))
        return call_next(message, context)

    return [guard, made.mod]


def _check(weights: Weights, samples: int, state: Any) -> None:
    """Refuses what would be clipped."""
    if not 1 <= samples <= state["max_weight"]:
        raise ValueError("secure: %d samples: expects 1 to max_weight, %g"
                         % (samples, state["max_weight"]))
    limit = float(state["clipping_range"])
    for name, values in weights.items():
        outside = ~(np.abs(values) <= limit)
        if outside.any():
            raise ValueError("secure: %s: %d of %d weights are outside of clipping_range, %g; the "
                             "first is %r" % (name, outside.sum(), outside.size, limit,
                                              float(values[outside][0])))


def answer(message: Any, context: Any, partition: int,
           learn: Callable[[Optional[Weights], int], Tuple[Weights, int]]) -> Any:
    """The reply of a client, whose arrays Flower's modifier masks: learn(weights, round) has the
    new weights and the number of samples."""
    import flwr.app
    made = _parts()
    came = made.compat.recorddict_to_fitins(message.content, keep_input=True)
    arrays = made.common.parameters_to_ndarrays(came.parameters)
    names = [name for name, _ in json.loads(str(came.config["order"]))]
    weights = dict(zip(names, arrays)) if names else None
    learned, samples = learn(weights, int(came.config["server-round"]))
    _check(learned, samples, context.state.config_records[_STATE])
    sent = made.common.ndarrays_to_parameters(
        [np.ascontiguousarray(learned[name], np.float64) for name in sorted(learned)])
    reply = made.common.FitRes(
        status=made.common.Status(made.common.Code.OK, ""), parameters=sent, num_examples=samples,
        metrics={"partition": partition, "order": _order(learned)})
    content = made.compat.fitres_to_recorddict(reply, keep_input=False)
    return flwr.app.Message(content=content, reply_to=message)


# ---- the server


def _in_words(failures: Sequence[Any]) -> Tuple[str, ...]:
    made = []
    for failure in failures:
        error = failure.args[0] if getattr(failure, "args", ()) else failure
        made.append(str(getattr(error, "reason", error)))
    return tuple(made)


def _strategy(made: _Parts, secure: Secure, clients: int, first: Weights,
              on_round: OnRound) -> Any:
    class Mean(made.strategy):  # type: ignore[misc, name-defined]
        """The mean that came out of the masks."""

        order = _order(first)
        last = first

        def aggregate_fit(self, server_round: int, results: Any, failures: Any) -> Any:
            orders = {str(reply.metrics["order"]) for _, reply in results}
            if len(orders) != 1 or (json.loads(self.order) and orders != {self.order}):
                raise RuntimeError("round %d: the clients have different weights: %s" % (
                    server_round, " and ".join(sorted(orders | {self.order}))))
            self.order = orders.pop()
            parameters = results[0][1].parameters
            arrays = made.common.parameters_to_ndarrays(parameters)
            self.last = {name: a for (name, _), a in zip(json.loads(self.order), arrays)}
            parts = tuple(sorted(int(reply.metrics["partition"]) for _, reply in results))
            if on_round is not None:
                on_round(RoundEnd(server_round, self.last, parts, _in_words(failures)))
            return parameters, {"clients": len(parts)}

    start = [np.ascontiguousarray(first[name], np.float64) for name in sorted(first)]
    strategy = Mean(fraction_fit=1.0, fraction_evaluate=0.0, min_fit_clients=clients,
                    min_available_clients=clients,
                    initial_parameters=made.common.ndarrays_to_parameters(start))
    strategy.on_fit_config_fn = lambda number: {"server-round": number, "order": strategy.order}
    return strategy


def _workflow(made: _Parts, secure: Secure, clients: int) -> Any:
    class Strict(made.workflow):  # type: ignore[misc, name-defined]
        """Flower's workflow halts a round in silence and goes on to the next: here the first round
        that is not whole is the last, and says why."""

        broken: Optional[Exception] = None

        def __call__(self, grid: Any, context: Any) -> None:
            if self.broken is None:
                try:
                    super().__call__(grid, context)
                except Exception as e:  # Flower's thread would go on: raised after the last round
                    self.broken = e

        def _stage(self, name: str, context: Any, state: Any, held: bool) -> bool:
            answered = len(state.active_node_ids)
            # Who fails when keys are asked for is in the mean already.
            if held and (name == "unmask" or clients - answered <= secure.missing):
                return True
            failures = _in_words(state.failures)
            number = context.state.config_records["config"]["current_round"]
            why = ": " + "; ".join(failures) if failures else ""
            raise RuntimeError("round %s: secure aggregation ends at %r: %d of %d clients "
                               "answered%s" % (number, name, answered, clients, why))

        def setup_stage(self, grid: Any, context: Any, state: Any) -> bool:
            return self._stage("setup", context, state, super().setup_stage(grid, context, state))

        def share_keys_stage(self, grid: Any, context: Any, state: Any) -> bool:
            return self._stage("share keys", context, state,
                               super().share_keys_stage(grid, context, state))

        def collect_masked_vectors_stage(self, grid: Any, context: Any, state: Any) -> bool:
            return self._stage("collect masked vectors", context, state,
                               super().collect_masked_vectors_stage(grid, context, state))

        def unmask_stage(self, grid: Any, context: Any, state: Any) -> bool:
            return self._stage("unmask", context, state,
                               super().unmask_stage(grid, context, state))

    threshold: Union[int, float, None] = secure.reconstruction_threshold
    if threshold == secure.num_shares:
        threshold = 1.0  # Flower takes all shares as a part alone
    return Strict(secure.num_shares, threshold, max_weight=float(secure.max_weight),
                  clipping_range=float(secure.clipping_range),
                  quantization_range=secure.quantization_range, modulus_range=_MODULUS,
                  timeout=secure.timeout)


def serve(grid: Any, context: Any, secure: Secure, clients: int, rounds: int, first: Weights,
          on_round: OnRound) -> Weights:
    """Runs the rounds and returns the last weights. `secure` is that of Secure.of. Raises
    RuntimeError for a round that is not whole."""
    made = _parts()
    strategy = _strategy(made, secure, clients, first, on_round)
    workflow = _workflow(made, secure, clients)
    legacy = made.context(context=context, config=made.config(num_rounds=rounds),
                          strategy=strategy)
    made.rounds(fit_workflow=workflow)(grid, legacy)
    if workflow.broken is not None:
        raise workflow.broken
    last: Weights = strategy.last
    return last
