#!/usr/bin/env python3
"""Random networks in Loom and in PyTorch: the same weights and inputs, and outputs, losses, and
gradients of all parameters must agree.

    torch_random.py [--seed N] [--count N] [--type NAME]    # needs PyTorch, and
    build/release/libloom.so (or $LOOM_LIBRARY) torch_random.py --only JSON
    # one configuration, as a failure prints it; - reads it from standard input

Loom computes in f32, PyTorch in double (torch_model.py); the largest difference of a tensor must be
below 1e-5 of its largest magnitude, or of 1. Layers stand behind a dense layer, whose gradients
show those of the layer's input. Loom's gradients are what one step of SGD takes off its parameters;
its rate is so large that nothing is lost by that, and targets lie so that the gradients of the
outputs are random numbers of about 1. A layer type that Loom has and nothing here makes is a
failure.
"""
import argparse
import json
import pathlib
import random
import sys

try:
    import numpy as np
    import torch
except ImportError as e:
    print(f"needs PyTorch and NumPy: {e}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
from torch_configs import ABSENT, KINDS, make
from torch_model import Model
import welvet

BOUND = 1e-5
MARGIN = 1e-4  # values nearer to a step say nothing: another configuration is drawn
RATE = 4096.0


class Undecided(Exception):
    """A value is so near to a step that f32 may fall on its other side."""


def error(got, want):
    """Relative to the largest magnitude, or to 1; infinite where one of them is not finite and the
    other is something else."""
    got, want = np.asarray(got, np.float64).reshape(-1), np.asarray(want, np.float64).reshape(-1)
    if got.shape != want.shape:
        return float("inf")
    if not np.all(np.isfinite(want)) or not np.all(np.isfinite(got)):
        return 0.0 if np.array_equal(got, want, equal_nan=True) else float("inf")
    return float(np.max(np.abs(got - want), initial=0.0)
                 / max(1.0, np.max(np.abs(want), initial=0.0)))


def weights(network, values, positive):
    """Random values of every parameter, of magnitude 1 where they are added up."""
    made = {}
    for p in network.parameters:
        v = values.uniform(-1, 1, (p.rows, p.cols))
        if p.role.endswith("var") or p.role in ("gain", "scale", "q_norm",
                                                "k_norm") or (positive and p.role == "value"):
            v = 1 + v / 2
        elif p.rows > 1 and p.role != "centers":
            v *= np.sqrt(2 / p.cols)
        if not p.tied:
            made[p.name] = v.astype(np.float32)
    return made


def ties(topology):
    return {"%d.%d.%d.%d" % tuple(cell["at"]): cell["tie"] for cell in topology["cells"]
            if "tie" in cell}


def check(config):
    """The errors of a configuration, by the names of what was compared."""
    topology = config["topology"]
    values = np.random.Generator(np.random.PCG64(config["seed"]))
    errors = {}
    with welvet.Network(topology, seed=None) as network:
        start = weights(network, values, config.get("positive", False))
        for name, v in start.items():
            network.set(name, v)
        params = {name: torch.tensor(v.astype(np.float64), requires_grad=True) for name,
                  v in start.items()}
        for p in network.parameters:
            if p.tied:
                params[p.name] = params[ties(topology)[p.path]]
        model = Model(topology, params)
        if "lengths" in config:
            loss, data = run_tokens(config, network, model, values, errors)
        else:
            loss, data = run_values(config, network, model, values, errors)
        if model.margin < MARGIN:
            raise Undecided(f"a value is {model.margin:.1e} from a step")
        if data is None:
            return errors
        with data, network.trainer(data,
                                   spec={"loss": "cross_entropy" if "lengths" in config else "mse",
                                         "batch": data.info["samples"], "steps": 1,
                                         "shuffle": False,
                                               "optimizer": {"type": "sgd"},
                                               "schedule": {"type": "constant", "lr": RATE}},
                                                 threads=1) as trainer:
            errors["loss"] = error(trainer.step().loss, loss.item())
        if loss.requires_grad:
            loss.backward()
        for name, v in start.items():
            now = network.get(name)
            if name in model.after:
                errors[name] = error(now, model.after[name])
                continue
            wanted = params[name].grad
            got = (v.astype(np.float64) - now) / RATE
            errors["gradient of " + name] = error(got, np.zeros_like(got) if wanted is None
                                                  else wanted)
    return errors


def run_values(config, network, model, values, errors):
    rows, given = config["rows"], network.info["input"]
    if "ids" in given:
        return run_ids(config, network, model,
                       values.integers(0, given["ids"], (rows, *given["dims"])).astype(np.int32),
                       values, errors)
    x = values.uniform(-1, 1, (rows, given["width"])).astype(np.float32)
    for place, v in config.get("special", []):
        x.reshape(-1)[place % x.size] = float(v)
    tx = torch.tensor(x.astype(np.float64))
    with torch.no_grad(), network.session(max_rows=rows, threads=1) as session:
        errors["y"] = error(session.run(x), model.values(tx))
    if config.get("inference"):
        return None, None
    y = model.values(tx, training=True)
    target = target_of(y, values)
    return ((y - torch.tensor(target.astype(np.float64))) ** 2).mean(), welvet.Data.values(x,
            target)


def run_ids(config, network, model, ids, values, errors):
    tx = torch.tensor(ids, dtype=torch.int64)
    with torch.no_grad(), network.session(max_rows=len(ids), threads=1) as session:
        errors["y"] = error(session.run_ids(ids), model.values(tx))
    y = model.values(tx, training=True)
    target = target_of(y, values)
    return ((y - torch.tensor(target.astype(np.float64))) ** 2).mean(), welvet.Data.ids(ids,
            y=target)


def target_of(y, values):
    # (y - target) * 2 / (rows * columns) is the gradient of y; where y is large, so is the
    # distance, or the rounding of y would be seen in it.
    away = max(y.numel() / 2, float(y.detach().abs().max()))
    return (y.detach().numpy() + values.uniform(0.3, 1, y.shape) * values.choice([-1, 1], y.shape)
            * away).astype(np.float32)


def run_tokens(config, network, model, values, errors):
    known, lengths = network.info["input"]["ids"], config["lengths"]
    # each id but the first is a target
    documents = [values.integers(0, known, n + 1).astype(np.int32) for n in lengths]
    ids = np.concatenate([d[:-1] for d in documents])
    with torch.no_grad():
        y = model.tokens(torch.tensor(ids, dtype=torch.int64), lengths)
    if config.get("causal", True):
        positions, sequences = (np.concatenate(list(parts)).astype(np.int32)
                                for parts in ((np.arange(n) for n in lengths),
                                              (np.full(n, s) for s, n in enumerate(lengths))))
        with network.session(max_rows=len(ids), max_head_rows=len(ids), max_positions=64,
                             sequences=len(lengths), threads=1) as session:
            errors["y"] = error(
                session.run_tokens(ids, positions, sequences, head=np.arange(len(ids))), y)
    y = model.tokens(torch.tensor(ids, dtype=torch.int64), lengths)
    targets = torch.tensor(np.concatenate([d[1:] for d in documents]), dtype=torch.int64)
    return torch.nn.functional.cross_entropy(y, targets), welvet.Data.tokens(documents, length=64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=900)
    parser.add_argument("--type", help="of this layer type, or of containers or links, alone")
    parser.add_argument("--only", help="one configuration")
    args = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    # graphs can differ in more ways than a layer
    kinds = [k for k in [*KINDS] + 7 * ["containers", "links"] if args.type in (None, k)]
    worst, counts, failed, redrawn = {}, {}, 0, 0
    if not args.only and not args.type:
        unknown = sorted(set(welvet.info()["layers"]) - set(KINDS) - set(ABSENT))
        if unknown:
            print(f"FAILED: no configurations of the layer types {', '.join(unknown)}: add "
                  f"<folder>_torch.py to their folders in src/layers, or them to "
                  f"tests/parity/pytorch/torch_configs.py")
            failed += 1
    for i in range(1 if args.only else args.count):
        kind = kinds[i % len(kinds)]
        r = random.Random(f"{args.seed}/{kind}/{counts.get(kind, 0)}")
        while True:
            config = json.loads(sys.stdin.read() if args.only == "-"
                                else args.only) if args.only else make(kind, r)
            kind = config["kind"]
            try:
                errors = check(config)
            except Undecided as e:
                if not args.only:
                    redrawn += 1
                    continue
                errors = {str(e): float("inf")}
            except Exception as e:  # the configuration is what one needs to see
                errors = {f"{type(e).__name__}: {e}": float("inf")}
            break
        counts[kind] = counts.get(kind, 0) + 1
        most = max(errors.values())
        worst[kind] = max(worst.get(kind, 0.0), most)
        if args.only:
            for name, e in errors.items():
                print(f"{e:9.2e}  {name}")
        if not most < BOUND:
            failed += 1
            print(f"FAILED {kind}: "
                  + ", ".join(f"{name} {e:.2e}" for name, e in errors.items() if not e < BOUND))
            print(f"  tests/parity/pytorch/torch_random.py --only '{json.dumps(config)}'")
    for kind in worst:
        print(f"{kind:22} {counts[kind]:4} configurations, worst {worst[kind]:.2e}")
    print(f"{sum(counts.values())} configurations of {len(worst)} kinds ({redrawn} drawn again), "
          f"worst {max(worst.values()):.2e}" + (f", {failed} FAILED" if failed else ""))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
