#!/usr/bin/env python3
"""tests/cases/make_onnx.py: data/tiny.onnx, y = relu(x W + b) on float[batch, 3], written field by
field as onnx.proto3 has them."""
import argparse
import pathlib
import struct


def varint(n):
    out = b""
    while True:
        n, low = n >> 7, n & 127
        if n == 0:
            return out + bytes([low])
        out += bytes([low | 128])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, values):
    return b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9,
            struct.pack("<%df" % len(values), *values))


def value(name, dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, outputs):
    return b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(3,
            op.lower()) + field(4, op)


def main():
    graph = (field(1, node("Gemm", ["x", "W", "b"], ["h"])) + field(1, node("Relu", ["h"], ["y"]))
             + field(2, "tiny") + field(5, tensor("W", [3, 2], [1, -1, 0.5, 2, 0, 1]))
             + field(5, tensor("b", [2], [0.25, -1])) + field(11, value("x", ["batch", 3]))
             + field(12, value("y", ["batch", 2])))
    model = field(1, 8) + field(2, "loom") + field(8, field(1, "") + field(2, 17)) + field(7, graph)
    path = pathlib.Path(__file__).parent / "data/tiny.onnx"
    path.write_bytes(model)
    print(path.name, len(model), "bytes")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
