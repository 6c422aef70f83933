"""Exports networks as ONNX and compares ONNX Runtime, and this library's own reader, with what the
network computes.

    python3 tests/parity/onnx/networks.py [--seed 1] [--count 300] [--type conv2d] [--dtypes]

The networks are those of the conformance matrix (tests/conformance/layer_samples.h and the
*_samples.def of layers) and random ones (tests/parity/pytorch/torch_configs.py). Each is refused by
name, or onnx.checker passes, ONNX Runtime agrees within 1e-5 of the largest value (1e-12 in f64),
and what from_onnx() reads back agrees, too. --dtypes: the matrix in every dtype as well, within the
bound of its arithmetic. Files in f64 are not asked of from_onnx(), which runs doubles in f32, and
onnx's reference evaluator stands in where ONNX Runtime has no kernel for doubles.

A network with steps, such as floor(x), has no one answer for a row that lies at one: floor(tanh(9))
is 0 or 1 by the last bit of tanh. Such a row is drawn again.
"""
import argparse
import collections
import json
import pathlib
import random
import re
import runpy
import sys

import numpy as np
import onnx
import onnx.reference
import onnxruntime

import welvet

ROOT = pathlib.Path(__file__).resolve().parents[3]
BOUND = 1e-5
# Weights of f16, i16 and u16 are decoded to f32 on both sides: the bound of f32.
#
# Integer products take activations as q15 (docs/reference/numerics.md): the scale is the smallest
# power of two with max|x| <= 16256 scale, so that scale < max|x| / 8128 and a rounded activation is
# off by at most max|x| / 16256 < 2^-13.9 max|x|. A result is then off by at most that times the sum
# of its row's weights, |w|_1 <= sqrt(cols) |w|_2; fill() draws rows of |w|_2 = sqrt(2/3) on average
# and at most sqrt(2), and rows here have up to 16 columns: 4 * sqrt(2/3) * 2^-13.9 = 2.1e-4 of the
# largest activation for a product. Softmax, norms and activations of 1-Lipschitz pass it on at most
# as large; the deepest networks have 8 products (q, k, v, scores, shares, o, head, and one before).
# Their sum is 1.7e-3.
#
# Products of bf16 and fp8 split activations into two bf16: |x - hi - lo| <= 2^-17 |x|, so that the
# same sum is 8 * 4 * sqrt(2/3) * 2^-17 = 2.0e-4.
PRODUCTS, ROW = 8, 4 * (2 / 3) ** 0.5
INTEGER = PRODUCTS * ROW / 16256
SPLIT = PRODUCTS * ROW * 2 ** -17
CLASSES = {"f64": 1e-12, "f16": BOUND, "i16": BOUND, "u16": BOUND, "i16:tensor": BOUND,
           "u16:tensor": BOUND, "bf16": SPLIT, "fp8e4m3": SPLIT, "fp8e5m2": SPLIT,
           "fp8e4m3:tensor": SPLIT, "fp8e5m2:tensor": SPLIT}
# Operators whose doubles neither has: ONNX Runtime has no kernel, and onnx's reference evaluator
# has a fault in them (groups, lengths, activations) or computes in f32. They are judged in f32.
NO_DOUBLES = {"ConvTranspose", "RNN", "GRU", "LSTM", "Erf", "Gelu"}
# Where an operator's result jumps, by its argument or the difference of its two.
STEPS = {"Floor": lambda x: x - np.round(x), "Ceil": lambda x: x - np.round(x),
         "Round": lambda x: x - np.floor(x) - 0.5, "Sign": lambda x: x,
         "Less": np.subtract, "LessOrEqual": np.subtract, "Greater": np.subtract,
         "GreaterOrEqual": np.subtract, "Equal": np.subtract}
UNREAD = collections.Counter()  # what this library writes and does not read
SAMPLE = re.compile(r'(?:LOOM_SAMPLE\(|\{)"(\w+)",\s*(-?\d+),\s*"([\d,]*)",\s*R"\((.*?)\)",'
                    r'\s*"[^"]*"(?:,\s*(\d))?[)}]', re.S)


