#!/usr/bin/env python3
"""tests/parity/onnx/operators.py: random cases of operators that the backend cases of ONNX show few
settings of, with the answers of ONNX's own reference evaluator, as
tests/golden/onnx/operators.json. Needs the packages onnx (1.23 made the file) and onnxruntime
(1.32). src/onnx/operators_test.cpp runs them."""
import argparse
import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(20261123)
cases = []


def array_json(a):
    a = np.asarray(a)
    kind = {"bool": "bool", "float32": "float", "int64": "int64", "int32": "int32", "int8": "int8",
            "uint8": "uint8"}[str(a.dtype)]
    values = [float(np.format_float_positional(v, unique=True, trim="0"))
              for v in a.ravel()] if a.dtype == np.float32 else (a.astype(np.int64)
              if a.dtype == bool else a).ravel().tolist()
    return {"type": kind, "dims": list(a.shape), "values": values}


def reference(model, feeds):
    # the evaluator has neither the axes and directions of a Scan nor what a Loop stacks of one
    # dimension
    if model.graph.node[0].op_type in ("Loop", "Scan"):
        return onnxruntime.InferenceSession(model.SerializeToString(),
                                            providers=["CPUExecutionProvider"]).run(None, feeds)
    return ReferenceEvaluator(model).run(None, feeds)


