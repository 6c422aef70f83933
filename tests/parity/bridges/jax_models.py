#!/usr/bin/env python3
"""Random modules of Flax and functions of JAX, absorbed: what the network computes must be what JAX
computes.

    jax_models.py [--count 60] [--seed 0] [--first 0] [--only N]

Needs JAX, Flax, and libloom.so ($LOOM_LIBRARY). Outputs of batches of 1, 3 and 7 must be within
1e-5 of the largest magnitude; a function that is refused names the primitive.
"""
import argparse
import os
import pathlib
import random
import sys
import traceback

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    import flax.linen as nn
    from flax import nnx
except ImportError as e:
    print("needs JAX, Flax and NumPy: %s" % e)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
from planetbridging import from_jax
from planetbridging.errors import Unmapped

BOUND = 1e-5
ACTS = [nn.relu, nn.tanh, nn.sigmoid, nn.gelu, nn.silu, nn.elu, nn.softplus, nn.leaky_relu,
        nn.soft_sign, nn.hard_tanh, nn.softmax, nn.log_softmax, nn.relu6, nn.celu, nn.selu,
        nn.log_sigmoid, nn.hard_swish, lambda x: nn.gelu(x, approximate=False), lambda x: x]


class Chain(nn.Module):
    """Steps, each a function of module and tensor."""
    steps: tuple

    @nn.compact
    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


def features(r):
    n = r.randint(1, 8)
    act, other, bias = r.choice(ACTS), r.choice(ACTS), r.random() < .8
    return r.choice([
        lambda x: act(nn.Dense(n, use_bias=bias)(x)), lambda x: nn.LayerNorm()(x),
        lambda x: nn.RMSNorm()(x), lambda x: nn.BatchNorm(use_running_average=True)(x),
        lambda x: nn.Dropout(.1, deterministic=True)(x), act,
        lambda x: x + other(nn.Dense(x.shape[-1])(x)),
        lambda x: jnp.concatenate([x, nn.Dense(n)(x)], axis=-1),
        lambda x: x * nn.sigmoid(nn.Dense(1)(x)), lambda x: jnp.square(x) - .5 * jnp.abs(x),
        lambda x: x / (1 + jnp.sum(x ** 2, axis=-1, keepdims=True)),
        lambda x: nn.PReLU()(x), lambda x: jnp.where(x > 0, x, jnp.sin(x)),
        lambda x: jnp.cumsum(x, axis=-1) / x.shape[-1],
        lambda x: jnp.clip(x, -1, .5)[..., ::-1],
        lambda x: jnp.exp(-jnp.maximum(x, 0)) + x.max(axis=-1, keepdims=True),
    ])


def space(r):
    act, k, c = r.choice(ACTS), r.randint(1, 3), r.choice([2, 4])
    pad = r.choice(["SAME", "VALID", "CIRCULAR"])
    stride, bias = r.choice([1, 1, 2]), r.random() < .8
    return r.choice([
        lambda x: act(nn.Conv(c, (k, k), strides=stride, padding=pad, use_bias=bias)(x)),
        lambda x: nn.Conv(x.shape[-1], (3, 3), feature_group_count=x.shape[-1])(x),
        lambda x: nn.Conv(c, (2, 2), kernel_dilation=2, padding="SAME")(x),
        lambda x: nn.ConvTranspose(c, (3, 3), strides=(2, 2))(x),
        lambda x: nn.max_pool(x, (2, 2), strides=(1, 1)),
        lambda x: nn.avg_pool(x, (2, 2), strides=(1, 1), padding="SAME"),
        lambda x: nn.avg_pool(x, (2, 2), padding="SAME", count_include_pad=False),
        lambda x: nn.BatchNorm(use_running_average=True)(x), lambda x: nn.LayerNorm()(x),
        lambda x: nn.GroupNorm(num_groups=1)(x),
        lambda x: x + nn.Conv(x.shape[-1], (3, 3))(x), act,
        lambda x: jnp.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0))),
        lambda x: jnp.transpose(x, (0, 2, 1, 3)),
    ])


