"""welvet.flower on this machine: Flower's simulation ends with the SHA-256 of the same federation
in one process, in whatever order its clients answer; the same with an adapter's matrices alone.

    python tests/parity/machines/flower_run.py         # 4 clients, 2 rounds
    python tests/parity/machines/flower_run.py --full  # 8 clients, 5 rounds

Needs flwr[simulation] and Linux. It runs in a network namespace of its own, so that no port is open
to other machines, and no process is left at its end. Ends with 77 where it cannot.
"""
import argparse
import hashlib
import logging
import os
import tempfile
import time
import traceback

import numpy as np
from isolated import gone, isolate

SETTINGS = {"epochs": 1, "batch_size": 8, "lr": 0.01}
LORA = {"rank": 2}


def network():
    from welvet import Network, layers
    return Network(layers.Sequential(
        layers.Input(6), layers.Linear(16, activation="tanh"), layers.Linear(3)), seed=1)


def samples():
    x = np.random.default_rng(0).normal(size=(240, 6)).astype(np.float32)
    return x, (x[:, :3] * x[:, 3:]).astype(np.float32)


def sha(weights):
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(name.encode() + np.ascontiguousarray(weights[name], "<f8").tobytes())
    return digest.hexdigest()


def expected(clients, rounds, lora):
    """The weights after the last round, in this process."""
    from welvet import flower
    x, y = samples()
    one = flower.Round(network(), lora=lora, **SETTINGS)
    weights = None
    for number in range(1, rounds + 1):
        weights = flower.tree_mean([
            (float(len(x[i::clients])),
             one.learn(weights, number, i, x[i::clients], y[i::clients]))
            for i in range(clients)])
    return weights


def simulated(clients, rounds, lora, order):
    """The weights after the last round, by Flower; with an order clients answer in it."""
    import flwr.simulation
    from welvet import flower
    x, y = samples()

    def data(partition, partitions):
        if order:  # each waits for the one that answers before it
            place = order.index(partition)
            time.sleep(0.15 * place)
        return x[partition::partitions], y[partition::partitions]

    got = {}
    server = flower.server_app(network(), clients=clients, rounds=rounds, lora=lora,
                               on_end=got.update)
    client = flower.client_app(network(), data=data, lora=lora, **SETTINGS)
    flwr.simulation.run_simulation(
        server, client, num_supernodes=clients,
        backend_config={"client_resources": {"num_cpus": 1}, "init_args": {
            "address": "local", "num_cpus": clients, "include_dashboard": False,
            "logging_level": "ERROR", "log_to_driver": False,
            "object_store_memory": 100 << 20}})
    return got


def prepared(description, level):
    """Clients and rounds of the command line, in a process of its own, with Flower's log from
    `level` on."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="8 clients, 5 rounds")
    args = parser.parse_args()
    isolate()
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", FLWR_TELEMETRY_ENABLED="0",
                      RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0")
    logging.getLogger("flwr").setLevel(level)
    return (8, 5) if args.full else (4, 2)


def main():
    clients, rounds = prepared(__doc__, logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FLWR_HOME"] = folder
        for lora, order in (None, list(range(clients))), (None, list(range(clients))[::-1]), (
                LORA, None):
            begin = time.monotonic()
            digest = sha(expected(clients, rounds, lora))
            got = sha(simulated(clients, rounds, lora, order))
            assert got == digest, (lora, order, got, digest)
            print("%d clients, %d rounds%s%s: %.0f s, %s" % (
                clients, rounds, ", an adapter" if lora else "",
                ", answers from %d to %d" % (order[0], order[-1]) if order else "",
                time.monotonic() - begin, digest), flush=True)
    gone()
    print("welvet.flower: the SHA-256 of one process in any order, no process left")


if __name__ == "__main__":
    try:
        main()
    except Exception:  # where Flower breaks, its server's thread never ends
        traceback.print_exc()
        os._exit(1)
