#!/usr/bin/env python3
"""Networks as people write them, in Loom and with PyTorch's own modules: the same weights and inputs give the same outputs, and fifty steps of
training the same losses.

    torch_natural.py [NAME...]      # needs PyTorch, and build/release/libloom.so (or $LOOM_LIBRARY)

Loom computes in f32, PyTorch in double. An output may differ by 1e-5 of the largest, a loss of the fifty by 1e-5 of the first.
"""
import pathlib
import sys

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError as e:
    print(f"needs PyTorch and NumPy: {e}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python"))
import welvet
from welvet import layers as L

BOUND = 1e-5
STEPS = 50
NETWORKS = {}


def network(f):
    NETWORKS[f.__name__] = f
    return f


class Case:
    """A model of Loom, and PyTorch's module with its forward: what each layer's parameters are there, in the order of the grid."""

    def __init__(self, model, parts, forward, x, y, rate=0.05):
        self.model, self.forward, self.x, self.y, self.rate = model, forward, x, y, rate
        self.parts = nn.ModuleDict(parts)
        self.order = list(parts.values())


def set_from(module, values):
    """Copies Loom's parameters of one layer, by role, into PyTorch's module."""
    with torch.no_grad():
        if isinstance(module, nn.MultiheadAttention):
            module.in_proj_weight.copy_(torch.cat([values[r] for r in "qkv"]))
            module.in_proj_bias.copy_(torch.cat([values[r + "_bias"] for r in "qkv"], 1).reshape(-1))
            module.out_proj.weight.copy_(values["o"])
            module.out_proj.bias.copy_(values["o_bias"].reshape(-1))
            return
        for name, to in list(module.named_parameters()) + list(module.named_buffers()):
            if name == "num_batches_tracked":
                continue
            role = {"weight": "gain"}.get(name, name) if isinstance(module, (nn.LayerNorm, nn.BatchNorm2d)) else name
            value = values[role]
            if isinstance(module, nn.ConvTranspose2d) and name == "weight":  # [filters x kernel, channels]
                value = value.reshape(to.shape[1], *to.shape[2:], to.shape[0]).permute(3, 0, 1, 2)
            to.copy_(value.reshape(to.shape))


def attention(width, heads):
    return nn.MultiheadAttention(width, heads, batch_first=True)


ATTENTION = {"qkv_bias": True, "out_bias": True}


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


# ---- the networks


@network
def transformer_with_a_mask(r):
    x, mask = L.Input(6, ids=9, name="x"), L.Input(6, name="mask")
    h = L.Positions()(L.Embedding(8, std=0.5)(x))
    h = L.LayerNorm()(h + L.CrossAttention(2, **ATTENTION)(h, h, mask))
    h = L.LayerNorm()(h + L.Dense(8)(L.Dense(16, activation="gelu_erf")(h)))
    model = L.Model([x, mask], L.Dense(3)(L.Flatten()(h)))
    p = {"in": nn.Embedding(9, 8), "positions": nn.Embedding(6, 8), "attention": attention(8, 2), "norm": nn.LayerNorm(8),
         "up": nn.Linear(8, 16), "down": nn.Linear(16, 8), "norm2": nn.LayerNorm(8), "out": nn.Linear(48, 3)}

    def forward(p, x, mask):
        h = p["in"](x) + p["positions"].weight
        h = p["norm"](h + p["attention"](h, h, h, key_padding_mask=mask != 0)[0])
        h = p["norm2"](h + p["down"](F.gelu(p["up"](h))))
        return p["out"](h.flatten(1))

    lengths = r.integers(1, 7, 24)
    return Case(model, p, forward, {"x": r.integers(0, 9, (24, 6)), "mask": np.arange(6) >= lengths[:, None]}, r.integers(0, 3, 24))


