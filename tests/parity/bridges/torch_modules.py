"""Random modules for torch_models.py: each function takes a random generator and returns a module
and a function of the batch that makes its inputs."""

import torch
import torch.nn.functional as F
from torch import nn

MAKERS = []


def maker(function):
    MAKERS.append(function)
    return function


class Call(nn.Module):
    """A function with modules by name."""

    def __init__(self, forward, buffers=None, parameters=None, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        for name, tensor in (buffers or {}).items():
            self.register_buffer(name, tensor)
        for name, tensor in (parameters or {}).items():
            self.register_parameter(name, nn.Parameter(tensor))
        self.function = forward

    def forward(self, *x):
        return self.function(self, *x)


def floats(*shape):
    return lambda n: (torch.randn(n, *shape),)


def ids(below, *shape):
    return lambda n: (torch.randint(0, below, (n, *shape)),)


ACTIVATIONS = [nn.ReLU, nn.GELU, lambda: nn.GELU(approximate="tanh"), nn.SiLU, nn.Hardswish,
               nn.Hardsigmoid, nn.Tanh, nn.Sigmoid, nn.ELU, nn.SELU, nn.CELU, nn.Mish, nn.Softplus,
               nn.ReLU6, nn.LeakyReLU, nn.Hardtanh, nn.LogSigmoid, nn.Softsign, nn.Tanhshrink,
               nn.Softshrink, nn.Hardshrink, nn.PReLU, lambda: nn.Threshold(0.1, -0.5), nn.RReLU,
               lambda: nn.Softplus(beta=2, threshold=3), lambda: nn.ReLU(inplace=True),
               lambda: nn.LeakyReLU(0.2, inplace=True)]


def activation(r):
    return r.choice(ACTIVATIONS)()


def norm2d(r, c):
    return r.choice([lambda: nn.BatchNorm2d(c), lambda: nn.BatchNorm2d(c, affine=False),
                     lambda: nn.GroupNorm(r.choice([1, 2]), c), lambda: nn.InstanceNorm2d(c),
                     lambda: nn.InstanceNorm2d(c, affine=True, track_running_stats=True),
                     lambda: nn.GroupNorm(c, c, affine=False), nn.Identity])()


def mixed(module):
    """Statistics that are not those of a new module."""
    for m in module.modules():
        if getattr(m, "running_mean", None) is not None:
            m.running_mean.normal_(0, 0.3)
            m.running_var.uniform_(0.5, 2)
    return module


@maker
def convolutional(r):
    c, size = r.choice([1, 3, 4]), r.choice([7, 8, 11])
    parts, width = [], c
    for _ in range(r.randint(1, 3)):
        out = r.choice([4, 6, 8])
        groups = r.choice([1, 1, 2]) if width % 2 == 0 else 1
        parts += [nn.Conv2d(width, out, r.choice([1, 3, (3, 1)]), padding=r.choice([0, 1, "same"]),
                            groups=groups, bias=r.random() < 0.7, dilation=1,
                            padding_mode=r.choice(["zeros", "zeros", "circular", "reflect"])),
                  norm2d(r, out), activation(r)]
        width = out
    parts.append(r.choice([nn.MaxPool2d(2, ceil_mode=True), nn.AvgPool2d(2, padding=1),
                           nn.AdaptiveAvgPool2d(1), nn.AdaptiveAvgPool2d((3, 2)), nn.Dropout2d(0.2),
                           nn.AdaptiveMaxPool2d(2), nn.MaxPool2d(3, 2, 1),
                           nn.AvgPool2d(3, 2, 1, count_include_pad=False)]))
    return mixed(nn.Sequential(*parts, nn.Flatten())), floats(c, size + 2, size)


@maker
def convolutional_1d(r):
    c, out = r.choice([2, 3]), r.choice([4, 6])
    return mixed(nn.Sequential(
        nn.Conv1d(c, out, 3, stride=r.choice([1, 2]), padding=r.choice([0, 1]),
                  dilation=r.choice([1, 2])),
        r.choice([nn.BatchNorm1d(out), nn.GroupNorm(2, out), nn.InstanceNorm1d(out)]),
        activation(r), r.choice([nn.MaxPool1d(2), nn.AvgPool1d(2), nn.AdaptiveAvgPool1d(3),
                                 nn.AdaptiveMaxPool1d(2), nn.Dropout(0.1)]))), floats(c, 13)


@maker
def convolutional_3d(r):
    return mixed(nn.Sequential(nn.Conv3d(2, 4, r.choice([2, 3]), padding=1), nn.BatchNorm3d(4),
                               activation(r), r.choice([nn.MaxPool3d(2), nn.AvgPool3d(2),
                                                        nn.AdaptiveAvgPool3d(2)]))), floats(
        2, 4, 5, 6)


@maker
def transposed(r):
    stride = r.choice([1, 2])
    return nn.Sequential(
        nn.ConvTranspose2d(4, 6, 3, stride=stride, padding=r.choice([0, 1]),
                           output_padding=r.randint(0, stride - 1), groups=r.choice([1, 2]),
                           bias=r.random() < 0.5), activation(r),
        r.choice([nn.Upsample(scale_factor=2), nn.Upsample(scale_factor=2, mode="bilinear"),
                  nn.Upsample(size=(9, 10), mode="bilinear", align_corners=True),
                  nn.Upsample(scale_factor=1.5, mode="nearest"),
                  nn.Upsample(scale_factor=2, mode="bicubic"),
                  nn.ConvTranspose2d(6, 3, 2, 2)])), floats(4, 5, 6)


@maker
def shuffled(r):
    return nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.PixelShuffle(2), activation(r),
                         r.choice([nn.PixelUnshuffle(2), nn.ZeroPad2d((1, 0, 2, 1)),
                                   nn.ReflectionPad2d(2), nn.ReplicationPad2d((0, 1, 2, 1)),
                                   nn.ConstantPad2d(1, 0.5), nn.ChannelShuffle(2)])), floats(
        2, 4, 6)


