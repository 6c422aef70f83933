"""Secure aggregation of welvet.flower on this machine: each round's mean is as near the mean in one
process as Secure.bound says, no message to the server holds a client's weights, clients that fail
are named or left out as the options say, and weights out of range are refused.

    python tests/parity/machines/secure_run.py         # 4 clients, 2 rounds
    python tests/parity/machines/secure_run.py --full  # 8 clients, 5 rounds

Needs flwr[simulation] and Linux. It runs in a network namespace of its own, so that no port is open
to other machines, and no process is left at its end. Ends with 77 where it cannot.
"""
import logging
import os
import sys
import tempfile
import time
import traceback
import unittest.mock

import numpy as np
from flower_run import LORA, SETTINGS, network, prepared, samples
from isolated import gone

from welvet import flower

FEW = {"clients": 3, "rounds": 1}


def simulate(clients, rounds, secure, lora=None, client_secure=True, client_network=None,
             fails=None, on_round=None):
    """The last weights, by Flower. `fails(partition)` may raise on a client."""
    import flwr.simulation
    x, y = samples()

    def data(partition, partitions):
        if fails:
            fails(partition)
        return x[partition::partitions], y[partition::partitions]

    got = {}
    server = flower.server_app(network(), clients=clients, rounds=rounds, lora=lora, secure=secure,
                               on_round=on_round, on_end=got.update)
    client = flower.client_app(client_network or network(), data=data, lora=lora,
                               secure=client_secure, **SETTINGS)
    flwr.simulation.run_simulation(
        server, client, num_supernodes=clients,
        backend_config={"client_resources": {"num_cpus": 1}, "init_args": {
            "address": "local", "num_cpus": clients, "include_dashboard": False,
            "logging_level": "ERROR", "log_to_driver": False,
            "object_store_memory": 100 << 20}})
    return got


def learned(clients, number, before, lora):
    """What each client has learned in a round that begins with these weights."""
    x, y = samples()
    one = flower.Round(network(), lora=lora, **SETTINGS)
    return [(len(x[i::clients]), one.learn(before, number, i, x[i::clients], y[i::clients]))
            for i in range(clients)]


def near(ends, clients, secure, lora=None):
    """The largest error of any round, as a part of the bound."""
    before, largest = None, 0.0
    for end in ends:
        parts = [learned(clients, end.number, before, lora)[i] for i in end.partitions]
        bound = secure.of(clients).bound([n for n, _ in parts])
        mean = flower.tree_mean([(float(n), w) for n, w in parts])
        assert set(mean) == set(end.weights), (sorted(mean), sorted(end.weights))
        error = max(np.abs(mean[name] - end.weights[name]).max() for name in mean)
        assert 0 < error <= bound, (end.number, error, bound)
        largest = max(largest, error / bound)
        before = end.weights
    return largest, bound


# ---- what the server receives


class Listening:
    """Keeps what clients send to the server."""

    def __init__(self):
        from flwr.server.workflow import SecAggPlusWorkflow
        self.kind, self.came = SecAggPlusWorkflow, []
        self.plain = SecAggPlusWorkflow.collect_masked_vectors_stage

    def __enter__(self):
        outer = self

        class Grid:
            def __init__(self, grid):
                self.grid = grid

            def send_and_receive(self, *args, **kwargs):
                replies = list(self.grid.send_and_receive(*args, **kwargs))
                for reply in replies:
                    content = reply.content
                    outer.came.append({
                        "arrays": [k for r in content.array_records.values() for k in r],
                        "others": {k: dict(r) for kind in (content.config_records,
                                                           content.metric_records)
                                   for k, r in kind.items()}})
                return replies

        def collect(workflow, grid, context, state):
            return outer.plain(workflow, Grid(grid), context, state)

        self.kind.collect_masked_vectors_stage = collect
        return self.came

    def __exit__(self, *_):
        self.kind.collect_masked_vectors_stage = self.plain


def masked(came, clients, secure):
    """What came in the first round tells nothing of a client: no arrays, and numbers that are even
    over all that a mask can be, far from the client's steps."""
    from flwr.common import bytes_to_ndarray
    parts = learned(clients, 1, None, None)
    everything, close = [], 0
    assert len(came) == clients
    for message in came:
        assert not message["arrays"], message["arrays"]
        others = message["others"]
        assert set(others) == {"fitres.metrics", "fitres.num_examples", "fitres.status",
                               "secaggplus_configs"}, set(others)
        assert set(others["fitres.metrics"]) == {"partition", "order"}
        assert set(others["secaggplus_configs"]) == {"masked_params"}
        arrays = [bytes_to_ndarray(b) for b in others["secaggplus_configs"]["masked_params"]]
        count, weights = parts[others["fitres.metrics"]["partition"]]
        part = count / secure.max_weight
        step = secure.quantization_range / (2 * secure.clipping_range)
        for name, array in zip(sorted(weights), arrays[1:]):
            plain = (weights[name] * part + secure.clipping_range) * step
            assert array.shape == plain.shape
            close += int((np.abs(array - plain) < 2.0**24).sum())
            everything.append(array.ravel() / 2.0**32)
    everything = np.concatenate(everything)
    assert everything.min() >= 0 and everything.max() < 1
    # Even numbers: a mean within 6 deviations of a half, and one in 128 this near to any.
    spread = 6 * np.sqrt(1 / 12 / len(everything))
    assert abs(everything.mean() - 0.5) < spread, everything.mean()
    assert close < 0.05 * len(everything), (close, len(everything))
    print("what %d clients send: %d numbers, mean %.3f of the masks' range, no arrays" % (
        clients, len(everything), everything.mean()), flush=True)