@network
def mean_over_what_is_not_masked(r):
    """And a gate: what users compose of products and quotients."""
    x, mask = L.Input(6, ids=9, name="x"), L.Input(6, name="mask")
    h = L.Embedding(8, std=0.5)(x)
    h = h * L.Activation("sigmoid")(L.Dense(1)(h))
    keep = L.Unary("not")(mask)
    mean = L.Reshape(8)(L.ValueMatmul()(L.Reshape(1, 6)(keep), h)) / L.Reduce("sum")(keep)
    model = L.Model([x, mask], L.Dense(3)(mean))
    p = {"in": nn.Embedding(9, 8), "gate": nn.Linear(8, 1), "out": nn.Linear(8, 3)}

    def forward(p, x, mask):
        h = p["in"](x)
        h, keep = h * torch.sigmoid(p["gate"](h)), (mask == 0).to(h.dtype)
        return p["out"]((h * keep[:, :, None]).sum(1) / keep.sum(1, keepdim=True))

    lengths = r.integers(1, 7, 24)
    return Case(model, p, forward, {"x": r.integers(0, 9, (24, 6)), "mask": np.arange(6) >= lengths[:, None]}, r.integers(0, 3, 24))


@network
def seq2seq_with_cross_attention(r):
    source, mask, target = L.Input(7, 3, name="source"), L.Input(7, name="mask"), L.Input(5, ids=6, name="target")
    memory = L.GRU(8)(source)
    h = L.Embedding(8)(target)
    h = h + L.Attention(2, rope=False, **ATTENTION)(h)
    h = h + L.CrossAttention(2, **ATTENTION)(h, memory, mask)
    model = L.Model([source, mask, target], L.Dense(6)(h))
    p = {"in": nn.Embedding(6, 8), "own": attention(8, 2), "encoder": nn.GRU(3, 8, batch_first=True), "other": attention(8, 2), "out": nn.Linear(8, 6)}

    def forward(p, source, mask, target):
        memory, _ = p["encoder"](source)
        h = p["in"](target)
        h = h + p["own"](h, h, h, attn_mask=causal(5))[0]
        return p["out"](h + p["other"](h, memory, memory, key_padding_mask=mask != 0)[0])

    lengths = r.integers(1, 8, 16)
    x = {"source": r.normal(size=(16, 7, 3)), "mask": np.arange(7) >= lengths[:, None], "target": r.integers(0, 6, (16, 5))}
    return Case(model, p, forward, x, np.roll(x["target"], -1, axis=1))


@network
def characters_by_attention(r):
    model = L.Sequential(L.Input(9, ids=11), L.Embedding(8, std=0.5), L.Positions(std=0.5), L.Residual(L.Attention(2, rope=False, **ATTENTION)), L.LayerNorm(), L.Dense(11))
    p = {"embedding": nn.Embedding(11, 8), "positions": nn.Embedding(9, 8), "attention": attention(8, 2), "norm": nn.LayerNorm(8), "out": nn.Linear(8, 11)}

    def forward(p, x):
        h = p["embedding"](x) + p["positions"].weight
        return p["out"](p["norm"](h + p["attention"](h, h, h, attn_mask=causal(9))[0]))

    text = r.integers(0, 11, (12, 10))
    return Case(model, p, forward, text[:, :-1], text[:, 1:])


@network
def characters_by_lstm(r):
    model = L.Sequential(L.Input(9, ids=11), L.Embedding(6, std=0.5), L.LSTM(8), L.Dense(11))
    p = {"embedding": nn.Embedding(11, 6), "lstm": nn.LSTM(6, 8, batch_first=True), "out": nn.Linear(8, 11)}
    text = r.integers(0, 11, (12, 10))
    return Case(model, p, lambda p, x: p["out"](p["lstm"](p["embedding"](x))[0]), text[:, :-1], text[:, 1:])


@network
def bidirectional_tagger(r):
    """Of unequal lengths in its targets: what is behind an end has none."""
    model = L.Sequential(L.Input(8, ids=9), L.Embedding(5, std=0.5), L.LSTM(4, bidirectional=True), L.Dense(4))
    p = {"embedding": nn.Embedding(9, 5), "lstm": nn.LSTM(5, 4, batch_first=True, bidirectional=True), "out": nn.Linear(8, 4)}
    tags = r.integers(0, 4, (14, 8))
    tags[np.arange(8) >= r.integers(1, 9, 14)[:, None]] = -100
    return Case(model, p, lambda p, x: p["out"](p["lstm"](p["embedding"](x))[0]), r.integers(0, 9, (14, 8)), tags)


