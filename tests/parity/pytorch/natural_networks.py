"""Networks as people write them, in Loom and with PyTorch's own modules. Each is a function of a
random generator, for its data, and of its sizes: Sizes() are the usual ones, Sizes(generator)
others."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from welvet import layers as L

NETWORKS = {}


class Sizes:
    """s(8, 4, 12) is 8, or one of the three where sizes are drawn."""

    def __init__(self, draw=None):
        self.draw = draw

    def __call__(self, usual, *others):
        if self.draw is None:
            return usual
        return (usual, *others)[int(self.draw.integers(0, 1 + len(others)))]


def network(f):
    NETWORKS[f.__name__] = f
    return f


class Case:
    """A model of Loom, and PyTorch's module with its forward: what each layer's parameters are
    there, in the order of the grid. `by_row`: a row of the network is one id, and x has sequences
    of them. `weights`: of classes."""

    def __init__(self, model, parts, forward, x, y, rate=0.05, by_row=False, weights=None):
        self.model, self.forward, self.x, self.y, self.rate = model, forward, x, y, rate
        self.by_row, self.weights = by_row, weights
        self.parts = nn.ModuleDict(parts)
        self.order = list(parts.values())


def set_from(module, values):
    """Copies Loom's parameters of one layer, by role, into PyTorch's module."""
    with torch.no_grad():
        if isinstance(module, nn.MultiheadAttention):
            module.in_proj_weight.copy_(torch.cat([values[r] for r in "qkv"]))
            module.in_proj_bias.copy_(
                torch.cat([values[r + "_bias"] for r in "qkv"], 1).reshape(-1)
            )
            module.out_proj.weight.copy_(values["o"])
            module.out_proj.bias.copy_(values["o_bias"].reshape(-1))
            return
        for name, to in list(module.named_parameters()) + list(module.named_buffers()):
            if name == "num_batches_tracked":
                continue
            role = (
                {"weight": "gain"}.get(name, name)
                if isinstance(module, (nn.LayerNorm, nn.BatchNorm2d))
                else name
            )
            value = values[role]
            if (
                isinstance(module, nn.ConvTranspose2d) and name == "weight"
            ):  # [filters x kernel, channels]
                value = value.reshape(to.shape[1], *to.shape[2:], to.shape[0]).permute(3, 0, 1, 2)
            to.copy_(value.reshape(to.shape))


def attention(width, heads):
    return nn.MultiheadAttention(width, heads, batch_first=True)


ATTENTION = {"qkv_bias": True, "out_bias": True}


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def recurrent(r, s):
    """A recurrent layer in both, and its width."""
    width, stack = s(8, 3, 12), s(1, 2)
    ours, theirs = s((L.LSTM, nn.LSTM), (L.GRU, nn.GRU), (L.RNN, nn.RNN))
    return (
        width,
        ours(width, num_layers=stack),
        lambda inner: theirs(inner, width, stack, batch_first=True),
    )


# ---- images


@network
def u_net(r, s):
    size, channels, a, b, classes, n = (
        2 * s(4, 2, 5),
        s(2, 1, 3),
        s(4, 2),
        s(6, 3),
        s(3, 2, 5),
        s(6, 3),
    )
    x = L.Input(channels, size, size)
    seen = L.Conv2d(a, 3, padding=1, activation="relu")(x)
    deep = L.Conv2d(b, 3, padding=1, activation="relu")(L.MaxPool2d(2)(seen))
    up = L.ConvTranspose2d(a, 2, stride=2)(deep)
    model = L.Model(x, L.Conv2d(classes, 1)(L.concat(seen, up)))
    p = {
        "down": nn.Conv2d(channels, a, 3, padding=1),
        "deep": nn.Conv2d(a, b, 3, padding=1),
        "up": nn.ConvTranspose2d(b, a, 2, stride=2),
        "out": nn.Conv2d(2 * a, classes, 1),
    }

    def forward(p, x):
        seen = F.relu(p["down"](x))
        return p["out"](torch.cat([seen, p["up"](F.relu(p["deep"](F.max_pool2d(seen, 2))))], 1))

    return Case(
        model,
        p,
        forward,
        r.normal(size=(n, channels, size, size)),
        r.integers(0, classes, (n, size, size)),
    )


@network
def resnet_block(r, s):
    size, channels, filters, classes, n = s(6, 3, 8), s(3, 1, 2), s(4, 2, 6), s(3, 2, 5), s(10, 4)
    x = L.Input(channels, size, size)
    h = L.Conv2d(filters, 3, padding=1)(x)
    inner = L.BatchNorm()(
        L.Conv2d(filters, 3, padding=1)(
            L.Activation("relu")(L.BatchNorm()(L.Conv2d(filters, 3, padding=1)(h)))
        )
    )
    model = L.Model(x, L.Linear(classes)(L.Flatten()(L.Activation("relu")(h + inner))))
    p = {
        "in": nn.Conv2d(channels, filters, 3, padding=1),
        "a": nn.Conv2d(filters, filters, 3, padding=1),
        "norm_a": nn.BatchNorm2d(filters),
        "b": nn.Conv2d(filters, filters, 3, padding=1),
        "norm_b": nn.BatchNorm2d(filters),
        "out": nn.Linear(filters * size * size, classes),
    }

    def forward(p, x):
        h = p["in"](x)
        return p["out"](F.relu(h + p["norm_b"](p["b"](F.relu(p["norm_a"](p["a"](h)))))).flatten(1))

    return Case(
        model,
        p,
        forward,
        r.normal(size=(n, channels, size, size)),
        r.integers(0, classes, n),
        rate=0.02,
    )


# ---- several inputs and outputs, shared layers


@network
def siamese_twins(r, s):
    width, inner, out, n = s(6, 1, 9), s(8, 3, 12), s(4, 2), s(20, 6)
    left, right = L.Input(width, name="left"), L.Input(width, name="right")
    tower = L.Sequential(L.Linear(inner, activation="tanh"), L.Linear(out))
    model = L.Model([left, right], L.Linear(1)(L.concat(tower(left), tower(right))))
    p = {"a": nn.Linear(width, inner), "b": nn.Linear(inner, out), "out": nn.Linear(2 * out, 1)}

    def forward(p, left, right):
        return p["out"](torch.cat([p["b"](torch.tanh(p["a"](t))) for t in (left, right)], 1))

    return Case(
        model,
        p,
        forward,
        {"left": r.normal(size=(n, width)), "right": r.normal(size=(n, width))},
        r.normal(size=(n, 1)),
    )


@network
def autoencoder(r, s):
    width, inner, code, n = s(10, 2, 15), s(6, 1, 9), s(3, 1, 4), s(30, 8)
    model = L.Sequential(
        L.Input(width),
        L.Linear(inner, activation="relu"),
        L.Linear(code),
        L.Linear(inner, activation="relu"),
        L.Linear(width),
    )
    p = {
        "a": nn.Linear(width, inner),
        "b": nn.Linear(inner, code),
        "c": nn.Linear(code, inner),
        "d": nn.Linear(inner, width),
    }
    x = r.normal(size=(n, width))
    return Case(model, p, lambda p, x: p["d"](F.relu(p["c"](p["b"](F.relu(p["a"](x)))))), x, x)


@network
def table_and_image(r, s):
    size, filters, width, inner, classes, n = (
        s(8, 5, 9),
        s(4, 2),
        s(5, 1, 8),
        s(6, 3),
        s(2, 4),
        s(16, 5),
    )
    image, table = L.Input(1, size, size, name="image"), L.Input(width, name="table")
    seen = L.Flatten()(L.MaxPool2d(2)(L.Conv2d(filters, 3, activation="relu")(image)))
    model = L.Model(
        [image, table], L.Linear(classes)(L.concat(seen, L.Linear(inner, activation="relu")(table)))
    )
    p = {
        "conv": nn.Conv2d(1, filters, 3),
        "dense": nn.Linear(width, inner),
        "out": nn.Linear(filters * ((size - 2) // 2) ** 2 + inner, classes),
    }

    def forward(p, image, table):
        seen = F.max_pool2d(F.relu(p["conv"](image)), 2).flatten(1)
        return p["out"](torch.cat([seen, F.relu(p["dense"](table))], 1))

    return Case(
        model,
        p,
        forward,
        {"image": r.normal(size=(n, 1, size, size)), "table": r.normal(size=(n, width))},
        r.integers(0, classes, n),
    )


@network
def tags_box_and_kind(r, s):
    """Three outputs by name, with classes that are not counted."""
    t, features, tags, kinds, n = s(6, 1, 9), s(4, 2), s(5, 2), s(4, 3), s(16, 8)
    width, layer, module = recurrent(r, s)
    x = L.Input(t, features)
    h = layer(x)
    rows = L.Flatten()(h)
    model = L.Model(
        x, {"tag": L.Linear(tags)(h), "box": L.Linear(3)(rows), "kind": L.Linear(kinds)(rows)}
    )
    p = {
        "layer": module(features),
        "tag": nn.Linear(width, tags),
        "box": nn.Linear(t * width, 3),
        "kind": nn.Linear(t * width, kinds),
    }

    def forward(p, x):
        h = p["layer"](x)[0]
        return {"tag": p["tag"](h), "box": p["box"](h.flatten(1)), "kind": p["kind"](h.flatten(1))}

    tag, kind = r.integers(0, tags, (n, t)), r.integers(0, kinds, n)
    tag[r.random((n, t)) < 0.3] = -100
    tag[0, 0], kind[: n // 3] = 0, -100
    return Case(
        model,
        p,
        forward,
        r.normal(size=(n, t, features)),
        {"tag": tag, "box": r.normal(size=(n, 3)), "kind": kind},
    )


class GatedBlock:
    """A layer of a user's own, made of others: called twice it is the same weights."""

    def __init__(self, width, inner):
        self.up, self.gate, self.down, self.norm = (
            L.Linear(inner),
            L.Linear(inner, activation="sigmoid"),
            L.Linear(width),
            L.LayerNorm(),
        )

    def __call__(self, x):
        return self.norm(x + self.down(self.up(x) * self.gate(x)))


@network
def a_layer_of_ones_own(r, s):
    """Used twice, and classes with weights."""
    width, inner, classes, n = s(6, 2, 9), s(8, 3, 12), s(3, 2, 5), s(20, 7)
    x, block = L.Input(width), GatedBlock(width, inner)
    model = L.Model(x, L.Linear(classes)(block(block(x))))
    p = {
        "up": nn.Linear(width, inner),
        "gate": nn.Linear(width, inner),
        "down": nn.Linear(inner, width),
        "norm": nn.LayerNorm(width),
        "out": nn.Linear(width, classes),
    }

    def forward(p, x):
        for _ in range(2):
            x = p["norm"](x + p["down"](p["up"](x) * torch.sigmoid(p["gate"](x))))
        return p["out"](x)

    return Case(
        model,
        p,
        forward,
        r.normal(size=(n, width)),
        r.integers(0, classes, n),
        weights=list(r.uniform(0.5, 3, classes)),
    )