def matrix(dtype="f32"):
    """(type, topology) of the samples."""
    texts = [(ROOT / "tests/conformance/layer_samples.h").read_text()]
    texts += [p.read_text() for p in sorted((ROOT / "src/layers").glob("*/*_samples.def"))]
    texts = [re.sub(r'\)"\s*R"\(', "", text) for text in texts]  # one literal of several
    for kind, width, dims, cell, version in (m for text in texts for m in SAMPLE.findall(text)):
        width, version = int(width), int(version or 1)
        given = {"width": 4} if width > 0 else {"ids": 5}
        cells = [{"type": "dense", "activation": "tanh", "out": width} if width > 0
                 else {"type": "embedding", "out": 16, "std": 0.5}]
        if width < 0:
            given = {"parts": [{"name": "x", "width": 3}, {"name": "n", "ids": 4}]}
            cells = []
        elif dims:
            cells.append({"type": "reshape", "dims": [int(d) for d in dims.split(",")]})
        cells.append(json.loads("{%s}" % cell))
        if version > 1:
            cells.append({"type": "flatten"})
        cells.append({"type": "dense", "out": 5})
        cells = [{"at": [0, 0, 0, i], "dtype": dtype, **c} for i, c in enumerate(cells)]
        yield kind, {"format": "loom-topology", "version": version, "layers_per_cell": len(cells),
                     "input": given, "cells": cells}


def fill(network, r):
    for p in network.parameters:
        if p.tied:
            continue
        v = r.uniform(-1, 1, (p.rows, p.cols))
        if p.role.endswith("var") or p.role in ("gain", "scale", "q_norm", "k_norm", "sub_norm"):
            v = 1 + v / 2
        elif p.rows > 1 and p.role != "centers":
            v *= np.sqrt(2 / p.cols)
        network.set(p.name, v.astype(np.float32))


def inputs_of(network, r, rows=3):
    """The row as this library takes it, and the arrays that the file takes by name."""
    given = network.info["input"]
    parts = given.get("parts") or [{"name": "input", **given}]
    columns, arrays = [], {}
    for part in parts:
        dims = list(part.get("dims") or ([] if "ids" in part else [part["width"]]))
        if "ids" in part:
            a = r.integers(0, part["ids"], [rows] + dims)
        else:
            a = r.uniform(-1, 1, [rows] + dims).astype(np.float32)
        arrays[part["name"]] = a
        columns.append(a.reshape(rows, -1))
    x = columns[0] if len(columns) == 1 else np.concatenate(columns, 1).astype(np.float32)
    return x, arrays


def computed(network, x, over_rows):
    """What the network gives, a row for each row."""
    given = network.info["input"]
    wide = given.get("dtype") == "f64"
    if over_rows:
        lanes, steps = x.shape
        positions = np.tile(np.arange(steps), lanes).astype(np.int32)
        sequences = np.repeat(np.arange(lanes), steps).astype(np.int32)
        with network.session(max_rows=x.size, max_head_rows=x.size, max_positions=64,
                             sequences=lanes, threads=1) as s:
            y = s.run_tokens(x.reshape(-1).astype(np.int32), positions, sequences,
                             head=np.arange(x.size))
        return np.asarray(y).reshape(lanes, steps, -1)
    with network.session(max_rows=len(x), max_head_rows=len(x), threads=1) as s:
        if "ids" in given and given.get("dims"):
            return np.asarray(s.run_ids(x.astype(np.int32)))
        if "ids" in given:  # a row each, of which none sees another
            return np.asarray(s.run_tokens(x.reshape(-1).astype(np.int32), np.arange(len(x)),
                                           np.zeros(len(x)), head=np.arange(len(x))))
        return np.asarray(s.run(x.astype(np.float64 if wide else np.float32)))


def flat(results):
    return np.concatenate([np.asarray(y, np.float64).reshape(len(y), -1) for y in results], 1)


def distance(a, b):
    a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
    if a.shape != b.shape:
        return float("inf")
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    top = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0)))
    return float(np.where(same, 0, np.abs(a - b)).max(initial=0)) / top


def has_doubles(model):
    return any(t.data_type == onnx.TensorProto.DOUBLE for t in model.graph.initializer)