@maker
def residual(r):
    c = r.choice([4, 6])
    block = [mixed(nn.Sequential(nn.Conv2d(c, c, 3, padding=1), norm2d(r, c), activation(r),
                                 nn.Conv2d(c, c, 1))) for _ in range(2)]
    return Call(lambda m, x: m.f(m.b(F.relu(m.a(x) + x)) + x),
                a=block[0], b=block[r.randint(0, 1)], f=activation(r)), floats(c, 6, 5)


@maker
def squeeze_excite(r):
    c = 8
    return mixed(Call(lambda m, x: x * m.gate(m.two(F.silu(m.one(x.mean((2, 3), keepdim=True))))),
                      one=nn.Conv2d(c, 4, 1), two=nn.Conv2d(4, c, 1),
                      gate=r.choice([nn.Sigmoid(), nn.Hardsigmoid()]))), floats(c, 5, 5)


@maker
def perceptron(r):
    parts, width = [], r.choice([3, 8])
    first = width
    for _ in range(r.randint(1, 4)):
        out = r.choice([5, 8, 12])
        parts += [nn.Linear(width, out, bias=r.random() < 0.8),
                  r.choice([nn.LayerNorm(out), nn.BatchNorm1d(out), nn.Identity(),
                            nn.RMSNorm(out), nn.LayerNorm(out, elementwise_affine=False)]),
                  activation(r), nn.Dropout(r.choice([0, 0.3]))]
        width = out
    return mixed(nn.Sequential(*parts, r.choice([nn.Softmax(-1), nn.LogSoftmax(1), nn.Identity(),
                                                 nn.Softmin(1)]))), floats(first)


