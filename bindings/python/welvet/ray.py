"""Loom on Ray: answers for whole datasets, trainings on several machines, populations, a service.

    from welvet import ray as loom_ray
    answers = loom_ray.predict(dataset, network, column="x")
    trained = loom_ray.train(network, x, y, workers=3, shards=6, batch_size=96, epochs=5)

A training of N workers has the bits of one: a step is cut into `shards`, whoever is free computes
one, and every worker applies all of them in the order of their numbers (Trainer.shard, apply).
Workers that are lost change nothing: Ray starts the group again from the last checkpoint, and what
is done twice comes out the same. Needs the package ray (`ray[data,train,serve]`).
"""
from __future__ import annotations

import os
import tempfile
import uuid
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .network import _ROWS, Network

try:
    import ray as _ray
except ImportError as e:
    raise ImportError("welvet.ray needs the package ray: pip install 'ray[data,train,serve]'") \
        from e

Arrays = Union[Tuple[Any, Any], Callable[[], Tuple[Any, Any]]]


# ---- answers for a dataset


class _Predictor:
    """An actor of map_batches: a network, and a session that lives as long."""

    def __init__(self, entity: bytes, column: str, output: str, threads: int) -> None:
        self._network = Network.from_bytes(entity)
        # The session that every call takes, with this number of threads.
        self._network._sessions.put(self._network._session(max_rows=_ROWS, threads=threads))
        self._column, self._output = column, output

    def __call__(self, batch: Dict[str, np.ndarray]) -> Dict[str, Any]:
        x = batch[self._column]
        if x.dtype == object:
            x = np.stack(list(x))
        answer = self._network(x)
        if isinstance(answer, dict):
            made = {"%s_%s" % (self._output, name): np.asarray(a) for name, a in answer.items()}
        else:
            made = {self._output: np.asarray(answer)}
        return {**batch, **made}


def predict(dataset: Any, network: Network, *, column: str = "x", output: str = "prediction",
            batch_size: int = 1024, concurrency: Any = None, threads: int = 1,
            **resources: Any) -> Any:
    """A ray.data.Dataset with the network's answers to a column beside its own columns, by actors
    that hold the network once each, with `threads` threads. `concurrency`: actors, or (fewest,
    most); by default as many as the cluster has CPUs. A network of several outputs has a column for
    each, "prediction_NAME". `resources` go to map_batches (num_cpus, ...)."""
    from ray.data import ActorPoolStrategy

    if concurrency is None:
        concurrency = max(1, int(_ray.cluster_resources().get("CPU", 1)))
    low, high = concurrency if isinstance(concurrency, tuple) else (concurrency, concurrency)
    pool = ActorPoolStrategy(min_size=low, max_size=high)
    return dataset.map_batches(
        _Predictor, batch_size=batch_size, batch_format="numpy", compute=pool,
        fn_constructor_kwargs={"entity": network.to_bytes(), "column": column, "output": output,
                               "threads": threads}, **resources)


# ---- training


class _Board:
    """Where shards lie until every worker has them: those of the last two steps. It adds nothing
    up."""

    def __init__(self) -> None:
        self._steps: Dict[int, Dict[int, bytes]] = {}

    def put(self, step: int, shards: Dict[int, bytes]) -> None:
        # The same number always has the same bytes, whoever computed it and however often.
        self._steps.setdefault(step, {}).update(shards)
        for old in [s for s in self._steps if s < step - 1]:
            del self._steps[old]

    async def all(self, step: int, count: int) -> List[bytes]:
        import asyncio
        while len(self._steps.get(step, {})) < count:
            await asyncio.sleep(0.001)
        return [self._steps[step][i] for i in range(count)]


class Trained(NamedTuple):
    """What a training on Ray ends with: the network, the SHA-256 of its training (step, weights and
    moments), the last step and its loss."""

    network: Network
    digest: str
    step: int
    loss: float


def _loop(config: Dict[str, Any]) -> None:
    """What every worker of a training does."""
    from ray import train as ray_train
    context = ray_train.get_context()
    rank, world = context.get_world_rank(), context.get_world_size()
    board = _ray.get_actor(config["board"])
    data = config["data"]
    x, y = data() if callable(data) else _ray.get(list(data))
    network = Network.from_bytes(_ray.get(config["network"]))
    trainer = network.trainer(np.array(x), None if y is None else np.array(y),
                              **config["settings"])
    checkpoint = ray_train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder:
            with open(os.path.join(folder, "trainer.entity"), "rb") as f:
                trainer.resume(f.read())
    shards, steps, every = config["shards"], trainer.info["steps"], config["checkpoint_every"]
    after = config["after_step"]
    loss = float("nan")
    while trainer.done < steps:
        step = trainer.done
        own = {i: trainer.shard(i) for i in range(rank, shards, world)}
        if own:
            _ray.get(board.put.remote(step, own))
        loss = trainer.apply(_ray.get(board.all.remote(step, shards))).loss
        if after is not None:
            after(rank, trainer)
        if trainer.done == steps or trainer.done % every == 0:
            _report(ray_train, trainer, rank, loss)
    if loss != loss:  # a checkpoint of the end was found
        _report(ray_train, trainer, rank, loss)


def _report(ray_train: Any, trainer: Any, rank: int, loss: float) -> None:
    metrics = {"step": trainer.done, "loss": loss, "digest": trainer.digest()}
    if rank > 0:
        ray_train.report(metrics)
        return
    with tempfile.TemporaryDirectory() as folder:
        trainer.save(os.path.join(folder, "trainer.entity"))
        ray_train.report(metrics, checkpoint=ray_train.Checkpoint.from_directory(folder))


