#!/usr/bin/env python3
"""Speed of single layers beside PyTorch and ONNX Runtime on this machine, in f32; run by hand, not
in CI:

    python3 tools/bench/layers.py [--threads N ...] [--rounds N] [--repeats N] [LAYER...]

needs NumPy, torch, onnx and onnxruntime, and build/release/loom. The layers, their sizes and inputs
are those of `loom bench layers`, which measures Loom's passes (a process for every round); the
peers run between, each in its fastest ordinary form: PyTorch in inference mode for the forward
pass, ONNX Runtime with bound inputs and outputs. A time is the median of the repeats after a few
that are not counted. Printed is, per layer and number of threads, the better peer's time / Loom's
(above 1 Loom is faster) as the median of the rounds, with the extremes, and the same beside
PyTorch for the backward pass.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARMUPS = 20


class Conv(nn.Module):
    def __init__(self, rank, channels, filters):
        super().__init__()
        kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[rank - 1]
        self.conv = kind(channels, filters, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1024, 512, bias=False)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell = kind(16, 32, batch_first=True)

    def forward(self, x):
        return self.cell(x)[0]


class Attention(nn.Module):
    """Causal, with rotary positions of its queries and keys, as Loom's is."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(128, 384, bias=False), nn.Linear(128, 128, bias=False)
        angles = torch.outer(torch.arange(16.0), 1e4 ** (-torch.arange(8) / 8.0)).repeat(1, 2)
        self.cos, self.sin = angles.cos(), angles.sin()

    def forward(self, x):
        heads = self.qkv(x).view(16, 24, 16).transpose(0, 1)
        a, b = heads[:16].chunk(2, -1)
        turned = heads[:16] * self.cos + torch.cat((-b, a), -1) * self.sin
        y = functional.scaled_dot_product_attention(
            turned[None, :8], turned[None, 8:], heads[None, 16:], is_causal=True)
        return self.out(y[0].transpose(0, 1).reshape(16, 128))


class SwiGLU(nn.Module):
    def __init__(self):
        super().__init__()
        self.both, self.down = nn.Linear(128, 512, bias=False), nn.Linear(256, 128, bias=False)

    def forward(self, x):
        gate, up = self.both(x).chunk(2, -1)
        return self.down(functional.silu(gate) * up)


class Residual(nn.Module):
    def forward(self, x):
        return x + x


# name: module, shape of its input (None: ids)
LAYERS = {
    "CNN1": (lambda: Conv(1, 3, 16), (8, 3, 32)),
    "CNN2": (lambda: Conv(2, 3, 8), (8, 3, 32, 32)),
    "CNN3": (lambda: Conv(3, 3, 4), (4, 3, 16, 16, 16)),
    "Dense": (Dense, (8, 1024)),
    "LSTM": (lambda: Recurrent(nn.LSTM), (1, 8, 16)),
    "RNN": (lambda: Recurrent(nn.RNN), (1, 8, 16)),
    "MHA": (Attention, (16, 128)),
    "SwiGLU": (SwiGLU, (16, 128)),
    "Embedding": (lambda: nn.Embedding(100, 64), None),
    "Residual": (Residual, (8, 128)),
}


