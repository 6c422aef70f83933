#!/usr/bin/env python3
"""Random models of Keras, absorbed: what the network computes must be what Keras computes.

    KERAS_BACKEND=jax keras_models.py [--count 60] [--seed 0] [--only N] [--training]

Needs Keras 3 with a backend, and libloom.so ($LOOM_LIBRARY). Outputs of batches of 1, 3 and 7 must
be within 1e-5 of the largest magnitude; a model that is refused names the layer.
"""
import argparse
import os
import pathlib
import random
import sys
import traceback

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import numpy as np
    import keras
except ImportError as e:
    print("needs Keras 3, a backend and NumPy: %s" % e)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
from planetbridging import from_keras
from planetbridging.errors import Unmapped

L = keras.layers
BOUND = 1e-5
ACTIVATIONS = ["relu", "tanh", "sigmoid", "gelu", "silu", "elu", "selu", "softplus", "softsign",
               "hard_sigmoid", "hard_silu", "leaky_relu", "relu6", "mish", "log_sigmoid", "celu",
               "tanh_shrink", "squareplus", "linear", "softmax", None]


def act(r):
    return r.choice(ACTIVATIONS)


def flat_layer(r, x):
    """One more layer on [batch, features]."""
    return r.choice([
        lambda: L.Dense(r.randint(1, 9), activation=act(r), use_bias=r.random() < .8)(x),
        lambda: L.BatchNormalization(momentum=r.choice([.9, .99]), center=r.random() < .8,
                                     scale=r.random() < .8)(x),
        lambda: L.LayerNormalization(epsilon=1e-3, center=r.random() < .8)(x),
        lambda: L.UnitNormalization()(x), lambda: L.Dropout(.2)(x),
        lambda: L.RMSNormalization()(x),
        lambda: L.Activation(act(r) or "relu")(x), lambda: L.PReLU()(x),
        lambda: L.ReLU(max_value=r.choice([None, 1.]), negative_slope=r.choice([0., .1]),
                       threshold=r.choice([0., .2]))(x),
        lambda: L.ELU(.7)(x), lambda: L.LeakyReLU()(x),
        lambda: L.Softmax()(x), lambda: L.Rescaling(.5, offset=.1)(x),
        lambda: L.Add()([x, L.Dense(x.shape[-1], activation="relu")(x)]),
        lambda: L.Concatenate()([x, L.Dense(3)(x)]),
        lambda: r.choice([L.Multiply, L.Maximum, L.Minimum, L.Average, L.Subtract])()(
            [x, L.Dense(x.shape[-1])(x)]),
        lambda: L.Flatten()(L.RepeatVector(3)(x)),
        lambda: L.Dot(axes=1, normalize=r.random() < .5)([x, L.Dense(x.shape[-1])(x)]),
    ])()


def space_layer(r, x):
    """One more layer on [batch, space..., channels]."""
    rank = len(x.shape) - 2
    dims = "%dD" % rank
    small = min(x.shape[1:-1])
    k = r.randint(1, min(3, small))
    stride = r.choice([1, 1, 2])
    same = r.choice(["same", "valid"])
    options = [
        lambda: getattr(L, "Conv" + dims)(r.choice([2, 4]), k, strides=stride, padding=same,
                                          activation=act(r), use_bias=r.random() < .8)(x),
        lambda: getattr(L, "Conv" + dims)(4, k, padding="same", dilation_rate=2,
                                          groups=2 if x.shape[-1] % 2 == 0 else 1)(x),
        lambda: getattr(L, "Conv%sTranspose" % dims)(3, k, strides=stride, padding=same,
                                                     activation=act(r))(x),
        lambda: getattr(L, r.choice(["MaxPooling", "AveragePooling"]) + dims)(
            min(2, small), strides=r.choice([None, 1]), padding=same)(x),
        lambda: L.BatchNormalization()(x), lambda: L.LayerNormalization()(x),
        lambda: L.GroupNormalization(r.choice([1, -1]))(x),
        lambda: L.Activation(act(r) or "relu")(x), lambda: L.ReLU(6.)(x),
        lambda: getattr(L, "SpatialDropout" + dims)(.2)(x), lambda: L.Dropout(.1)(x),
        lambda: L.PReLU(shared_axes=list(range(1, rank + 1)))(x),
        lambda: L.Add()([x, getattr(L, "Conv" + dims)(x.shape[-1], 3, padding="same")(x)]),
        lambda: L.Concatenate()([x, getattr(L, "Conv" + dims)(2, 1)(x)]),
        lambda: getattr(L, "ZeroPadding" + dims)(1)(x),
        lambda: getattr(L, "UpSampling" + dims)(2)(x) if small < 7 else L.ReLU()(x),
    ]
    if small > 4:
        options.append(lambda: getattr(L, "Cropping" + dims)(1)(x))
    if rank < 3:
        options += [
            lambda: getattr(L, "DepthwiseConv" + dims)(k, padding=same, depth_multiplier=r.choice(
                [1, 2]), strides=stride, activation=act(r))(x),
            lambda: getattr(L, "SeparableConv" + dims)(4, k, padding=same, strides=stride)(x)]
    if rank == 2:
        options.append(lambda: L.UpSampling2D(2, interpolation="bilinear")(x) if small < 7
                       else L.ReLU()(x))
        options.append(lambda: L.Permute((2, 1, 3))(x))
    if rank == 1:
        options.append(lambda: L.Conv1D(3, 2, padding="causal", dilation_rate=2)(x))
    return r.choice(options)()


