#!/usr/bin/env python3
"""tests/parity/onnx/settings.py: random settings of the operators that most graphs are made of,
with the answers on which ONNX's reference evaluator and onnxruntime agree, as
tests/golden/onnx/settings.json. Packages as operators.py. `settings.py SEED [COUNT]` writes
nothing: it runs other cases, COUNT of each kind, through welvet (PYTHONPATH=bindings/python
LOOM_LIBRARY=build/release/libloom.so) and says which answers are not the agreed ones."""
import argparse
import collections

import numpy as np
import onnx
import onnxruntime
import operators
from onnx.reference import ReferenceEvaluator
from operators import i64, pick, real

disagreed = collections.Counter()
# onnxruntime 1.32 does not survive the session of some of these.
EVALUATOR_ALONE = {"LayerNormalization", "RMSNormalization", "InstanceNormalization"}


def ends(node):
    """Whether rows have lengths, which the evaluator does not read."""
    return node.op_type in ("LSTM", "GRU", "RNN") and len(node.input) > 4 and node.input[4]


class Disagreement(Exception):
    pass


def close(a, b, most=1e-5):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    return np.array_equal(a, b) if a.dtype.kind in "biu" else np.allclose(a, b, rtol=most,
            atol=most, equal_nan=True)


def agreed(model, feeds):
    """The evaluator's answers, or onnxruntime's where the evaluator has no such operator or
    setting."""
    answers = []
    try:
        if not ends(model.graph.node[0]):
            with np.errstate(all="ignore"):
                answers.append(ReferenceEvaluator(model).run(None, feeds))
    except Exception as error:
        print("evaluator:", model.graph.node[0].op_type, str(error)[:120])
    if model.graph.node[0].op_type not in EVALUATOR_ALONE:
        try:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            typed = onnx.shape_inference.infer_shapes(model)
            answers.append(onnxruntime.InferenceSession(typed.SerializeToString(), options,
                                                        providers=["CPUExecutionProvider"]).run(
                                                        None, feeds))
        except Exception as error:
            print("onnxruntime:", model.graph.node[0].op_type, str(error)[:120])
    if not answers or any(not close(a, b) for other in answers[1:] for a,
                          b in zip(answers[0], other)):
        raise Disagreement
    return answers[0]


def case(op, inputs, **settings):
    try:
        operators.case(str(len(operators.cases)), op, inputs, **settings)
    except Disagreement:
        disagreed[op] += 1


def count(low, high):
    """A number from low to high."""
    return int(operators.rng.integers(low, high + 1))


def counts(n, low, high):
    return [count(low, high) for _ in range(n)]


def whole(low, high, *shape):
    return operators.rng.integers(low, high + 1, shape).astype(np.int64)


def some_axes(rank, least=1):
    return [int(a) for a in operators.rng.choice(rank, count(least, rank), replace=False)]


def pads():
    rank, mode = count(1, 4), pick("constant", "reflect", "edge", "wrap")
    shape = counts(rank, 1, 5)
    axes = sorted(some_axes(rank)) if count(0, 1) else None
    padded = range(rank) if axes is None else axes
    most = [shape[d] - 1 if mode == "reflect" else 3 for d in padded]
    before, after = [count(0, m) for m in most], [count(0, m) for m in most]
    inputs = [real(*shape), i64(*before, *after), np.float32(1.5) if mode == "constant"
              and count(0, 1) else None]
    case("Pad", inputs + ([i64(*(a - pick(0, rank) for a in axes))] if axes else []),
         constants=(1, 3), opset=pick(19, 21, 23), mode=mode)


def pools():
    rank, op = pick(1, 2, 2, 3), pick("MaxPool", "AveragePool")
    kernel = counts(rank, 1, 3)
    auto = pick(None, None, None, "SAME_UPPER", "SAME_LOWER", "VALID")
    settings = {"kernel_shape": kernel,
                "strides": pick(None, [count(1, min(3, k)) for k in kernel]), "auto_pad": auto}
    if auto in (None, "VALID"):
        settings |= {"dilations": pick(None, counts(rank, 1, 2)), "ceil_mode": pick(None, 0, 1)}
    if auto is None:
        settings["pads"] = [count(0, k - 1) for k in kernel + kernel]
    if op == "AveragePool":
        settings["count_include_pad"] = pick(None, 0, 1)
    case(op, [real(count(1, 2), count(1, 3), *counts(rank, 5, 8))], opset=pick(19, 22), **settings)


