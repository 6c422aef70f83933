"""Random configurations for torch_random.py: of each layer type, and of networks of containers and
links.

A configuration is JSON: `kind`, `topology`, `seed` of its values, `rows` (or `lengths` of sequences
of ids), and where needed `inference` (no gradients are compared), `positive` (of a learned
operand), `special` (places and values of inputs).
"""
import math
import pathlib
import runpy

WIDTH = 6  # of the inputs of networks
ACTIVATIONS = ["linear", "relu", "relu2", "leaky_relu", "silu", "gelu_tanh", "gelu_erf", "tanh",
               "sigmoid", "softplus", "mish"]


def maybe(r, cell, **options):
    """Some of the options, each a value or a function of nothing; the others stay at their
    defaults."""
    for key, value in options.items():
        if r.random() < 0.6:
            cell[key] = value() if callable(value) else value
    return cell


def dims_of(r, rank, channels=None, least=2):
    most = {0: 12, 1: 9, 2: 7, 3: 5}[rank]
    return [channels or r.randint(1, 6)] + [r.randint(least, most) for _ in range(rank)]


def numbers(r, rank, low, high):
    """One number for all dimensions, or one for each."""
    return r.randint(low, high) if r.random() < 0.5 else [r.randint(low, high) for _ in range(rank)]


def behind_dense(kind, cell, dims, activation="linear", **more):
    """The layer on [dims] behind a dense layer."""
    cells = [{"type": "dense", "out": math.prod(dims), "activation": activation}]
    if len(dims) > 1:
        cells.append({"type": "reshape", "dims": dims})
    cells.append({"type": kind, **cell})
    return chain({"width": WIDTH}, cells, **more)


def chain(given, cells, version=1, **more):
    cells = [{"at": [0, 0, 0, i], **cell} for i, cell in enumerate(cells)]
    return {"topology": {"format": "loom-topology", "version": version,
                         "layers_per_cell": len(cells), "input": given, "cells": cells}, **more}


# ---- layers


def dense(r):
    return behind_dense("dense",
                        maybe(r, {"out": r.randint(1, 70)}, bias=lambda: r.random() < 0.5,
                              activation=lambda: r.choice(ACTIVATIONS)), [r.randint(1, 70)])


def ids(r, cells, most=9, **more):
    return chain({"ids": 11},
                 [{"type": "embedding", "out": cells[0], "std": 0.5}] + cells[1:]
                 + [{"type": "dense", "out": 11, "bias": r.random() < 0.5}],
                 lengths=[r.randint(1, most) for _ in range(r.randint(1, 5))], **more)


def sequences(r):
    """Layers over rows of steps, or of ids, one after another (topology version 2)."""
    steps, width = r.randint(1, 8), 2 * r.randint(1, 4)
    cells, given = [], {"dims": [steps, width]}
    if r.random() < 0.5:
        given, cells = {"ids": 11,
                        "dims": [steps]}, [{"type": "embedding", "out": width, "std": 0.5}]
    for _ in range(r.randint(1, 4)):
        kind = r.choice(["dense", "layer_norm", "rms_norm", "swiglu", "attention", "rnn", "gru",
                         "lstm", "residual"])
        if kind == "layer_norm" and width < 4:
            kind = "rms_norm"  # of two values little is left but their signs
        if kind == "residual":
            inner = r.choice([{"type": "swiglu", "hidden": 5}, {"type": "attention", "heads": 1},
                              {"type": "dense", "out": width}])
            cells.append({"type": "sequential", "layers": [inner, {"type": "residual"}]})
            continue
        cell = {"type": kind}
        if kind == "dense":
            width = 2 * r.randint(1, 4)
            cell["out"] = width
        elif kind == "swiglu":
            cell["hidden"] = r.randint(1, 8)
        elif kind == "attention":
            cell["heads"] = width // 2 if r.random() < 0.5 else 1
            maybe(r, cell, causal=lambda: r.random() < 0.5, window=lambda: r.randint(1, 4),
                  rope=lambda: r.random() < 0.5, qkv_bias=lambda: True)
        elif kind in ("rnn", "gru", "lstm"):
            cell["hidden"] = r.randint(1, 4)
            both = r.random() < 0.3
            maybe(r, cell, num_layers=lambda: 2)
            if both:
                cell["bidirectional"] = True
            else:
                cell["hidden"] *= 2  # an even width, for rotary positions
            width = 2 * cell["hidden"] if both else cell["hidden"]
        cells.append(cell)
    if r.random() < 0.5:
        cells.append({"type": "flatten"})
    cells.append({"type": "dense", "out": r.randint(1, 5)})
    return chain(given, cells, version=2, rows=r.randint(1, 4))


