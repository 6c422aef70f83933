#!/usr/bin/env python3
"""State dicts of random nn.Sequential in safetensors files, as networks by welvet.from_weights:
outputs within 1e-5 of the largest, and refused with questions where the settings are missing. The
same by torch.save has the same bits, for every dtype and stride.

    torch_files.py [--count 30] [--seed N]

Needs PyTorch 2.1 or later, and build/release/libloom.so (or $LOOM_LIBRARY). Three in four files
have the prefix of a wrapper ("module.", "_orig_mod.") before their names.
"""

import argparse
import hashlib
import io
import json
import pathlib
import random
import shutil
import struct
import sys
import tempfile

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as e:
    print(f"needs PyTorch and NumPy: {e}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
import welvet
from welvet._core.call import call
from welvet._core.source import open_file

BOUND = 1e-5
torch.set_num_threads(1)
ACTIVATIONS = [(nn.ReLU, "relu"), (nn.GELU, "gelu_erf"), (nn.SiLU, "silu"), (nn.Tanh, "tanh"),
               (nn.Sigmoid, "sigmoid")]


class First:
    """The first of the tensors that a module returns."""

    def forward(self, x):
        return super().forward(x)[0]


class LSTM(First, nn.LSTM):
    pass


class GRU(First, nn.GRU):
    pass


class RNN(First, nn.RNN):
    pass


class SelfAttention(nn.MultiheadAttention):
    def forward(self, x):
        return super().forward(x, x, x, need_weights=False)[0]


def safetensors(state):
    """The bytes of a file: contiguous little-endian tensors."""
    header, blobs, at = {}, [], 0
    for name, tensor in state.items():
        raw = tensor.detach().contiguous().numpy().tobytes()
        kind = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64"}[tensor.dtype]
        header[name] = {"dtype": kind, "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(raw)]}
        blobs.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(blobs)


def saved(value, protocol=2):
    """The bytes of a file of torch.save."""
    file = io.BytesIO()
    torch.save(value, file, pickle_protocol=protocol)
    return file.getvalue()


def strided(rng, tensor):
    """The same values in a larger storage, perhaps with other strides."""
    if rng.random() < 0.3:
        tensor = torch.nn.Parameter(tensor, requires_grad=tensor.is_floating_point())
    elif tensor.dim() == 2 and rng.random() < 0.4:
        tensor = tensor.t().contiguous().t()
    elif tensor.dim() > 0 and rng.random() < 0.4:
        tensor = torch.cat([tensor, tensor])[tensor.shape[0]:]
    return tensor


DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
          "U64": torch.uint64, "U32": torch.uint32, "U16": torch.uint16, "U8": torch.uint8,
          "BOOL": torch.bool, "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2}


def check_dtypes():
    """The SHA-256 of each tensor is that of its bytes."""
    whole = torch.arange(24).reshape(2, 3, 4)
    for name, dtype in DTYPES.items():
        tensor = whole.to(dtype)
        views = {"whole": tensor, "turned": tensor.permute(2, 0, 1), "part": tensor[:, 1:, ::2],
                 "empty": tensor[:0], "scalar": tensor[1, 1, 1]}
        file = open_file(saved({"a": views, "epoch": 3}))
        for key, view in views.items():
            raw = view.contiguous().flatten().view(torch.uint8).numpy().tobytes()
            want = hashlib.sha256(raw).hexdigest()
            assert call("file_hash", file, "a." + key) == want, (name, key)
        call("release", file)


def check_refused():
    for value in (nn.Linear(2, 3), {"w": torch.eye(3).to_sparse()}, {"w": np.float64(1)},
                  {"w": torch.zeros(1).expand(9)}, {"w": torch.zeros(2, dtype=torch.complex64)}):
        try:
            welvet.weights_report(saved(value))
            raise AssertionError("%r was read" % (value,))
        except welvet.Unsupported:
            pass


def tensors_of(file):
    """The tensors of a safetensors file, by torch."""
    raw = file.read_bytes()
    n = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield name, torch.frombuffer(bytearray(raw[8 + n + begin:8 + n + end]),
                                         dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])


def check_folder(given):
    """A folder with pytorch_model.bin, and one with its shards, run as that with safetensors."""
    want = None
    for shards in (0, 1, 3):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            tensors = {}
            for file in sorted(given.iterdir()):
                if file.suffix == ".safetensors":
                    tensors.update(tensors_of(file))
                if shards == 0 or ".safetensors" not in file.name:
                    shutil.copy(file, folder)
            names = sorted(tensors)
            if shards == 1:
                torch.save(tensors, folder / "pytorch_model.bin")
            elif shards > 1:
                where = {n: "pytorch_model-0000%d-of-00003.bin" % (i % 3 + 1)
                         for i, n in enumerate(names)}
                for shard in set(where.values()):
                    torch.save({n: tensors[n] for n in names if where[n] == shard},
                               folder / shard)
                (folder / "pytorch_model.bin.index.json").write_text(
                    json.dumps({"weight_map": where}))
            got = welvet.Transformer.load_model(str(folder)).network.digest()
            want = want or got
            assert got == want, (given.name, shards)


class Drawn:
    """A network that grows module by module, with the cells that settings need."""

    def __init__(self, rng):
        self.rng, self.modules, self.cells = rng, [], {}

    def add(self, module, cell=None):
        if cell is not None:
            self.cells[str(len(self.modules))] = cell
        self.modules.append(module)

    def function(self):
        if self.rng.random() < 0.7:
            module, name = self.rng.choice(ACTIVATIONS)
            self.add(module(), {"type": "activation", "activation": name})
        elif self.rng.random() < 0.5:
            self.add(nn.Dropout(0.3), {"type": "dropout", "rate": 0.3})

    def norm(self, width):
        eps = self.rng.choice([1e-5, 1e-3])
        if self.rng.random() < 0.5:
            self.add(nn.LayerNorm(width, eps=eps), {"type": "layer_norm", "eps": eps})
        else:
            self.add(nn.RMSNorm(width, eps=eps), {"type": "rms_norm", "eps": eps})

    def dense(self, rows, depth):
        width = rows
        for _ in range(depth):
            out = self.rng.randint(1, 12)
            self.add(nn.Linear(width, out, bias=self.rng.random() < 0.8), {"type": "dense"})
            width = out
            if self.rng.random() < 0.3:
                self.norm(width)
            self.function()
        return width

    def convolutions(self, space, channels, size):
        rng, conv = self.rng, getattr(nn, "Conv%dd" % space)
        for _ in range(rng.randint(1, 3)):
            groups = channels if rng.random() < 0.2 else 1
            out = groups * rng.randint(1, 6)
            kernel, stride = rng.randint(1, min(3, size)), rng.randint(1, 2)
            padding, bias = rng.randint(0, 1), rng.random() < 0.8
            self.add(conv(channels, out, kernel, stride, padding, groups=groups, bias=bias),
                     {"type": "conv%dd" % space, "stride": stride, "padding": padding,
                      "dilation": 1, "groups": groups})
            channels, size = out, (size + 2 * padding - kernel) // stride + 1
            if rng.random() < 0.5:
                eps = rng.choice([1e-5, 1e-3])
                self.add(getattr(nn, "BatchNorm%dd" % space)(channels, eps=eps), {"eps": eps})
            elif rng.random() < 0.3:
                self.add(nn.GroupNorm(1, channels),
                         {"type": "group_norm", "groups": 1, "eps": 1e-5})
            self.function()
        if size >= 2 and rng.random() < 0.5:
            self.add(getattr(nn, "MaxPool%dd" % space)(2), {"type": "max_pool%dd" % space})
            size //= 2
        if rng.random() < 0.4:
            out, stride = rng.randint(1, 4), rng.randint(1, 2)
            self.add(getattr(nn, "ConvTranspose%dd" % space)(channels, out, 2, stride),
                     {"type": "conv_transpose%dd" % space, "stride": stride, "padding": 0,
                      "dilation": 1, "output_padding": 0})
            channels, size = out, (size - 1) * stride + 2
        self.add(nn.Flatten(), {"type": "flatten"})
        return channels * size ** space

    def sequence(self, width):
        rng = self.rng
        for _ in range(rng.randint(1, 2)):
            if rng.random() < 0.3:
                heads = rng.choice([h for h in (1, 2, 3) if width % h == 0])
                self.add(SelfAttention(width, heads, batch_first=True, bias=rng.random() < 0.7),
                         {"heads": heads, "causal": False})
                continue
            kind, name = rng.choice([(LSTM, "lstm"), (GRU, "gru"), (RNN, "rnn")])
            hidden, both = rng.randint(1, 7), rng.random() < 0.3
            cell = {"output": "all"}
            if kind is RNN:
                cell["activation"] = "tanh"
            self.add(kind(width, hidden, rng.randint(1, 2), bias=rng.random() < 0.8,
                          bidirectional=both, batch_first=True), cell)
            width = hidden * (2 if both else 1)
        return width


def randomize(module):
    """Running statistics and gains that are not those of a new module."""
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if tensor.is_floating_point():
                tensor.add_(torch.rand_like(tensor) * (0.5 if "var" in name else 0.2))


def draw(rng):
    """A module, its settings, and a function that makes inputs."""
    net, kind = Drawn(rng), rng.choice(["dense", "conv", "sequence", "ids"])
    if kind == "dense":
        width = rng.randint(1, 9)
        net.dense(width, rng.randint(1, 4))
        given, make = {"width": width}, lambda n: torch.randn(n, width)
    elif kind == "conv":
        space, channels, size = rng.randint(1, 3), rng.randint(1, 4), rng.randint(4, 8)
        net.dense(net.convolutions(space, channels, size), rng.randint(1, 2))
        dims = [channels] + [size] * space
        given, make = {"dims": dims}, lambda n: torch.randn(n, *dims)
    else:
        steps, width = rng.randint(2, 6), rng.randint(1, 8)
        if kind == "ids":
            ids = rng.randint(3, 20)
            net.add(nn.Embedding(ids, width), {"type": "embedding"})
            given, make = {"ids": ids, "dims": [steps]}, lambda n: torch.randint(ids, (n, steps))
        else:
            given = {"dims": [steps, width], "axis": "steps"}
            make = lambda n: torch.randn(n, steps, width)
        net.dense(net.sequence(width), rng.randint(1, 2))
    module = nn.Sequential(*net.modules).eval()
    randomize(module)
    last = str(len(net.modules) - 1)
    # "layout": files of matrices without biases that are all square do not tell it.
    settings = {"sequential": True, "input": given, "cells": net.cells, "layout": "out_in"}
    if isinstance(net.modules[-1], (nn.Linear, nn.LayerNorm, nn.RMSNorm)):
        settings["activation"] = {last: "linear"}
    return module, settings, make


def check(rng):
    module, settings, make = draw(rng)
    prefix = rng.choice(["", "module.", "_orig_mod.", "module._orig_mod."])
    file = safetensors({prefix + name: t for name, t in module.state_dict().items()})
    report = welvet.weights_report(file)
    assert report["open"] > 0 and report["topology"] is None, report
    try:
        welvet.from_weights(file)
        raise AssertionError("a file with open questions was not refused")
    except welvet.OpenQuestions as asked:
        assert asked.report["open"] == report["open"]
    network, report = welvet.from_weights(file, settings)
    state = {prefix + name: strided(rng, t) for name, t in module.state_dict().items()}
    pickled, _ = welvet.from_weights(saved(state, rng.choice([2, 3, 4, 5])), settings)
    assert pickled.digest() == network.digest(), "torch.save: other bits"
    worst = 0.0
    for n in (1, 3):
        x = make(n)
        with torch.no_grad():
            double = x.double() if x.is_floating_point() else x
            want = module.double()(double).numpy().reshape(n, -1)
            module.float()
        got = network(x.numpy()).reshape(n, -1)
        worst = max(worst, float(np.abs(want - got).max()) / max(1.0, float(np.abs(want).max())))
    assert worst <= BOUND, worst
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    check_dtypes()
    check_refused()
    families = pathlib.Path(__file__).resolve().parents[4] / "shared" / "data" / "families"
    for name in ("llama2_untied", "qwen2_bias") if families.exists() else ():
        check_folder(families / name)
    worst, failed = 0.0, 0
    for i in range(args.count):
        seed = args.seed * 1000 + i
        torch.manual_seed(seed)
        try:
            worst = max(worst, check(random.Random(seed)))
        except (AssertionError, welvet.LoomError, ValueError) as error:
            failed += 1
            print("seed %d: %s: %s" % (seed, type(error).__name__, error))
    print("%d state dicts, %d failed; largest difference %.2g" % (args.count, failed, worst))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
