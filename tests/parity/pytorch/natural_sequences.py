"""The natural networks over sequences."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from natural_networks import ATTENTION, Case, attention, causal, network, recurrent
from welvet import layers as L


def sinusoids(steps, features):
    """Vaswani et al., Attention Is All You Need, 3.5."""
    angles = torch.arange(steps)[:, None] / 10000 ** (torch.arange(0, features, 2) / features)
    return torch.stack([torch.sin(angles), torch.cos(angles)], 2).reshape(steps, features)


@network
def transformer_with_a_mask(r, s):
    """Of one block or more, over ids, with learned or sinusoidal positions."""
    t, words, heads, blocks, learned = (
        s(6, 1, 5, 11),
        s(9, 3, 40),
        s(2, 1, 4),
        s(1, 2, 3),
        s(True, False),
    )
    width, inner, classes, n = heads * s(4, 2, 6), s(16, 5, 24), s(3, 2, 7), s(24, 5, 17)
    x, mask = L.Input(t, ids=words, name="x"), L.Input(t, name="mask")
    h = L.Positions("learned" if learned else "sinusoidal")(L.Embedding(width, std=0.5)(x))
    p = {
        "in": nn.Embedding(words, width),
        **({"positions": nn.Embedding(t, width)} if learned else {}),
    }
    for b in "abc"[:blocks]:
        h = L.LayerNorm()(h + L.CrossAttention(heads, **ATTENTION)(h, h, mask))
        h = L.LayerNorm()(h + L.Linear(width)(L.Linear(inner, activation="gelu_erf")(h)))
        p.update(
            {
                b + "attention": attention(width, heads),
                b + "norm": nn.LayerNorm(width),
                b + "up": nn.Linear(width, inner),
                b + "down": nn.Linear(inner, width),
                b + "norm2": nn.LayerNorm(width),
            }
        )
    model = L.Model([x, mask], L.Linear(classes)(L.Flatten()(h)))
    p["out"] = nn.Linear(t * width, classes)

    def forward(p, x, mask):
        h = p["in"](x) + (p["positions"].weight if learned else sinusoids(t, width))
        for b in "abc"[:blocks]:
            h = p[b + "norm"](h + p[b + "attention"](h, h, h, key_padding_mask=mask != 0)[0])
            h = p[b + "norm2"](h + p[b + "down"](F.gelu(p[b + "up"](h))))
        return p["out"](h.flatten(1))

    lengths = r.integers(1, t + 1, n)
    return Case(
        model,
        p,
        forward,
        {"x": r.integers(0, words, (n, t)), "mask": np.arange(t) >= lengths[:, None]},
        r.integers(0, classes, n),
    )


@network
def mean_over_what_is_not_masked(r, s):
    """And a gate: what users compose of products and quotients."""
    t, words, width, classes, n = s(6, 1, 9), s(9, 2, 33), s(8, 1, 5, 16), s(3, 2, 5), s(24, 7)
    x, mask = L.Input(t, ids=words, name="x"), L.Input(t, name="mask")
    h = L.Embedding(width, std=0.5)(x)
    h = h * L.Activation("sigmoid")(L.Linear(1)(h))
    keep = L.Unary("not")(mask)
    mean = L.Reshape(width)(L.BatchedMatmul()(L.Reshape(1, t)(keep), h)) / L.Reduce("sum")(keep)
    model = L.Model([x, mask], L.Linear(classes)(mean))
    p = {
        "in": nn.Embedding(words, width),
        "gate": nn.Linear(width, 1),
        "out": nn.Linear(width, classes),
    }

    def forward(p, x, mask):
        h = p["in"](x)
        h, keep = h * torch.sigmoid(p["gate"](h)), (mask == 0).to(h.dtype)
        return p["out"]((h * keep[:, :, None]).sum(1) / keep.sum(1, keepdim=True))

    lengths = r.integers(1, t + 1, n)
    return Case(
        model,
        p,
        forward,
        {"x": r.integers(0, words, (n, t)), "mask": np.arange(t) >= lengths[:, None]},
        r.integers(0, classes, n),
    )


@network
def seq2seq_with_cross_attention(r, s):
    t, features, u, words, heads = s(7, 2, 10), s(3, 1, 5), s(5, 2, 8), s(6, 3, 20), s(2, 1, 4)
    width, n = heads * s(4, 2, 3), s(16, 6)
    source, mask, target = (
        L.Input(t, features, name="source"),
        L.Input(t, name="mask"),
        L.Input(u, ids=words, name="target"),
    )
    memory = L.GRU(width)(source)
    h = L.Embedding(width)(target)
    h = h + L.Attention(heads, rope=False, **ATTENTION)(h)
    h = h + L.CrossAttention(heads, **ATTENTION)(h, memory, mask)
    model = L.Model([source, mask, target], L.Linear(words)(h))
    p = {
        "in": nn.Embedding(words, width),
        "own": attention(width, heads),
        "encoder": nn.GRU(features, width, batch_first=True),
        "other": attention(width, heads),
        "out": nn.Linear(width, words),
    }

    def forward(p, source, mask, target):
        memory, _ = p["encoder"](source)
        h = p["in"](target)
        h = h + p["own"](h, h, h, attn_mask=causal(u))[0]
        return p["out"](h + p["other"](h, memory, memory, key_padding_mask=mask != 0)[0])

    lengths = r.integers(1, t + 1, n)
    x = {
        "source": r.normal(size=(n, t, features)),
        "mask": np.arange(t) >= lengths[:, None],
        "target": r.integers(0, words, (n, u)),
    }
    return Case(model, p, forward, x, np.roll(x["target"], -1, axis=1))


@network
def characters_by_attention(r, s):
    t, words, heads, blocks, n = s(9, 2, 14), s(11, 4, 30), s(2, 1, 4), s(1, 2), s(12, 5)
    width = heads * s(4, 2, 6)
    layers = [L.Input(t, ids=words), L.Embedding(width, std=0.5), L.Positions(std=0.5)]
    p = {"embedding": nn.Embedding(words, width), "positions": nn.Embedding(t, width)}
    for b in "ab"[:blocks]:
        layers += [L.Residual(L.Attention(heads, rope=False, **ATTENTION)), L.LayerNorm()]
        p.update({b + "attention": attention(width, heads), b + "norm": nn.LayerNorm(width)})
    model = L.Sequential(*layers, L.Linear(words))
    p["out"] = nn.Linear(width, words)

    def forward(p, x):
        h = p["embedding"](x) + p["positions"].weight
        for b in "ab"[:blocks]:
            h = p[b + "norm"](h + p[b + "attention"](h, h, h, attn_mask=causal(t))[0])
        return p["out"](h)

    text = r.integers(0, words, (n, t + 1))
    return Case(model, p, forward, text[:, :-1], text[:, 1:])


@network
def characters_by_lstm(r, s):
    t, words, inner, width, stack, n = (
        s(9, 2, 14),
        s(11, 4, 30),
        s(6, 3),
        s(8, 3, 12),
        s(1, 2),
        s(12, 5),
    )
    model = L.Sequential(
        L.Input(t, ids=words),
        L.Embedding(inner, std=0.5),
        L.LSTM(width, num_layers=stack),
        L.Linear(words),
    )
    p = {
        "embedding": nn.Embedding(words, inner),
        "lstm": nn.LSTM(inner, width, stack, batch_first=True),
        "out": nn.Linear(width, words),
    }
    text = r.integers(0, words, (n, t + 1))
    return Case(
        model, p, lambda p, x: p["out"](p["lstm"](p["embedding"](x))[0]), text[:, :-1], text[:, 1:]
    )


@network
def characters_row_by_row(r, s):
    """A row is an id, and recurrence goes from row to row: what generates."""
    t, words, inner, n = s(9, 2, 14), s(11, 4, 30), s(6, 3), s(12, 5)
    width, layer, module = recurrent(r, s)
    model = L.Sequential(L.Input(ids=words), L.Embedding(inner, std=0.5), layer, L.Linear(words))
    p = {
        "embedding": nn.Embedding(words, inner),
        "layer": module(inner),
        "out": nn.Linear(width, words),
    }
    text = r.integers(0, words, (n, t + 1))
    return Case(
        model,
        p,
        lambda p, x: p["out"](p["layer"](p["embedding"](x))[0]),
        text[:, :-1],
        text[:, 1:],
        by_row=True,
    )


@network
def attention_row_by_row(r, s):
    t, words, heads, n = s(9, 2, 14), s(11, 4, 30), s(2, 1, 4), s(12, 5)
    width = heads * s(4, 2, 6)
    model = L.Sequential(
        L.Input(ids=words),
        L.Embedding(width, std=0.5),
        L.Positions(count=64, std=0.5),
        L.Residual(L.Attention(heads, rope=False, **ATTENTION)),
        L.LayerNorm(),
        L.Linear(words),
    )
    p = {
        "embedding": nn.Embedding(words, width),
        "positions": nn.Embedding(64, width),
        "attention": attention(width, heads),
        "norm": nn.LayerNorm(width),
        "out": nn.Linear(width, words),
    }

    def forward(p, x):
        h = p["embedding"](x) + p["positions"].weight[: x.shape[1]]
        return p["out"](p["norm"](h + p["attention"](h, h, h, attn_mask=causal(x.shape[1]))[0]))

    text = r.integers(0, words, (n, t + 1))
    return Case(model, p, forward, text[:, :-1], text[:, 1:], by_row=True)


@network
def bidirectional_tagger(r, s):
    """Of unequal lengths in its targets: what is behind an end has none."""
    t, words, inner, width, tags, n = (
        s(8, 2, 12),
        s(9, 3, 25),
        s(5, 2),
        s(4, 7),
        s(4, 2, 6),
        s(14, 6),
    )
    model = L.Sequential(
        L.Input(t, ids=words),
        L.Embedding(inner, std=0.5),
        L.LSTM(width, bidirectional=True),
        L.Linear(tags),
    )
    p = {
        "embedding": nn.Embedding(words, inner),
        "lstm": nn.LSTM(inner, width, batch_first=True, bidirectional=True),
        "out": nn.Linear(2 * width, tags),
    }
    y = r.integers(0, tags, (n, t))
    y[np.arange(t) >= r.integers(1, t + 1, n)[:, None]] = -100
    return Case(
        model,
        p,
        lambda p, x: p["out"](p["lstm"](p["embedding"](x))[0]),
        r.integers(0, words, (n, t)),
        y,
    )


def packed(module, x, lengths, *state):
    """What a recurrent module gives for sequences of these lengths, none of which is 0, and its
    last states."""
    given = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    out, states = module(given, *state)
    return (
        nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0],
        states,
    )


@network
def packed_bidirectional_tagger(r, s):
    """Of two layers, over sequences of unequal lengths."""
    t, words, inner, width, stack, tags, n = (
        s(8, 2, 12),
        s(9, 3, 25),
        s(5, 2),
        s(4, 7),
        s(2, 1, 3),
        s(4, 2, 6),
        s(14, 6),
    )
    x, lengths = L.Input(t, ids=words, name="x"), L.Input(ids=t + 1, name="n")
    h = L.LSTM(width, num_layers=stack, bidirectional=True)(
        L.Embedding(inner, std=0.5)(x), lengths=lengths
    )
    model = L.Model([x, lengths], L.Linear(tags)(h))
    p = {
        "in": nn.Embedding(words, inner),
        "lstm": nn.LSTM(inner, width, stack, batch_first=True, bidirectional=True),
        "out": nn.Linear(2 * width, tags),
    }
    ends, y = r.integers(1, t + 1, n), r.integers(0, tags, (n, t))
    y[np.arange(t) >= ends[:, None]] = -100
    return Case(
        model,
        p,
        lambda p, x, n: p["out"](packed(p["lstm"], p["in"](x), n)[0]),
        {"x": r.integers(0, words, (n, t)), "n": ends},
        y,
        rate=0.5,
    )


@network
def packed_rnn_and_its_last_state(r, s):
    t, features, width, classes, n = s(7, 1, 12), s(3, 1, 6), s(5, 2, 9), s(2, 4), s(16, 5)
    x, lengths = L.Input(t, features, name="x"), L.Input(ids=t + 1, name="n")
    model = L.Model(
        [x, lengths],
        L.Linear(classes)(L.RNN(width, bidirectional=True, output="last")(x, lengths=lengths)),
    )
    p = {
        "rnn": nn.RNN(features, width, batch_first=True, bidirectional=True),
        "out": nn.Linear(2 * width, classes),
    }
    return Case(
        model,
        p,
        lambda p, x, n: p["out"](packed(p["rnn"], x, n)[1].transpose(0, 1).flatten(1)),
        {"x": r.normal(size=(n, t, features)), "n": r.integers(1, t + 1, n)},
        r.integers(0, classes, n),
    )


@network
def gru_and_the_mean_of_its_steps(r, s):
    t, features, width, classes, n = s(7, 1, 12), s(3, 1, 6), s(6, 2, 9), s(2, 4), s(16, 5)
    x, lengths = L.Input(t, features, name="x"), L.Input(ids=t + 1, name="n")
    h = L.GRU(width)(x, lengths=lengths)
    pooled = L.concat(*(L.PoolSteps(how)(h, lengths=lengths) for how in ("mean", "max", "last")))
    model = L.Model([x, lengths], L.Linear(classes)(pooled))
    p = {"gru": nn.GRU(features, width, batch_first=True), "out": nn.Linear(3 * width, classes)}

    def forward(p, x, n):
        h = packed(p["gru"], x, n)[0]
        seen = (torch.arange(t) < n[:, None])[:, :, None]
        last = h[torch.arange(len(n)), n - 1]
        return p["out"](
            torch.cat([h.sum(1) / n[:, None], h.masked_fill(~seen, -1e300).amax(1), last], 1)
        )

    return Case(
        model,
        p,
        forward,
        {"x": r.normal(size=(n, t, features)), "n": r.integers(1, t + 1, n)},
        r.integers(0, classes, n),
    )


@network
def seq2seq_by_states(r, s):
    """An encoder over sources of unequal lengths, the states of which are the decoder's first: both
    layers', h alone or h and c."""
    t, features, u, words, width, stack, n = (
        s(7, 2, 11),
        s(3, 1, 5),
        s(5, 2, 8),
        s(6, 3, 20),
        s(8, 3, 10),
        s(2, 1, 3),
        s(16, 5),
    )
    source, lengths, target = (
        L.Input(t, features, name="source"),
        L.Input(ids=t + 1, name="n"),
        L.Input(u, ids=words, name="target"),
    )
    _, h = L.GRU(width, num_layers=stack, return_state=True)(source, lengths=lengths)
    _, h2, c = L.LSTM(width, return_state=True)(source, lengths=lengths)
    start = L.Embedding(width)(target)
    decoded = L.GRU(width, num_layers=stack)(start, h0=h) + L.LSTM(width)(start, c0=c, h0=h2)
    model = L.Model([source, lengths, target], L.Linear(words)(decoded))
    p = {
        "in": nn.Embedding(words, width),
        "encoder": nn.GRU(features, width, stack, batch_first=True),
        "decoder": nn.GRU(width, width, stack, batch_first=True),
        "encoder2": nn.LSTM(features, width, batch_first=True),
        "decoder2": nn.LSTM(width, width, batch_first=True),
        "out": nn.Linear(width, words),
    }

    def forward(p, source, n, target):
        start = p["in"](target)
        a = p["decoder"](start, packed(p["encoder"], source, n)[1])[0]
        return p["out"](a + p["decoder2"](start, packed(p["encoder2"], source, n)[1])[0])

    x = {
        "source": r.normal(size=(n, t, features)),
        "n": r.integers(1, t + 1, n),
        "target": r.integers(0, words, (n, u)),
    }
    return Case(model, p, forward, x, np.roll(x["target"], -1, axis=1))