def packed(module, x, lengths, *state):
    """What a recurrent module gives for sequences of these lengths, none of which is 0, and its last states."""
    given = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    out, states = module(given, *state)
    return nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], states


@network
def packed_bidirectional_tagger(r):
    """Of two layers, over sequences of unequal lengths."""
    x, n = L.Input(8, ids=9, name="x"), L.Input(ids=9, name="n")
    h = L.LSTM(4, stack=2, bidirectional=True)(L.Embedding(5, std=0.5)(x), lengths=n)
    model = L.Model([x, n], L.Dense(4)(h))
    p = {"in": nn.Embedding(9, 5), "lstm": nn.LSTM(5, 4, 2, batch_first=True, bidirectional=True), "out": nn.Linear(8, 4)}
    lengths, tags = r.integers(1, 9, 14), r.integers(0, 4, (14, 8))
    tags[np.arange(8) >= lengths[:, None]] = -100
    return Case(model, p, lambda p, x, n: p["out"](packed(p["lstm"], p["in"](x), n)[0]), {"x": r.integers(0, 9, (14, 8)), "n": lengths}, tags, rate=0.5)


@network
def packed_rnn_and_its_last_state(r):
    x, n = L.Input(7, 3, name="x"), L.Input(ids=8, name="n")
    model = L.Model([x, n], L.Dense(2)(L.RNN(5, bidirectional=True, returns="last")(x, lengths=n)))
    p = {"rnn": nn.RNN(3, 5, batch_first=True, bidirectional=True), "out": nn.Linear(10, 2)}
    return Case(model, p, lambda p, x, n: p["out"](packed(p["rnn"], x, n)[1].transpose(0, 1).flatten(1)),
                {"x": r.normal(size=(16, 7, 3)), "n": r.integers(1, 8, 16)}, r.integers(0, 2, 16))


@network
def gru_and_the_mean_of_its_steps(r):
    x, n = L.Input(7, 3, name="x"), L.Input(ids=8, name="n")
    h = L.GRU(6)(x, lengths=n)
    pooled = L.concat(L.PoolSteps("mean")(h, lengths=n), L.PoolSteps("max")(h, lengths=n), L.PoolSteps("last")(h, lengths=n))
    model = L.Model([x, n], L.Dense(2)(pooled))
    p = {"gru": nn.GRU(3, 6, batch_first=True), "out": nn.Linear(18, 2)}

    def forward(p, x, n):
        h = packed(p["gru"], x, n)[0]
        seen = (torch.arange(7) < n[:, None])[:, :, None]
        last = h[torch.arange(len(n)), n - 1]
        return p["out"](torch.cat([h.sum(1) / n[:, None], h.masked_fill(~seen, -1e300).amax(1), last], 1))

    return Case(model, p, forward, {"x": r.normal(size=(16, 7, 3)), "n": r.integers(1, 8, 16)}, r.integers(0, 2, 16))


@network
def seq2seq_by_states(r):
    """An encoder over sources of unequal lengths, the states of which are the decoder's first: both layers', h alone or h and c."""
    source, n, target = L.Input(7, 3, name="source"), L.Input(ids=8, name="n"), L.Input(5, ids=6, name="target")
    _, h = L.GRU(8, stack=2, return_state=True)(source, lengths=n)
    memory, s, c = L.LSTM(8, return_state=True)(source, lengths=n)
    start = L.Embedding(8)(target)
    decoded = L.GRU(8, stack=2)(start, h0=h) + L.LSTM(8)(start, c0=c, h0=s)
    model = L.Model([source, n, target], L.Dense(6)(decoded))
    p = {"in": nn.Embedding(6, 8), "encoder": nn.GRU(3, 8, 2, batch_first=True), "decoder": nn.GRU(8, 8, 2, batch_first=True),
         "encoder2": nn.LSTM(3, 8, batch_first=True), "decoder2": nn.LSTM(8, 8, batch_first=True), "out": nn.Linear(8, 6)}

    def forward(p, source, n, target):
        start = p["in"](target)
        a = p["decoder"](start, packed(p["encoder"], source, n)[1])[0]
        return p["out"](a + p["decoder2"](start, packed(p["encoder2"], source, n)[1])[0])

    x = {"source": r.normal(size=(16, 7, 3)), "n": r.integers(1, 8, 16), "target": r.integers(0, 6, (16, 5))}
    return Case(model, p, forward, x, np.roll(x["target"], -1, axis=1))


