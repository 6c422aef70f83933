"""Networks that the Go engine saved as JSON, encoded here by its document, not by our code."""
import base64
import json
import os
import tempfile
import unittest

import numpy as np

import welvet
from welvet import Network


def text(data):
    return base64.b64encode(bytes(data)).decode()


def raw(values):
    return text(np.asarray(values, "<f4").tobytes())


def packed(codes, bits):
    """Codes below a byte, the first in the highest bits."""
    out = bytearray(-(-len(codes) * bits // 8))
    for i, code in enumerate(codes):
        at = i * bits
        out[at // 8] |= (int(code) & ((1 << bits) - 1)) << (8 - bits - at % 8)
    return text(out)


def saved(*layers):
    return {"id": "network", "depth": 1, "rows": 1, "cols": 1, "layers_per_cell": len(layers),
            "layers": [{"z": 0, "y": 0, "x": 0, "l": i, **layer} for i, layer in enumerate(layers)]}


def dense(weights, rows=3, cols=5, **more):
    return {"type": "DENSE", "activation": "LINEAR", "dtype": "FLOAT32", "input_height": cols,
            "output_height": rows, "weights": weights, **more}


def load(*layers):
    return Network.from_bytes(json.dumps(saved(*layers)).encode())


class GoNetworks(unittest.TestCase):
    def setUp(self):
        self.random = np.random.RandomState(0)

    def numbers(self, *shape):
        return self.random.randn(*shape).astype(np.float32)

    def weight(self, network, dtype=np.float64):
        return network.get("0.0.0.0:weight", dtype)

    def test_raw_values_and_a_file(self):
        w = self.numbers(3, 5)
        np.testing.assert_array_equal(self.weight(load(dense(raw(w)))), w)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "network.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(saved(dense(raw(w))), file)
            network = Network.load(path)
            np.testing.assert_array_equal(self.weight(network), w)
            network.save(path + ".entity")
            again = Network.load(path + ".entity")
            np.testing.assert_array_equal(self.weight(again), w)
            with self.assertRaisesRegex(welvet.Unsupported, "Network.load"):
                Network(path)

    def test_native_codes_of_every_dtype_that_has_one_meaning(self):
        w = self.numbers(3, 5)
        def given(dtype, code, **more):
            return self.weight(load(dense(code, dtype=dtype, native=True, **more)))
        exact = self.random.randn(3, 5)
        np.testing.assert_array_equal(given("FLOAT64", text(exact.astype("<f8").tobytes())), exact)
        np.testing.assert_array_equal(given("FLOAT32", raw(w), scale=7.5), w)
        half = w.astype("<f2")
        half.flat[0] = 2.0**-24
        np.testing.assert_array_equal(given("FLOAT16", text(half.tobytes()), scale=3), half)
        upper = (w.view("<u4") >> 16).astype("<u2")
        np.testing.assert_array_equal(given("BFLOAT16", text(upper.tobytes())),
                                      (upper.astype("<u4") << 16).view("<f4"))
        s = 0.375
        for dtype, kind in (("INT64", "<i8"), ("INT32", "<i4"), ("INT16", "<i2"), ("INT8", "<i1"),
                            ("UINT8", "<u1")):
            codes = self.random.randint(0 if "u" in kind else -128, 128, (3, 5)).astype(kind)
            np.testing.assert_array_equal(given(dtype, text(codes.tobytes()), scale=s), codes * s)
        for dtype, bits, low, high in (("INT4", 4, -8, 8), ("UINT4", 4, 0, 16), ("INT2", 2, -2, 2),
                                       ("UINT2", 2, 0, 4), ("TERNARY", 2, -1, 2)):
            codes = self.random.randint(low, high, (3, 5))
            np.testing.assert_array_equal(
                given(dtype, packed(codes.ravel(), bits), scale=s), codes * s)
        signs = self.random.randint(0, 2, (3, 5))
        np.testing.assert_array_equal(given("BINARY", packed(signs.ravel(), 1), scale=s),
                                      np.where(signs, s, -s))

    def test_codes_that_have_no_one_meaning_are_refused_by_name(self):
        some = text(bytes(64))
        for dtype, said in (("FP8E4M3", "fp8e4m3"), ("FP8E5M2", "fp8e5m2"), ("FP4", "fp4"),
                            ("UINT64", "u64 .*sign"), ("UINT32", "sign"), ("UINT16", "sign")):
            with self.assertRaisesRegex(welvet.Unsupported, "cell 0.0.0.0.*" + said):
                load(dense(some, dtype=dtype, native=True, scale=1))
        for layer in ({"type": "SOFTMAX", "softmax_type": "Masked", "input_height": 5},
                      {"type": "SOFTMAX", "softmax_type": "Hierarchical", "input_height": 5},
                      {"type": "METACOGNITION", "meta_rules": [{"condition": "StdAbove"}],
                       "meta_observed_layer": dense(raw(np.zeros(9)), cols=3)}):
            with self.assertRaises(welvet.Unsupported):
                load(dense(raw(np.zeros(15)), rows=3), layer)
        with self.assertRaisesRegex(ValueError, "softmax_type 'Standart'.*STANDARD"):
            load({"type": "SOFTMAX", "softmax_type": "Standart", "input_height": 5})

    def test_metacognition_without_rules_is_the_layer_that_it_observes(self):
        w = self.numbers(3, 5)
        network = load({"type": "META", "meta_rules": None, "meta_observed_layer": dense(raw(w))})
        np.testing.assert_array_equal(network.get("0.0.0.0/0:weight"), w)
        self.assertEqual(network.cell("0.0.0.0")["type"], "metacognition")
        x = self.numbers(2, 5)
        np.testing.assert_array_equal(network(x), load(dense(raw(w)))(x))

    def test_hostile_weights_are_refused(self):
        good = raw(np.zeros(15))
        for layer, said in (
                (dense(""), "missing"), (dense(good[:-4]), "expects 60 bytes"),
                (dense(raw(np.zeros(16))), "expects 60 bytes .*got 64"),
                (dense("@" + good[1:]), "character 0"), (dense(good[:-1]), "multiple of 4"),
                (dense(raw([np.nan] * 15)), "value 0 is no finite"),
                (dense(raw([0] * 14 + [np.inf])), "value 14"),
                (dense(5), "weights"), (dense(good, native="yes"), "native"),
                (dense(text(bytes(15)), dtype="INT8", native=True), "scale"),
                (dense(text(bytes(15)), dtype="INT8", native=True, scale=-1), "scale"),
                (dense(text(bytes(15)), dtype="INT8", native=True, scale=1e39), "scale"),
                (dense(packed([2] * 15, 2), dtype="TERNARY", native=True, scale=1), "value 0"),
                (dense(good, wieghts=good), "wieghts"),
                (dense(good, rows=2**30, cols=2**30), ""),
                ({"type": "RESIDUAL", "weights": good}, "")):
            with self.assertRaisesRegex(welvet.LoomError, said):
                load(layer)
        for data in (b"{", b"{}", b'{"layers": 3}', b'{"format": "loom-topology", "cells": []}'):
            with self.assertRaises(welvet.LoomError):
                Network.from_bytes(data)

    def test_recurrent_layers_have_one_bias_and_gates_in_blocks(self):
        sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
        wi, wh, b = self.numbers(4, 3, 2), self.numbers(4, 3, 3), self.numbers(4, 3)
        x, h, c = self.numbers(1, 5, 2), np.zeros(3), np.zeros(3)
        rnn = load({"type": "RNN", "input_height": 2, "output_height": 3, "seq_length": 5,
                    "weights": raw(np.concatenate([wi[0].ravel(), wh[0].ravel(), b[0]]))})
        want = []
        for step in x[0]:
            h = np.tanh(wi[0] @ step + wh[0] @ h + b[0])
            want.append(h)
        np.testing.assert_allclose(np.reshape(rnn(x), (5, 3)), want, rtol=1e-5)
        blocks = [part.ravel() for g in range(4) for part in (wi[g], wh[g], b[g])]
        lstm = load({"type": "LSTM", "input_height": 2, "output_height": 3, "seq_length": 5,
                     "weights": raw(np.concatenate(blocks))})
        h, want = np.zeros(3), []
        for step in x[0]:
            i, f, g, o = (wi[k] @ step + wh[k] @ h + b[k] for k in range(4))
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            want.append(h)
        np.testing.assert_allclose(np.reshape(lstm(x), (5, 3)), want, rtol=1e-5)

    def test_convolutions(self):
        w, x = self.numbers(4, 2, 3), self.numbers(2, 7)
        conv = load({"type": "CNN1", "input_channels": 2, "input_height": 7, "filters": 4,
                     "kernel_size": 3, "stride": 2, "output_height": 3, "weights": raw(w)})
        want = [[(w[f] * x[:, 2 * o:2 * o + 3]).sum() for o in range(3)] for f in range(4)]
        np.testing.assert_allclose(np.reshape(conv(x[None]), (4, 3)), want, rtol=1e-4, atol=1e-6)
        back = load({"type": "CONVTRANSPOSED1D", "input_channels": 2, "input_width": 7,
                     "filters": 4,
                     "kernel_size": 3, "stride": 2, "padding": 1, "weights": raw(w)})
        want = np.zeros((4, 13))
        for i in range(7):
            for t in range(3):
                if 0 <= 2 * i - 1 + t < 13:
                    want[:, 2 * i - 1 + t] += w[:, :, t] @ x[:, i]
        np.testing.assert_allclose(np.reshape(back(x[None]), (4, 13)), want, rtol=1e-4, atol=1e-6)
        with self.assertRaisesRegex(welvet.Unsupported, "transposed"):
            load({"type": "CONVTRANSPOSED1D", "input_channels": 2, "input_width": 7, "filters": 4,
                  "kernel_size": 3, "dtype": "INT8", "native": True, "scale": 1,
                  "weights": text(bytes(24))})

    def test_layers_of_several_matrices_and_layers_in_layers(self):
        g, u, d = self.numbers(5, 3), self.numbers(5, 3), self.numbers(3, 5)
        gb, ub, db = self.numbers(5), self.numbers(5), self.numbers(3)
        gamma, beta, x = self.numbers(3), self.numbers(3), self.numbers(1, 3)
        inner = dense(raw(np.arange(6)), rows=2, cols=3)
        network = load(
            {"type": "SWIGLU", "input_height": 3, "output_height": 5, "weights": raw(
                np.concatenate([p.ravel() for p in (g, u, d, gb, ub, db)]))},
            {"type": "LAYERNORM", "input_height": 3, "weights": raw(np.concatenate([gamma, beta]))},
            {"type": "PARALLEL", "combine_mode": "concat", "parallel_branches": [
                inner, {"type": "SEQUENTIAL", "sequential_layers": [inner]}]},
            {"type": "SOFTMAX", "softmax_type": "Standard"})
        a = g @ x[0] + gb
        y = d @ (a / (1 + np.exp(-a)) * (u @ x[0] + ub)) + db
        y = (y - y.mean()) / np.sqrt(y.var() + 1e-5) * gamma + beta
        y = np.concatenate([np.arange(6).reshape(2, 3) @ y] * 2)
        np.testing.assert_allclose(network(x)[0], np.exp(y) / np.exp(y).sum(), rtol=1e-4)
        with self.assertRaisesRegex(welvet.InvalidArgument, "cell 0.0.0.0/1: .weights. is missing"):
            bare = {key: value for key, value in inner.items() if key != "weights"}
            load({"type": "SEQUENTIAL", "sequential_layers": [inner, dict(bare, input_height=2)]})

    def test_attention(self):
        steps, d, heads, size = 4, 6, 3, 2
        q, k, v, o = self.numbers(6, d), self.numbers(2, d), self.numbers(2, d), self.numbers(d, 6)
        biases = self.numbers(6), self.numbers(2), self.numbers(2), self.numbers(d)
        weights = raw(np.concatenate([p.ravel() for p in (q, k, v, o, *biases)]))
        layer = {"type": "MHA", "d_model": d, "num_heads": heads, "num_kv_heads": 1,
                 "head_dim": size, "query_dim": 6, "seq_length": steps, "weights": weights}
        x = self.numbers(steps, d)
        turn = np.arange(steps)[:, None]  # one pair of values in a head: the angle is the position

        def roped(rows):
            a, b = rows[:, :1], rows[:, 1:]
            return np.hstack([a * np.cos(turn) - b * np.sin(turn),
                              b * np.cos(turn) + a * np.sin(turn)])

        queries, values = x @ q.T + biases[0], x @ v.T + biases[2]
        keys, parts = roped(x @ k.T + biases[1]), []
        for h in range(heads):
            scores = roped(queries[:, h * size:(h + 1) * size]) @ keys.T / np.sqrt(size)
            scores = np.exp(np.where(np.tri(steps) > 0, scores, -np.inf))
            parts.append(scores / scores.sum(1, keepdims=True) @ values)
        want = np.hstack(parts) @ o.T + biases[3]
        np.testing.assert_allclose(np.reshape(load(layer)(x[None]), (steps, d)), want, rtol=1e-4,
                                   atol=1e-4)
        for wrong in ({"query_dim": 8}, {"gumbel_noise": True}, {"gumbel_noise": 1}):
            with self.assertRaisesRegex(welvet.LoomError, next(iter(wrong))):
                load({**layer, **wrong})
