"""Loom's topologies (docs/reference/topology.md) in PyTorch, in double: what each layer type is,
with PyTorch's own layers where it has them and by formula where it has not. PyTorch differentiates;
no backward pass is written here.

    model = Model(topology, params)      # params: {"path:role": tensor}
    y = model.values(x, training)        # rows of values; with training, model.after has what it
    moves without gradients y = model.tokens(ids, lengths)       # sequences one after another
    model.margin                         # how near values came to a step, where f32 may fall on its
    other side
"""
import math

import torch
import torch.nn.functional as F

from torch_configs import OWN

ACTIVATIONS = {
    "linear": lambda z: z, "relu": F.relu, "relu2": lambda z: F.relu(z) ** 2,
    "leaky_relu": F.leaky_relu, "silu": F.silu, "gelu_erf": F.gelu,
    "gelu_tanh": lambda z: z / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))),
    "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "softplus": F.softplus, "mish": F.mish,
}

UNARIES = {
    "abs": lambda x, a, b: x.abs(), "neg": lambda x, a, b: -x, "sqrt": lambda x, a, b: x.sqrt(),
    "reciprocal": lambda x, a, b: x.reciprocal(),
    "exp": lambda x, a, b: x.exp(), "log": lambda x, a, b: x.log(), "floor": lambda x, a,
    b: x.floor(), "ceil": lambda x, a, b: x.ceil(),
    "round": lambda x, a, b: x.round(), "sign": lambda x, a, b: x.sign(), "erf": lambda x, a,
    b: torch.erf(x), "elu": lambda x, a, b: F.elu(x, a),
    "selu": lambda x, a, b: b * torch.where(x > 0, x, a * (x.exp() - 1)), "celu": lambda x, a,
    b: F.celu(x, a), "hard_sigmoid": lambda x, a, b: (a * x + b).clamp(0, 1),
    "hard_swish": lambda x, a, b: F.hardswish(x), "softsign": lambda x, a, b: F.softsign(x),
    "thresholded_relu": lambda x, a, b: F.threshold(x, a, 0),
    "clip": lambda x, a, b: x.clamp(a, b), "not": lambda x, a, b: x.logical_not().to(x.dtype),
    "is_nan": lambda x, a, b: x.isnan().to(x.dtype),
    "is_inf": lambda x, a, b: x.isinf().to(x.dtype), "leaky_relu": lambda x, a,
    b: F.leaky_relu(x, a),
    "shrink": lambda x, a,
    b: torch.where(x < -a, x + b, torch.where(x > a, x - b, torch.zeros_like(x))),
    "trunc": lambda x, a, b: x.trunc(),
    "swish": lambda x, a, b: x * torch.sigmoid(a * x), "square": lambda x, a, b: x.square(),
    "sin": lambda x, a, b: x.sin(), "cos": lambda x, a, b: x.cos(),
}

STEPS = {  # how far a value is from where the function jumps
    "floor": lambda x, a: (x - x.round()).abs(), "ceil": lambda x, a: (x - x.round()).abs(),
    "trunc": lambda x, a: (x - x.round()).abs(),
    "round": lambda x, a: (x - x.floor() - 0.5).abs(), "sign": lambda x, a: x.abs(),
    "thresholded_relu": lambda x, a: (x - a).abs(), "shrink": lambda x, a: (x.abs() - a).abs(),
}

BINARIES = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow,
    "max": torch.maximum, "min": torch.minimum,
    "prelu": lambda a, b: torch.where(a > 0, a, a * b), "less": torch.lt, "less_equal": torch.le,
    "greater": torch.gt, "greater_equal": torch.ge, "equal": torch.eq,
    "and": torch.logical_and, "or": torch.logical_or, "xor": torch.logical_xor,
}

REDUCTIONS = {
    "sum": lambda x: x.sum(-1), "mean": lambda x: x.mean(-1), "max": lambda x: x.max(-1)[0],
    "min": lambda x: x.min(-1)[0], "prod": lambda x: x.prod(-1),
    "l1": lambda x: x.abs().sum(-1), "l2": lambda x: x.norm(dim=-1),
    "sum_square": lambda x: x.square().sum(-1), "log_sum": lambda x: x.sum(-1).log(),
    "log_sum_exp": lambda x: x.logsumexp(-1), "argmax": lambda x: x.argmax(-1),
    "argmin": lambda x: x.argmin(-1),
}