def in_f32(model):
    """The same graph of f32."""
    single, double = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
    narrow = onnx.ModelProto()
    narrow.CopyFrom(model)
    for t in narrow.graph.initializer:
        if t.data_type == double:
            values = onnx.numpy_helper.to_array(t).astype(np.float32)
            t.CopyFrom(onnx.numpy_helper.from_array(values, t.name))
    for v in [*narrow.graph.input, *narrow.graph.output]:
        if v.type.tensor_type.elem_type == double:
            v.type.tensor_type.elem_type = single
    for a in (a for n in narrow.graph.node if n.op_type == "Cast" for a in n.attribute):
        a.i = single if a.name == "to" and a.i == double else a.i
    return narrow


def judged(model, arrays, outputs=()):
    """What ONNX Runtime computes, and the values of `outputs` beside it."""
    if outputs:
        known = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
        own = {v.name for v in model.graph.output}
        longer = onnx.ModelProto()
        longer.CopyFrom(model)
        longer.graph.output.extend(known[n] for n in outputs if n in known and n not in own)
        model = longer
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 4
    # Its optimizer makes products of 8-bit activations from DequantizeLinear and MatMul unless it
    # is told that they have f32: that is another graph than the file's.
    settings.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), settings,
                                               providers=["CPUExecutionProvider"])
        values = session.run(None, arrays)
    except Exception:
        if not has_doubles(model):
            raise
        UNREAD["ONNX Runtime has no kernel of doubles: onnx's reference evaluator"] += 1
        values = onnx.reference.ReferenceEvaluator(model).run(None, arrays)
    return dict(zip([v.name for v in model.graph.output], values))


def at_a_step(model, arrays):
    """Whether an argument of an operator that jumps lies within rounding of where it does."""
    nodes = [n for n in model.graph.node
             if n.op_type in STEPS or n.op_type in ("ThresholdedRelu", "Shrink")]
    fixed = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    wanted = {name for n in nodes for name in n.input if name not in fixed}
    values = {**fixed, **arrays, **judged(model, arrays, sorted(wanted))}
    for n in nodes:
        if any(name not in values for name in n.input):
            continue
        args = [np.asarray(values[name], np.float64) for name in n.input]
        if n.op_type in STEPS:
            away = STEPS[n.op_type](*args)
        else:
            edge = {"ThresholdedRelu": 1.0, "Shrink": 0.5}[n.op_type]
            for a in n.attribute:
                edge = a.f if a.name in ("alpha", "lambd") else edge
            away = args[0] - edge if n.op_type == "ThresholdedRelu" else np.abs(args[0]) - edge
        # A difference of exactly 0 of whole numbers, such as ids and steps, is no rounding.
        whole = all(np.all(a == np.round(a)) for a in args) and len(args) == 2
        if n.op_type in ("Sign", "Equal"):  # 0 is 0 behind a ReLU, on every side
            away = np.where(away == 0, np.inf, away)
        if not whole and np.any(np.abs(away) < 1e-5 * max(1.0, *(np.abs(a).max(initial=0)
                                                                  for a in args))):
            return True
    return False


def example(network, model, r):
    """The row and the arrays, and whether rows are positions."""
    over_rows = len(model.graph.output[0].type.tensor_type.shape.dim) > 1 and any(
        d.dim_param == "sequence" for d in model.graph.input[0].type.tensor_type.shape.dim)
    x, arrays = inputs_of(network, r)
    if over_rows:
        x = r.integers(0, network.info["input"]["ids"], (2, 5))
        arrays = {"input": x}
    return x, arrays, over_rows


def as_stored(topology, dtype):
    """The same network whose matrices are stored in `dtype`, as an export "as" it stores them."""
    return {**topology, "cells": [{**c, "dtype": dtype} for c in topology["cells"]]}