@maker
def over_steps(r):
    return Call(lambda m, x: m.b(m.f(m.n(m.a(x)))).softmax(r_axis), a=nn.Linear(6, 8),
                n=r.choice([nn.LayerNorm(8), nn.LayerNorm([5, 8]), nn.BatchNorm1d(5)]),
                f=activation(r), b=nn.Linear(8, 3)), floats(5, 6)


r_axis = -1


def recurrent_of(r, **more):
    kind = r.choice([nn.LSTM, nn.GRU, nn.RNN])
    if kind is nn.RNN:
        more["nonlinearity"] = r.choice(["tanh", "relu"])
    return kind(6, r.choice([4, 5]), r.choice([1, 2]), bias=r.random() < 0.8,
                bidirectional=r.random() < 0.4, dropout=r.choice([0, 0.2]), **more)


@maker
def recurrent(r):
    first = r.random() < 0.6
    net = recurrent_of(r, batch_first=first)
    wide = net.hidden_size * (2 if net.bidirectional else 1)
    how = r.choice(["all", "last", "state", "mean"])

    def forward(m, x):
        y, h = m.net(x if first else x.transpose(0, 1))
        y = y if first else y.transpose(0, 1)
        h = h[0] if isinstance(h, tuple) else h
        if how == "state":
            return h[-1]
        return m.out(y if how == "all" else y[:, -1] if how == "last" else y.mean(1))

    return Call(forward, net=net, out=nn.Linear(wide, 3)), floats(7, 6)


@maker
def recurrent_states(r):
    net = r.choice([lambda: nn.LSTM(6, 4, 2, batch_first=True), lambda: nn.GRU(
        6, 4, 2, batch_first=True, bidirectional=True)])()
    return Call(lambda m, x: m.net(x), net=net), floats(5, 6)


@maker
def recurrent_between(r):
    """A decoder that begins with the encoder's states."""
    kind = r.choice([nn.LSTM, nn.GRU])
    return Call(lambda m, x, y: m.out(m.two(y, m.one(x)[1])[0]), one=kind(6, 5, batch_first=True),
                two=kind(3, 5, batch_first=True), out=nn.Linear(5, 2)), lambda n: (
        torch.randn(n, 7, 6), torch.randn(n, 4, 3))


@maker
def cells(r):
    kind = r.choice([nn.LSTMCell, nn.GRUCell, nn.RNNCell])

    def forward(m, x):
        state = None
        for t in range(x.shape[1]):
            state = m.cell(x[:, t], state)
        return state[0] if isinstance(state, tuple) else state

    return Call(forward, cell=kind(4, 5)), floats(3, 4)


@maker
def embedded(r):
    net = recurrent_of(r, batch_first=True)
    return Call(lambda m, x: m.out(m.net(m.e(x))[0][:, -1]), e=nn.Embedding(11, 6), net=net,
                out=nn.Linear(net.hidden_size * (2 if net.bidirectional else 1), 3)), ids(11, 6)


@maker
def embedding_positions(r):
    def forward(m, x):
        h = m.e(x) * 2.0 + m.p(torch.arange(x.shape[1]))
        mask = (x != 0).unsqueeze(-1)
        h = m.n(h) * mask
        return F.linear(h.sum(1) / mask.sum(1).clamp(min=1), m.e.weight) if tied else m.o(h)

    tied = r.random() < 0.5
    return Call(forward, e=nn.Embedding(13, 8), p=nn.Embedding(5, 8), n=nn.LayerNorm(8),
                o=nn.Linear(8, 13)), ids(13, 5)


@maker
def tabular(r):
    return Call(lambda m, c, d, x: m.o(torch.cat([m.a(c), m.b(d), x], 1)), a=nn.Embedding(5, 3),
                b=nn.Embedding(7, 2), o=nn.Linear(9, 2)), lambda n: (
        torch.randint(0, 5, (n,)), torch.randint(0, 7, (n,)), torch.randn(n, 4))