def to_flat(r, x):
    rank = len(x.shape) - 2
    return r.choice([lambda: L.Flatten()(x),
                     lambda: getattr(L, "GlobalAveragePooling%dD" % rank)()(x),
                     lambda: getattr(L, "GlobalMaxPooling%dD" % rank)()(x)])()


def step_layer(r, x):
    """One more layer on [batch, steps, features]."""
    def cell(sequences=True, **more):
        kind = r.choice([L.LSTM, L.GRU, L.SimpleRNN])
        if kind is L.GRU:
            more["reset_after"] = r.random() < .5
        if kind is L.SimpleRNN:
            more["activation"] = r.choice(["tanh", "relu"])
        elif r.random() < .15:
            more["activation"] = "softsign"
        return kind(r.randint(2, 6), return_sequences=sequences, use_bias=r.random() < .8, **more)
    heads = r.choice([1, 2])
    return r.choice([
        lambda: cell()(x), lambda: cell(go_backwards=True)(x),
        lambda: L.Bidirectional(cell(), merge_mode=r.choice(["concat", "sum", "mul", "ave"]))(x),
        lambda: L.MultiHeadAttention(heads, 3)(x, x),
        lambda: L.MultiHeadAttention(heads, 3, value_dim=4, dropout=.1)(x, x, use_causal_mask=True),
        lambda: L.GroupQueryAttention(4, 4, 2)(x, x),
        lambda: L.Attention(use_scale=r.random() < .5)([x, L.Dense(x.shape[-1])(x)]),
        lambda: L.AdditiveAttention()([x, x]),
        lambda: L.TimeDistributed(L.Dense(4, activation=act(r)))(x),
        lambda: L.Conv1D(4, 3, padding="same", activation=act(r))(x),
        lambda: L.LayerNormalization()(x), lambda: L.Dense(5, activation=act(r))(x),
        lambda: L.EinsumDense("abc,cd->abd", output_shape=(x.shape[1], 3), bias_axes="d")(x),
        lambda: L.SpatialDropout1D(.1)(x),
        lambda: keras.ops.tanh(x) * 2 + keras.ops.mean(x, axis=-1, keepdims=True),
        lambda: keras.ops.concatenate([x[:, :, :1], keras.ops.flip(x, axis=1)], axis=-1),
    ])()


def of_features(r):
    i = keras.Input((r.randint(1, 8),), name="x")
    x = i
    for _ in range(r.randint(1, 5)):
        x = flat_layer(r, x)
    return keras.Model(i, x)


def of_space(r):
    rank = r.choice([1, 2, 2, 2, 3])
    i = keras.Input((*[r.randint(4, 8 if rank < 3 else 5) for _ in range(rank)],
                     r.randint(1, 4)), name="image")
    x = i
    for _ in range(r.randint(1, 4)):
        x = space_layer(r, x)
    x = to_flat(r, x)
    return keras.Model(i, L.Dense(3, activation=act(r))(x))


def of_steps(r):
    i = keras.Input((r.randint(2, 6), r.randint(1, 5)), name="series")
    x = i
    for _ in range(r.randint(1, 3)):
        x = step_layer(r, x)
    if r.random() < .6:
        x = r.choice([L.LSTM, L.GRU, L.SimpleRNN])(3)(x)
    return keras.Model(i, x)


def of_ids(r):
    n, steps = r.randint(3, 9), r.randint(2, 6)
    i = keras.Input((steps,), dtype="int32", name="ids")
    x = L.Embedding(n, r.randint(2, 5), mask_zero=r.random() < .4)(i)
    for _ in range(r.randint(0, 2)):
        x = r.choice([lambda: L.LSTM(4, return_sequences=True)(x),
                      lambda: L.Bidirectional(L.GRU(3, return_sequences=True))(x),
                      lambda: L.MultiHeadAttention(2, 3)(x, x),
                      lambda: L.Dropout(.1)(x), lambda: L.Dense(4, activation="relu")(x)])()
    x = r.choice([lambda: L.GlobalAveragePooling1D()(x), lambda: L.GRU(4)(x),
                  lambda: L.Flatten()(x)])()
    return keras.Model(i, L.Dense(2)(x))