def convolutions():
    rank, groups, transposed = pick(1, 2, 2, 3), pick(1, 1, 2), count(0, 1)
    channels, filters, kernel = groups * count(1, 2), groups * count(1, 3), counts(rank, 1, 3)
    strides = counts(rank, 1, min(3, *kernel)) if transposed else counts(rank, 1, 3)
    auto = pick(None, None, None, "SAME_UPPER", "SAME_LOWER", "VALID")
    settings = {"strides": strides, "group": groups, "auto_pad": auto}
    if auto in (None, "VALID"):
        settings["dilations"] = pick(None, counts(rank, 1, 2))
    if auto is None:
        settings["pads"] = counts(2 * rank, 0, 1)
        if transposed:
            settings["output_padding"] = pick(None, [count(0, s - 1) for s in strides])
    weights = (channels, filters // groups) if transposed else (filters, channels // groups)
    case("ConvTranspose" if transposed else "Conv",
         [real(count(1, 2), channels, *counts(rank, 5, 7)), real(*weights, *kernel),
          pick(None, real(filters))], constants=(1, 2), **settings)


def resizes():
    rank, mode = count(1, 2), pick("nearest", "linear", "cubic")
    x = real(1, count(1, 2), *counts(rank, 2, 6))
    # To one value the evaluator takes the place -0.5 where the specification has 0 and PyTorch the
    # middle.
    coordinates = pick("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                       "half_pixel_symmetric", "tf_crop_and_resize")
    settings = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        settings["nearest_mode"] = pick(None, "floor", "ceil", "round_prefer_ceil",
                                        "round_prefer_floor")
    else:
        settings["antialias"] = pick(None, None, 0, 1)
    if mode == "cubic":
        settings |= {"cubic_coeff_a": pick(None, -0.5), "exclude_outside": pick(None, 0, 1)}
    crops = coordinates.startswith("tf")
    roi = np.array([0, 0, *(pick(0, 0.1, 0.3) for _ in range(rank)), 1, 1,
                    *(pick(1, 0.9, 0.7) for _ in range(rank))], np.float32) if crops else None
    if count(0, 1) and not crops:
        case("Resize",
             [x, roi, np.array([1, 1, *(pick(0.5, 0.7, 1.5, 2, 2.3) for _ in range(rank))],
                               np.float32)], constants=(1, 2), opset=pick(18, 19), **settings)
    else:
        least = 2 if mode == "cubic" and coordinates == "pytorch_half_pixel" else 1
        case("Resize", [x, roi, None, i64(1, x.shape[1], *counts(rank, least, 9))],
             constants=(1, 3), opset=pick(18, 19), **settings)


def grids():
    rank = pick(2, 2, 3)
    points = np.round(real(1, *counts(rank, 1, 3), rank) * pick(0.5, 1), 3).astype(np.float32)
    case("GridSample", [real(1, 2, *counts(rank, 2, 5)), points], opset=pick(20, 22),
         mode=pick("linear", "nearest", *(["cubic"] if rank == 2 else [])),
         padding_mode=pick("zeros", "border", "reflection"), align_corners=count(0, 1))


def products():
    equation, shapes = pick(("ij,jk->ik", [(2, 3), (3, 4)]),
                            ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]), ("ij->ji", [(2, 3)]),
                            ("ii->i", [(3, 3)]), ("ij,ij->", [(2, 3), (2, 3)]),
                            ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]), ("i,j->ij", [(3,), (4,)]),
                            ("bhid,bhjd->bhij", [(1, 2, 3, 2), (1, 2, 4, 2)]),
                            ("ab,bc,cd->ad", [(2, 3), (3, 2), (2, 2)]))
    case("Einsum", [real(*s) for s in shapes], equation=equation)
    case("Gemm", [real(2, 3), real(3, 4), pick(None, real(4), real(2, 4), real(2, 1), real(1))],
         constants=pick((), (1, 2)), alpha=pick(None, 0.5), beta=pick(None, 0.5))