@network
def transformer_classifier_with_lengths(r):
    """Two blocks, the mean of the steps within the length."""
    x, n = L.Input(6, ids=9, name="x"), L.Input(ids=7, name="n")
    h = L.Positions()(L.Embedding(8, std=0.5)(x))
    h = L.LayerNorm()(h + L.Attention(2, causal=False, rope=False, **ATTENTION)(h, lengths=n))
    h = L.LayerNorm()(h + L.Attention(2, causal=True, rope=False, **ATTENTION)(h, lengths=n))
    h = h + L.CrossAttention(2, **ATTENTION)(h, h, lengths=n)
    model = L.Model([x, n], L.Dense(3)(L.PoolSteps()(h, lengths=n)))
    p = {"in": nn.Embedding(9, 8), "positions": nn.Embedding(6, 8), "a": attention(8, 2), "norm_a": nn.LayerNorm(8),
         "b": attention(8, 2), "norm_b": nn.LayerNorm(8), "c": attention(8, 2), "out": nn.Linear(8, 3)}

    def forward(p, x, n):
        hidden = torch.arange(6) >= n[:, None]
        h = p["in"](x) + p["positions"].weight
        h = p["norm_a"](h + p["a"](h, h, h, key_padding_mask=hidden)[0])
        h = p["norm_b"](h + p["b"](h, h, h, key_padding_mask=hidden, attn_mask=causal(6))[0])
        h = h + p["c"](h, h, h, key_padding_mask=hidden)[0]
        return p["out"](h.masked_fill(hidden[:, :, None], 0).sum(1) / n[:, None])

    return Case(model, p, forward, {"x": r.integers(0, 9, (24, 6)), "n": r.integers(1, 7, 24)}, r.integers(0, 3, 24))


@network
def causal_attention_with_a_mask(r):
    """Of grouped keys, and of a window."""
    x, mask = L.Input(6, 8, name="x"), L.Input(6, name="mask")
    model = L.Model([x, mask], L.Dense(3)(L.Attention(4, kv_heads=2, window=4, rope=False)(x, mask=mask)))
    p = {"attention": nn.ParameterDict({role: nn.Parameter(torch.zeros(rows, 8)) for role, rows in (("q", 8), ("k", 4), ("v", 4), ("o", 8))}), "out": nn.Linear(8, 3)}

    def forward(p, x, mask):
        q, k, v = (F.linear(x, p["attention"][role]).reshape(len(x), 6, -1, 2).transpose(1, 2) for role in "qkv")
        near = torch.arange(6)[:, None] - torch.arange(6) < 4
        seen = (mask == 0)[:, None, None, :] & ~causal(6) & near
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        y = torch.softmax((q @ k.transpose(2, 3) / 2**0.5).masked_fill(~seen, -1e300), -1) @ v
        return p["out"](F.linear(y.transpose(1, 2).flatten(2), p["attention"]["o"]))

    mask = r.integers(0, 2, (16, 6))
    mask[:, 0] = 0  # a query that sees nothing has NaN in PyTorch
    mask[:, 3] = 0
    return Case(model, p, forward, {"x": r.normal(size=(16, 6, 8)), "mask": mask}, r.normal(size=(16, 6, 3)))


@network
def gru_on_a_series(r):
    model = L.Sequential(L.Input(12, 1), L.GRU(6, returns="last"), L.Dense(1))
    p = {"gru": nn.GRU(1, 6, batch_first=True), "out": nn.Linear(6, 1)}
    wave = np.sin(0.4 * np.arange(13) + r.uniform(0, 6, (20, 1)))
    return Case(model, p, lambda p, x: p["out"](p["gru"](x)[0][:, -1]), wave[:, :12, None], wave[:, 12:])