def check(topology, seed, **options):
    """(errors by the judge) or the refusal, a text."""
    r = np.random.default_rng(seed)
    stored = as_stored(topology, options["as_"]) if "as_" in options else topology
    with welvet.Network(topology, seed=None) as network, welvet.Network(stored, seed=None) as own:
        fill(network, np.random.default_rng(seed))
        fill(own, r)
        try:
            file = network.export_bytes("onnx", **options)
        except welvet.Unsupported as refusal:
            return str(refusal)
        assert file == network.export_bytes("onnx", **options), "two exports differ"
        model = onnx.load_from_string(file)
        onnx.checker.check_model(model, full_check=True)
        if has_doubles(model) and any(n.op_type in NO_DOUBLES for n in model.graph.node):
            model = in_f32(model)
        wide = network.info["input"].get("dtype") == "f64" and has_doubles(model)
        for _ in range(20):
            x, arrays, over_rows = example(network, model, r)
            arrays = {k: a.astype(np.float64) if wide and a.dtype == np.float32 else a
                      for k, a in arrays.items()}
            if not at_a_step(model, arrays):
                break
        else:
            return "at a step: twenty rows lie where an operator jumps"
        try:
            y = computed(own, x, over_rows)
        except welvet.Unsupported as refusal:  # later positions, which sessions have not seen yet
            return "not run here: %s" % refusal
        wanted = flat(np.asarray(y).reshape(1, len(x), -1))
        errors = {"onnxruntime": distance(wanted, flat(judged(model, arrays).values()))}
        if has_doubles(onnx.load_from_string(file)):
            # In f32 by the judge, or by a session of ids, whose results are f32.
            if not has_doubles(model):
                errors["onnxruntime"] *= CLASSES["f64"] / BOUND
            elif np.asarray(y).dtype == np.float32:
                errors["onnxruntime"] *= CLASSES["f64"] / 2 ** -23
            return errors
        try:
            with welvet.from_onnx(file) as graph:
                errors["from_onnx"] = distance(wanted, flat(graph.run(arrays).values()))
        except welvet.Unsupported as refusal:
            UNREAD[re.sub(r"node \d+ '[^']*' ", "", str(refusal))] += 1
        return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--type")
    parser.add_argument("--dtypes", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    cases = [("matrix/" + kind, t, {}, BOUND) for kind, t in matrix()]
    if args.dtypes:
        for dtype in welvet.info()["formats"]:
            if dtype != "f32":
                bound = CLASSES.get(dtype, INTEGER)
                cases += [("%s/%s" % (dtype, kind), t, {}, bound) for kind, t in matrix(dtype)]
        for dtype in ("f16", "i8"):
            cases += [("as %s/%s" % (dtype, kind), t, {"as_": dtype}, CLASSES.get(dtype, INTEGER))
                      for kind, t in matrix()]
    configs = runpy.run_path(str(ROOT / "tests/parity/pytorch/torch_configs.py"))
    kinds = [k for k in [*configs["KINDS"]] + 7 * ["containers", "links"]]
    counts = collections.Counter()
    for i in range(args.count):
        kind = kinds[i % len(kinds)]
        r = random.Random("%d/%s/%d" % (args.seed, kind, counts[kind]))
        counts[kind] += 1
        cases.append((kind, configs["make"](kind, r)["topology"], {}, BOUND))
    done, refused, failed = collections.defaultdict(list), collections.Counter(), 0
    for i, (name, topology, options, bound) in enumerate(cases):
        if args.type and args.type not in name:
            continue
        try:
            errors = check(topology, args.seed + i, **options)
        except Exception as e:  # the network is what one needs to see
            errors = {"%s: %s" % (type(e).__name__, str(e)[:300]): float("inf")}
        if isinstance(errors, str):
            refused[re.sub(r"\d+(\.\d+)*(/\d+)*", "#", errors)[:150]] += 1
            continue
        worst = max(errors.values())
        done[name.split("/")[0]].append(worst)
        if not worst < bound:
            failed += 1
            print("FAILED", name, ", ".join("%s %.2e" % e for e in errors.items()))
            if args.verbose:
                print("   ", json.dumps(topology))
    for name in sorted(done):
        print("%-24s %4d networks, worst %.2e" % (name, len(done[name]), max(done[name])))
    for text, count in refused.most_common():
        print("refused %4d: %s" % (count, text))
    for text, count in UNREAD.most_common():
        print("not read %3d: %s" % (count, text))
    print("%d networks exported, %d refused, %d FAILED" % (sum(map(len, done.values())),
                                                          sum(refused.values()), failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