def graph_case(name, nodes, feeds, initializers, outputs, opset):
    graph_inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype),
                                                  a.shape) for n, a in feeds.items()]
    graph = helper.make_graph(nodes, name, graph_inputs,
                              [helper.make_tensor_value_info(o, TensorProto.FLOAT
                                                             if nodes[0].op_type in ("Loop", "Scan")
                                                             else TensorProto.UNDEFINED, None)
                                                               for o in outputs],
                              [onnx.numpy_helper.from_array(a, n) for n, a in initializers.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    results = reference(model, feeds)
    for value, result in zip(model.graph.output, results):
        value.CopyFrom(helper.make_tensor_value_info(value.name,
                                                     helper.np_dtype_to_tensor_dtype(
                                                         np.asarray(result).dtype),
                                                           np.asarray(result).shape))
    cases.append({"name": name, "model": model.SerializeToString().hex(),
                  "inputs": {n: array_json(a) for n, a in feeds.items()},
                  "outputs": [array_json(r) for r in results]})


def case(name, op, inputs, constants=(), opset=22, outputs=1, **attributes):
    """inputs: arrays, or None for one that is left out; constants: which of them are
    initializers."""
    names = ["" if a is None else f"i{i}" for i, a in enumerate(inputs)]
    given = {n: np.asarray(a) for n, a in zip(names, inputs) if a is not None}
    initializers = {names[i]: given[names[i]] for i in constants if i < len(names) and names[i]}
    out = [f"o{i}" for i in range(outputs)]
    node = helper.make_node(op, names, out,
                            **{k: v for k, v in attributes.items() if v is not None})
    graph_case(f"{op} {name}", [node], {n: a for n, a in given.items() if n not in initializers},
               initializers, out, opset)


def real(*shape):
    return np.round(rng.standard_normal(shape), 3).astype(np.float32)


def pick(*options):
    return options[rng.integers(len(options))]


def i64(*values):
    return np.array(values, np.int64)


def qlinear_convs(count):
    for k in range(count):
        rank = pick(1, 2, 2, 2, 3)
        groups = pick(1, 1, 2)
        channels, filters = groups * int(rng.integers(1, 4)), groups * int(rng.integers(1, 4))
        large = k == 7  # sums could go beyond 2^24
        if large:
            rank, groups, channels, filters = 2, 1, 200, 2
        kernel = [3] * rank if large else [int(rng.integers(1, 4)) for _ in range(rank)]
        space = [int(rng.integers(4, 7)) for _ in range(rank)]
        kind_x, kind_w = pick(np.uint8, np.int8), pick(np.uint8, np.int8)

        def numbers(kind, *shape):
            return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)

        each = rng.integers(2) == 1 and rank == 2  # the evaluator spreads scales over images alone
        scale_w = (0.01 + 0.02 * rng.random(filters if each else ())).astype(np.float32)
        zero_w = numbers(kind_w, filters) if each and rng.integers(2) else numbers(kind_w)
        bias = rng.integers(-3000, 3000, filters).astype(np.int32) if rng.integers(2) else None
        # A result that uses its range: the deviation of a sum is about 74 * 74 * sqrt(terms).
        spread = 74 * 74 * (channels / groups * np.prod(kernel)) ** 0.5 * 0.02 * 0.02
        auto = pick(None, None, "SAME_UPPER", "SAME_LOWER", "VALID")
        case(str(k), "QLinearConv",
             [numbers(kind_x, 1 + (k % 4 == 0), channels, *space), np.float32(0.02),
              numbers(kind_x), numbers(kind_w, filters, channels // groups, *kernel), scale_w,
              zero_w, np.float32(spread / 60), numbers(kind_x), bias],
             constants=(1, 2, 3, 4, 5, 6, 7, 8), group=groups, auto_pad=auto,
             pads=None if auto else [int(rng.integers(0, 2)) for _ in range(2 * rank)],
             strides=[int(rng.integers(1, 3)) for _ in range(rank)],
             dilations=None if auto
             else [int(rng.integers(1, 3)) if kernel[d] < 3 else 1 for d in range(rank)])


def integer_matmuls():
    for k in range(12):
        depth = 700 if k == 11 else int(rng.integers(1, 40))
        rows, columns = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        a, b = rng.integers(0, 256, (rows, depth)).astype(np.uint8), rng.integers(-128, 128,
                (depth, columns)).astype(np.int8)
        zero_a, zero_b = np.uint8(rng.integers(256)), np.int8(rng.integers(-128, 128))
        if k % 2:
            scale = np.float32(74 * 74 * depth**0.5 * 0.01 * 0.02 / 50)
            case(str(k), "QLinearMatMul",
                 [a, np.float32(0.01), zero_a, b, np.float32(0.02), zero_b, scale, np.uint8(131)],
                 constants=(1, 2, 3, 4, 5, 6, 7))
        else:
            case(str(k), "MatMulInteger",
                 [a, b, zero_a, rng.integers(-128, 128, columns).astype(np.int8) if k % 4
                  else zero_b], constants=(1, 2, 3))


def dynamic_quantization():
    """As quantizers of whole models write it, with sums that could pass 2^24."""
    depth = 900
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
             helper.make_node("MatMulInteger", ["q", "w", "z"], ["sums"]),
             helper.make_node("Cast", ["sums"], ["real"], to=TensorProto.FLOAT),
             helper.make_node("Mul", ["s", "scale"], ["both"]),
             helper.make_node("Mul", ["real", "both"], ["y"])]
    graph_case("dynamic quantization", nodes, {"x": real(2, depth)},
               {"w": rng.integers(-128, 128, (depth, 2)).astype(np.int8),
                "scale": np.array(0.005, np.float32)}, ["y"], 17)


def transforms():
    for k in range(24):
        rank = int(rng.integers(2, 5))
        axis = int(rng.integers(0, rank - 1))
        shape = [int(rng.integers(2, 9)) for _ in range(rank - 1)]
        onesided = int(rng.integers(2))
        inverse = onesided and int(rng.integers(2))
        parts = 1 if onesided and not inverse else 2 if inverse else pick(1, 2)
        length = i64(int(rng.integers(2, 12))).reshape(()) if rng.integers(2) else None
        if k % 3 == 0:
            case(f"17 {k}", "DFT", [real(*shape, parts), length], constants=(1,), opset=17,
                 axis=axis, onesided=onesided, inverse=inverse)
        else:
            case(f"20 {k}", "DFT",
                 [real(*shape, parts), length,
                  i64(axis - (rank if rng.integers(2) else 0)).reshape(())], constants=(1, 2),
                    opset=20, onesided=onesided, inverse=inverse)
    for k in range(12):
        onesided = int(rng.integers(2))
        n, length = int(rng.integers(2, 9)), int(rng.integers(9, 25))
        window = np.round(rng.random(n), 3).astype(np.float32) if rng.integers(2) else None
        stated = i64(n).reshape(()) if window is None or rng.integers(2) else None
        case(str(k), "STFT",
             [real(2, length, 1 if onesided else pick(1, 2)),
              i64(int(rng.integers(1, 5))).reshape(()), window, stated], constants=(1, 2, 3),
                onesided=onesided)
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for n, periodic in ((1, 1), (2, 0), (7, 0), (16, 1), (25, 1)):
            case(f"{n} {periodic}", op, [i64(n).reshape(())], constants=(0,), periodic=periodic)
    for bands, length, rate, low, high in ((8, 64, 8000, 0.0, 4000.0),
                                           (10, 128, 16000, 20.0, 7600.0),
                                           (3, 16, 16000, 100.0, 6000.0),
                                           (20, 200, 22050, 0.0, 8000.0)):
        case(f"{bands} {length}", "MelWeightMatrix",
             [i64(bands).reshape(()), i64(length).reshape(()), i64(rate).reshape(()),
              np.float32(low), np.float32(high)], constants=(0, 1, 2, 3, 4))


def images():
    for k in range(14):
        rank = pick(1, 2, 2, 3)
        block = [int(rng.integers(1, 4)) for _ in range(rank)]
        image = [int(rng.integers(5, 7)) for _ in range(rank)]
        strides = [int(rng.integers(1, 3)) for _ in range(rank)]
        dilations = [int(rng.integers(1, 3)) for _ in range(rank)]
        pads = [int(rng.integers(0, 2)) for _ in range(2 * rank)]
        blocks = [
            (image[d] + pads[d] + pads[rank + d] - dilations[d] * (block[d] - 1) - 1) // strides[d]
            + 1 for d in range(rank)]
        channels = int(rng.integers(1, 4))
        case(str(k), "Col2Im",
             [real(1 + k % 2, channels * int(np.prod(block)), int(np.prod(blocks))), i64(*image),
              i64(*block)], constants=(1, 2), strides=strides, dilations=dilations, pads=pads)
    for k in range(10):
        rank = int(rng.integers(1, 5))
        axes = None if rng.integers(2) else sorted(int(a)
                                                   for a in rng.choice(rank,
                                                           int(rng.integers(1, rank + 1)),
                                                           replace=False))
        shape = [int(rng.integers(1, 8)) for _ in range(rank if axes is None else len(axes))]
        case(str(k), "CenterCropPad",
             [real(*(int(rng.integers(1, 8)) for _ in range(rank))), i64(*shape)], constants=(1,),
             axes=axes)
    for k in range(6):
        space = [int(rng.integers(2, 6)) for _ in range(pick(2, 3))]
        case(str(k), "AffineGrid", [real(2, len(space), len(space) + 1), i64(2, 3, *space)],
             constants=(1,), align_corners=k % 2)
    for k in range(10):
        rank = pick(1, 2, 3)
        kernel = [int(rng.integers(2, 4)) for _ in range(rank)]
        case(str(k), "LpPool", [real(2, 2, *(int(rng.integers(4, 7)) for _ in range(rank)))],
             kernel_shape=kernel, p=int(rng.integers(1, 6)),
             strides=[int(rng.integers(1, 3)) for _ in range(rank)],
             pads=[int(rng.integers(0, 2)) for _ in range(2 * rank)])


def sequences():
    for k in range(12):
        batch, channels, length, kernel = (int(rng.integers(1, m)) for m in (3, 4, 7, 5))
        past = real(batch, channels, kernel - 1) if rng.integers(2) and kernel > 1 else None
        case(str(k), "CausalConvWithState",
             [real(batch, channels, length), real(channels, 1, kernel),
              real(channels) if rng.integers(2) else None, past], constants=(1, 2), opset=27,
             outputs=2 if kernel > 1 else 1, activation=pick("none", "silu", "swish"))
    for k in range(12):
        batch, steps, own, group, width, out = (int(rng.integers(1, m)) for m in (3, 6, 4, 4, 5, 5))
        rule = ("linear", "gated", "delta", "gated_delta")[k % 4]
        past = real(batch, own, width, out) if rng.integers(2) else None
        decay = -np.abs(real(batch, steps, pick(own, own * width))) if "gated" in rule else None
        beta = np.abs(real(batch, steps, pick(own, 1))) if "delta" in rule else None
        case(f"{rule} {k}", "LinearAttention",
             [real(batch, steps, own * group * width), real(batch, steps, own * width),
              real(batch, steps, own * out), past, decay, beta], opset=27, outputs=2,
             q_num_heads=own * group, kv_num_heads=own, update_rule=None if k == 3 else rule,
             scale=pick(None, 0.25))
    for k, alpha in enumerate((None, 0.5, 1.702)):
        case(str(k), "SwiGLU", [real(2, 5), real(2, 5)], opset=28, alpha=alpha)
    x = np.concatenate([np.linspace(-12, 12, 97),
                        [0, 1e-6, -1e-6, 1e-3, 0.999, 1.001, -0.5]]).astype(np.float32)
    for op in ("Sinh", "Cosh", "Tan", "Atan", "Asinh"):
        case("", op, [x])
    case("far", "Atan", [np.array([1e20, -3e38, 4e-6], np.float32)])
    case("far", "Asinh", [np.array([1e20, -3e38, 4096, -4097, 3e-5], np.float32)])
    case("", "Acosh",
         [np.array([1, 1.0001, 1.01, 1.5, 2, 7.25, 4096, 4097, 1e20, 3e38], np.float32)])
    x = np.concatenate([np.linspace(-0.99, 0.99, 67), [0, 3e-6, -4e-4, 0.9999, -0.9999]]).astype(
        np.float32)
    for op in ("Asin", "Acos", "Atanh"):
        case("", op, [x])
    case("ends", "Asin", [np.array([1, -1], np.float32)])
    case("ends", "Acos", [np.array([1, -1], np.float32)])


def attentions():
    for k in range(24):
        batch, kv, group, length, width, out = (int(rng.integers(1, m)) for m in (3, 3, 3, 5, 4, 4))
        total = length + int(rng.integers(0, 3))
        past = int(rng.integers(0, 3))
        filled = i64(*rng.integers(length, total + 1, batch)) if past == 0 and k % 3 == 0 else None
        keys = [real(batch, kv, past, width), real(batch, kv, past, out)] if past else [None, None]
        mask = pick(None, real(length, past + total),
                    rng.integers(0, 3, (batch, 1, length, past + total)) > 0)
        case(str(k), "Attention",
             [real(batch, kv * group, length, width), real(batch, kv, total, width),
              real(batch, kv, total, out), mask, *keys, filled], opset=25, outputs=3 if past else 1,
             is_causal=pick(None, 1), left_window_size=pick(None, -1, 0, 1, 2),
             right_window_size=pick(None, -1, 0, 1), softcap=pick(None, 2.0))


def places():
    for k, mode in enumerate((None, "DCR", "CRD", "CRD")):
        case(str(k), "SpaceToDepth", [real(2, 1 + k, 4, 6)], opset=28, blocksize=2, mode=mode)
    for k in range(12):
        case(str(k), "GridSample", [real(1, 2, 3, 4), np.round(1.4 * real(1, 2, 3, 2), 3)],
             mode="cubic", padding_mode=("border", "zeros", "reflection")[k % 3],
             align_corners=k % 2)


def write(name):
    path = pathlib.Path(__file__).resolve().parents[2] / "golden" / "onnx" / (name + ".json")
    path.write_text('{"made_by": "tests/parity/onnx/%s.py", "onnx": "%s", "cases": [\n'
                    % (name, onnx.__version__)
                    + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]}\n")
    print(len(cases), "cases,", path.stat().st_size, "bytes")


