#!/usr/bin/env python3
"""TensorFlow's own objects: tensors, variables and datasets as inputs, models that were saved or
learned there, and what is refused by name; then the ladder of every bedrock.

    tensorflow_own.py

Needs TensorFlow with Keras 3, and libloom.so ($LOOM_LIBRARY). Ends with 77 where they are missing.
"""
import collections
import os
import pathlib
import sys
import tempfile

os.environ["KERAS_BACKEND"] = "tensorflow"
try:
    import keras
    import numpy as np
    import tensorflow as tf
except ImportError as e:
    print("needs TensorFlow and Keras 3: %s" % e)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python"))
from planetbridging import from_keras
from planetbridging.bedrock_ladder import run_bedrock_ladder
from planetbridging.bedrocks import ALL_BEDROCK_IDS, MODELS
from planetbridging.errors import Unmapped

L = keras.layers
BOUND = 1e-5
X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


def dense():
    return keras.Sequential([keras.Input((4,), name="x"), L.Dense(5, activation="relu"),
                             L.Dense(2)])


def equal(got, want):
    off = float(np.abs(np.asarray(got) - np.asarray(want)).max())
    assert off < BOUND, off


def takes():
    model = dense()
    absorbed, want = from_keras(model), model(X).numpy()
    for x in (tf.constant(X), tf.Variable(X), tf.constant(X.astype(np.float64))):
        equal(absorbed.predict(x), want)
    for i, rows in enumerate(tf.data.Dataset.from_tensor_slices(X).batch(2)):
        equal(absorbed.predict(rows), want[2 * i:2 * i + 2])
    ids = keras.Sequential([keras.Input((3,), dtype="int64"), L.Embedding(5, 2), L.Flatten()])
    some = tf.constant([[1, 2, 4]], tf.int64)
    equal(from_keras(ids).predict(some), ids(some))
    norm = L.Normalization()
    norm.adapt(tf.data.Dataset.from_tensor_slices(X).batch(2))
    adapted = keras.Sequential([keras.Input((4,)), norm, L.Dense(2)])
    equal(from_keras(adapted).predict(X), adapted(X))
    model.compile("adam", "mse")
    model.fit(tf.data.Dataset.from_tensor_slices((X, want + 1)).batch(3), epochs=2, verbose=0)
    equal(from_keras(model).predict(X), model(X))
    with tempfile.TemporaryDirectory() as folder:
        for name in "m.keras", "m.h5":
            model.save(os.path.join(folder, name))
            again = keras.models.load_model(os.path.join(folder, name), compile=False)
            equal(from_keras(again).predict(X), model(X))
    inputs = keras.Input((4,))
    mixed = keras.Model(inputs, L.Dense(3, dtype="mixed_float16", name="half")(inputs))
    assert from_keras(mixed).metadata["in_float32"] == "half (float16)"
    assert "in_float32" not in from_keras(model).metadata


def refuses():
    absorbed = from_keras(dense())
    for x, word in ((tf.data.Dataset.from_tensor_slices(X).batch(2), "BatchDataset"),
                    (tf.RaggedTensor.from_row_splits(tf.range(8.), [0, 4, 8]), "RaggedTensor"),
                    (tf.sparse.from_dense(X), "SparseTensor"),
                    (tf.constant([["a", "b", "c", "d"]]), "numbers"),
                    (tf.ones((2, 5)), r"[batch, 4]")):
        raises(ValueError, word, absorbed.predict, x)

    class Own(L.Layer):
        def call(self, x):
            return tf.nn.relu(x)

    def of(layer, *sizes, **options):
        inputs = keras.Input(sizes or (4,), **options)
        return keras.Model(inputs, layer(inputs))

    with tempfile.TemporaryDirectory() as folder:
        dense().export(folder, verbose=False)
        raises(TypeError, "keras.models.load_model", from_keras, tf.saved_model.load(folder))
        raises(TypeError, "not str", from_keras, folder)
        saved = L.TFSMLayer(folder, call_endpoint="serve")
        raises(Unmapped, "TFSMLayer", from_keras, of(saved))
    raises(TypeError, "function of TensorFlow", from_keras, tf.function(lambda x: x))
    raises(Unmapped, "ragged", from_keras, of(L.Dense(2), ragged=True))
    for layer, options in ((L.Lambda(tf.math.sin), {}), (Own(), {}), (L.GaussianNoise(.1), {}),
                           (L.StringLookup(vocabulary=["a"]), {"dtype": "string"}),
                           (L.Hashing(5), {"dtype": "string"}),
                           (L.Discretization([0., 1.]), {}),
                           (L.CategoryEncoding(5), {"dtype": "int32"})):
        raises(Unmapped, type(layer).__name__, from_keras, of(layer, **options))


def raises(kind, word, function, *args):
    try:
        function(*args)
    except kind as e:
        assert word in str(e), (word, e)
    else:
        raise AssertionError("%s is not refused" % word)


def ladders():
    found = collections.Counter()
    with tempfile.TemporaryDirectory() as root:
        for bedrock in ALL_BEDROCK_IDS:
            for model in MODELS[bedrock]:
                made = run_bedrock_ladder(bedrock, planet="tensorflow", model_id=model.id,
                                          root=root, max_samples=3)
                labels = made.native_vs_loom, made.native_vs_welvet
                assert made.loom_vs_welvet == "EXACT", model.id
                assert set(labels) <= {"EXACT", "PASS"}, (model.id, labels)
                found[labels] += 1
    print("ladders: " + ", ".join("%d of %s" % (n, " and ".join(k)) for k, n in found.items()))


if __name__ == "__main__":
    takes()
    refuses()
    ladders()
    print("TensorFlow %s: inputs, saved models, refusals by name" % tf.__version__)