def steps(r):
    n, act = r.randint(2, 5), r.choice(ACTS)
    return r.choice([
        lambda x: nn.RNN(nn.LSTMCell(n))(x), lambda x: nn.RNN(nn.GRUCell(n))(x),
        lambda x: nn.RNN(nn.SimpleCell(n))(x), lambda x: nn.RNN(nn.GRUCell(n), reverse=True)(x),
        lambda x: nn.Bidirectional(nn.RNN(nn.LSTMCell(n)), nn.RNN(nn.GRUCell(n)))(x),
        lambda x: nn.MultiHeadDotProductAttention(2, qkv_features=4)(x),
        lambda x: nn.SelfAttention(2, qkv_features=6)(x, mask=nn.make_causal_mask(x[..., 0])),
        lambda x: nn.Conv(4, (3,))(x), lambda x: act(nn.Dense(n)(x)), lambda x: nn.LayerNorm()(x),
        lambda x: nn.DenseGeneral((2, 3))(x).reshape(x.shape[0], x.shape[1], 6),
        lambda x: x - x.mean(axis=1, keepdims=True),
        lambda x: jnp.einsum("btd,bsd->bts", x, x) / 3,
        lambda x: jnp.concatenate([x[:, 1:], x[:, :1]], axis=1),
    ])


def of_features(r):
    chain = Chain(tuple(features(r) for _ in range(r.randint(1, 5))))
    return chain, [(r.randint(2, 6),)], [np.float32]


def of_space(r):
    many = [space(r) for _ in range(r.randint(1, 3))]
    many.append(r.choice([lambda x: x.reshape(x.shape[0], -1), lambda x: x.mean(axis=(1, 2))]))
    return Chain((*many, lambda x: nn.Dense(3)(x))), [(r.randint(4, 7), r.randint(4, 7), 2)], [
        np.float32]


def of_steps(r):
    chain = Chain(tuple(steps(r) for _ in range(r.randint(1, 3))))
    return chain, [(r.randint(2, 5), r.randint(2, 4))], [np.float32]


def of_ids(r):
    n = r.randint(3, 9)
    many = [lambda x: nn.Embed(n, 4)(x)] + [steps(r) for _ in range(r.randint(0, 2))]
    chain = Chain((*many, lambda x: nn.Dense(2)(x.mean(axis=1))))
    return chain, [(r.randint(2, 5),)], [n]


def of_functions(r):
    """Plain functions of a dictionary of arrays."""
    values = np.random.default_rng(r.randint(0, 10 ** 6))
    act = r.choice(ACTS)
    n, m = r.randint(2, 5), r.randint(2, 5)
    params = {"w": values.normal(0, 1, (n, m)).astype(np.float32),
              "b": values.normal(0, 1, (m,)).astype(np.float32),
              "stack": values.normal(0, 1, (2, m, m)).astype(np.float32)}

    def plain(p, x):
        return act(x @ p["w"] + p["b"])

    def scanned(p, x):
        h, _ = jax.lax.scan(lambda h, w: (jnp.tanh(h @ w + p["b"]), None), x @ p["w"], p["stack"])
        return h

    def tied(p, x):
        return act(x @ p["w"]) @ p["w"].T

    def mapped(p, x):
        return jax.vmap(lambda row: jnp.dot(row, p["w"]) + p["b"])(x)

    def normed(p, x):
        w = p["w"] / jnp.linalg.norm(p["w"], axis=0, keepdims=True)
        return jax.nn.logsumexp(x @ w, axis=-1, keepdims=True) + jnp.sqrt(jnp.abs(p["b"]))

    def two(p, x):
        return {"a": plain(p, x), "b": jnp.argmax(x @ p["w"], axis=-1).astype(jnp.float32)}
    return (r.choice([plain, scanned, tied, mapped, normed, two]), params), [(n,)], [np.float32]


