"""welvet.ray on this machine: trainings of 1, 2 and 3 workers have the SHA-256 of one trainer, also
where a worker is killed; answers for datasets, evolution and a service are those of the process.

    python tests/parity/machines/ray_run.py            # 12 steps
    python tests/parity/machines/ray_run.py --full     # 50 steps
    python tests/parity/machines/ray_run.py --measure  # rows per second of batch inference

Needs ray[data,train,serve] and Linux. It runs in a network namespace of its own, so that no port is
open to other machines, and no process is left at its end. Ends with 77 where it cannot.
"""
import argparse
import json
import os
import signal
import statistics
import tempfile
import time
import urllib.error
import urllib.request

import numpy as np
from isolated import gone, isolate

SHARDS = 6
BATCH = 48


def network():
    from welvet import Network, layers
    return Network(layers.Sequential(
        layers.Input(6), layers.Linear(16, activation="tanh"), layers.BatchNorm(),
        layers.Linear(3)), seed=1)


def samples(count=240):
    x = np.random.default_rng(0).normal(size=(count, 6)).astype(np.float32)
    return x, (x[:, :3] * x[:, 3:]).astype(np.float32)


# ---- training


def trains(steps, folder):
    """The network that every training ended with."""
    from welvet import ray as loom_ray
    x, y = samples()
    settings = {"batch_size": BATCH, "steps": steps, "lr": 0.01, "optimizer": "adamw"}
    with network().trainer(x, y, micro_batches=SHARDS, **settings) as alone:
        alone.step(steps)
        digest = alone.digest()
    settings.update(shards=SHARDS, checkpoint_every=max(2, steps // 5), storage_path=folder)
    mark = os.path.join(folder, "killed")

    def die(rank, trainer):
        if rank == 1 and trainer.done == steps // 2 and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    for workers, after_step in (1, None), (2, None), (3, None), (3, die):
        begin = time.monotonic()
        done = loom_ray.train(network(), x, y, workers=workers, after_step=after_step, **settings)
        assert (done.digest, done.step) == (digest, steps), (workers, done, digest)
        assert after_step is None or os.path.exists(mark), "no worker was killed"
        print("%d workers%s: %d steps, %.0f s, %s" % (
            workers, " of which one is killed" if after_step else "", steps,
            time.monotonic() - begin, digest), flush=True)
    return done.network


# ---- answers, evolution, a service


def answers(made):
    import ray
    from welvet import ray as loom_ray
    x, _ = samples(1000)
    rows = ray.data.from_items([{"id": i, "x": row} for i, row in enumerate(x)])
    for threads in 1, 2:
        found = loom_ray.predict(rows, made, threads=threads, concurrency=2, batch_size=128)
        by_row = sorted(found.take_all(), key=lambda row: row["id"])
        assert np.array_equal(np.stack([row["prediction"] for row in by_row]), made(x))
    print("1000 rows by 2 actors, with 1 and 2 threads: the answers of the process")


def evolves(generations):
    from welvet import Population
    from welvet import ray as loom_ray
    x, y = np.float32([[0, 0], [0, 1], [1, 0], [1, 1]]), np.float32([0, 1, 1, 0])

    def fitness(net):
        return float(4 - ((net(x).ravel() - y) ** 2).sum())

    def population():
        return Population({"inputs": 2, "outputs": 1, "population": 20}, seed=3)

    there = loom_ray.evolve(population(), fitness, generations=generations, workers=2)
    here, members = [], population()
    for generation in range(generations):
        if generation:
            members.step()
        found = [fitness(genome.network) for genome in members]
        members.set_fitness(found)
        here.append(max(found))
    assert there == here, (there, here)
    print("%d generations of 20, judged by 2 workers: the fitness of one process" % generations)


def serves(made):
    from ray import serve
    from welvet import ray as loom_ray
    serve.start(http_options={"host": "127.0.0.1", "port": 8000})
    try:
        serve.run(loom_ray.deployment(made), name="loom", route_prefix="/")
        x, _ = samples(3)

        def post(body):
            request = urllib.request.Request("http://127.0.0.1:8000/", json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)

        assert np.array_equal(np.float32(post({"x": x.tolist()})["y"]), made(x))
        try:
            post({"x": x[:, :5].tolist()})
            raise AssertionError("rows of another width are answered")
        except urllib.error.HTTPError as e:
            assert e.code == 400, e
            print("a service: the answers of the process, refusals with 400: %s"
                  % json.load(e)["error"])
    finally:
        serve.shutdown()


# ---- speed


def slow_network():
    """One whose row takes about a millisecond, and that time in seconds."""
    from welvet import Network, layers
    for width in 512, 768, 1024, 1536, 2048, 3072:
        made = Network(layers.Sequential(
            layers.Input(64), layers.Linear(width, activation="relu"),
            *[layers.Linear(width, activation="relu") for _ in range(8)], layers.Linear(8)), seed=1)
        seconds = per_row(made, 64)
        if seconds > 0.8e-3:
            break
    return made, seconds


def per_row(made, rows):
    x = np.random.default_rng(1).normal(size=(rows, 64)).astype(np.float32)
    with made.session(max_rows=rows, threads=1) as session:
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            session.run(x)
            times.append((time.perf_counter() - begin) / rows)
    return statistics.median(times)


def measures(rows):
    """Batch inference in steady state: rows per second between the batches that come back, the
    first quarter and the last tenth of them left out, beside one thread in this process."""
    import ray
    from welvet import ray as loom_ray
    made, seconds = slow_network()
    x = np.random.default_rng(2).normal(size=(rows, 64)).astype(np.float32)
    cores = len(os.sched_getaffinity(0))
    data = ray.data.from_items([{"x": row} for row in x], override_num_blocks=4 * cores)
    batch = 64
    found = loom_ray.predict(data, made, concurrency=cores, batch_size=batch)
    came = []
    for block in found.iter_batches(batch_size=batch, prefetch_batches=0):
        came.append((time.perf_counter(), len(block["prediction"])))
    first, last = len(came) // 4, len(came) - max(1, len(came) // 10)
    span, count = came[last - 1][0] - came[first][0], sum(n for _, n in came[first + 1:last])
    seconds = min(seconds, per_row(made, batch))
    print("one thread: %.3f ms a row; %d actors: %.3f ms a row: %.2f times as fast"
          % (1e3 * seconds, cores, 1e3 * span / count, seconds * count / span))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="50 steps, 20 generations")
    parser.add_argument("--measure", type=int, nargs="?", const=20000, metavar="ROWS",
                        help="measure batch inference alone")
    args = parser.parse_args()
    isolate()
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_TRAIN_V2_ENABLED="1",
                      RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0",
                      RAY_TRAIN_HEALTH_CHECK_INTERVAL_S="0.2")
    import ray
    ray.init(address="local", num_cpus=4, object_store_memory=200 << 20, include_dashboard=False,
             logging_level="ERROR", log_to_driver=False)
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        if args.measure:
            measures(args.measure)
        else:
            with tempfile.TemporaryDirectory() as folder:
                made = trains(50 if args.full else 12, folder)
            answers(made)
            evolves(20 if args.full else 3)
            serves(made)
    finally:
        ray.shutdown()
    gone()
    print("welvet.ray: one SHA-256, the answers of the process, no process left")


if __name__ == "__main__":
    main()