@network
def transformer_classifier_with_lengths(r, s):
    """Three ways to attend, the mean of the steps within the length."""
    t, words, heads, classes, n = s(6, 1, 11), s(9, 3, 30), s(2, 1, 4), s(3, 2, 5), s(24, 7)
    width = heads * s(4, 2, 5)
    x, lengths = L.Input(t, ids=words, name="x"), L.Input(ids=t + 1, name="n")
    h = L.Positions()(L.Embedding(width, std=0.5)(x))
    h = L.LayerNorm()(
        h + L.Attention(heads, causal=False, rope=False, **ATTENTION)(h, lengths=lengths)
    )
    h = L.LayerNorm()(
        h + L.Attention(heads, causal=True, rope=False, **ATTENTION)(h, lengths=lengths)
    )
    h = h + L.CrossAttention(heads, **ATTENTION)(h, h, lengths=lengths)
    model = L.Model([x, lengths], L.Linear(classes)(L.PoolSteps()(h, lengths=lengths)))
    p = {
        "in": nn.Embedding(words, width),
        "positions": nn.Embedding(t, width),
        "a": attention(width, heads),
        "norm_a": nn.LayerNorm(width),
        "b": attention(width, heads),
        "norm_b": nn.LayerNorm(width),
        "c": attention(width, heads),
        "out": nn.Linear(width, classes),
    }

    def forward(p, x, n):
        hidden = torch.arange(t) >= n[:, None]
        h = p["in"](x) + p["positions"].weight
        h = p["norm_a"](h + p["a"](h, h, h, key_padding_mask=hidden)[0])
        h = p["norm_b"](h + p["b"](h, h, h, key_padding_mask=hidden, attn_mask=causal(t))[0])
        h = h + p["c"](h, h, h, key_padding_mask=hidden)[0]
        return p["out"](h.masked_fill(hidden[:, :, None], 0).sum(1) / n[:, None])

    return Case(
        model,
        p,
        forward,
        {"x": r.integers(0, words, (n, t)), "n": r.integers(1, t + 1, n)},
        r.integers(0, classes, n),
    )