@maker
def attention(r):
    first = r.random() < 0.7
    need = r.random() < 0.3
    net = nn.MultiheadAttention(8, r.choice([1, 2, 4]), batch_first=first, bias=r.random() < 0.8)
    how = r.choice(["none", "causal", "bool", "cross", "random"])

    def forward(m, x, y):
        if not first:
            x, y = x.transpose(0, 1), y.transpose(0, 1)
        if how == "cross":
            made = m.net(x, y, y, need_weights=need)
        else:
            mask = {"none": None, "causal": nn.Transformer.generate_square_subsequent_mask(5),
                    "bool": torch.triu(torch.ones(5, 5, dtype=torch.bool), 1),
                    "random": m.mask}[how]
            made = m.net(x, x, x, attn_mask=mask, need_weights=need)
        out = made[0] if first else made[0].transpose(0, 1)
        return (out, made[1]) if need else out + 0 * y[..., :1].sum()  if False else out

    return Call(forward, net=net, buffers={"mask": torch.randn(5, 5)}), lambda n: (
        torch.randn(n, 5, 8), torch.randn(n, 5, 8))


@maker
def padded_attention(r):
    return Call(lambda m, x, p: m.net(x, x, x, key_padding_mask=p)[0],
                net=nn.MultiheadAttention(8, 2, batch_first=True)), lambda n: (
        torch.randn(n, 5, 8), torch.arange(5)[None] >= torch.randint(1, 6, (n, 1)))


@maker
def encoder(r):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=r.random() < 0.7,
                                       activation=r.choice(["relu", "gelu"]),
                                       norm_first=r.random() < 0.5)
    net = nn.TransformerEncoder(layer, r.choice([1, 2]), enable_nested_tensor=False)
    causal = r.random() < 0.5
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    turn = not layer.self_attn.batch_first

    def forward(m, x):
        x = x.transpose(0, 1) if turn else x
        y = m.net(x, mask=m.mask, is_causal=True) if causal else m.net(x)
        return y.transpose(0, 1) if turn else y

    return Call(forward, net=net, buffers={"mask": mask}), floats(5, 8)


@maker
def transformer(r):
    net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    return Call(lambda m, x, y: m.net(x, y, tgt_mask=m.mask), net=net, buffers={
        "mask": nn.Transformer.generate_square_subsequent_mask(4)}), lambda n: (
        torch.randn(n, 5, 8), torch.randn(n, 4, 8))


@maker
def decoder(r):
    """With a causal mask that is computed, and behind an encoder."""
    layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, norm_first=r.random() < 0.5)
    net, told = nn.TransformerDecoder(layer, r.randint(1, 2)), r.random() < 0.5
    return Call(lambda m, x, y: m.net(
        x, m.one(y), tgt_mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1]),
        tgt_is_causal=told), net=net, one=nn.TransformerEncoderLayer(
            8, 2, 16, batch_first=True)), lambda n: (torch.randn(n, 4, 8), torch.randn(n, 5, 8))


@maker
def projected(r):
    """An LSTM with proj_size."""
    net = nn.LSTM(4, 6, r.randint(1, 2), proj_size=3, batch_first=True, bias=r.random() < 0.5,
                  bidirectional=r.random() < 0.5)
    return Call(lambda m, x: m.net(x)[0], net=net), floats(5, 4)


@maker
def angles(r):
    kind = r.choice([torch.atan, torch.asinh, lambda x: torch.asin(torch.tanh(x)),
                     lambda x: torch.acos(torch.tanh(x)), lambda x: torch.acosh(1 + x * x),
                     lambda x: torch.atanh(torch.tanh(x)), lambda x: torch.atan2(x, x.flip(-1))])
    return Call(lambda m, x: kind(m.one(x)), one=nn.Linear(4, 6)), floats(4)