# ---- what is refused


def refused(what, *words, **options):
    """The federation ends with an error that holds these words."""
    try:
        simulate(**{**FEW, "secure": True, **options})
    except Exception as e:
        text = "%s %s" % (e, e.__cause__ or "")
        assert all(word in text for word in words), (what, text)
        print("%s: refused" % what, flush=True)
    else:
        raise AssertionError("%s is not refused" % what)


def one_fails(partition):
    if partition == 1:
        raise RuntimeError("client 1 has no power")


def told(secure, configs, *words):
    """A client app, asked here without Flower's machinery, refuses a message with these words."""
    from flwr.app import ConfigRecord, Context, Message, RecordDict
    x, y = samples()
    app = flower.client_app(network(), data=lambda *_: (x, y), secure=secure, **SETTINGS)
    content = RecordDict({"secaggplus_configs": ConfigRecord(configs)} if configs else {})
    context = Context(run_id=1, node_id=1, node_config={"partition-id": 0, "num-partitions": 3},
                      state=RecordDict(), run_config={})
    try:
        app(Message(content, dst_node_id=1, message_type="train"), context)
    except ValueError as e:
        assert all(word in str(e) for word in words), e
    else:
        raise AssertionError("%r is not refused by secure=%r" % (configs, secure))


def older():
    """A Flower without the workflow is refused by its name."""
    import flwr.clientapp  # noqa: F401  (needs the module itself)
    with unittest.mock.patch.dict(sys.modules, {"flwr.client.mod": None}):
        for make in (lambda: flower.server_app(network(), clients=3, rounds=1, on_end=dict,
                                               secure=True),
                     lambda: flower.client_app(network(), data=None, secure=True)):
            try:
                make()
            except ImportError as e:
                assert "has no SecAgg+" in str(e), e
            else:
                raise AssertionError("a Flower without SecAgg+ is not refused")


def refusals():
    small = flower.Secure(clipping_range=0.25)
    refused("weights out of range", "outside of clipping_range, 0.25", secure=small)
    refused("more samples than max_weight", "80 samples", secure=flower.Secure(max_weight=64))
    refused("a client that fails", "2 of 3 clients", "no power", fails=one_fails)
    setup = {"stage": "setup", "sample_num": 3, "share_num": 3, "threshold": 2,
             "max_weight": 1024.0, "clipping_range": 8.0, "target_range": 1 << 22,
             "mod_range": 1 << 32}
    for key, value, option in (("threshold", 3, "reconstruction_threshold"),
                               ("clipping_range", 4.0, "clipping_range"),
                               ("target_range", 1 << 20, "quantization_range"),
                               ("max_weight", 64.0, "max_weight")):
        told(flower.Secure(), {**setup, key: value}, option, "the server has %r" % value)
    told(None, setup, "client_app(secure=True)")
    told(True, None, "server_app(secure=...)")
    older()
    print("a server with other options, a client and a server without it: refused", flush=True)


def drops(secure, clients, fails):
    """A round goes on without a client, with what its options allow."""
    ends = []
    simulate(clients, 2, secure, fails=fails, on_round=ends.append)
    for end in ends:
        assert end.partitions == (0, 2, 3) and len(end.failures) >= 1, end[2:]
        assert all("no power" in why for why in end.failures), end.failures
    largest, bound = near(ends, clients, secure)
    print("a client fails in 2 rounds: the mean of the others, %.2f of the bound" % largest,
          flush=True)


def main():
    clients, rounds = prepared(__doc__, logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FLWR_HOME"] = folder
        for secure, lora in (flower.Secure(), None), (
                flower.Secure(clipping_range=2.0, quantization_range=1 << 20, max_weight=100,
                              num_shares=3, reconstruction_threshold=3), LORA):
            begin, ends = time.monotonic(), []
            with Listening() as came:
                simulate(clients, rounds, secure, lora, on_round=ends.append)
            largest, bound = near(ends, clients, secure, lora)
            print("%d clients, %d rounds%s: %.0f s, the error is %.2f of the bound, %.2g" % (
                clients, rounds, ", an adapter" if lora else "", time.monotonic() - begin, largest,
                bound), flush=True)
            if lora is None:
                masked(came[:clients], clients, secure)
        drops(flower.Secure(missing=1), 4, one_fails)
        refusals()
    gone()
    print("welvet.flower: secure means within their bound, no process left")


if __name__ == "__main__":
    try:
        main()
    except Exception:  # where Flower breaks, its server's thread never ends
        traceback.print_exc()
        os._exit(1)
