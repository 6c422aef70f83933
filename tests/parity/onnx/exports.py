"""Writes tests/golden/onnx/: networks as torch.onnx.export gives them, each NAME.onnx with
NAME.json, inputs and PyTorch's outputs.

    python3 tests/parity/onnx/exports.py [FOLDER OF MNIST]

The outputs are computed in double from the float32 weights that the file holds. mnist_cnn is
trained first, three passes over the 60,000 images of MNIST (idx files, .gz); its JSON also has the
count of right answers among the 10,000 test images, of PyTorch in float32. The others keep their
initial weights, which a seed decides.
"""
import argparse
import copy
import gzip
import io
import json
import pathlib
import warnings

import numpy as np
import torch
from torch import nn

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "tests/golden/onnx"
parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("mnist", type=pathlib.Path, nargs="?",
                    default=ROOT / "../shared/data/mnist")
MNIST = parser.parse_args().mnist


def listed(t):
    t = t.detach()
    values = [int(v) for v in t.reshape(-1).tolist()] if not t.is_floating_point() else [
        float(f"{v:.9g}") for v in t.reshape(-1).tolist()]
    return {"dims": list(t.shape), "type": {torch.int64: "int64"}.get(t.dtype, "float"),
            "values": values}


def export(name, model, example, cases, opset, **more):
    """`example`: what the exporter traces; `cases`: inputs to record, of any batch."""
    model.eval()
    file = io.BytesIO()
    torch.onnx.export(model, (example,), file, opset_version=opset, input_names=["x"],
                      output_names=["y"], dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
    exact = copy.deepcopy(model).double()
    runs = []
    for x in cases:
        with torch.no_grad():
            y = exact(x.double() if x.is_floating_point() else x)
        runs.append({"x": listed(x), "y": listed(y)})
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.onnx").write_bytes(file.getvalue())
    (OUT / f"{name}.json").write_text(
        json.dumps({"torch": torch.__version__, "opset": opset, **more, "runs": runs}) + "\n")
    print(f"{name}: {len(file.getvalue())} bytes", more)


def idx(name):
    raw = gzip.decompress((MNIST / name).read_bytes())
    rank = raw[3]
    dims = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(rank)]
    return torch.from_numpy(np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(dims).copy())


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8),
                                      nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Linear(12 * 7 * 7, 10)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


def mnist():
    torch.manual_seed(1)
    images, labels = idx("train-images-idx3-ubyte.gz").float()[:,
                                                               None] / 255, idx(
                                                               "train-labels-idx1-ubyte.gz").long()
    model = Cnn()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(3):
        for at in torch.randperm(len(images)).split(100):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[at]), labels[at]).backward()
            optimizer.step()
    model.eval()
    images, labels = idx("t10k-images-idx3-ubyte.gz").float()[:,
                                                              None] / 255, idx(
                                                              "t10k-labels-idx1-ubyte.gz").long()
    with torch.no_grad():
        correct = int((model(images).argmax(1) == labels).sum())
    export("mnist_cnn", model, images[:1], [images[:4]], 13, correct=correct)


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.a, self.b = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.Conv2d(out, out, 3,
                1, 1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.short = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False),
                                   nn.BatchNorm2d(out)) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = self.nb(self.b(torch.relu(self.na(self.a(x)))))
        return torch.relu(y + self.short(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8),
                                  nn.ReLU())
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.pool, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.pool(self.blocks(self.stem(x))).flatten(1))


class Recurrent(nn.Module):
    def __init__(self, kind, bidirectional, layers):
        super().__init__()
        self.rnn = kind(6, 12, num_layers=layers, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(24 if bidirectional else 12, 4)

    def forward(self, x):
        return torch.log_softmax(self.head(self.rnn(x)[0][:, -1]), 1)


class Encoder(nn.Module):
    """Attention and a feed-forward layer over embedded tokens, as text classifiers have it."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(50, 16), nn.Embedding(12, 16)
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.n1, self.n2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.up, self.down, self.head = nn.Linear(16, 32), nn.Linear(32, 16), nn.Linear(16, 3)

    def forward(self, ids):
        batch, length = ids.shape
        x = self.tokens(ids) + self.positions(torch.arange(length))
        q, k, v = (t.reshape(batch, length, 4, 4).transpose(1, 2)
                   for t in self.qkv(self.n1(x)).chunk(3, -1))
        hidden = (ids == 0)[:, None, None, :]
        scores = (q @ k.transpose(-1, -2) / 2).masked_fill(hidden, float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, 16))
        x = x + self.down(nn.functional.gelu(self.up(self.n2(x))))
        return self.head(x.mean(1))


class EncoderLayer(nn.Module):
    """PyTorch's own nn.TransformerEncoderLayer, on the path that its exporter knows."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True,
                                                norm_first=False)

    def forward(self, x):
        y = self.layer.norm1(x + self.layer._sa_block(x, None, None))
        return self.layer.norm2(y + self.layer._ff_block(y))


class UNet(nn.Module):
    """Down and up again: strided and transposed convolution, nearest and bilinear interpolation,
    concatenation."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(2, 6, 3, 2, 1), nn.ConvTranspose2d(6, 4, 2, 2)
        self.mix = nn.Conv2d(4 + 6 + 6, 2, 1)

    def forward(self, x):
        d = nn.functional.leaky_relu(self.down(x))
        near = nn.functional.interpolate(d, scale_factor=2.0, mode="nearest")
        smooth = nn.functional.interpolate(d, scale_factor=2.0, mode="bilinear",
                                           align_corners=False)
        return torch.sigmoid(self.mix(torch.cat([self.up(d), near, smooth], 1)))


def randomized(model, seed):
    """Statistics of batch norms are not those of an untrained one."""
    torch.manual_seed(seed)
    for key, value in model.state_dict().items():
        if value.is_floating_point() and ("running" in key):
            value.copy_(torch.rand_like(value) * 0.5 + (0.75 if "var" in key else -0.25))
    return model


def others():
    torch.manual_seed(2)
    r = lambda *dims: torch.rand(*dims) * 2 - 1
    export("mlp",
           nn.Sequential(nn.Linear(7, 24), nn.Tanh(), nn.Linear(24, 24), nn.SiLU(), nn.Dropout(0.3),
                         nn.Linear(24, 3), nn.Softmax(1)), r(1, 7), [r(1, 7), r(6, 7)], 17)
    export("resnet", randomized(ResNet(), 3), r(1, 3, 10, 10), [r(3, 3, 10, 10)], 13)
    export("lstm", Recurrent(nn.LSTM, False, 2), r(1, 9, 6), [r(1, 9, 6), r(3, 9, 6)], 14)
    export("gru_bidirectional", Recurrent(nn.GRU, True, 1), r(2, 9, 6), [r(1, 9, 6), r(3, 9, 6)],
           14)
    export("encoder", Encoder(), torch.randint(1, 50, (2, 10)),
           [torch.tensor([[3, 7, 49, 1, 1, 9, 20, 0, 0, 0]]), torch.randint(1, 50, (3, 10))], 16)
    export("transformer_layer", EncoderLayer(), r(2, 8, 16), [r(1, 8, 16), r(4, 8, 16)], 14)
    export("unet", UNet(), r(1, 2, 8, 8), [r(2, 2, 8, 8)], 13)


if __name__ == "__main__":
    others()
    mnist()