def nearer(heads, t, n):
    """ALiBi's mask of (rows x heads, queries, keys), slopes as in arXiv 2108.12409, section 3."""
    power = 2 ** (heads.bit_length() - 1)
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    slopes += [2 ** (-4 * (2 * h + 1) / power) for h in range(heads - power)]
    steps = torch.arange(t)
    distance = (steps[:, None] - steps).abs().double()
    return -(torch.tensor(slopes)[:, None, None] * distance).repeat(n, 1, 1)


@network
def alibi_row_by_row(r, s):
    t, words, heads, n = s(9, 2, 14), s(11, 4, 30), s(3, 1, 12), s(12, 5)
    width = heads * s(4, 2, 6)
    model = L.Sequential(
        L.Input(ids=words),
        L.Embedding(width, std=0.5),
        L.Residual(L.Attention(heads, rope=False, alibi=True, **ATTENTION)),
        L.LayerNorm(),
        L.Linear(words),
    )
    p = {
        "embedding": nn.Embedding(words, width),
        "attention": attention(width, heads),
        "norm": nn.LayerNorm(width),
        "out": nn.Linear(width, words),
    }

    def forward(p, x):
        h, t = p["embedding"](x), x.shape[1]
        mask = nearer(heads, t, len(x)).masked_fill(causal(t), -torch.inf)
        return p["out"](p["norm"](h + p["attention"](h, h, h, attn_mask=mask)[0]))

    text = r.integers(0, words, (n, t + 1))
    return Case(model, p, forward, text[:, :-1], text[:, 1:], by_row=True)