class Graph:
    """An ONNX graph of the layer, written down: nodes one after another, weights by value."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def add(self, op, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def weight(self, array):
        name = f"w{len(self.weights)}"
        array = array.detach().numpy() if isinstance(array, torch.Tensor) else np.asarray(array)
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def session(self, x, y, threads):
        self.nodes[-1].output[0] = "y"
        types = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64}
        graph = helper.make_graph(
            self.nodes, "layer", [helper.make_tensor_value_info("x", types[x.dtype], x.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                            providers=["CPUExecutionProvider"])


def linear(g, x, layer):
    return g.add("MatMul", x, g.weight(layer.weight.t()))


def recurrent(g, x, module, op, order):
    """PyTorch's gates in ONNX's order; one direction, batch of one."""
    cell = module.cell
    hidden = cell.hidden_size

    def gates(w):
        parts = w.detach().reshape(-1, hidden, *w.shape[1:])
        return parts[list(order)].reshape(w.shape).unsqueeze(0)

    bias = torch.cat([gates(cell.bias_ih_l0), gates(cell.bias_hh_l0)], 1)
    steps = g.add("Transpose", x, perm=[1, 0, 2])
    y = g.add(op, steps, g.weight(gates(cell.weight_ih_l0)), g.weight(gates(cell.weight_hh_l0)),
              g.weight(bias), hidden_size=hidden)
    flat = g.add("Squeeze", y, g.weight(np.array([1], np.int64)))
    return g.add("Transpose", flat, perm=[1, 0, 2])


def attention(g, x, module):
    def heads(weight, count):
        flat = g.add("MatMul", x, g.weight(weight.t()))
        parted = g.add("Reshape", flat, g.weight(np.array([16, count, 16], np.int64)))
        return g.add("Transpose", parted, perm=[1, 0, 2])

    weight = module.qkv.weight.detach()
    both, values = heads(weight[:256], 16), heads(weight[256:], 8)
    half = np.zeros((16, 16), np.float32)  # both @ half: (-second half, first half)
    half[np.arange(8, 16), np.arange(8)], half[np.arange(8), np.arange(8, 16)] = -1, 1
    turned = g.add("Add", g.add("Mul", both, g.weight(module.cos)),
                   g.add("Mul", g.add("MatMul", both, g.weight(half)), g.weight(module.sin)))
    queries, keys = g.add("Split", turned, outputs=2, axis=0, num_outputs=2)
    scores = g.add("Mul", g.add("MatMul", queries, g.add("Transpose", keys, perm=[0, 2, 1])),
                   g.weight(np.float32(0.25)))
    hidden = np.triu(np.full((16, 16), -np.inf, np.float32), 1)
    weights = g.add("Softmax", g.add("Add", scores, g.weight(hidden)), axis=-1)
    joined = g.add("Transpose", g.add("MatMul", weights, values), perm=[1, 0, 2])
    flat = g.add("Reshape", joined, g.weight(np.array([16, 128], np.int64)))
    return linear(g, flat, module.out)


def swiglu(g, x, module):
    gate, up = (g.add("MatMul", x, g.weight(w.t())) for w in module.both.weight.detach().chunk(2))
    silu = g.add("Mul", gate, g.add("Sigmoid", gate))
    return linear(g, g.add("Mul", silu, up), module.down)


def graph_of(name, module):
    g = Graph()
    if name.startswith("CNN"):
        rank = int(name[3])
        y = g.add("Conv", "x", g.weight(module.conv.weight), pads=[1] * 2 * rank)
        g.add("Relu", y)
    elif name == "Dense":
        g.add("Relu", linear(g, "x", module.linear))
    elif name in ("LSTM", "RNN"):
        recurrent(g, "x", module, name, (0, 3, 1, 2) if name == "LSTM" else (0,))
    elif name == "MHA":
        attention(g, "x", module)
    elif name == "SwiGLU":
        swiglu(g, "x", module)
    elif name == "Embedding":
        g.add("Gather", g.weight(module.weight), "x")
    else:
        g.add("Add", "x", "x")
    return g


def median_of(run, repeats, before=lambda: None):
    times = []
    for i in range(WARMUPS + repeats):
        before()
        begin = time.perf_counter()
        run()
        if i >= WARMUPS:
            times.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(times)


class Peers:
    def __init__(self, name, threads):
        make, shape = LAYERS[name]
        torch.manual_seed(1)
        self.module, self.name = make(), name
        self.x = torch.randn(*shape) if shape else torch.arange(8) * 11 % 100
        with torch.inference_mode():
            want = self.module(self.x)
        self.session = graph_of(name, self.module).session(self.x.numpy(), want, threads)
        got = self.session.run(None, {"x": self.x.numpy()})[0]
        if not np.allclose(got, want, atol=1e-5):
            sys.exit(f"{name}: the peers disagree by {abs(got - want.numpy()).max()}")
        self.binding = self.session.io_binding()
        self.out = np.empty(want.shape, np.float32)
        for bind, what, array in ((self.binding.bind_ortvalue_input, "x", self.x.numpy()),
                                  (self.binding.bind_ortvalue_output, "y", self.out)):
            bind(what, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        self.gy = torch.randn(want.shape)

    def forward(self, repeats):
        with torch.inference_mode():
            ours = median_of(lambda: self.module(self.x), repeats)
        return {"torch": ours, "onnxruntime": median_of(
            lambda: self.session.run_with_iobinding(self.binding), repeats)}

    def backward(self, repeats):
        x = self.x.clone()
        if x.is_floating_point():
            x.requires_grad_()
        state = {}

        def forward():
            state["y"] = self.module(x)

        return median_of(lambda: state["y"].backward(self.gy), repeats, forward)


def loom(names, threads, repeats):
    command = [str(ROOT / "build/release/loom"), "bench", "layers", "--dtypes", "f32", "--modes",
               "cpu-sc" if threads == 1 else "cpu-mc", "--threads", str(threads), "--repeats",
               str(repeats), "--json", "--layers", ",".join(names)]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["rows"]
    return {row["layer"]: row for row in rows}


def spread(ratios):
    return f"{statistics.median(ratios):5.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=", ".join(LAYERS))
    args = parser.parse_args()
    unknown = [name for name in args.layers if name not in LAYERS]
    if unknown:
        parser.error(f"no layer is called {unknown[0]}: {', '.join(LAYERS)}")
    names = args.layers or list(LAYERS)
    print("layer     threads  Loom us  torch us  ORT us  forward, better peer / Loom   "
          "backward, torch / Loom")
    for threads in args.threads:
        torch.set_num_threads(threads)
        peers = {name: Peers(name, threads) for name in names}
        rounds = {name: [] for name in names}
        for _ in range(args.rounds):
            ours = loom(names, threads, args.repeats)
            for name in names:
                theirs = peers[name].forward(args.repeats)
                back = None if name == "Residual" else peers[name].backward(args.repeats)
                rounds[name].append((ours[name], theirs, back))
        for name in names:
            def middle(f):
                return statistics.median(f(*r) for r in rounds[name])

            forward = [min(t.values()) / o["forward_us"] for o, t, _ in rounds[name]]
            back = [b / o["backward_us"] for o, _, b in rounds[name] if b]
            print(f"{name:9} {threads:7} {middle(lambda o, t, b: o['forward_us']):8.1f} "
                  f"{middle(lambda o, t, b: t['torch']):9.1f} "
                  f"{middle(lambda o, t, b: t['onnxruntime']):7.1f}  {spread(forward):28}  "
                  f"{spread(back) if back else '-'}", flush=True)


if __name__ == "__main__":
    main()