def value(name, kind=TensorProto.FLOAT, dims=None):
    return helper.make_tensor_value_info(name, kind, dims)


def loops():
    """Scans and loops of steps that are known, along other axes, backward, and with a weight of the
    graph around."""
    node = helper.make_node
    for k in range(10):
        steps, width, axis, back, out_axis, out_back = int(rng.integers(1, 5)), int(
            rng.integers(1, 4)), int(rng.integers(0, 2)), int(rng.integers(0, 2)), int(
            rng.integers(0, 2)), int(rng.integers(0, 2))
        body = helper.make_graph(
            [node("Mul", ["state", "w"], ["faded"]), node("Add", ["faded", "x"], ["next"]),
             node("Tanh", ["next"], ["y"]), node("Sub", ["y", "z"], ["d"])], "body",
                                 [value("state"), value("x"), value("z")],
                                 [value("next"), value("y"), value("d")])
        scan = node("Scan", ["s", "a", "b"], ["last", "ys", "ds"], body=body, num_scan_inputs=2,
                    scan_input_axes=[axis, 0], scan_input_directions=[back, 0],
                    scan_output_axes=[out_axis, 0],
                    scan_output_directions=[out_back, 1 - out_back])
        a = real(steps, width) if axis == 0 else real(width, steps)
        graph_case(f"Scan {k}", [scan], {"s": real(width), "a": a, "b": real(steps, width)},
                   {"w": real(width)}, ["last", "ys", "ds"], 22)
    for k in range(6):
        width, steps = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        body = helper.make_graph(
            [node("Cast", ["i"], ["at"], to=TensorProto.FLOAT), node("Mul", ["v", "w"], ["scaled"]),
             node("Add", ["scaled", "at"], ["next"]),
                                  node("Less", ["i", "enough"], ["more"]),
                                  node("Identity", ["next"], ["given"])], "body",
                                 [value("i", TensorProto.INT64, []),
                                  value("go", TensorProto.BOOL, []), value("v")],
                                    [value("more", TensorProto.BOOL), value("next"),
                                     value("given")])
        loop = node("Loop", ["count", "" if k % 2 else "start", "v0"], ["last", "all"], body=body)
        constants = {"count": np.array(steps), "w": real(width),
                     "enough": np.array(9 if k % 2 else 2)}
        if k % 2 == 0:
            constants["start"] = np.array(True)
        graph_case(f"Loop {k}", [loop], {"v0": real(width)}, constants, ["last", "all"], 22)


