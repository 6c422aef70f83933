#!/usr/bin/env python3
"""Models of Keras and Flax, absorbed in the middle of a training: the next 100 steps must have the
losses that the framework has.

    continued.py [--count 6] [--seed 0] [--framework keras|jax]

Needs Keras 3 on JAX, Flax, optax and libloom.so ($LOOM_LIBRARY). The largest difference of a loss
must be within 1e-4 of the first loss, in f32 on both sides.
"""
import argparse
import os
import pathlib
import random
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    import keras
    import numpy as np
    import flax.linen as nn
    import optax
except ImportError as e:
    print("needs Keras 3, JAX, Flax, optax and NumPy: %s" % e)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
from planetbridging import from_jax, from_keras
from planetbridging.jax import with_optax

L = keras.layers
BEFORE, STEPS, BOUND = 10, 100, 1e-4


def keras_model(r):
    return r.choice([
        lambda: keras.Sequential([keras.Input((6,)), L.Dense(12, activation="tanh"),
                                  L.LayerNormalization(), L.Dense(3)]),
        lambda: keras.Sequential([keras.Input((7, 7, 2)), L.Conv2D(4, 3, activation="silu"),
                                  L.BatchNormalization(), L.AveragePooling2D(2), L.Flatten(),
                                  L.Dense(3)]),
        lambda: keras.Sequential([keras.Input((5, 4)), L.GRU(6, return_sequences=True),
                                  L.LSTM(5), L.Dense(3)]),
        lambda: keras.Sequential([keras.Input((6,)), L.Dense(8, activation="gelu"),
                                  L.Dense(8, activation="tanh", trainable=False), L.Dense(3)]),
    ])()


def keras_optimizer(r):
    o = keras.optimizers
    return r.choice([lambda: o.SGD(.05), lambda: o.SGD(.02, momentum=.9),
                     lambda: o.SGD(.02, momentum=.8, nesterov=True), lambda: o.Adam(3e-3),
                     lambda: o.AdamW(3e-3, weight_decay=.05),
                     lambda: o.Adam(3e-3, global_clipnorm=.5)])()


def of_keras(r, values):
    model = keras_model(r)
    model.compile(keras_optimizer(r), "mse")
    x = values.normal(0, 1, (16, *model.input_shape[1:])).astype(np.float32)
    y = values.normal(0, 1, (16, 3)).astype(np.float32)

    def steps(n):
        return [float(model.train_on_batch(x, y)) for _ in range(n)]

    # Keras reports the mean of losses since the last reset.
    def single(n):
        losses = []
        for _ in range(n):
            model.reset_metrics()
            losses += steps(1)
        return losses
    single(BEFORE)
    absorbed = from_keras(model)
    assert "not_brought" not in absorbed.metadata, absorbed.metadata
    ours = learned(absorbed, x, y)
    return type(model.optimizer).__name__, ours, np.array(single(STEPS))


class Net(nn.Module):
    kind: int

    @nn.compact
    def __call__(self, x):
        if self.kind == 0:
            x = nn.LayerNorm()(nn.tanh(nn.Dense(12)(x)))
        elif self.kind == 1:
            x = nn.RNN(nn.GRUCell(6))(x)[:, -1]
        else:
            x = nn.silu(nn.Conv(4, (3,))(x)).reshape(x.shape[0], -1)
        return nn.Dense(3)(x)


def of_jax(r, values):
    kind = r.randint(0, 2)
    net = Net(kind)
    x = values.normal(0, 1, (16, 6) if kind == 0 else (16, 5, 4)).astype(np.float32)
    y = values.normal(0, 1, (16, 3)).astype(np.float32)
    params = net.init(jax.random.key(r.randint(0, 999)), x)
    optimizer, settings = r.choice([
        (optax.sgd(.05), {"lr": .05}),
        (optax.sgd(.02, momentum=.9), {"lr": .02, "momentum": .9}),
        (optax.adam(3e-3), {"lr": 3e-3}),
        (optax.adamw(3e-3, weight_decay=.05), {"lr": 3e-3, "weight_decay": .05})])
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        loss, gradients = jax.value_and_grad(
            lambda p: jnp.mean((net.apply(p, x) - y) ** 2))(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss
    for _ in range(BEFORE):
        params, state, _ = step(params, state)
    absorbed = with_optax(from_jax(net, params, x), state, **settings)
    ours = learned(absorbed, x, y)
    theirs = []
    for _ in range(STEPS):
        params, state, loss = step(params, state)
        theirs.append(float(loss))
    return str(settings), ours, np.array(theirs)


def learned(absorbed, x, y):
    rows = next(iter(absorbed.rows(x).values()))
    network = absorbed.network()
    with absorbed.trainer(rows, y, network, loss="mse", batch_size=16, steps=BEFORE + STEPS,
                          shuffle=False) as trainer:
        return np.array([trainer.step().loss for _ in range(STEPS)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=6)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--framework", choices=["keras", "jax"])
    args = p.parse_args()
    wrong = 0
    for i in range(args.count):
        kind = args.framework or ("keras", "jax")[i % 2]
        seed = args.seed * 1009 + i
        r, values = random.Random(seed), np.random.default_rng(seed)
        keras.utils.set_random_seed(seed)
        named, ours, theirs = (of_keras if kind == "keras" else of_jax)(r, values)
        far = float(np.abs(ours - theirs).max() / abs(theirs[0]))
        wrong += not far <= BOUND
        print("%d %s %s: losses from %.4f to %.4f, difference %.2g" % (
            i, kind, named, theirs[0], theirs[-1], far), flush=True)
    print("%d trainings, %d wrong" % (args.count, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