def recurrent_tokens(r):
    """Recurrent layers over rows that are positions of sequences of different lengths (version
    2)."""
    cells = [2 * r.randint(1, 4)]
    for _ in range(r.randint(1, 3)):
        kind = r.choice(["dense", "layer_norm", "attention", "rnn", "gru", "lstm", "lstm"])
        cells.append(
            {"type": kind,
             **({"out": 6} if kind == "dense" else {"hidden": 2 * r.randint(1, 3)}
                if kind in ("rnn", "gru", "lstm") else {"heads": 1} if kind == "attention"
                else {})})
        if kind in ("gru", "lstm"):
            maybe(r, cells[-1], num_layers=lambda: 2, bias=lambda: False)
    return ids(r, cells, version=2)


def embedding(r):
    return ids(r, [r.randint(1, 40)])


def attention(r):
    kv = r.randint(1, 3)
    heads, hd = kv * r.randint(1, 3), r.choice([2, 4, 6, 8])
    c = {"type": "attention", "heads": heads, "kv_heads": kv, "head_dim": hd}
    maybe(r, c, qkv_bias=True, out_bias=True, qk_norm=True, rope=lambda: r.random() < 0.7,
          rope_theta=lambda: r.choice([100.0, 10000.0, 500000.0]))
    if r.random() < 0.3:
        c["window"] = r.randint(1, 5)
    if r.random() < 0.4:
        c.update({"rope_scaling": r.choice(["linear", "llama3"]),
                  "rope_factor": r.choice([2.0, 8.0]),
                  "rope_original_positions": r.choice([16, 64])})
    # What does nothing is refused.
    unused = ["rope_theta", "rope_scaling", "rope_factor", "rope_original_positions"]
    if c.get("rope", True):
        unused = [] if c.get("rope_scaling") == "llama3" else ["rope_original_positions"]
    for key in unused:
        c.pop(key, None)
    c["causal"] = r.random() < 0.6
    return ids(r, [heads * hd if r.random() < 0.5 else r.randint(3, 20), c], r.choice([9, 20]),
               causal=c["causal"])


def norm(kind):
    return lambda r: behind_dense(kind, maybe(r, {}, eps=lambda: r.choice([1e-5, 1e-3, 0.1])),
                                  [r.randint(3, 80)])


def standardize(r):
    if r.random() < 0.5:
        return behind_dense("standardize", maybe(r, {}, missing=True), [r.randint(1, 20)])
    special = [[r.randrange(100), "nan"] for _ in range(r.randint(1, 4))]
    return chain({"width": WIDTH},
                 [{"type": "standardize", "missing": True}, {"type": "dense", "out": 5}],
                 special=special)


def batch_norm(r):
    dims = dims_of(r, r.randint(0, 3))
    rows = r.randint(3, 5)
    # Few values of a channel may be nearly equal, and its variance then magnifies what f32 rounds.
    return behind_dense("batch_norm",
                        maybe(r, {"eps": 1e-2} if len(dims) == 1 else {},
                              eps=lambda: r.choice([1e-5, 1e-2]) if len(dims) > 1
                              else r.choice([1e-2, 0.1]),
                              momentum=lambda: r.choice([0.0, 0.3, 1.0]),
                              affine=lambda: r.random() < 0.5), dims, rows=rows)


def instance_norm(r):
    return behind_dense("instance_norm",
                        maybe(r, {}, eps=lambda: r.choice([1e-5, 1e-2]),
                              affine=lambda: r.random() < 0.7),
                                dims_of(r, r.randint(1, 3), least=3))