def of_several(r):
    a, b = keras.Input((4,), name="a"), keras.Input((5, 3), name="b")
    shared = L.Dense(4, activation="relu")
    y = L.LSTM(4)(b)
    inner_in = keras.Input((4,))
    inner = keras.Model(inner_in, flat_layer(r, L.Dense(4)(inner_in)), name="inner")
    left, right = inner(shared(a)), inner(shared(y))
    x = L.Concatenate()([left, right])
    if r.random() < .5:
        return keras.Model([a, b], [flat_layer(r, x), L.Dense(2, name="second")(y)])
    return keras.Model({"a": a, "b": b}, {"one": L.Dense(2)(x), "two": y})


def of_states(r):
    i = keras.Input((4, 3), name="x")
    kind = r.choice([L.LSTM, L.GRU, L.SimpleRNN])
    sequence, *states = kind(3, return_sequences=True, return_state=True)(i)
    x = kind(3, return_sequences=True)(L.Dense(2)(sequence), initial_state=states)
    return keras.Model(i, L.Attention()([x, sequence]))


def of_sequential(r):
    layers = [keras.Input((8, 8, 2))]
    layers += [L.Conv2D(4, 3, activation="relu", padding=r.choice(["same", "valid"])),
               L.MaxPooling2D(), L.BatchNormalization(trainable=r.random() < .7),
               L.Dropout(.25), L.Flatten(), L.Dense(8, activation=act(r)), L.Dense(3)]
    model = keras.Sequential(layers)
    model(np.zeros((1, 8, 8, 2), np.float32))
    return model


KINDS = [of_features, of_features, of_space, of_space, of_steps, of_steps, of_ids, of_several,
         of_states, of_sequential]


def shaken(model, values):
    """Weights that nothing has at its start: running numbers, gains and biases too."""
    for v in model.variables:
        if "seed" in v.path or not str(v.dtype).startswith("float"):
            continue
        old = keras.ops.convert_to_numpy(v)
        new = old + values.normal(0, .3, old.shape)
        v.assign(np.abs(new) + .2 if "variance" in v.path else new)


def arrays(model, values, batch):
    made = []
    for t in keras.tree.flatten(model.inputs):
        if str(t.dtype).startswith("int"):
            table = [l for l in model._flatten_layers() if isinstance(l, L.Embedding)][0]
            made.append(values.integers(0, table.input_dim, (batch, *t.shape[1:])))
        else:
            made.append(values.normal(0, 1, (batch, *t.shape[1:])).astype(np.float32))
    return made


def difference(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if got.shape != want.shape:
        return float("inf")
    return float(np.max(np.abs(got - want), initial=0) / max(1, np.max(np.abs(want), initial=0)))


def packed(model, given):
    struct = getattr(model, "_inputs_struct", None)
    if isinstance(struct, dict):
        return dict(zip(sorted(struct), given))
    return given if len(given) > 1 else given[0]


def answer(model, given):
    """What Keras computes. keras.ops.add of 3.15 on TensorFlow adds [1, n, 1] to [1, n, n] along
    the wrong axis, so that a batch of 1 is asked within one of 2 there."""
    alone = keras.backend.backend() == "tensorflow" and len(given[0]) == 1
    given = [np.repeat(x, 2, axis=0) for x in given] if alone else given
    made = [keras.ops.convert_to_numpy(t) for t in keras.tree.flatten(
        model(packed(model, given), training=False))]
    return [y[:1] for y in made] if alone else made


def check(model, values):
    """The largest difference."""
    shaken(model, values)
    absorbed = from_keras(model)
    worst = 0.0
    for batch in (1, 3, 7):
        given = arrays(model, values, batch)
        want = answer(model, given)
        got = absorbed.predict(*given)
        got = [got[k] for k in sorted(got)] if isinstance(got, dict) else (
            list(got) if isinstance(got, (list, tuple)) else [got])
        worst = max(worst, *(difference(g, w) for g, w in zip(got, want)))
    return worst


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=60)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--only", type=int, default=-1)
    args = p.parse_args()
    worst, refused, wrong = 0.0, [], []
    for i in range(args.first, args.first + args.count) if args.only < 0 else [args.only]:
        seed = args.seed * 100003 + i
        r, values = random.Random(seed), np.random.default_rng(seed)
        keras.backend.clear_session()
        keras.utils.set_random_seed(seed % 2**31)
        model = KINDS[i % len(KINDS)](r)
        try:
            found = check(model, values)
        except Unmapped as e:
            refused.append((i, str(e)))
            continue
        except Exception as e:
            if args.only >= 0:
                model.summary()
                raise
            traceback.print_exc(limit=-2)
            wrong.append((i, "%s: %s" % (type(e).__name__, e)))
            continue
        print(i, KINDS[i % len(KINDS)].__name__, "%.2g" % found, flush=True)
        worst = max(worst, found) if found < 1e9 else worst
        if not found <= BOUND:
            wrong.append((i, "difference %.3g: %s" % (found, [
                l.name for l in model._flatten_layers()])))
    for i, why in refused:
        print("refused %d: %s" % (i, why))
    for i, why in wrong:
        print("WRONG %d: %s" % (i, why[:400]))
    print("%d models: largest difference %.3g, %d refused, %d wrong" % (
        args.count if args.only < 0 else 1, worst, len(refused), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