@network
def u_net(r):
    x = L.Input(2, 8, 8)
    a = L.Conv2d(4, 3, padding=1, activation="relu")(x)
    b = L.Conv2d(6, 3, padding=1, activation="relu")(L.MaxPool2d(2)(a))
    up = L.ConvTranspose2d(4, 2, stride=2)(b)
    model = L.Model(x, L.Conv2d(3, 1)(L.concat(a, up)))
    p = {"down": nn.Conv2d(2, 4, 3, padding=1), "deep": nn.Conv2d(4, 6, 3, padding=1), "up": nn.ConvTranspose2d(6, 4, 2, stride=2), "out": nn.Conv2d(8, 3, 1)}

    def forward(p, x):
        a = F.relu(p["down"](x))
        return p["out"](torch.cat([a, p["up"](F.relu(p["deep"](F.max_pool2d(a, 2))))], 1))

    return Case(model, p, forward, r.normal(size=(6, 2, 8, 8)), r.integers(0, 3, (6, 8, 8)))


@network
def resnet_block(r):
    x = L.Input(3, 6, 6)
    h = L.Conv2d(4, 3, padding=1)(x)
    inner = L.BatchNorm()(L.Conv2d(4, 3, padding=1)(L.Activation("relu")(L.BatchNorm()(L.Conv2d(4, 3, padding=1)(h)))))
    model = L.Model(x, L.Dense(3)(L.Flatten()(L.Activation("relu")(h + inner))))
    p = {"in": nn.Conv2d(3, 4, 3, padding=1), "a": nn.Conv2d(4, 4, 3, padding=1), "norm_a": nn.BatchNorm2d(4),
         "b": nn.Conv2d(4, 4, 3, padding=1), "norm_b": nn.BatchNorm2d(4), "out": nn.Linear(144, 3)}

    def forward(p, x):
        h = p["in"](x)
        return p["out"](F.relu(h + p["norm_b"](p["b"](F.relu(p["norm_a"](p["a"](h)))))).flatten(1))

    return Case(model, p, forward, r.normal(size=(10, 3, 6, 6)), r.integers(0, 3, 10), rate=0.02)


@network
def siamese_twins(r):
    left, right = L.Input(6, name="left"), L.Input(6, name="right")
    tower = L.Sequential(L.Dense(8, activation="tanh"), L.Dense(4))
    model = L.Model([left, right], L.Dense(1)(L.concat(tower(left), tower(right))))
    p = {"a": nn.Linear(6, 8), "b": nn.Linear(8, 4), "out": nn.Linear(8, 1)}

    def forward(p, left, right):
        return p["out"](torch.cat([p["b"](torch.tanh(p["a"](t))) for t in (left, right)], 1))

    return Case(model, p, forward, {"left": r.normal(size=(20, 6)), "right": r.normal(size=(20, 6))}, r.normal(size=(20, 1)))


@network
def autoencoder(r):
    model = L.Sequential(L.Input(10), L.Dense(6, activation="relu"), L.Dense(3), L.Dense(6, activation="relu"), L.Dense(10))
    p = {"a": nn.Linear(10, 6), "b": nn.Linear(6, 3), "c": nn.Linear(3, 6), "d": nn.Linear(6, 10)}
    x = r.normal(size=(30, 10))
    return Case(model, p, lambda p, x: p["d"](F.relu(p["c"](p["b"](F.relu(p["a"](x)))))), x, x)


@network
def table_and_image(r):
    image, table = L.Input(1, 8, 8, name="image"), L.Input(5, name="table")
    seen = L.Flatten()(L.MaxPool2d(2)(L.Conv2d(4, 3, activation="relu")(image)))
    model = L.Model([image, table], L.Dense(2)(L.concat(seen, L.Dense(6, activation="relu")(table))))
    p = {"conv": nn.Conv2d(1, 4, 3), "dense": nn.Linear(5, 6), "out": nn.Linear(42, 2)}

    def forward(p, image, table):
        seen = F.max_pool2d(F.relu(p["conv"](image)), 2).flatten(1)
        return p["out"](torch.cat([seen, F.relu(p["dense"](table))], 1))

    return Case(model, p, forward, {"image": r.normal(size=(16, 1, 8, 8)), "table": r.normal(size=(16, 5))}, r.integers(0, 2, 16))