# work on the last dimension, from topology version 2 on
LAST = ("dense", "layer_norm", "rms_norm", "swiglu")


def count(dims):
    return math.prod(dims)


def spread(setting, rank):
    """A setting of one number, or one per dimension."""
    setting = setting if isinstance(setting, list) else [setting]
    return setting * rank if len(setting) == 1 else setting


def padding_of(cell, rank):
    """Begins and ends."""
    p = cell.get("padding", 0)
    if isinstance(p, list) and len(p) == 2 * rank:
        return p[:rank], p[rank:]
    return spread(p, rank), spread(p, rank)


def padded(x, begins, ends, value=0.0):
    """Of the last dimensions; a number below 0 cuts."""
    return F.pad(x, [n for pair in zip(reversed(begins), reversed(ends)) for n in pair],
                 value=value)


def sparsemax(z):
    """Martins and Astudillo, arXiv 1602.02068."""
    ordered, _ = z.sort(-1, descending=True)
    k = torch.arange(1, z.shape[-1] + 1, dtype=z.dtype)
    sums = ordered.cumsum(-1)
    size = (1 + k * ordered > sums).sum(-1, keepdim=True)
    return (z - (sums.gather(-1, size - 1) - 1) / size).clamp(min=0)


class Entmax(torch.autograd.Function):
    """Peters et al., arXiv 1905.05702: p = [(alpha - 1) z - tau]^(1 / (alpha - 1)), tau by
    bisection; the Jacobian from p."""

    @staticmethod
    def forward(ctx, z, alpha):
        z = (alpha - 1) * z
        low, high = z.max(-1, keepdim=True)[0] - 1, z.max(-1, keepdim=True)[0]
        for _ in range(200):
            middle = (low + high) / 2
            over = (z - middle).clamp(min=0).pow(1 / (alpha - 1)).sum(-1, keepdim=True) >= 1
            low, high = torch.where(over, middle, low), torch.where(over, high, middle)
        p = (z - low).clamp(min=0).pow(1 / (alpha - 1))
        ctx.alpha = alpha
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        s = torch.where(p > 0, p.clamp(min=1e-300).pow(2 - ctx.alpha), torch.zeros_like(p))
        return s * (g - (s * g).sum(-1, keepdim=True) / s.sum(-1, keepdim=True)), None