def group_norm(r):
    groups = r.randint(1, 3)
    dims = dims_of(r, r.randint(0, 3), groups * r.randint(3, 4))
    return behind_dense("group_norm",
                        maybe(r, {"groups": groups, "eps": 1e-2}, eps=lambda: r.choice([1e-5, 1e-2])
                              if len(dims) > 1 else 0.1, affine=lambda: r.random() < 0.5), dims)


def swiglu(r):
    return behind_dense("swiglu", maybe(r, {"hidden": r.randint(1, 40)}, bias=True),
                        [r.randint(1, 20)])


def fits(dims, c, rank):
    """Whether the window fits in, and more than one place can be."""
    def per(key, default):
        v = c.get(key, default)
        v = v if isinstance(v, list) else [v]
        return v * rank if len(v) == 1 else v
    k, s, d, p = per("kernel", 3), per("stride", 1), per("dilation", 1), per("padding", 0)
    begins, ends = (p[:rank], p[rank:]) if len(p) == 2 * rank else (p, p)
    return all(n + b + e >= (kk - 1) * dd + 1 for n, b, e, kk,
               dd in zip(dims[1:], begins, ends, k, d))


def padding(r, rank, most):
    kind = r.random()
    return r.randint(0, most) if kind < 0.4 else [r.randint(0, most)
                                                  for _ in range(rank if kind < 0.7 else 2 * rank)]


def conv(rank):
    def config(r):
        while True:
            groups = r.choice([1, 1, 2, 3])
            dims = dims_of(r, rank, groups * r.randint(1, 3))
            c = maybe(r, {"filters": groups * r.randint(1, 3), "groups": groups},
                      kernel=lambda: numbers(r, rank, 1, 3), stride=lambda: numbers(r, rank, 1, 3),
                      dilation=lambda: numbers(r, rank, 1, 2), padding=lambda: padding(r, rank, 2),
                      bias=lambda: r.random() < 0.5, activation=lambda: r.choice(ACTIVATIONS))
            if fits(dims, c, rank):
                return behind_dense(f"conv{rank}d", c, dims)
    return config


def conv_transpose(rank):
    def config(r):
        groups = r.choice([1, 1, 2, 3])
        dims = dims_of(r, rank, groups * r.randint(1, 2), least=2)
        dims[1:] = [min(n, 4) for n in dims[1:]]
        stride, dilation = numbers(r, rank, 1, 3), numbers(r, rank, 1, 2)
        each = [max(a, b) for a,
                b in zip(stride if isinstance(stride, list) else [stride] * rank,
                         dilation if isinstance(dilation, list) else [dilation] * rank)]
        c = maybe(r,
                  {"filters": groups * r.randint(1, 3), "groups": groups, "stride": stride,
                   "dilation": dilation, "kernel": numbers(r, rank, 2, 3)},
                  padding=lambda: padding(r, rank, 1), bias=lambda: r.random() < 0.5,
                  activation=lambda: r.choice(ACTIVATIONS),
                  output_padding=lambda: [r.randint(0, n - 1) for n in each])
        return behind_dense(f"conv_transpose{rank}d", c, dims)
    return config


