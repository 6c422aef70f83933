#!/usr/bin/env python3
"""tests/parity/onnx/opened.py: random graphs over steps of an open dimension "seq", with
onnxruntime's answers at several lengths, as tests/golden/onnx/opened.json.
src/onnx/operators_test.cpp imports each once, with a maximum, and runs it at those lengths.
Packages as operators.py. `opened.py SEED [COUNT]` writes nothing: it runs COUNT other graphs at
every length through welvet (PYTHONPATH=bindings/python LOOM_LIBRARY=build/release/libloom.so) and
says which answers are not onnxruntime's."""
import argparse
import collections

import numpy as np
import onnxruntime
import operators
from onnx import TensorProto, helper, numpy_helper
from operators import i64, pick, real

MAX = 9


class Chain:
    """A graph that grows by blocks on x [batch, seq, width]."""

    def __init__(self):
        self.nodes, self.constants, self.blocks = [], [], []
        self.width = pick(2, 4, 6)
        ids = pick(0, 0, 1)
        self.input = helper.make_tensor_value_info(
            "x", TensorProto.INT64 if ids else TensorProto.FLOAT,
            ["batch", "seq"] + ([] if ids else [self.width]))
        self.ids, self.x = ids, "x"
        if ids:
            self.x = self("Gather", self.known(real(7, self.width)), "x")

    def known(self, array):
        name = "c%d" % len(self.constants)
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = ["v%d_%d" % (len(self.nodes), i) for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, "n%d" % len(self.nodes),
                                           **attributes))
        return names[0] if outputs == 1 else names

    def seq(self):
        """The length, as exporters take it: [1]."""
        return self("Slice", self("Shape", self.x), self.known(i64(1)), self.known(i64(2)))

    def dense(self, x=None, width=None):
        made = self("MatMul", x or self.x, self.known(real(self.width, width or self.width)))
        return self("Add", made, self.known(real(width or self.width)))

    def block(self):
        kind = pick("dense", "norm", "attention", "conv", "recurrent", "sums", "positions",
                    "softmax", "centered", "pool", "gated")
        self.blocks.append(kind)
        before = self.x
        self.x = getattr(self, kind)()
        if pick(0, 1) and kind in ("dense", "attention", "conv", "recurrent"):
            self.x = self("Add", self.x, before)

    def gated(self):
        return self("Where", self("Less", self.x, self.known(real(self.width))), self.dense(),
                    self("Tanh", self.x))

    def norm(self):
        return self("LayerNormalization", self.x, self.known(real(self.width)),
                    self.known(real(self.width)), axis=-1)

    def attention(self):
        heads = 2
        parts = []
        for _ in range(3):
            split = self("Reshape", self.dense(), self.known(i64(0, 0, heads, self.width // heads)))
            parts.append(self("Transpose", split, perm=[0, 2, 1, 3]))
        keys = self("Transpose", parts[1], perm=[0, 1, 3, 2])
        scores = self("Div", self("MatMul", parts[0], keys), self.known(np.float32(1.5)))
        if pick(0, 1):  # causal, by a part of a table
            table = np.where(np.tri(MAX + 3) > 0, 0, -np.inf).astype(np.float32)[None, None]
            n = self.seq()
            part = self("Slice", self.known(table), self.known(i64(0, 0)), self("Concat", n, n,
                        axis=0), self.known(i64(2, 3)))
            scores = self("Add", scores, part)
        seen = self("MatMul", self("Softmax", scores, axis=-1), parts[2])
        joined = self("Transpose", seen, perm=[0, 2, 1, 3])
        return self.dense(self("Reshape", joined, self.known(i64(0, 0, self.width))))

    def conv(self):
        k = pick(1, 3, 5)
        x = self("Transpose", self.x, perm=[0, 2, 1])
        made = self("Conv", x, self.known(real(self.width, self.width, k) / np.float32(k)),
                    self.known(real(self.width)), kernel_shape=[k],
                    pads=pick([k // 2, k // 2], [k - 1, 0]))
        return self("Transpose", self("Relu", made), perm=[0, 2, 1])

    def pool(self):
        x = self("Transpose", self.x, perm=[0, 2, 1])
        return self("Transpose", self("MaxPool", x, kernel_shape=[3], pads=[1, 1]), perm=[0, 2, 1])

    def recurrent(self):
        op, direction = pick("LSTM", "GRU", "RNN"), pick("forward", "reverse", "bidirectional")
        both, gates = 2 if direction == "bidirectional" else 1, {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
        h = self.width // both
        x = self("Transpose", self.x, perm=[1, 0, 2])
        y, self.last = self(op, x, self.known(real(both, gates * h, self.width)),
                            self.known(real(both, gates * h, h)),
                            self.known(real(both, 2 * gates * h)), outputs=2, hidden_size=h,
                            direction=direction)
        return self("Reshape", self("Transpose", y, perm=[2, 0, 1, 3]),
                    self.known(i64(0, 0, self.width)))

    def sums(self):
        return self("CumSum", self.x, self.known(np.int64(1)), exclusive=pick(0, 1))

    def positions(self):
        if pick(0, 1):
            part = self("Slice", self.known(real(MAX + 4, self.width)), self.known(i64(0)),
                        self.seq(), self.known(i64(0)))
        else:
            places = self("Range", self.known(np.int64(0)), self("Squeeze", self.seq(),
                          self.known(i64(0))), self.known(np.int64(1)))
            part = self("Gather", self.known(real(MAX + 4, self.width)), places)
        return self("Add", self.x, part)

    def softmax(self):
        return self(pick("Softmax", "LogSoftmax"), self.x, axis=1)

    def centered(self):
        kind = pick("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp")
        return self("Sub", self.x, self(kind, self.x, self.known(i64(1)), keepdims=1))

    def end(self):
        kind = pick("steps", "steps", "mean", "max", "last", "first", "global", "state", "best")
        x = self.x
        if kind == "state" and not hasattr(self, "last"):
            kind = "steps"
        if kind == "best" and {"sums", "recurrent", "gated"} & {*self.blocks}:
            kind = "steps"  # values that are equal but for a last digit
        self.blocks.append(kind)
        made = {"steps": lambda: self("Softmax", self.dense(), axis=-1),
                "mean": lambda: self("ReduceMean", x, self.known(i64(1)), keepdims=0),
                "max": lambda: self("ReduceMax", x, self.known(i64(1)), keepdims=0),
                "last": lambda: self("Gather", x, self.known(np.int64(-1)), axis=1),
                "first": lambda: self("Gather", x, self.known(np.int64(0)), axis=1),
                "global": lambda: self("GlobalAveragePool",
                                       self("Transpose", x, perm=[0, 2, 1])),
                "state": lambda: self.last,
                "best": lambda: self("Cast", self("ArgMax", x, axis=1, keepdims=0),
                                     to=TensorProto.FLOAT)}[kind]()
        self.nodes.append(helper.make_node("Identity", [made], ["y"]))

    def model(self):
        graph = helper.make_graph(self.nodes, "-".join(self.blocks), [self.input],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                                  self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def draw(self, n):
        return operators.rng.integers(0, 7, (1, n)).astype(np.int64) if self.ids else real(
            1, n, self.width)



def chain():
    made = Chain()
    for _ in range(operators.rng.integers(1, 5)):
        made.block()
    made.end()
    return made


def session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def write(count):
    cases = []
    for _ in range(count):
        made = chain()
        model = made.model()
        ort, runs = session(model), []
        for n in (1, 2, int(operators.rng.integers(3, MAX)), MAX):
            x = made.draw(n)
            y = ort.run(None, {"x": x})[0]
            runs.append({"x": operators.array_json(x), "y": operators.array_json(y)})
        cases.append({"name": "-".join(made.blocks), "model": model.SerializeToString().hex(),
                      "max": MAX, "runs": runs})
    operators.cases.extend(cases)
    operators.write("opened")


def against_loom(count):
    import welvet
    results = collections.Counter()
    for _ in range(count):
        made = chain()
        model = made.model()
        ort = session(model)
        try:
            network, ports = welvet.from_onnx(model.SerializeToString()).network(max={"seq": MAX})
        except welvet.LoomError as error:
            results["refused"] += 1
            print("-".join(made.blocks), error)
            continue
        x_port, y_port = ports["inputs"][0], ports["outputs"][0]
        worst = 0
        for n in range(1, MAX + 1):
            x = made.draw(n)
            want = ort.run(None, {"x": x})[0]
            padded = np.full(x_port["dims"], 6 if made.ids else 1e3, np.float32)
            padded[tuple(map(slice, x.shape))] = x
            row = np.append(padded.ravel(), np.float32(n))[None]
            y = network(row).ravel()[y_port["first"]:].reshape(y_port["dims"])
            inside = y[tuple(map(slice, want.shape))]
            behind = np.abs(y).sum() - np.abs(inside).sum()
            worst = max(worst, np.abs(inside - want).max() / max(1, np.abs(want).max()),
                        abs(behind))
        right = worst <= 1e-5
        results["right" if right else "WRONG"] += 1
        if not right:
            print("WRONG", "-".join(made.blocks), worst)
    print(dict(results))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int, nargs="?")
    parser.add_argument("count", type=int, nargs="?", default=100)
    args = parser.parse_args()
    operators.rng = np.random.default_rng(20261128 if args.seed is None else args.seed)
    if args.seed is None:
        write(24)
    else:
        against_loom(args.count)


if __name__ == "__main__":
    main()