@network
def alibi_in_a_row(r, s):
    """To both sides, with a mask (of ops) or with lengths (fused)."""
    t, heads, n, lengths = s(6, 2, 10), s(6, 1, 9), s(16, 5), s(True, False)
    width = heads * s(2, 4)
    x = L.Input(t, width, name="x")
    hides = L.Input(t, name="hides") if not lengths else L.Input(ids=t + 1, name="hides")
    layer = L.Attention(heads, causal=False, rope=False, alibi=True, **ATTENTION)
    model = L.Model(
        [x, hides], L.Linear(3)(layer(x, **({"lengths" if lengths else "mask": hides})))
    )
    p = {"attention": attention(width, heads), "out": nn.Linear(width, 3)}

    def forward(p, x, hides):
        hidden = torch.arange(t) >= hides.reshape(-1, 1) if lengths else hides != 0
        mask = nearer(heads, t, len(x))
        mask = mask.masked_fill(hidden.repeat_interleave(heads, 0)[:, None, :], -torch.inf)
        y = p["attention"](x, x, x, attn_mask=mask)[0]
        if lengths:
            y = y * ~hidden[..., None]
        return p["out"](y)

    hides = r.integers(1, t + 1, n) if lengths else r.integers(0, 2, (n, t))
    if not lengths:
        hides[:, 0] = 0  # a query that sees nothing has NaN in PyTorch
    values = r.standard_normal((n, t, width)).astype(np.float32)
    return Case(
        model,
        p,
        forward,
        {"x": r.normal(size=(n, t, width)), "hides": hides},
        r.integers(0, 3, (n, t)),
    )