def train(network: Network, x: Any, y: Any = None, *, workers: int = 2,
          shards: Optional[int] = None, checkpoint_every: int = 50, failures: int = 3,
          storage_path: Optional[str] = None, name: Optional[str] = None,
          resources_per_worker: Optional[Dict[str, float]] = None, batch_size: int = 32,
          after_step: Optional[Callable[[int, Any], Any]] = None, **settings: Any) -> Trained:
    """Trains by ray.train's DataParallelTrainer, with the bits of one trainer whose `micro_batches`
    are `shards` (by default `workers`), for any number of workers. x and y: arrays, which travel
    through Ray's object store, or x alone: a function that returns (x, y) on the worker.
    `settings` are those of Network.trainer (loss, optimizer, lr, epochs or steps, ...);
    `batch_size` must be a multiple of `shards`. Each `checkpoint_every` steps the training is saved
    to `storage_path`; after a worker is lost, at most `failures` times, the group continues from
    there. `after_step(rank, trainer)` is called on each worker. The network that is given stays as
    it is."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    try:
        from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
    except ImportError:  # before Ray 2.43
        from ray.train.data_parallel_trainer import DataParallelTrainer

    shards = workers if shards is None else shards
    if workers < 1 or shards < 1 or checkpoint_every < 1:
        raise ValueError("workers, shards and checkpoint_every are at least 1")
    if batch_size % shards:
        raise ValueError("batch_size: %d is no multiple of the %d shards" % (batch_size, shards))
    settings = {**settings, "batch_size": batch_size, "micro_batches": shards}
    board_name = "loom-" + uuid.uuid4().hex
    board = _ray.remote(_Board).options(name=board_name, num_cpus=0, max_concurrency=1000).remote()
    config = {"board": board_name, "network": _ray.put(network.to_bytes()),
              "data": x if callable(x) else [_ray.put(np.asarray(x)),
                                             _ray.put(None if y is None else np.asarray(y))],
              "settings": settings, "shards": shards, "checkpoint_every": checkpoint_every,
              "after_step": after_step}
    with tempfile.TemporaryDirectory() as own:
        run = RunConfig(name=name, storage_path=storage_path or own,
                        failure_config=FailureConfig(max_failures=failures))
        scaling = ScalingConfig(num_workers=workers, resources_per_worker=resources_per_worker)
        try:
            result = DataParallelTrainer(_loop, train_loop_config=config, scaling_config=scaling,
                                         run_config=run).fit()
        finally:
            _ray.kill(board)
        with result.checkpoint.as_directory() as folder:
            trained = Network.load(os.path.join(folder, "trainer.entity"))
            trained = Network.from_bytes(trained.to_bytes())
    return Trained(trained, str(result.metrics["digest"]), int(result.metrics["step"]),
                   float(result.metrics["loss"]))


# ---- populations


class _Evaluator:
    def __init__(self, fitness: Callable[[Network], float]) -> None:
        self._fitness = fitness

    def evaluate(self, entity: bytes) -> float:
        return float(self._fitness(Network.from_bytes(entity)))


def evolve(population: Any, fitness: Callable[[Network], float], *, generations: int,
           workers: int = 2, goal: Optional[float] = None, **resources: Any) -> List[float]:
    """Evolves a population (welvet.Population, of genomes or networks) whose members are judged by
    `fitness(network)` on Ray's workers; the best fitness of each generation comes back. Which
    worker judged whom changes no bit of it. Ends early where the best reaches `goal`."""
    judge = _ray.remote(_Evaluator).options(**resources)
    actors = [judge.remote(fitness) for _ in range(workers)]
    history: List[float] = []
    try:
        for generation in range(generations):
            members = [genome.network.to_bytes() for genome in population]
            pending = [actors[i % workers].evaluate.remote(m) for i, m in enumerate(members)]
            found = _ray.get(pending)
            population.set_fitness(found)
            history.append(max(found))
            if generation + 1 == generations or (goal is not None and history[-1] >= goal):
                break
            population.step()
    finally:
        for actor in actors:
            _ray.kill(actor)
    return history


# ---- a service


def deployment(network: Union[Network, str, "os.PathLike[str]"], *, name: str = "loom",
               **options: Any) -> Any:
    """A Ray Serve application that answers POST {"x": rows} with {"y": rows}:
    `serve.run(deployment(network))`. `options` go to serve.deployment (num_replicas, ...)."""
    from ray import serve
    entity = network.to_bytes() if isinstance(network, Network) else Network.load(
        network).to_bytes()

    class Service:
        def __init__(self) -> None:
            self._network = Network.from_bytes(entity)

        async def __call__(self, request: Any) -> Any:
            from starlette.responses import JSONResponse
            try:
                given = await request.json()
            except ValueError:
                given = None
            if not isinstance(given, dict) or set(given) != {"x"}:
                return JSONResponse({"error": "expects {\"x\": rows}"}, status_code=400)
            try:
                x = given["x"]
                answer = self._network({k: np.asarray(v) for k, v in x.items()}
                                       if isinstance(x, dict) else np.asarray(x, np.float32))
            except (ValueError, TypeError) as e:
                return JSONResponse({"error": str(e)}, status_code=400)
            if isinstance(answer, dict):
                return {"y": {k: np.asarray(v).tolist() for k, v in answer.items()}}
            return {"y": np.asarray(answer).tolist()}

    Service.__name__ = name
    return serve.deployment(Service, name=name, **options).bind()


__all__: Sequence[str] = ["Trained", "deployment", "evolve", "predict", "train"]