@maker
def own_attention(r):
    heads, causal = r.choice([1, 2]), r.random() < 0.5
    style = r.choice(["sdpa", "matmul", "einsum"])

    def forward(m, x):
        b, t, c = x.shape
        q, k, v = m.qkv(x).chunk(3, -1)
        q, k, v = (z.view(b, t, heads, c // heads).transpose(1, 2) for z in (q, k, v))
        if style == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        else:
            s = (q @ k.transpose(-2, -1) if style == "matmul" else torch.einsum(
                "bhqd,bhkd->bhqk", q, k)) * (c // heads) ** -0.5
            if causal:
                s = s.masked_fill(m.tri[:t, :t] == 0, float("-inf"))
            p = F.softmax(s, dim=-1)
            y = p @ v if style == "matmul" else torch.einsum("bhqk,bhkd->bhqd", p, v)
        return m.o(y.transpose(1, 2).contiguous().view(b, t, c))

    return Call(forward, qkv=nn.Linear(8, 24), o=nn.Linear(8, 8),
                buffers={"tri": torch.tril(torch.ones(9, 9))}), floats(6, 8)


@maker
def several(r):
    """Several inputs and outputs."""
    return Call(lambda m, x, y: {"sum": m.a(x) + m.b(y), "both": torch.cat([x, y], -1),
                                 "most": (torch.maximum(m.a(x), m.b(y)), y.abs().sum(1))},
                a=nn.Linear(4, 6), b=nn.Linear(3, 6)), lambda n: (torch.randn(n, 4),
                                                                  torch.randn(n, 3))


STEPS = {
    "slice": lambda x: x[:, 1:, ::2], "flip": lambda x: x.flip(1), "roll": lambda x: x.roll(2, -1),
    "cat": lambda x: torch.cat([x, x * 2], 1), "stack": lambda x: torch.stack([x, -x], 2).flatten(
        2), "mean": lambda x: x - x.mean(-1, keepdim=True), "std": lambda x: x / (x.std(
            1, keepdim=True) + 1), "var": lambda x: x + x.var(-1, unbiased=False, keepdim=True),
    "max": lambda x: x - x.max(-1, keepdim=True)[0], "min": lambda x: x.amin(1, keepdim=True) + x,
    "where": lambda x: torch.where(x > 0, x, x * 0.1), "masked": lambda x: x.masked_fill(x < -1, 0),
    "clamp": lambda x: x.clamp(-1, 1.5), "pad": lambda x: F.pad(x, (1, 2)),
    "padded": lambda x: F.pad(x, (0, 1, 1, 0), value=0.7), "softmax": lambda x: x.softmax(1),
    "einsum": lambda x: torch.einsum("bij,bkj->bik", x, x), "transpose": lambda x: x.transpose(
        1, 2), "gram": lambda x: torch.bmm(x, x.transpose(1, 2)), "norm": lambda x: F.normalize(
            x, dim=-1), "cumsum": lambda x: x.cumsum(1), "exp": lambda x: (x.clamp(max=2)).exp(),
    "square": lambda x: x ** 2 * 0.3, "abs": lambda x: x.abs().sqrt(), "log": lambda x: (
        x.abs() + 1).log(), "log1p": lambda x: torch.log1p(x.abs()), "sin": lambda x: torch.sin(x),
    "chunk": lambda x: sum(x.repeat(1, 1, 2).chunk(2, -1)), "repeat": lambda x: x.repeat(1, 2, 1),
    "interleave": lambda x: x.repeat_interleave(2, 1), "glu": lambda x: F.glu(torch.cat(
        [x, x + 1], -1), -1), "view": lambda x: x.reshape(x.shape[0], -1, x.shape[1]),
    "merged": lambda x: (x.reshape(-1, x.shape[-1]) * 2).view(x.shape[0], -1, x.shape[-1]),
    "expand": lambda x: x[:, :1].expand(-1, 3, -1) + x[:, -1:], "unbind": lambda x: torch.stack(
        x.unbind(1)[::-1], 1), "tril": lambda x: x.tril(1), "logsumexp": lambda x: x - torch.
    logsumexp(x, 2, keepdim=True), "topk_free": lambda x: x.argmax(-1, keepdim=True) * 0.1 + x,
    "gather": lambda x: x.gather(1, (x.argmax(1, keepdim=True)).expand(-1, 2, -1)),
    "assign": lambda x: assigned(x), "index": lambda x: x[:, torch.tensor([1, 0, 1])],
    "unfold": lambda x: x.unfold(1, 2, 1).flatten(2), "prod": lambda x: x.tanh().prod(
        1, keepdim=True) + x, "cos": lambda x: F.cosine_similarity(x, x.flip(1), dim=-1)[
            ..., None] + x, "lerp": lambda x: torch.lerp(x, x.flip(-1), 0.3),
    "addcmul": lambda x: torch.addcmul(x, x, x, value=0.2), "rsqrt": lambda x: x * torch.rsqrt(
        x.pow(2).mean(-1, keepdim=True) + 1e-5), "round": lambda x: x.floor() + x.frac(),
    "remainder": lambda x: x % 0.7 if False else torch.fmod(x, 0.7) * 0 + x, "any": lambda x: (
        x > 0).any(1, keepdim=True).float() + x, "zeros": lambda x: x + torch.zeros_like(x) + 1,
    "onehot": lambda x: F.one_hot(x.argmax(-1), x.shape[-1]).float() + x, "interpolate": lambda x:
    F.interpolate(x, scale_factor=2), "linear": lambda x: F.interpolate(x, size=5, mode="linear"),
    "pool": lambda x: F.avg_pool1d(x, 2), "outer": lambda x: x[:, :, None] * x[:, None] @ torch.
    ones(x.shape[-1], 2), "swap": lambda x: x.permute(1, 0, 2).contiguous().permute(1, 2, 0),
    "split": lambda x: torch.cat(x.split([1, x.shape[1] - 1], 1)[::-1], 1), "mask": lambda x: x * (
        x > x.mean(1, keepdim=True)), "baddbmm": lambda x: torch.baddbmm(
            x[:, :, :1], x, x.transpose(1, 2)), "atan": lambda x: torch.atan(x),
    "hypot": lambda x: (x.square() + 1).sqrt(), "celu": lambda x: F.celu(x, 0.7),
    "bool": lambda x: ((x > 0) & (x < 1) | (x == 2)).to(x.dtype) * x, "erf": lambda x: torch.erf(x),
}


def assigned(x):
    x = x.clone()
    x[:, 0] = 1.0
    x[:, :, -1] *= 2
    return x


def chain(r, few, many):
    """Functions that follow one another; sizes stay small."""
    names = [r.choice(sorted(STEPS)) for _ in range(r.randint(few, many))]
    x, kept = torch.randn(2, 4, 6), []
    for name in names:
        try:
            made = STEPS[name](x)
        except (RuntimeError, IndexError):
            continue
        if made.ndim == 3 and 3 <= made.shape[1] <= 24 and 3 <= made.shape[2] <= 24:
            x = made
            kept.append(name)

    def forward(m, x):
        for name in kept:
            x = STEPS[name](m.f(m.a(x)) if x.shape[-1] == 6 else x)
        return x

    module = Call(forward, a=nn.Linear(6, 6), f=activation(r))
    module.steps = kept
    return module, floats(4, 6)


@maker
def functional(r):
    return chain(r, 2, 5)


@maker
def functional_long(r):
    return chain(r, 4, 9)


@maker
def shared(r):
    return Call(lambda m, x: m.b(m.a(m.f(m.a(x))) + m.a(x)), a=nn.Linear(6, 6), f=activation(r),
                b=nn.Linear(6, 2)), floats(6)


@maker
def tied(r):
    """A decoder's weights are an encoder's, transposed."""
    return Call(lambda m, x: F.linear(m.f(m.a(x)), m.a.weight.t()), a=nn.Linear(6, 4),
                f=activation(r)), floats(6)


@maker
def own_parameters(r):
    return Call(lambda m, x: torch.cat([m.cls.expand(x.shape[0], -1, -1), x @ m.w + m.b], 1)
                * m.scale + m.pos, parameters={"cls": torch.randn(1, 1, 5),
                                               "w": torch.randn(6, 5), "b": torch.randn(5),
                                               "pos": torch.randn(1, 5, 5)},
                buffers={"scale": torch.rand(5)}), floats(4, 6)


@maker
def frames(r):
    """Convolutions of each frame, then steps."""
    def forward(m, x):
        b, t = x.shape[:2]
        h = m.conv(x.reshape(b * t, *x.shape[2:])).flatten(1)
        return m.net(h.view(b, t, -1))[0]

    return mixed(Call(forward, conv=nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(),
                                                  nn.MaxPool2d(2)),
                      net=nn.GRU(12, 4, batch_first=True))), floats(3, 1, 6, 6)


@maker
def bilinear(r):
    return Call(lambda m, x, y: m.a(x, y), a=nn.Bilinear(3, 4, 5)), lambda n: (
        torch.randn(n, 3), torch.randn(n, 4))


@maker
def mixture(r):
    """Experts with a gate that is computed."""
    return Call(lambda m, x: torch.einsum("be,beo->bo", F.softmax(m.gate(x), -1), torch.stack(
        [e(x) for e in m.experts], 1)), gate=nn.Linear(6, 3), experts=nn.ModuleList(
        [nn.Sequential(nn.Linear(6, 5), activation(r)) for _ in range(3)])), floats(6)


@maker
def patches(r):
    def forward(m, x):
        h = m.conv(x).flatten(2).transpose(1, 2)
        h = torch.cat([m.cls.expand(x.size(0), -1, -1), h], 1) + m.pos
        return m.out(m.net(h)[:, 0])

    return Call(forward, conv=nn.Conv2d(3, 8, 4, 4), net=nn.TransformerEncoderLayer(
        8, 2, 16, batch_first=True, norm_first=True, activation="gelu"), out=nn.Linear(8, 3),
        parameters={"cls": torch.randn(1, 1, 8), "pos": torch.randn(1, 5, 8)}), floats(3, 8, 8)


@maker
def weight_norm(r):
    norm = nn.utils.parametrizations.weight_norm
    return nn.Sequential(norm(nn.Conv1d(3, 4, 3)), activation(r), nn.Flatten(), norm(
        nn.Linear(20, 3))), floats(3, 7)


@maker
def of_each(r):
    """The step of the largest id, as CLIP's text encoder takes it."""
    return Call(lambda m, x: m.n(m.e(x))[torch.arange(x.shape[0]), x.argmax(dim=-1)],
                e=nn.Embedding(9, 6), n=nn.Linear(6, 6)), ids(9, 5)


@maker
def spectral(r):
    """What has no layer: it is refused."""
    return Call(lambda m, x: m.a(torch.fft.rfft(x).abs()), a=nn.Linear(4, 2)), floats(6)


class Steps:
    """Inputs of a module with open lengths: 1 step, 5, or the maximum, by the batch."""

    MAXIMUM = 13

    def __init__(self, make, axis):
        self.make = make
        self.shapes = ({axis: torch.export.Dim("length", max=self.MAXIMUM)},)

    def __call__(self, n):
        return (self.make(n, {1: 1, 2: 6, 3: 5}.get(n, self.MAXIMUM)),)


def step_layer(r, d):
    """A module of [batch, steps, d] to the same."""
    heads = r.choice([1, 2])
    kind = r.choice([nn.LSTM, nn.GRU, nn.RNN])
    attention = nn.MultiheadAttention(d, heads, batch_first=True)
    kernel = r.choice([1, 3, 5])
    return r.choice([
        lambda: nn.TransformerEncoderLayer(d, heads, 2 * d, batch_first=True,
                                           norm_first=r.random() < 0.5),
        lambda: Call(lambda m, x: m.net(x)[0], net=kind(d, d, batch_first=True)),
        lambda: Call(lambda m, x: m.net(x)[0], net=kind(d, d // 2, 2, batch_first=True,
                                                        bidirectional=True)),
        lambda: Call(lambda m, x: m.act(m.net(x.transpose(1, 2))).transpose(1, 2), act=activation(r)
                     if r.random() < 0.5 else nn.Identity(),
                     net=nn.Conv1d(d, d, kernel, padding=kernel // 2,
                                   padding_mode=r.choice(["zeros", "zeros", "replicate"]))),
        lambda: Call(lambda m, x: x + m.a(x, x, x, need_weights=False, attn_mask=torch.triu(
            torch.full((x.shape[1], x.shape[1]), -torch.inf), 1))[0], a=attention),
        lambda: Call(lambda m, x: x + m.a(x, x.flip(1), x)[0], a=attention),
        lambda: Call(lambda m, x: (x - x.mean(1, keepdim=True)) / (
            x.var(1, keepdim=True, unbiased=False) + 0.1).sqrt()),
        lambda: Call(lambda m, x: m.n(x.transpose(1, 2)).transpose(1, 2), n=nn.BatchNorm1d(d)),
        lambda: Call(lambda m, x: m.n(x.transpose(1, 2)).transpose(1, 2), n=nn.GroupNorm(2, d)),
        lambda: Call(lambda m, x: x.cumsum(1) / x.shape[1]),
        lambda: Call(lambda m, x: F.scaled_dot_product_attention(x, m.k(x), x), k=nn.Linear(d, d)),
        lambda: Call(lambda m, x: m.p(F.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2),
                     p=nn.Conv1d(d, d, 3)),
        lambda: Call(lambda m, x: F.max_pool1d(x.transpose(1, 2), 3, 1, 1).transpose(1, 2))])()


def step_end(r, d):
    """What is made of [batch, steps, d] in the end."""
    out = nn.Linear(d, 3)
    return r.choice([
        lambda: Call(lambda m, x: m.out(x.mean(1)), out=out),
        lambda: Call(lambda m, x: m.out(x[:, -1]), out=out),
        lambda: Call(lambda m, x: m.out(x), out=out),
        lambda: Call(lambda m, x: m.out(x.amax(1)) + x.sum(1)[:, :3], out=out),
        lambda: Call(lambda m, x: m.out((m.w(x).softmax(1) * x).sum(1)), out=out,
                     w=nn.Linear(d, 1)),
        lambda: Call(lambda m, x: m.out(m.net(x)[1].transpose(0, 1).flatten(1)), out=out,
                     net=nn.GRU(d, d, batch_first=True)),
        lambda: Call(lambda m, x: m.out(torch.cat([x[:, :1], x], 1)).log_softmax(-1), out=out),
        lambda: Call(lambda m, x: m.out(F.adaptive_avg_pool1d(x.transpose(1, 2), 1).flatten(1)),
                     out=out)])()


@maker
def open_lengths(r):
    d = r.choice([4, 6, 8])
    layers = [step_layer(r, d) for _ in range(r.randint(1, 3))]
    net = nn.Sequential(*layers, step_end(r, d))
    if r.random() < 0.5:
        return mixed(net), Steps(lambda n, steps: torch.randn(n, steps, d), 1)
    first = Call(lambda m, ids: m.e(ids) + m.p(torch.arange(ids.shape[1])), e=nn.Embedding(11, d),
                 p=nn.Embedding(Steps.MAXIMUM, d))
    return mixed(nn.Sequential(first, net)), Steps(
        lambda n, steps: torch.randint(0, 11, (n, steps)), 1)