@network
def causal_attention_with_a_mask(r, s):
    """Of grouped keys, and of a window."""
    t, kv, group, depth, window, n = s(6, 2, 10), s(2, 1), s(2, 1, 3), s(2, 4), s(4, 1, 7), s(16, 5)
    heads, width = kv * group, kv * group * depth
    x, mask = L.Input(t, width, name="x"), L.Input(t, name="mask")
    model = L.Model(
        [x, mask],
        L.Linear(3)(L.Attention(heads, num_kv_heads=kv, window=window, rope=False)(x, mask=mask)),
    )
    rows = {"q": width, "k": kv * depth, "v": kv * depth, "o": width}
    p = {
        "attention": nn.ParameterDict(
            {role: nn.Parameter(torch.zeros(k, width)) for role, k in rows.items()}
        ),
        "out": nn.Linear(width, 3),
    }

    def forward(p, x, mask):
        q, k, v = (
            F.linear(x, p["attention"][role]).reshape(len(x), t, -1, depth).transpose(1, 2)
            for role in "qkv"
        )
        near = torch.arange(t)[:, None] - torch.arange(t) < window
        seen = (mask == 0)[:, None, None, :] & ~causal(t) & near
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        y = torch.softmax((q @ k.transpose(2, 3) / depth**0.5).masked_fill(~seen, -1e300), -1) @ v
        return p["out"](F.linear(y.transpose(1, 2).flatten(2), p["attention"]["o"]))

    mask = r.integers(0, 2, (n, t))
    mask[:, ::window] = 0  # a query that sees nothing has NaN in PyTorch
    return Case(
        model,
        p,
        forward,
        {"x": r.normal(size=(n, t, width)), "mask": mask},
        r.normal(size=(n, t, 3)),
    )


@network
def gru_on_a_series(r, s):
    t, n = s(12, 3, 20), s(20, 6)
    width, layer, module = recurrent(r, s)
    layer["output"] = "last"
    model = L.Sequential(L.Input(t, 1), layer, L.Linear(1))
    p = {"layer": module(1), "out": nn.Linear(width, 1)}
    wave = np.sin(0.4 * np.arange(t + 1) + r.uniform(0, 6, (n, 1)))
    return Case(
        model, p, lambda p, x: p["out"](p["layer"](x)[0][:, -1]), wave[:, :t, None], wave[:, t:]
    )