def computed():
    """Values at places that the graph computes."""
    node = helper.make_node
    for k in range(6):
        rows, width, depth, axis = int(rng.integers(1, 4)), int(rng.integers(2, 6)), int(
            rng.integers(1, 4)), k % 2
        top = node("TopK", ["s", "two"], ["", "at"], axis=1)
        best = node("ArgMax", ["s"], ["at"], axis=1, keepdims=0)
        graph_case(f"GatherElements {k}", [top, node("GatherElements", ["x", "at"], ["y"], axis=1)],
                   {"s": real(rows, width), "x": real(rows, width)}, {"two": i64(2)}, ["y"], 22)
        graph_case(f"Gather {k}", [best, node("Gather", ["x", "at"], ["y"], axis=axis)],
                   {"s": real(rows, width), "x": real(*(2, width, depth)[1 - axis:])}, {}, ["y"],
                   22)
        tuples = node("Unsqueeze", ["at", "last"], ["tuples"])
        graph_case(f"GatherND {k}",
                   [best, tuples, node("GatherND", ["x", "tuples"], ["y"], batch_dims=1)],
                   {"s": real(rows, width), "x": real(rows, width, depth)}, {"last": i64(1)}, ["y"],
                   22)
        pairs = node("Concat", ["rows", "tuples"], ["pairs"], axis=1)
        moved = node("Add", ["at", "shift"], ["from_end"])  # small enough that it is exact
        graph_case(f"Gather from the end {k}",
                   [best, moved, node("Gather", ["x", "from_end"], ["y"])],
                   {"s": real(rows, width), "x": real(width, depth)},
                   {"random_translate": np.array(-width)}, ["y"], 22)
        flat = [best, node("Add", ["at", "first"], ["place"]),
                node("Gather", ["x", "place"], ["y"])]
        graph_case(f"Gather of rows {k}", flat,
                   {"s": real(rows, width), "x": real(rows * width, depth)},
                   {"first": np.arange(rows) * width}, ["y"], 22)
        graph_case(f"GatherND of pairs {k}",
                   [best, tuples, pairs, node("GatherND", ["x", "pairs"], ["y"])],
                   {"s": real(rows, width), "x": real(rows, width, depth)},
                   {"last": i64(1), "rows": np.arange(rows).reshape(-1, 1)}, ["y"], 22)