def picks():
    rank = count(1, 4)
    shape = counts(rank, 1, 5)
    axis = count(0, rank - 1)
    case("Gather", [real(*shape), whole(-shape[axis], shape[axis] - 1, *counts(count(0, 2), 1, 3))],
         constants=pick((), (1,)), axis=axis - pick(0, rank))
    rows = [count(1, 4) if d == axis else count(1, shape[d]) for d in range(rank)]
    case("GatherElements", [real(*shape), whole(-shape[axis], shape[axis] - 1, *rows)],
         constants=(1,), axis=axis)
    batch = count(0, 1) if rank > 1 else 0
    tuples = shape[:batch] + [count(1, 3)]
    index = np.stack([operators.rng.integers(0, shape[batch + j], tuples)
                      for j in range(count(1, rank - batch))], -1).astype(np.int64)
    case("GatherND", [real(*shape), index], constants=(1,), batch_dims=batch)
    taken = np.unique(whole(0, shape[0] - 1, count(1, 3)))
    case("ScatterND", [real(*shape), taken.reshape(-1, 1), real(len(taken), *shape[1:])],
         constants=(1,), opset=18, reduction=pick(None, "add", "mul", "max", "min"))
    rows[axis] = min(rows[axis], shape[axis])
    places = operators.rng.permutation(shape[axis])[:rows[axis]].reshape(
        [-1 if d == axis else 1 for d in range(rank)]) * np.ones(rows, np.int64)
    case("ScatterElements", [real(*shape), places, real(*rows)], constants=(1,), axis=axis,
         opset=18, reduction=pick(None, "add", "mul", "max", "min"))
    starts, ends = counts(rank, -6, 0), [pick(count(5, 7), 9223372036854775807)
                                         for _ in range(rank)]
    case("Slice",
         [real(*shape), i64(*starts), i64(*ends), i64(*range(rank)),
          i64(*(pick(1, 1, 2) for _ in range(rank)))], constants=(1, 2, 3, 4), opset=13)