@network
def tags_box_and_kind(r):
    """Three outputs by name, with classes that are not counted."""
    x = L.Input(6, 4)
    h = L.LSTM(8)(x)
    rows = L.Flatten()(h)
    model = L.Model(x, {"tag": L.Dense(5)(h), "box": L.Dense(3)(rows), "kind": L.Dense(4)(rows)})
    p = {"lstm": nn.LSTM(4, 8, batch_first=True), "tag": nn.Linear(8, 5), "box": nn.Linear(48, 3), "kind": nn.Linear(48, 4)}

    def forward(p, x):
        h = p["lstm"](x)[0]
        return {"tag": p["tag"](h), "box": p["box"](h.flatten(1)), "kind": p["kind"](h.flatten(1))}

    tags, kinds = r.integers(0, 5, (16, 6)), r.integers(0, 4, 16)
    tags[r.random((16, 6)) < 0.3] = -100
    kinds[:5] = -100
    return Case(model, p, forward, r.normal(size=(16, 6, 4)), {"tag": tags, "box": r.normal(size=(16, 3)), "kind": kinds})


# ---- the comparison


def loss_of(out, y):
    if isinstance(y, dict):
        return sum(loss_of(out[key], one) for key, one in y.items())
    if y.dtype.kind == "f":
        return F.mse_loss(out, torch.tensor(y).reshape(out.shape))
    classes = torch.tensor(y)
    if classes.ndim > 1 and out.shape[1:-1] == classes.shape[1:]:  # steps; of images PyTorch has classes first, too
        out = out.movedim(-1, 1)
    return F.cross_entropy(out, classes)


def compare(name):
    r = np.random.default_rng(len(name))
    case = NETWORKS[name](r)
    net = welvet.Network(case.model, seed=3)
    by_layer = {}
    for parameter in net.parameters:
        by_layer.setdefault(parameter.path, {})[parameter.role] = torch.tensor(net.get(parameter.name, np.float64))
    torch.set_default_dtype(torch.float64)
    case.parts.double()
    if len(by_layer) != len(case.order):
        raise AssertionError("%s: %d layers have parameters, PyTorch's %d" % (name, len(by_layer), len(case.order)))
    for module, values in zip(case.order, by_layer.values()):
        set_from(module, values)
    x = case.x if isinstance(case.x, dict) else {"": case.x}
    x = {key: torch.tensor(np.asarray(v)) for key, v in x.items()}
    x = {key: v.to(torch.float32).double() if v.is_floating_point() else v for key, v in x.items()}

    def forward():
        return case.forward(case.parts, **x) if "" not in x else case.forward(case.parts, x[""])

    case.parts.eval()
    want, got = forward(), net(case.x)
    pairs = [(want[key], got[key]) for key in want] if isinstance(want, dict) else [(want, got)]
    pairs = [(w.detach().numpy(), g.reshape(w.shape)) for w, g in pairs]
    output = max(float(np.max(np.abs(g - w)) / max(1.0, np.max(np.abs(w)))) for w, g in pairs)
    case.parts.train()
    rounded = lambda y: y.astype(np.float32).astype(np.float64) if y.dtype.kind == "f" else y  # noqa: E731
    targets = {key: rounded(one) for key, one in case.y.items()} if isinstance(case.y, dict) else rounded(case.y)
    optimizer, losses = torch.optim.SGD(case.parts.parameters(), case.rate), []
    for _ in range(STEPS):
        loss = loss_of(forward(), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    history = welvet.train(net, case.x, case.y, optimizer="sgd", rate=case.rate, epochs=STEPS, batch=len(next(iter(x.values()))), progress=False)
    curve = float(np.max(np.abs(np.array(history.losses) - np.array(losses))) / max(losses[0], 1e-9))
    wrong = not (output <= BOUND and curve <= BOUND and losses[-1] < losses[0])
    print("%-30s output %.1e, fifty losses %.1e (%.4f to %.4f)%s" % (name, output, curve, losses[0], losses[-1], "   WRONG" if wrong else ""))
    return not wrong


if __name__ == "__main__":
    unknown = [name for name in sys.argv[1:] if name not in NETWORKS]
    if unknown:
        sys.exit("no network %s: %s" % (unknown[0], ", ".join(NETWORKS)))
    done = [compare(name) for name in (sys.argv[1:] or NETWORKS)]
    print("%d networks, %d as in PyTorch" % (len(done), sum(done)))
    sys.exit(0 if all(done) else 1)