class Model:
    def __init__(self, topology, params):
        self.topology, self.params = topology, params
        self.training, self.after, self.lengths, self.margin = False, {}, [], math.inf

    def values(self, x, training=False):
        self.training, self.after = training, {}
        dims = self.topology["input"].get("dims", [])
        return self.grid(x, list(dims))

    def tokens(self, ids, lengths):
        self.training, self.lengths = True, lengths
        return self.grid(ids, [])

    # ---- the grid: cells, links, merges

    def grid(self, x, dims):
        t = self.topology
        shape = [t.get(k, 1) for k in ("depth", "rows", "cols", "layers_per_cell")]

        def index(at):
            z, y, c, l = at
            return ((z * shape[1] + y) * shape[2] + c) * shape[3] + l

        n = count(shape)
        cells = [{} for _ in range(n)]
        for cell in t["cells"]:
            cells[index(cell["at"])] = cell
        arrivals = [[] for _ in range(n)]
        for i, cell in enumerate(cells):
            reads = [index(l["read"]) for l in cell.get("links", []) if "read" in l]
            arrivals[i] = ([i - 1] if not reads or cell.get("keep_previous") else []) + reads
        for i, cell in enumerate(cells):
            for l in cell.get("links", []):
                if "send" in l:
                    arrivals[index(l["send"])].append(i)
        values, waiting = {-1: (x, dims)}, list(range(n))
        while waiting:
            ready = next(i for i in waiting if all(a in values for a in arrivals[i]))
            waiting.remove(ready)
            values[ready] = self.cell(cells, ready, [values[a] for a in arrivals[ready]], index,
                                      shape)
        return values[n - 1][0]

    def cell(self, cells, i, arriving, index, shape):
        cell = cells[i]
        merge = cell.get("merge", "concat")
        x, dims = arriving[0]
        if merge == "operands":
            x, dims = torch.cat([a if a.ndim > 1 else a[:, None] for a, _ in arriving],
                                1), [d for _, d in arriving]
        elif len(arriving) > 1:
            for _, other in arriving[1:]:
                if merge == "concat" and dims and len(dims) == len(other) and dims[1:] == other[1:]:
                    dims = [dims[0] + other[0]] + dims[1:]
                elif dims != other:
                    dims = []
            if merge == "concat":
                x = torch.cat([a for a, _ in arriving], 1)
            else:
                x = sum(a for a, _ in arriving)
                if merge == "avg":
                    x = x / len(arriving)
        runs = [index(l["run"]) for l in cell.get("links", []) if "run" in l]
        target = runs[0] if runs else i
        if not cell.get("enabled", True) or not cells[target].get("enabled",
                                                                  True) or "type" not in cells[
                                                                  target]:
            return x, dims
        at, rest = [], target
        for size in reversed(shape):
            at.insert(0, rest % size)
            rest //= size
        return self.layer(cells[target], ".".join(map(str, at)), x, dims)

    # ---- layers: rows x of `dims` ([]: none) to rows and dims

    def layer(self, cell, path, x, dims):
        if not cell.get("enabled", True):
            return x, dims
        if "type" not in cell:  # a nested layer that runs a cell
            (target,) = [l["run"] for l in cell["links"]]
            named = next((c for c in self.topology["cells"] if c["at"] == target), {})
            return self.layer(named, ".".join(map(str, target)), x,
                              dims) if "type" in named else (x, dims)
        kind = cell["type"]
        if kind in OWN:
            return OWN[kind]["forward"](self, cell, path, x, dims)
        if self.topology["version"] > 1 and (len(dims) > 1 or kind == "embedding"):
            if kind in LAST:  # of each place
                y, _ = getattr(self, kind)(cell, path, x.reshape(-1, dims[-1]), [])
                return y.reshape(len(x), -1), dims[:-1] + [y.shape[1]]
            if kind == "attention":  # the steps of a row
                self.lengths = [dims[0]] * len(x)
                y, _ = self.attention(cell, path, x.reshape(-1, dims[1]), [])
                return y.reshape(len(x), -1), dims
            if kind == "embedding" and dims:
                y, _ = self.embedding(cell, path, x.reshape(-1), [])
                return y.reshape(len(x), -1), dims + [y.shape[1]]
        if kind[-2:] in ("1d", "2d", "3d"):
            return getattr(self, kind[:-2])(cell, path, x, dims, int(kind[-2]))
        return getattr(self, kind)(cell, path, x, dims)

    def p(self, path, role):
        return self.params.get(path + ":" + role)

    def dense(self, c, path, x, dims):
        return ACTIVATIONS[c.get("activation", "linear")](
            F.linear(x, self.p(path, "weight"), self.flat(path, "bias"))), []

    def flat(self, path, role):
        p = self.p(path, role)
        return None if p is None else p.reshape(-1)

    def embedding(self, c, path, x, dims):
        return F.embedding(x.long(), self.p(path, "weight")), []

    def layer_norm(self, c, path, x, dims):
        return F.layer_norm(x, x.shape[-1:], self.flat(path, "gain"), self.flat(path, "bias"),
                            c.get("eps", 1e-5)), dims

    def rms_norm(self, c, path, x, dims):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + c.get("eps", 1e-5)) * self.flat(
            path, "gain"), dims

    def standardize(self, c, path, x, dims):
        y = (x - self.flat(path, "mean").detach()) * self.flat(path, "scale").detach()
        return (torch.where(x.isnan(), torch.zeros_like(y), y) if c.get("missing") else y), dims

    def channels(self, x, dims):
        return x.reshape([x.shape[0]] + (dims or [x.shape[1]]))

    def batch_norm(self, c, path, x, dims):
        mean, var = self.flat(path, "running_mean").detach().clone(), self.flat(path,
                "running_var").detach().clone()
        y = F.batch_norm(self.channels(x, dims), mean, var, self.flat(path, "gain"),
                         self.flat(path, "bias"), self.training, c.get("momentum", 0.1),
                         c.get("eps", 1e-5))
        self.after[path + ":running_mean"], self.after[path + ":running_var"] = mean, var
        return y.reshape(x.shape), dims

    def instance_norm(self, c, path, x, dims):
        y = F.instance_norm(self.channels(x, dims), weight=self.flat(path, "gain"),
                            bias=self.flat(path, "bias"), eps=c.get("eps", 1e-5))
        return y.reshape(x.shape), dims

    def group_norm(self, c, path, x, dims):
        y = F.group_norm(self.channels(x, dims), c.get("groups", 1), self.flat(path, "gain"),
                         self.flat(path, "bias"), c.get("eps", 1e-5))
        return y.reshape(x.shape), dims

    def swiglu(self, c, path, x, dims):
        gate, up = (F.linear(x, self.p(path, n), self.flat(path, n + "_bias"))
                    for n in ("gate", "up"))
        return F.linear(F.silu(gate) * up, self.p(path, "down"), self.flat(path, "down_bias")), dims

    def attention(self, c, path, x, dims):
        heads, width = c["heads"], x.shape[1]
        kv_heads, hd = c.get("kv_heads") or heads, c.get("head_dim") or width // heads
        q, k, v = (F.linear(x, self.p(path, n), self.flat(path, n + "_bias")).reshape(len(x), -1,
                hd) for n in "qkv")
        if c.get("qk_norm"):
            q, k = (t * torch.rsqrt(t.square().mean(-1, keepdim=True) + c.get("qk_norm_eps", 1e-6))
                    * self.flat(path, n + "_norm") for t, n in ((q, "q"), (k, "k")))
        outs, begin = [], 0
        for n in self.lengths:
            rows = slice(begin, begin + n)
            begin += n
            position = torch.arange(n)
            a, b = q[rows], k[rows]
            if c.get("rope", True):
                a, b = self.rope(c, a, position), self.rope(c, b, position)
            b, values = (t.repeat_interleave(heads // kv_heads, 1) for t in (b, v[rows]))
            scores = torch.einsum("ihd,jhd->hij", a, b) / math.sqrt(hd)
            i, j = position[:, None], position[None, :]
            seen = torch.ones(n, n, dtype=torch.bool)
            if c.get("causal", True):
                seen = seen & (j <= i)
            if c.get("window", 0) > 0:
                seen = seen & (j > i - c["window"])
            shares = torch.softmax(scores.masked_fill(~seen, -math.inf), -1)
            outs.append(torch.einsum("hij,jhd->ihd", shares, values).reshape(n, -1))
        return F.linear(torch.cat(outs), self.p(path, "o"), self.flat(path, "o_bias")), dims

    def rope(self, c, t, position):
        hd = t.shape[-1]
        f = 1.0 / c.get("rope_theta", 10000.0) ** (torch.arange(0, hd, 2, dtype=torch.float64) / hd)
        factor = c.get("rope_factor", 1.0)
        if c.get("rope_scaling", "none") == "linear":
            f = f / factor
        elif c.get("rope_scaling", "none") == "llama3":
            low, high, old = c.get("rope_low_freq_factor", 1.0), c.get("rope_high_freq_factor",
                    4.0), c.get("rope_original_positions", 8192)
            length = 2 * math.pi / f
            mix = (old / length - low) / (high - low)
            f = torch.where(length > old / low, f / factor,
                            torch.where(length < old / high, f, (1 - mix) * f / factor + mix * f))
        angle = position[:, None].to(f.dtype) * f
        cos, sin = torch.cat([angle.cos()] * 2, -1)[:, None], torch.cat([angle.sin()] * 2, -1)[:,
                None]
        half = torch.cat([-t[..., hd // 2:], t[..., :hd // 2]], -1)
        return t * cos + half * sin

    # ---- space

    def conv(self, c, path, x, dims, rank):
        x = x.reshape([len(x)] + dims)
        kernel, groups = spread(c.get("kernel", 3), rank), c.get("groups", 1)
        weight = self.p(path, "weight").reshape([c["filters"], dims[0] // groups] + kernel)
        conv = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
        begins, ends = padding_of(c, rank)
        same = begins == ends  # PyTorch's own padding is the same at both ends
        y = conv(x if same else padded(x, begins, ends), weight, self.flat(path, "bias"),
                 stride=spread(c.get("stride", 1), rank), padding=begins if same else 0,
                 dilation=spread(c.get("dilation", 1), rank), groups=groups)
        y = ACTIVATIONS[c.get("activation", "linear")](y)
        return y.reshape(len(y), -1), list(y.shape[1:])

    def conv_transpose(self, c, path, x, dims, rank):
        x = x.reshape([len(x)] + dims)
        kernel, groups, filters = spread(c.get("kernel", 3), rank), c.get("groups", 1), c["filters"]
        # [groups x filters / groups x kernel, channels / groups] to [channels, filters / groups,
        # kernel]
        weight = self.p(path, "weight").reshape(groups, filters // groups, count(kernel),
                                                dims[0] // groups).permute(0, 3, 1,
                                                2).reshape([dims[0], filters // groups] + kernel)
        conv = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
        begins, ends = padding_of(c, rank)
        extra = spread(c.get("output_padding", 0), rank)
        settings = {"stride": spread(c.get("stride", 1), rank),
                    "dilation": spread(c.get("dilation", 1), rank), "groups": groups}
        bias = self.flat(path, "bias")
        if begins == ends:
            y = conv(x, weight, bias, padding=begins, output_padding=extra, **settings)
        else:
            y = padded(conv(x, weight, **settings), [-n for n in begins],
                       [more - n for n, more in zip(ends, extra)])
            if bias is not None:
                y = y + bias.reshape([-1] + [1] * rank)
        y = ACTIVATIONS[c.get("activation", "linear")](y)
        return y.reshape(len(y), -1), list(y.shape[1:])

    def window(self, c, dims, rank):
        kernel = spread(c.get("kernel", 2), rank)
        stride = spread(c.get("stride", 0), rank)
        if c.get("global"):
            return dims[1:], [1] * rank, [1] * rank, [0] * rank, [0] * rank
        begins, ends = padding_of(c, rank)
        return kernel, kernel if stride == [0] * rank else stride, spread(c.get("dilation", 1),
                rank), begins, ends

    def extra(self, c, dims, window):
        """How far a last window of ceil_mode reaches beyond the padding: it must begin before the
        padding at the end."""
        more = []
        for n, k, s, d, begin, end in zip(dims[1:], *window):
            room = n + begin + end - ((k - 1) * d + 1)
            partly = c.get("ceil_mode") and room % s and (room // s + 1) * s < n + begin
            more.append(s - room % s if partly else 0)
        return more

    def max_pool(self, c, path, x, dims, rank):
        window = kernel, stride, dilation, begins, ends = self.window(c, dims, rank)
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[rank - 1]
        x = x.reshape([len(x)] + dims)
        if begins == ends and all(2 * p <= k for p, k in zip(begins, kernel)):
            y = pool(x, kernel, stride, begins, dilation, ceil_mode=c.get("ceil_mode", False))
        else:
            ends = [e + m for e, m in zip(ends, self.extra(c, dims, window))]
            y = pool(padded(x, begins, ends, -math.inf), kernel, stride, 0, dilation)
        return y.reshape(len(y), -1), list(y.shape[1:])

    def avg_pool(self, c, path, x, dims, rank):
        window = kernel, stride, dilation, begins, ends = self.window(c, dims, rank)
        x = x.reshape([len(x)] + dims)
        include = c.get("count_include_pad", True)
        if begins == ends and dilation == [1] * rank and all(2 * p <= k for p,
                                                             k in zip(begins, kernel)):
            pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[rank - 1]
            y = pool(x, kernel, stride, begins, ceil_mode=c.get("ceil_mode", False),
                     count_include_pad=include)
        else:  # sums by a convolution with ones, and how many they are
            conv = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
            more = self.extra(c, dims, window)
            ones = torch.ones([1, 1] + kernel, dtype=x.dtype)

            def sums(t, inside):
                t = padded(padded(t, begins, ends, 1.0 if inside else 0.0), [0] * rank, more)
                return conv(t.reshape([-1, 1] + list(t.shape[2:])), ones, stride=stride,
                            dilation=dilation)

            y = (sums(x, False) / sums(torch.ones([1, 1] + dims[1:], dtype=x.dtype),
                                       include)).reshape([len(x), dims[0]] + [-1])
            y = y.reshape([len(x), dims[0]]
                          + [(n + b + e + m - (k - 1) * d - 1) // s + 1 for n, b, e, m, k, d,
                             s in zip(dims[1:], begins, ends, more, kernel, dilation, stride)])
        return y.reshape(len(y), -1), list(y.shape[1:])

    # ---- recurrence

    def rnn(self, c, path, x, dims):
        if self.topology["version"] > 1 and self.lengths and not dims:  # rows are positions
            rows = torch.split(x, self.lengths)
            return torch.cat(
                [self.recurrent(c, path, r.reshape(1, -1), [len(r), x.shape[1]])[0].reshape(len(r),
                        -1) for r in rows]), []
        return self.recurrent(c, path, x, dims)

    gru = lstm = rnn

    def recurrent(self, c, path, x, dims):
        kind, hidden, stack, two = c["type"], c["hidden"], c.get("num_layers",
                                                                 1), c.get("bidirectional", False)
        steps = dims[0] if dims else 1
        x = x.reshape(len(x), steps, -1)
        names = [f"{n}_l{l}{d}" for l in range(stack) for d in (["", "_reverse"] if two else [""])
                 for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if c.get("bias", True)
                 or "weight" in n]
        if kind == "gru" and not c.get("linear_before_reset", True):
            y, last = self.gru_reset_first(c, path, x)
        else:
            h = torch.zeros(stack * (2 if two else 1), len(x), hidden, dtype=x.dtype)
            weights = [self.p(path, n) if "weight" in n else self.flat(path, n) for n in names]
            if kind == "lstm":
                y, last, _ = torch._VF.lstm(x, (h, h), weights, c.get("bias", True), stack, 0.0,
                                            False, two, True)
            else:
                run = torch._VF.gru if kind == "gru" else torch._VF.rnn_relu if c.get(
                    "activation") == "relu" else torch._VF.rnn_tanh
                y, last = run(x, h, weights, c.get("bias", True), stack, 0.0, False, two, True)
            last = torch.cat([last[-2], last[-1]], 1) if two else last[-1]
        if c.get("output", "all") == "last":
            return last, [last.shape[1]]
        return y.reshape(len(y), -1), [steps, y.shape[2]] if dims else [y.shape[2]]

    def gru_reset_first(self, c, path, x):
        """The reset gate acts on the state (Cho et al., arXiv 1406.1078, version 1)."""
        n, two, last = c["hidden"], c.get("bidirectional", False), []
        for l in range(c.get("num_layers", 1)):
            outs, last = [], []
            for d in (["", "_reverse"] if two else [""]):
                def w(name):
                    return self.p(path, f"weight_{name}_l{l}{d}"), self.flat(path,
                            f"bias_{name}_l{l}{d}")
                sums = F.linear(x, *w("ih"))
                h, states = torch.zeros(len(x), n, dtype=x.dtype), []
                for t in (range(x.shape[1]) if d == "" else reversed(range(x.shape[1]))):
                    r, z = torch.sigmoid(sums[:, t, :2 * n] + F.linear(h, *w("hh"))).split(n, 1)
                    candidate = torch.tanh(sums[:, t, 2 * n:] + F.linear(r * h, *w("hn")))
                    h = (1 - z) * candidate + z * h
                    states.append(h)
                last.append(h)
                outs.append(torch.stack(states if d == "" else states[::-1], 1))
            x = torch.cat(outs, 2)
        return x, torch.cat(last, 1)

    # ---- distributions

    def softmax(self, c, path, x, dims):
        kind, width = c.get("kind", "standard"), x.shape[1]
        x = x / c.get("temperature", 1.0)
        if kind == "hierarchical":
            nodes, above, at = 1, torch.ones(len(x), 1, dtype=x.dtype), 0
            for children in c["levels"]:
                own = torch.softmax(x[:, at:at + nodes * children].reshape(len(x), nodes, children),
                                    -1)
                at, nodes = at + nodes * children, nodes * children
                above = (above.unsqueeze(-1) * own).reshape(len(x), nodes)
            return above, [nodes]
        group = c["cols"] if kind == "grid" else dims[-1] if dims else width
        z = x.reshape(-1, group)
        if kind == "masked":
            y = torch.softmax(z.masked_fill(torch.tensor(c["mask"]) == 0, -math.inf), -1)
        elif kind == "sparsemax":
            y = sparsemax(z)
        elif kind == "entmax" and c.get("alpha", 1.5) != 1:
            y = sparsemax(z) if c.get("alpha", 1.5) == 2 else Entmax.apply(z, c.get("alpha", 1.5))
        elif c.get("log"):
            y = torch.log_softmax(z, -1)
        else:
            y = torch.softmax(z, -1)
            if kind == "gumbel" and c.get("hard"):
                y = F.one_hot(y.argmax(-1), group).to(y.dtype)
        return y.reshape(x.shape), dims

    def log_softmax(self, c, path, x, dims):
        return torch.log_softmax(x.reshape(len(x), -1, dims[-1] if dims else x.shape[1]),
                                 -1).reshape(x.shape), dims

    def adaptive_softmax(self, c, path, x, dims):
        layer = torch.nn.AdaptiveLogSoftmaxWithLoss(x.shape[1], c["out"], c["cutoffs"],
                                                    div_value=c.get("divide", 4),
                                                    head_bias=c.get("bias", False))
        parts = [(layer.head, "head")] + [(t[i], f"tail{n}_{w}") for n, t in enumerate(layer.tail)
                                          for i, w in enumerate(("down", "up"))]
        for module, role in parts:
            del module.weight
            module.weight = self.p(path, role)
        if c.get("bias", False):
            del layer.head.bias
            layer.head.bias = self.flat(path, "head_bias")
        y = layer.log_prob(x)
        return (y if c.get("log") else y.exp()), [c["out"]]

    def mixture_of_softmaxes(self, c, path, x, dims):
        k, hidden = c["mixtures"], c.get("hidden") or x.shape[1]
        prior = torch.softmax(F.linear(x, self.p(path, "prior")), -1)
        seen = torch.tanh(F.linear(x, self.p(path, "latent"),
                                   self.flat(path, "latent_bias"))).reshape(-1, k, hidden)
        y = (prior.unsqueeze(-1)
             * torch.softmax(F.linear(seen, self.p(path, "weight"), self.flat(path, "bias")),
                             -1)).sum(1)
        return (y.clamp(min=2**-40).log() if c.get("log") else y), [c["out"]]

    def kmeans(self, c, path, x, dims):
        centers = self.p(path, "centers")
        p = torch.softmax(-((x.unsqueeze(1) - centers) ** 2).sum(-1)
                          / (2 * c.get("temperature", 1.0) ** 2), -1)
        return (p @ centers, dims) if c.get("output") == "features" else (p, [c["clusters"]])

    # ---- values in other places, functions of values

    def reshape(self, c, path, x, dims):
        return x, list(x.reshape([len(x)] + c["dims"]).shape[1:])

    def flatten(self, c, path, x, dims):
        return x, []

    def dropout(self, c, path, x, dims):
        return x, dims  # of inference, or with a rate of 0

    def activation(self, c, path, x, dims):
        return ACTIVATIONS[c.get("activation", "relu")](x), dims

    def near(self, distances):
        if distances.numel() > 0:
            self.margin = min(self.margin, float(distances.min()))

    def unary(self, c, path, x, dims):
        if c["op"] in STEPS:
            self.near(STEPS[c["op"]](x.detach(), c.get("a", 0.0)))
        return UNARIES[c["op"]](x, c.get("a", 0.0), c.get("b", 0.0)), dims

    def operands(self, c, x):
        parts = x.split([count(s) for s in c["shapes"]], 1)
        rank = max(len(s) for s in c["shapes"] + [c.get("constant", [])])
        return [p.reshape([len(x)] + [1] * (rank - len(s)) + s) for p, s in zip(parts, c["shapes"])]

    def binary(self, c, path, x, dims):
        parts = self.operands(c, x)
        if len(parts) == 1:
            value = self.p(path,
                           "value").reshape([1] * (parts[0].dim() - len(c.get("constant", [])))
                           + c.get("constant", []))
            parts = [value, parts[0]] if c.get("constant_first") else [parts[0], value]
        y = BINARIES[c["op"]](*parts).to(x.dtype)
        return y.reshape(len(x), -1), self.limited(list(y.shape[1:]))

    def limited(self, dims):
        return dims if 1 <= len(dims) <= 4 else []

    def select(self, c, path, x, dims):
        condition, a, b = self.operands(c, x)
        y = torch.where(condition != 0, a, b)
        return y.reshape(len(x), -1), self.limited(list(y.shape[1:]))

    def reduce(self, c, path, x, dims):
        own = c.get("dims") or dims or [x.shape[1]]
        axes = sorted(c.get("axes") or range(len(own)))
        kept = [d for d in range(len(own)) if d not in axes]
        t = x.reshape([len(x)] + own).permute([0] + [d + 1 for d in kept + axes]).reshape(
            [len(x)] + [own[d] for d in kept] + [-1])
        if t.shape[-1] > 1 and c["op"] in ("max", "min", "argmax", "argmin"):
            ordered = t.detach().sort(-1, descending="max" in c["op"])[0]
            self.near((ordered[..., 0] - ordered[..., 1]).abs())
        y = REDUCTIONS[c["op"]](t).to(x.dtype)
        out = [1 if d in axes else own[d] for d in range(len(own))] if c.get("keepdims",
                True) else [own[d] for d in kept]
        return y.reshape(len(x), -1), self.limited(out)

    def permute(self, c, path, x, dims):
        y = x.reshape([len(x)] + (c.get("dims") or dims)).permute([0] + [d + 1 for d in c["order"]])
        return y.reshape(len(x), -1), self.limited(list(y.shape[1:]))

    def index_select(self, c, path, x, dims):
        runs = c["runs"]
        places = [first + step * n for first, step, size in zip(runs[::3], runs[1::3], runs[2::3])
                  for n in range(size)]
        y = torch.cat([x, torch.full((len(x), 1), c.get("fill", 0.0), dtype=x.dtype)], 1)[:, places]
        return y, list(c.get("dims") or [len(places)])

    def batched_matmul(self, c, path, x, dims):
        y = torch.matmul(*self.operands(c, x))
        return y.reshape(len(x), -1), self.limited(list(y.shape[1:]))

    # ---- containers

    def sequential(self, c, path, x, dims):
        before = None
        for i, child in enumerate(c["layers"]):
            if child["type"] == "residual" and child.get("enabled", True):
                y = x + before, dims
            else:
                y = self.layer(child, f"{path}/{i}", x, dims)
            before, (x, dims) = x, y
        return x, dims

    def time_distributed(self, c, path, x, dims):
        n = c.get("count") or dims[0]
        part = dims[1:] if len(dims) > 1 and dims[0] == n else []
        y, out = self.layer(c["layers"][0], f"{path}/0", x.reshape(len(x) * n, -1), part)
        return y.reshape(len(x), -1), [n] + (out or [y.shape[1]])

    def parallel(self, c, path, x, dims):
        n, combine = len(c["layers"]), c.get("combine", "concat")
        split = c.get("input", "broadcast") == "split"
        inputs = x.chunk(n, 1) if split else [x] * n
        outs = [self.layer(child, f"{path}/{i}", part, [] if split else dims) for i,
                (child, part) in enumerate(zip(c["layers"], inputs))]
        dims = outs[0][1]
        ys = [y for y, _ in outs]
        if combine == "concat":
            return torch.cat(ys, 1), []
        ys = [y if y.shape[1] == ys[0].shape[1] else y @ self.p(path, f"stitch{i}").T for i,
              y in enumerate(ys)]
        width = ys[0].shape[1]
        if combine == "grid_scatter":
            rows, cols = c["grid"]
            y = torch.zeros(len(x), rows, cols, width, dtype=x.dtype)
            for i, part in enumerate(ys):
                at = torch.zeros(rows, cols, 1, dtype=x.dtype)
                at[c["places"][2 * i], c["places"][2 * i + 1]] = 1
                y = y + at * part[:, None, None]
            return y.reshape(len(x), -1), [rows, cols, width]
        if combine == "gated":
            scores = F.linear(x, self.p(path, "gate"),
                              self.flat(path, "gate_bias")) / c.get("temperature", 1.0)
            if c.get("top_k"):
                ranked, best = scores.sort(dim=-1, descending=True)
                if c["top_k"] < n:
                    self.margin = min(self.margin,
                                      float((ranked[:, c["top_k"] - 1]
                                             - ranked[:, c["top_k"]]).min()))
                scores = torch.full_like(scores, -math.inf).scatter(-1, best[:, :c["top_k"]],
                                                                    ranked[:, :c["top_k"]])
            shares = torch.softmax(scores, -1)
            return sum(shares[:, i:i + 1] * part for i, part in enumerate(ys)), dims
        y = sum(ys)
        return (y / n if combine == "avg" else y), dims