def of_nnx(r):
    rngs = nnx.Rngs(r.randint(0, 10 ** 6))
    act, n = r.choice(ACTS), r.randint(2, 6)

    class Net(nnx.Module):
        def __init__(self):
            self.one = nnx.Linear(n, 6, rngs=rngs)
            self.norm = nnx.BatchNorm(6, use_running_average=True, rngs=rngs)
            self.two = nnx.Linear(6, 3, rngs=rngs)

        def __call__(self, x):
            return self.two(act(self.norm(self.one(x))))
    return (Net(), None), [(n,)], [np.float32]


KINDS = [of_features, of_features, of_space, of_space, of_steps, of_steps, of_ids, of_functions,
         of_nnx, of_functions]


def shaken(tree, values):
    def leaf(path, x):
        new = np.asarray(x) + values.normal(0, .3, np.shape(x))
        name = jax.tree_util.keystr(path)
        return jnp.asarray(np.abs(new) + .2 if "var" in name else new, jnp.float32)
    return jax.tree_util.tree_map_with_path(leaf, tree)


def made(r, values, seed):
    what, shapes, kinds = KINDS[seed % 100003 % len(KINDS)](r)

    def arrays(batch):
        return [values.integers(0, kind, (batch, *s)).astype(np.int32) if isinstance(kind, int)
                else values.normal(0, 1, (batch, *s)).astype(kind)
                for s, kind in zip(shapes, kinds)]
    if isinstance(what, tuple):
        function, params = what
    else:
        function, params = what, shaken(what.init(jax.random.key(seed), *arrays(2)), values)
    return function, params, arrays


def difference(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if got.shape != want.shape:
        return float("inf")
    return float(np.max(np.abs(got - want), initial=0) / max(1, np.max(np.abs(want), initial=0)))


def answered(function, params, given):
    if isinstance(function, nn.Module):
        return function.apply(params, *given)
    return function(*given) if params is None else function(params, *given)


def in_double(function, params, given):
    """The same in double: Flax's norms take E[x^2] - E[x]^2, of which f32 may leave little."""
    def wide(x):
        a = np.asarray(x)
        return jnp.asarray(a, jnp.float64) if a.dtype == np.float32 else x
    with jax.enable_x64(True):
        return jax.tree_util.tree_map(np.asarray, answered(
            function, jax.tree_util.tree_map(wide, params), [wide(x) for x in given]))


def check(seed):
    r, values = random.Random(seed), np.random.default_rng(seed)
    function, params, arrays = made(r, values, seed)
    absorbed = from_jax(function, params, *arrays(2))
    worst = 0.0

    def furthest(got, want):
        return max(difference(g, w) for g, w in zip(jax.tree_util.tree_leaves(got),
                                                    jax.tree_util.tree_leaves(want)))
    for batch in (1, 3, 7):
        given = arrays(batch)
        got = absorbed.predict(*given)
        far = furthest(got, answered(function, params, given))
        if far > BOUND and params is not None:
            far = furthest(got, in_double(function, params, given))
        worst = max(worst, far)
    return worst


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=60)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--only", type=int, default=-1)
    args = p.parse_args()
    worst, refused, wrong = 0.0, [], []
    many = range(args.first, args.first + args.count) if args.only < 0 else [args.only]
    for i in many:
        try:
            found = check(args.seed * 100003 + i)
        except Unmapped as e:
            refused.append((i, str(e)))
            print(i, "refused:", e, flush=True)
            continue
        except Exception as e:
            if args.only >= 0:
                raise
            traceback.print_exc(limit=-2)
            wrong.append((i, "%s: %s" % (type(e).__name__, e)))
            print(i, "WRONG", wrong[-1][1][:300], flush=True)
            continue
        print(i, KINDS[i % len(KINDS)].__name__, "%.2g" % found, flush=True)
        if not found <= BOUND:
            wrong.append((i, "difference %.3g" % found))
        else:
            worst = max(worst, found)
    for i, why in wrong:
        print("WRONG %d: %s" % (i, why[:400]))
    print("%d functions: largest difference %.3g, %d refused, %d wrong" % (
        len(many), worst, len(refused), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