def halves():
    """There and back: ties to both sides, numbers below the normal ones and beyond the largest."""
    ends = [65504, 65519, 65520, -65520, 1e9, 3e38, 2.0**-14, 2.0**-24, 2.0**-25, 1.5 * 2.0**-25,
            5e-5, 6.1e-5, -3e-6, 3.39e38, -3.4e38, 0]
    ties = [(2 * k + 1) * 2.0**e for k in (1024, 1025, 1026, 1500, 2047, 128, 129, 130, 254, 255)
            for e in (-9, -11, -1)]
    x = np.array(ends + ties + [t * (1 + 2.0**-20) for t in ties]
                 + [t * (1 - 2.0**-20) for t in ties] + real(40).tolist(), np.float32)
    for kind in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
        nodes = [helper.make_node("Cast", ["x"], ["half"], to=kind),
                 helper.make_node("Cast", ["half"], ["wide"], to=TensorProto.FLOAT),
                 helper.make_node("Clip", ["wide", "low", "high"], ["y"])]  # JSON has no infinity
        with np.errstate(over="ignore"):
            graph_case(f"Cast {kind}", nodes, {"x": x},
                       {"low": np.float32(-1e38), "high": np.float32(1e38)}, ["y"], 22)


def main():
    qlinear_convs(48)
    integer_matmuls()
    dynamic_quantization()
    transforms()
    images()
    sequences()
    attentions()
    places()
    loops()
    computed()
    halves()
    write("operators")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