def reductions():
    rank = count(1, 4)
    shape = counts(rank, 1, 4)
    op = pick("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
    x = np.abs(real(*shape)) + np.float32(0.125) if op == "LogSum" else real(*shape)
    axes = i64(*(a - pick(0, rank) for a in some_axes(rank, 0))) if count(0, 2) else None
    case("Reduce" + op, [x] if axes is None else [x, axes], constants=(1,), opset=18,
         keepdims=pick(None, 0, 1), noop_with_empty_axes=pick(None, 0, 1))
    axis = count(-rank, rank - 1)
    case(pick("ArgMax", "ArgMin"), [np.round(real(*shape))], opset=13, axis=axis,
         keepdims=pick(None, 0, 1), select_last_index=pick(None, 0, 1))
    case("TopK", [real(*shape), i64(count(1, shape[axis]))], constants=(1,), outputs=2, axis=axis,
         largest=pick(None, 0, 1), opset=11)
    case(pick("Softmax", "LogSoftmax", "Hardmax"), [real(*shape)], opset=13, axis=axis)
    case("CumSum", [real(*shape), np.int64(axis)], constants=(1,), opset=14,
         exclusive=pick(None, 0, 1), reverse=pick(None, 0, 1))


def normalizations():
    shape = counts(count(2, 4), 2, 4)
    axis = count(-len(shape), len(shape) - 1)
    inner = shape[axis:]
    case("LayerNormalization", [real(*shape), real(*inner), pick(None, real(*inner))],
         constants=pick((), (1, 2)), opset=17, axis=axis, epsilon=pick(None, 0.01))
    case("RMSNormalization", [real(*shape), real(*inner)], constants=pick((), (1,)), opset=23,
         axis=axis, epsilon=pick(None, 0.01))
    x = real(2, 4, *counts(count(1, 2), 2, 3))
    case("InstanceNormalization", [x, real(4), real(4)], constants=(1, 2), epsilon=pick(None, 0.01))
    case("GroupNormalization", [x, real(4), real(4)], constants=(1, 2), opset=21,
         num_groups=pick(1, 2), epsilon=pick(None, 0.01))
    case("BatchNormalization", [x, real(4), real(4), real(4), np.abs(real(4)) + np.float32(0.125)],
         constants=(1, 2, 3, 4), opset=15, epsilon=pick(None, 0.01))


def recurrences(op=None, direction=None, ended=None):
    """ended: of rows with lengths, whether these are constants."""
    op, direction = op or pick("LSTM", "GRU", "RNN"), direction or pick("forward", "reverse",
                                                                        "bidirectional")
    hidden, width = count(1, 3), count(1, 3)
    gates, both, steps, batch = {"LSTM": 4, "GRU": 3,
                                 "RNN": 1}[op], 2 if direction == "bidirectional" else 1, count(1,
                                 4), count(1, 3)
    state = [pick(None, real(both, batch, hidden)) for _ in range(2 if op == "LSTM" else 1)]
    inputs = [real(steps, batch, width), real(both, gates * hidden, width),
              real(both, gates * hidden, hidden), pick(None, real(both, 2 * gates * hidden)), None,
              *state]
    if op == "LSTM":
        inputs.append(pick(None, real(both, 3 * hidden)))
    if ended is not None:
        steps = len(inputs[0])
        inputs[4] = pick(*([n, 1, steps] for n in range(steps + 1)))
        inputs[4] = np.array((inputs[4] * batch)[:batch], np.int32)
    own = {"GRU": {"linear_before_reset": pick(0, 1)},
           "RNN": {"activations": pick(None, ["Relu"] * both)}, "LSTM": {}}[op]
    case(op, inputs, constants=(1, 2, 3, 7) + ((4,) if ended else ()),
         outputs=3 if op == "LSTM" else 2, opset=14, hidden_size=hidden, direction=direction, **own)


def ended_recurrences():
    """Sequences of unequal lengths."""
    for op in ("LSTM", "GRU", "RNN"):
        for direction in ("forward", "reverse", "bidirectional"):
            for constant in (True, False):
                recurrences(op, direction, constant)


def pairs():
    shape = counts(count(0, 3), 1, 4)
    left, right = [pick(1, d, d) for d in shape], [pick(1, d) for d in shape][count(0, len(shape)):]
    op = pick("Add", "Sub", "Mul", "Div", "Pow", "Equal", "Less", "GreaterOrEqual", "Max", "Min",
              "Mean")
    a, b = real(*left), real(*right)
    if op in ("Equal", "Less", "GreaterOrEqual"):
        a, b = np.round(a), np.round(b)
    case(op, [np.abs(a) + np.float32(0.125) if op == "Pow" else a, b],
         constants=pick((), (1,), (0, 1)), opset=13)
    numbers = whole(-20, 20, *left).astype(pick(np.int32, np.int64))
    case(pick("Add", "Sub", "Mul", "Div", "Max", "Min"),
         [numbers, np.full(right, pick(1, 2, 3, -2), numbers.dtype)],
         constants=pick((), (1,), (0, 1)), opset=14)
    case("Mod", [whole(-9, 9, *left), np.full(right, pick(3, -2), np.int64)],
         constants=pick((), (1,), (0, 1)), opset=13, fmod=count(0, 1))


def movements():
    rank = count(1, 4)
    shape = counts(rank, 1, 4)
    x, axis = real(*shape), count(-rank, rank - 1)
    case("Transpose", [x], perm=pick(None, [int(p) for p in operators.rng.permutation(rank)]))
    case("Expand", [x, i64(count(1, 2), *(pick(1, d) if d > 1 else count(1, 3) for d in shape))],
         constants=(1,), opset=13)
    case("Tile", [x, i64(*counts(rank, 1, 2))], constants=(1,), opset=13)
    case("Concat",
         [x, real(*(count(1, 3) if i == axis % rank else d for i, d in enumerate(shape)))],
         axis=axis)
    case("Flatten", [x], axis=pick(None, count(-rank, rank)))
    if rank > 1:
        case("Trilu", [x, np.int64(count(-3, 3))], constants=(1,), upper=pick(None, 0, 1), opset=14)
    if shape[axis] > 1:
        case("Split", [x], outputs=2, opset=18, axis=axis, num_outputs=2)
    case("DepthToSpace", [real(1, 4 * count(1, 2), count(1, 2), count(1, 3))], blocksize=2,
         mode=pick(None, "DCR", "CRD"))
    steps, batch = count(1, 4), count(1, 3)
    case("ReverseSequence", [real(steps, batch, 2), whole(1, steps, batch)], constants=(1,),
         opset=10)
    case("OneHot", [whole(-3, 3, count(1, 3)), np.int64(4), np.array([0.5, 2], np.float32)],
         constants=(1, 2), axis=pick(-1, 0), opset=11)
    case("Clip", [x, pick(None, np.float32(-0.5)), pick(None, np.float32(0.5))],
         constants=pick((), (1, 2)), opset=13)
    case("Where", [operators.rng.integers(0, 2, shape) > 0, x, real(*(pick(1, d) for d in shape))],
         opset=16)


def quantizations():
    kind, per_axis, axis = pick(np.uint8, np.int8), count(0, 1), count(0, 1)
    shape = ((3, 4)[axis],) if per_axis else ()
    scale, zero = np.asarray(np.abs(real(*shape)) + np.float32(0.125),
                             np.float32), operators.rng.integers(0, 100, shape).astype(kind)
    along = axis if per_axis else None
    case("QuantizeLinear", [real(3, 4) * np.float32(40), scale, zero], opset=21, axis=along,
         constants=pick((), (1, 2)))
    case("DequantizeLinear", [operators.rng.integers(0, 120, (3, 4)).astype(kind), scale, zero],
         opset=21, axis=along, constants=pick((), (1, 2)))
    classes, space = count(2, 4), pick((), (3,), (2, 2))
    target = operators.rng.integers(0, classes, (2, *space)).astype(np.int64)
    weight = pick([], [np.abs(real(classes)) + np.float32(0.125)])
    settings = {"reduction": pick("none", "mean", "sum"), "ignore_index": pick(None, 1)}
    case("NegativeLogLikelihoodLoss", [-np.abs(real(2, classes, *space)), target, *weight],
         opset=22, **settings)
    case("SoftmaxCrossEntropyLoss", [real(2, classes, *space), target, *weight], opset=13,
         **settings)


def rotations():
    batch, heads, length, width = count(1, 2), pick(1, 2), count(1, 3), pick(4, 6)
    part, flat = pick(None, None, 4), count(0, 1)
    half = (part or width) // 2
    case("RotaryEmbedding",
         [real(batch, length, heads * width) if flat else real(batch, heads, length, width),
          real(5, half), real(5, half), whole(0, 4, batch, length)],
         constants=pick((1, 2), (1, 2, 3)), opset=23, interleaved=pick(0, 1),
         rotary_embedding_dim=part, num_heads=heads if flat else None)


KINDS = {pads: 10, pools: 24, convolutions: 30, resizes: 24, grids: 16, products: 10, picks: 8,
         reductions: 10, normalizations: 6, recurrences: 14, pairs: 10, movements: 6,
         quantizations: 8, rotations: 8, ended_recurrences: 2}


def against_loom():
    import welvet
    results = collections.Counter()
    for one in operators.cases:
        op = one["name"].split()[0]
        dtype = {"float": np.float32, "bool": np.bool_}
        arrays = {n: np.array(a["values"], dtype.get(a["type"], a["type"])).reshape(a["dims"])
                  for n, a in one["inputs"].items()}
        try:
            got = welvet.from_onnx(bytes.fromhex(one["model"])).run(arrays)
        except welvet.Unsupported as error:
            results[op + " refused"] += 1
            print(one["name"], error)
            continue
        right = all(close(np.array(a["values"]).reshape(a["dims"]), y.astype(np.float64), 1e-4)
                    for a, y in zip(one["outputs"], got.values()))
        results[op + (" right" if right else " WRONG")] += 1
        if not right:
            print("WRONG", one["name"],
                  onnx.load_from_string(bytes.fromhex(one["model"])).graph.node[0])
    for what, n in sorted(results.items()):
        print(n, what)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int, nargs="?")
    parser.add_argument("count", type=int, nargs="?", default=50)
    args = parser.parse_args()
    seed, repeat = (20261123, 0) if args.seed is None else (args.seed, args.count)
    operators.rng = np.random.default_rng(seed)
    operators.reference = agreed
    for kind, usual in KINDS.items():
        for _ in range(repeat or usual):
            kind()
    print("left out, since the two do not agree:", dict(disagreed))
    if repeat:
        against_loom()
    else:
        operators.write("settings")


if __name__ == "__main__":
    main()