def pool(kind, rank):
    def config(r):
        while True:
            dims = dims_of(r, rank, least=3)
            if r.random() < 0.1:
                return behind_dense(f"{kind}{rank}d", {"global": True}, dims)
            kernel = [r.randint(1, 3) for _ in range(rank)]
            c = maybe(r, {"kernel": kernel}, stride=lambda: numbers(r, rank, 1, 3),
                      dilation=lambda: numbers(r, rank, 1, 2), ceil_mode=True)
            if kind == "avg_pool":
                maybe(r, c, count_include_pad=lambda: r.random() < 0.5)
            if r.random() < 0.6:  # a window must see something
                c["padding"] = [r.randint(0, k // 2)
                                for k in kernel] if r.random() < 0.5 else [r.randint(0, k - 1)
                                for k in kernel * 2]
            if fits(dims, c, rank):
                return behind_dense(f"{kind}{rank}d", c, dims)
    return config


def recurrent(kind):
    def config(r):
        c = maybe(r, {"hidden": r.randint(1, 8)}, num_layers=lambda: r.randint(1, 3),
                  bidirectional=True, bias=lambda: r.random() < 0.5,
                  **{"output": lambda: r.choice(["all", "last"])})
        if kind == "rnn":
            maybe(r, c, activation=lambda: r.choice(["tanh", "relu"]))
        if kind == "gru":
            maybe(r, c, linear_before_reset=lambda: r.random() < 0.4)
        return behind_dense(kind, c, [r.randint(1, 7), r.randint(1, 6)] if r.random() < 0.9
                            else [r.randint(1, 6)])
    return config


def softmax(r):
    kind = r.choice(["standard", "temperature", "grid", "hierarchical", "gumbel", "masked",
                     "sparsemax", "entmax"])
    dims = dims_of(r, r.randint(0, 2), r.randint(2, 12))
    c, more = {"kind": kind}, {}
    maybe(r, c, temperature=lambda: r.choice([0.5, 2.0, 3.0]))
    if kind in ("standard", "temperature", "grid"):
        maybe(r, c, log=True)
    if kind == "grid":
        c.update({"rows": r.randint(1, 4), "cols": r.randint(2, 5)})
        dims = [c["rows"] * c["cols"]]
    if kind == "hierarchical":
        c["levels"] = [r.randint(2, 4) for _ in range(r.randint(1, 3))]
        dims = [sum(math.prod(c["levels"][:i + 1]) for i in range(len(c["levels"])))]
    if kind == "masked":
        c["mask"] = [r.randint(0, 1) for _ in range(dims[-1])]
        c["mask"][r.randrange(dims[-1])] = 1
    if kind == "entmax":
        maybe(r, c, alpha=lambda: r.choice([1, 1.3, 1.5, 1.8, 2]))
    if kind == "gumbel":
        maybe(r, c, hard=True)
        more["inference"] = True  # while training there is noise
    return behind_dense("softmax", c, dims, **more)


def adaptive_softmax(r):
    out = r.randint(5, 20)
    cutoffs = sorted(r.sample(range(1, out), r.randint(1, 3)))
    return behind_dense("adaptive_softmax",
                        maybe(r, {"out": out, "cutoffs": cutoffs, "divide": r.choice([1, 2, 2.5])},
                              bias=True, log=True), [r.randint(16, 20)])


def mixture_of_softmaxes(r):
    return behind_dense("mixture_of_softmaxes",
                        maybe(r, {"out": r.randint(2, 9), "mixtures": r.randint(1, 4)},
                              hidden=lambda: r.randint(1, 6), bias=lambda: r.random() < 0.5,
                              log=True), [r.randint(2, 8)])


def kmeans(r):
    return behind_dense("kmeans",
                        maybe(r, {"clusters": r.randint(1, 6)},
                              temperature=lambda: r.choice([0.5, 0.8, 2.0]),
                              **{"output": lambda: r.choice(["features", "probabilities"])}),
                                [r.randint(1, 6)])


UNARIES = ["abs", "neg", "sqrt", "reciprocal", "exp", "log", "floor", "ceil", "round", "sign",
           "erf", "elu", "selu", "celu", "hard_sigmoid", "hard_swish", "softsign",
           "thresholded_relu", "clip", "not", "is_nan", "is_inf", "leaky_relu", "shrink", "trunc",
           "swish", "square", "sin", "cos"]


def unary(r):
    op = r.choice(UNARIES)
    c = {"type": "unary", "op": op, "a": round(r.uniform(0.1, 0.9), 3),
         "b": round(r.uniform(1, 2), 3)}
    if op in ("is_nan", "is_inf"):
        c.update(a=1, b=1)
        return chain({"width": WIDTH}, [c, {"type": "dense", "out": 4}],
                     special=[[r.randrange(100), v]
                              for v in ("nan", "inf", "-inf")[:r.randint(1, 3)]])
    first = "sigmoid" if op in ("sqrt", "reciprocal",
                                "log") else "relu" if op == "not" else "linear"
    return behind_dense("unary", {k: v for k, v in c.items() if k != "type"},
                        dims_of(r, r.randint(0, 2)), first)


def activation(r):
    return behind_dense("activation", maybe(r, {}, activation=lambda: r.choice(ACTIVATIONS)),
                        dims_of(r, r.randint(0, 2)))


def spread_shapes(r, operands, most=3):
    """Shapes that NumPy spreads to one another."""
    rank = r.randint(1, most)
    whole = [r.randint(1, 4) for _ in range(rank)]
    shapes = []
    for _ in range(operands):
        shape = [n if r.random() < 0.7 else 1 for n in whole]
        shapes.append(shape[r.randint(0, rank - 1) if r.random() < 0.3 else 0:])
    return shapes


BINARIES = ["add", "sub", "mul", "div", "pow", "max", "min", "prelu", "less", "less_equal",
            "greater", "greater_equal", "equal", "and", "or", "xor"]


def binary(r):
    op, shapes = r.choice(BINARIES), spread_shapes(r, 2)
    first = "sigmoid" if op in ("div", "pow") else "relu" if op in ("and", "or", "xor",
                                                                    "equal") else "linear"
    if r.random() < 0.4:
        c = maybe(r, {"op": op, "shapes": shapes[:1], "constant": shapes[1]}, constant_first=True)
        return behind_dense("binary", c, [math.prod(shapes[0])], first,
                            positive=op in ("div", "pow"))
    return behind_dense("binary", {"op": op, "shapes": shapes}, [sum(map(math.prod, shapes))],
                        first)


def select(r):
    shapes = spread_shapes(r, 3)
    return behind_dense("select", {"shapes": shapes}, [sum(map(math.prod, shapes))], "relu")


REDUCTIONS = ["sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum",
              "log_sum_exp", "argmax", "argmin"]


def reduce(r):
    op, dims = r.choice(REDUCTIONS), dims_of(r, r.randint(0, 3))
    c = maybe(r, {"op": op}, keepdims=lambda: r.random() < 0.5)
    if r.random() < 0.8:
        c["axes"] = r.sample(range(len(dims)), r.randint(1, len(dims)))
    return behind_dense("reduce", c, dims, "sigmoid" if op == "log_sum" else "linear")


def permute(r):
    dims = [r.randint(1, 5) for _ in range(r.randint(2, 4))]
    order = r.sample(range(len(dims)), len(dims))
    if r.random() < 0.5:
        return behind_dense("permute", {"order": order}, dims)
    return behind_dense("permute", {"order": order, "dims": dims}, [math.prod(dims)])


def pick(r):
    width, runs = r.randint(1, 20), []
    for _ in range(r.randint(1, 4)):
        if r.random() < 0.2:
            runs += [-1, 0, r.randint(1, 3)]
            continue
        first, step = r.randrange(width), r.randint(-2, 2)
        most = (width - 1
                - first) // step + 1 if step > 0 else first // -step + 1 if step < 0 else 3
        runs += [first, step, r.randint(1, most)]
    return behind_dense("index_select", maybe(r, {"runs": runs}, fill=0.5), [width])


def batched_matmul(r):
    m, k, n = (r.randint(1, 5) for _ in range(3))
    outer = spread_shapes(r, 2, 2) if r.random() < 0.6 else [[], []]
    shapes = [outer[0] + [m, k], outer[1] + [k, n]]
    return behind_dense("batched_matmul", {"shapes": shapes}, [sum(map(math.prod, shapes))])


def reshape(r):
    dims = dims_of(r, r.randint(1, 3))
    other = [math.prod(dims)] if r.random() < 0.3 else [dims[-1],
                                                        -1] if r.random() < 0.5 else list(
                                                        reversed(dims))
    return behind_dense("reshape", {"dims": other}, dims)


def flatten(r):
    return behind_dense("flatten", {}, dims_of(r, r.randint(1, 3)))


def dropout(r):
    rate = r.choice([0, 0, 0.3, 0.9])
    # while training there is noise
    return behind_dense("dropout", {"rate": rate}, dims_of(r, r.randint(0, 2)), inference=rate > 0)


# ---- containers: a layer on `width` values without dimensions, and how many it gives


def leaf(r, width):
    kind = r.random()
    if kind < 0.45:
        out = r.randint(1, 12)
        return {"type": "dense", "out": out, "activation": r.choice(ACTIVATIONS),
                "bias": r.random() < 0.7}, out
    if kind < 0.55 and width > 2:
        return {"type": r.choice(["rms_norm", "layer_norm"]), "eps": 0.01}, width
    if kind < 0.65:
        return {"type": "swiglu", "hidden": r.randint(1, 8), "bias": r.random() < 0.5}, width
    if kind < 0.72:
        return {"type": "softmax"}, width
    if kind < 0.77:
        return {"type": "sequential",
                "layers": [{"type": "index_select", "runs": [width - 1, -1, width]},
                           {"type": "flatten"}]}, width
    if kind < 0.80:
        return {"type": "unary", "op": r.choice(["floor", "sign", "round"])}, width
    if kind < 0.84:
        return {"type": "sequential",
                "layers": [{"type": "reduce",
                            "op": r.choice(["sum", "mean", "log_sum_exp", "argmax"])},
                              {"type": "flatten"}]}, 1
    if kind < 0.88:
        return {"type": "sequential",
                "layers": [{"type": "reshape", "dims": [1, width]},
                           {"type": "conv1d", "filters": 2, "kernel": 3, "padding": 1,
                            "activation": "tanh"}, {"type": "flatten"}]}, 2 * width
    if kind < 0.92:
        return {"type": "sequential",
                "layers": [{"type": "reshape", "dims": [width, 1]},
                           {"type": r.choice(["gru", "lstm", "rnn"]), "hidden": 3,
                            "output": "last"}]}, 3
    return {"type": "activation", "activation": r.choice(ACTIVATIONS)}, width


def block(r, depth, width, wanted=None):
    """A layer of up to `depth` levels of containers, that gives `wanted` values where that is
    said."""
    if depth == 0 or r.random() < 0.15:
        layer, out = leaf(r, width)
    else:
        kind = r.random()
        layer, out = (sequential if kind < 0.35 else parallel if kind < 0.85 else each)(r,
                depth - 1, width)
    if r.random() < 0.04:
        layer, out = {**layer, "enabled": False}, width
    if wanted is not None and out != wanted:
        return {"type": "sequential",
                "layers": [layer, {"type": "dense", "out": wanted, "activation": "tanh"}]}, wanted
    return layer, out


def sequential(r, depth, width):
    layers, before, now = [], None, width
    for _ in range(r.randint(1, 4)):
        if before == now and r.random() < 0.5:
            layers.append({"type": "residual"})
            continue
        layer, out = block(r, depth, now, now if r.random() < 0.5 else None)
        layers.append(layer)
        before, now = now, out
    if before == now and r.random() < 0.5:
        layers.append({"type": "residual"})
    return {"type": "sequential", "layers": layers}, now


def parallel(r, depth, width):
    n, c = r.randint(1, 4), {"type": "parallel",
                             "combine": r.choice(["concat", "add", "avg", "gated", "grid_scatter"])}
    meet = c["combine"] != "concat"
    share = width
    if width % n == 0 and r.random() < 0.4:
        c["input"], share = "split", width // n
    if meet and r.random() < 0.4:
        c["stitch"] = True
    wanted = r.randint(1, 8) if meet and not c.get("stitch") else None
    branches = [block(r, depth, share, wanted) for _ in range(n)]
    c["layers"], out = [b for b, _ in branches], branches[0][1]
    if c["combine"] == "gated" and r.random() < 0.5:
        c["temperature"] = r.choice([0.5, 2.0])
    if c["combine"] == "gated" and r.random() < 0.5:
        c["top_k"] = r.randint(1, n)
    if c["combine"] == "grid_scatter":
        rows, cols = r.choice([(1, n), (n, 1), (2, n), (2, (n + 1) // 2)])
        places = r.sample([[y, x] for y in range(rows) for x in range(cols)], n)
        c["grid"], c["places"] = [rows, cols], sum(places, [])
        # What reads dimensions inside would see those of the grid: its values alone go on.
        return {"type": "sequential", "layers": [c, {"type": "flatten"}]}, rows * cols * out
    return c, sum(o for _, o in branches) if not meet else out


def each(r, depth, width):
    n = r.choice([d for d in range(1, width + 1) if width % d == 0])
    layer, out = block(r, depth, width // n)
    return {"type": "sequential",
            "layers": [{"type": "time_distributed", "count": n, "layers": [layer]},
                       {"type": "flatten"}]}, n * out


def containers(r):
    width = r.randint(1, 8)
    layer, out = block(r, 4, width)
    cells = [{"type": "dense", "out": width, "activation": "tanh"}, layer]
    if r.random() < 0.5:
        cells.append({"type": "dense", "out": 3})
    return chain({"width": WIDTH}, cells, rows=3)


def of_container(kind):
    def config(r):
        width = r.randint(2, 8)
        if kind == "residual":
            layers = [{"type": "dense", "out": width, "activation": "tanh"}, {"type": "residual"}]
            if r.random() < 0.5:
                layers += [{"type": "swiglu", "hidden": 5}, {"type": "residual"}]
            if r.random() < 0.5:
                layers.append({"type": "residual"})
            return behind_dense("sequential", {"layers": layers}, [width])
        layer, _ = {"sequential": sequential, "parallel": parallel,
                    "time_distributed": each}[kind](r, 1, width)
        return chain({"width": WIDTH},
                     [{"type": "dense", "out": width, "activation": "tanh"}, layer])
    return config


# ---- links


def acyclic(arrivals):
    """The cells so that each comes after what arrives at it, or None."""
    order, left = [], list(range(len(arrivals)))
    while left:
        ready = [i for i in left if all(a < 0 or a in order for a in arrivals[i])]
        if not ready:
            return None
        order.append(ready[0])
        left.remove(ready[0])
    return order


def draw_links(r, at):
    """Cells at these places, what each reads, where it sends, what arrives, and an order of them:
    drawn until there is one."""
    n = len(at)
    while True:
        cells = [{"at": at[i]} for i in range(n)]
        reads = [[] for _ in range(n)]
        sends = [[] for _ in range(n)]
        for i in range(1, n):
            if r.random() < 0.35:
                reads[i] = [r.randrange(n) for _ in range(r.randint(1, 2))]
                cells[i]["keep_previous"] = r.random() < 0.5
            if r.random() < 0.2:
                sends[i] = [r.randrange(n)]
        if any(i in reads[i] or i in sends[i] for i in range(n)):
            continue
        arrivals = [([i - 1] if not reads[i] or cells[i].get("keep_previous") else []) + reads[i]
                    for i in range(n)]
        for i in range(n):
            for to in sends[i]:
                arrivals[to].append(i)
        order = acyclic(arrivals)
        if order and len(order) == n:
            return cells, reads, sends, arrivals, order


def links(r):
    shape = [r.randint(1, 2), r.randint(1, 2), r.randint(1, 2), r.randint(2, 4)]
    n = math.prod(shape)
    at = [[i // shape[3] // shape[2] // shape[1], i // shape[3] // shape[2] % shape[1],
           i // shape[3] % shape[2], i % shape[3]] for i in range(n)]
    cells, reads, sends, arrivals, order = draw_links(r, at)
    out, given, owners = {-1: WIDTH}, {}, []
    for i in order:
        widths = [out[a] for a in arrivals[i]]
        cell = cells[i]
        cell["links"] = [{"read": at[a]} for a in reads[i]] + [{"send": at[a]} for a in sends[i]]
        merge = r.choice(["add", "avg", "concat"]) if len(set(widths)) == 1 else "concat"
        if merge != "concat":
            cell["merge"] = merge
        given[i] = width = sum(widths) if merge == "concat" else widths[0]
        kind = r.random()
        # Layers whose outputs have no dimensions, so that what arrives together is a plain row.
        same = [j for j in order if j in out and "type" in cells[j] and given[j] == width
                and "tie" not in cells[j] and cells[j].get("enabled", True)]
        if kind < 0.12 and same:
            j = r.choice(same)
            cell["links"].append({"run": at[j]})
            out[i] = out[j]
        elif kind < 0.22 and same:
            j = r.choice(same)
            cell.update({"type": "parallel",
                         **r.choice([{"combine": "add"}, {"combine": "gated"},
                                     {"combine": "gated", "top_k": 1}]),
                         "layers": r.sample([{"links": [{"run": at[j]}]},
                                             {"type": "dense", "out": out[j],
                                              "activation": "tanh"}], 2)})
            out[i] = out[j]
        elif kind < 0.32 and i != n - 1:
            out[i] = width  # empty: passes on
        else:
            layer, out[i] = block(r, 1, width, r.choice([None, WIDTH, WIDTH]) if width <= 24
                                  else WIDTH)
            cell.update(layer)
            if r.random() < 0.08:
                cell["enabled"], out[i] = False, width
            elif cell["type"] == "dense" and cell.get("enabled", True):
                fitting = [j for j, o in owners if o == (out[i], width) and j < i]
                if fitting and r.random() < 0.5:
                    cell["tie"] = "%d.%d.%d.%d:weight" % tuple(at[r.choice(fitting)])
                else:
                    owners.append((i, (out[i], width)))
    cells = [c for c in cells if len(c) > 1]
    topology = {"format": "loom-topology", "version": 1, "depth": shape[0], "rows": shape[1],
                "cols": shape[2], "layers_per_cell": shape[3], "input": {"width": WIDTH},
                "cells": cells}
    return {"topology": topology, "rows": 3}


KINDS = {
    "dense": dense, "embedding": embedding, "attention": attention,
    "layer_norm": norm("layer_norm"), "rms_norm": norm("rms_norm"), "standardize": standardize,
    "batch_norm": batch_norm, "instance_norm": instance_norm, "group_norm": group_norm,
    "swiglu": swiglu,
    **{f"conv{n}d": conv(n) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": conv_transpose(n) for n in (1, 2, 3)},
    **{f"{kind}{n}d": pool(kind, n) for kind in ("max_pool", "avg_pool") for n in (1, 2, 3)},
    **{kind: recurrent(kind) for kind in ("rnn", "gru", "lstm")},
    "softmax": softmax,
    "log_softmax": lambda r: behind_dense("log_softmax", {},
                                          dims_of(r, r.randint(0, 2), r.randint(2, 12))),
                                            "adaptive_softmax": adaptive_softmax,
    "mixture_of_softmaxes": mixture_of_softmaxes, "kmeans": kmeans, "unary": unary,
    "activation": activation, "binary": binary, "select": select, "reduce": reduce,
    "permute": permute, "index_select": pick, "batched_matmul": batched_matmul, "reshape": reshape,
    "flatten": flatten, "dropout": dropout,
    **{kind: of_container(kind)
       for kind in ("residual", "sequential", "parallel", "time_distributed")},
         "sequences": sequences, "recurrent_tokens": recurrent_tokens, "containers": containers,
         "links": links,
}
# Layers whose folders say themselves what they are in PyTorch: {type: {"config": ..., "forward":
# ...}}.
OWN = {path.stem[:-len("_torch")]: runpy.run_path(str(path))
       for path in sorted(
           pathlib.Path(__file__).resolve().parents[3].glob("src/layers/*/*_torch.py"))}
KINDS.update({kind: (lambda r, own=own: own["config"](r, behind_dense)) for kind,
              own in OWN.items()})
# Layer types that cannot be written in PyTorch, and why.
ABSENT = {"custom": "the arithmetic is a host's own"}


def make(kind, r):
    config = {"kind": kind, "seed": r.randrange(1 << 31), **KINDS[kind](r)}
    if "lengths" not in config:
        config.setdefault("rows", r.randint(1, 5))
    return config
