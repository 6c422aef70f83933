#!/usr/bin/env python3
"""Writes small valid files, one folder per fuzz target: make_seeds.py FOLDER."""
import argparse
import base64
import gzip
import io
import json
import pathlib
import random
import re
import struct
import zipfile
import zlib


def safetensors(tensors, metadata=None):
    header, at = ({"__metadata__": metadata} if metadata else {}), 0
    for name, dtype, shape, data in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(t[3] for t in tensors)


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def gguf(entries, tensors, version=3, alignment=32):
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries))
    for key, kind, value in entries:
        out += text(key) + struct.pack("<I", kind) + value
    data = b""
    for name, shape, kind, raw in tensors:
        data += b"\0" * (-len(data) % alignment)
        out += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        data += raw
    return out + b"\0" * (-len(out) % alignment) + data


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n >= 128:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def pb(*fields):
    """A protobuf message of (number, value): int, float, text, bytes or a message."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def onnx_tensor(name, kind, dims, *data):
    return pb(*[(1, d) for d in dims], (2, kind), (8, name), *data)


def onnx_value(name, kind, dims):
    shape = pb(*[(1, pb((2, d) if isinstance(d, str) else (1, d))) for d in dims])
    return pb((1, name), (2, pb((1, pb((1, kind), (2, shape))))))


def onnx_node(op, inputs, outputs, *attributes):
    return pb(*[(1, i) for i in inputs], *[(2, o) for o in outputs], (3, op.lower()), (4, op),
              *[(5, a) for a in attributes])


def onnx_model(graph, opset=17, *more):
    return pb((1, 8), (2, "seed"), (7, graph), (8, pb((2, opset))), *more)


def integer(name, v):
    return pb((1, name), (3, v), (20, 2))


def string(name, v):
    return pb((1, name), (4, v), (20, 3))


def ints(name, *v):
    return pb((1, name), (8, b"".join(map(varint, v))), (20, 7))


def size(dims):
    n = 1
    for d in dims:
        n *= d
    return n


# Known tensors, by the name that they get: reals of these dimensions, whole numbers, bytes.
def r(*dims):
    values = struct.pack(f"<{size(dims)}f", *[i / 4 for i in range(size(dims))])
    return lambda name: onnx_tensor(name, 1, dims, (9, values))


def w(dims, *v):
    return lambda name: onnx_tensor(name, 7, dims, (9, struct.pack(f"<{len(v)}q", *v)))


def u8(*dims):
    return lambda name: onnx_tensor(name, 2, dims, (9, bytes(range(size(dims)))))


def graph(op, inputs, known=(), attributes=(), outputs=1, opset=17, domain=""):
    """A graph of one operator. `inputs`: (type, dims) of what arrives; `known`: tensors behind
    them, None for one left out."""
    names = [f"x{i}" for i in range(len(inputs))]
    made = [f"y{i}" for i in range(outputs)]
    node = pb(*[(1, n) for n in names + [f"k{i}" if t else "" for i, t in enumerate(known)]],
              *[(2, m) for m in made], (4, op), *[(5, a) for a in attributes],
              *([(7, domain)] if domain else []))
    more = [(8, pb((1, domain), (2, 1)))] if domain else []
    return "onnx", onnx_model(
        pb((1, node), *[(5, t(f"k{i}")) for i, t in enumerate(known) if t],
           *[(11, onnx_value(n, *i)) for n, i in zip(names, inputs)],
                                 *[(12, onnx_value(m, 1, [])) for m in made]), opset, *more)


QKV = [(1, [1, 2, 3, 4]), (1, [1, 1, 3, 4]), (1, [1, 1, 3, 4])]


def transformer_operators():
    """Attention, what stands around it in transformers, and losses."""
    yield graph("Attention", QKV, [r(3, 3), r(1, 1, 2, 4), r(1, 1, 2, 4)],
                [integer("is_causal", 1), integer("qk_matmul_output_mode", 2)], 4, 24)
    yield graph("Attention", [(1, [1, 3, 8])] * 3, [],
                [integer("q_num_heads", 2), integer("kv_num_heads", 2)], 1, 23)
    yield graph("RotaryEmbedding", [(1, [1, 2, 3, 4]), (1, [5, 2]), (1, [5, 2])],
                [w([1, 3], 0, 1, 2)], [integer("interleaved", 1)], 1, 23)
    ms = "com.microsoft"
    yield graph("Attention", [(1, [1, 2, 4])], [r(4, 12), r(12), None, r(2, 1, 2, 1, 2)],
                [integer("num_heads", 2), integer("unidirectional", 1)], 2, 11, ms)
    yield graph("EmbedLayerNormalization", [(6, [1, 2])],
                [None, r(5, 4), r(3, 4), None, r(4), r(4)], [], 3, 11, ms)
    yield graph("SkipLayerNormalization", [(1, [1, 2, 4])] * 2, [r(4), r(4), r(4)], [], 1, 11, ms)
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        yield graph(op, [(1, [2, 3, 2]), (7, [2, 2])], [r(3)],
                    [integer("ignore_index", 1), string("reduction", "mean")], 1)


def index_operators():
    """Operators that read or write by index."""
    yield graph("TopK", [(1, [2, 4])], [w([1], 2)], [integer("axis", -1)], 2)
    yield graph("OneHot", [(7, [2, 2])], [w([], 3), r(2)], [integer("axis", 1)])
    yield graph("ScatterElements", [(1, [2, 3])], [w([1, 2], 1, 0), r(1, 2)],
                [integer("axis", 1), string("reduction", "add")], 1, 18)
    yield graph("ScatterND", [(1, [3, 2])], [w([2, 1], 0, -1), r(2, 2)],
                [string("reduction", "max")], 1, 18)
    yield graph("GatherND", [(1, [2, 3])], [w([2, 1], 0, 2)], [integer("batch_dims", 1)])
    yield graph("GatherElements", [(1, [2, 3])], [w([1, 3], 0, 1, -1)])
    yield graph("Gather", [(7, [2])], [], [])
    yield graph("Compress", [(1, [3, 2])], [lambda name: onnx_tensor(name, 9, [3], (9, b"\1\0\1"))],
                [integer("axis", 0)])
    yield graph("ReverseSequence", [(1, [3, 2])], [w([2], 3, 1)])
    yield graph("TensorScatter", [(1, [1, 4, 2]), (1, [1, 2, 2])], [w([1], 1)],
                [string("mode", "circular")], 1, 24)


def sampling_operators():
    """Resizing, sampling, and products by names."""
    for mode in ("nearest", "linear", "cubic"):
        yield graph("Resize", [(1, [1, 1, 3, 4])], [None, None, w([4], 1, 1, 5, 2)],
                    [string("mode", mode), integer("antialias", 1)], 1, 19)
        yield graph("GridSample", [(1, [1, 2, 3, 4]), (1, [1, 2, 2, 2])], [],
                    [string("mode", mode), string("padding_mode", "reflection")], 1, 20)
    yield graph("Einsum", [(1, [2, 3, 4]), (1, [2, 4, 2])], [],
                [string("equation", "bij,bjk->bik")])


def quantized_operators():
    yield graph("QuantizeLinear", [(1, [2, 3])],
                [r(3), lambda name: onnx_tensor(name, 2, [3], (9, b"\1\2\3"))],
                [integer("axis", 1)], 1, 21)
    yield graph("DequantizeLinear", [(2, [2, 4])], [r(2, 2)],
                [integer("axis", 1), integer("block_size", 2)], 1, 21)
    yield graph("DynamicQuantizeLinear", [(1, [2, 3])], [], [], 3)
    yield graph("MatMulInteger", [(2, [2, 3]), (3, [3, 2])])
    yield graph("MatMulInteger", [(2, [2, 3])], [u8(3, 2), u8(), u8()])
    yield graph("QLinearMatMul", [(2, [2, 3])], [r(), u8(), u8(3, 2), r(), u8(), r(), u8()])
    yield graph("QLinearConv", [(2, [1, 2, 3, 3])],
                [r(), u8(), u8(2, 1, 2, 2), r(2), u8(), r(), u8(),
                 lambda name: onnx_tensor(name, 6, [2], (9, bytes(8)))], [integer("group", 2)], 1,
                   21)


def late_operators():
    """Operators of late opsets, signals and casts."""
    yield graph("Attention", QKV, [r(3, 3), None, None, w([1], 2)],
                [integer("left_window_size", 1), integer("right_window_size", 0)], 1, 25)
    yield graph("LinearAttention", [(1, [1, 2, 4])] * 3, [r(1, 2, 2, 2), r(1, 2, 2), r(1, 2, 1)],
                [integer("q_num_heads", 2), integer("kv_num_heads", 2)], 2, 27)
    yield graph("CausalConvWithState", [(1, [1, 2, 3])], [r(2, 1, 3), r(2), r(1, 2, 2)],
                [string("activation", "silu")], 2, 27)
    yield graph("STFT", [(1, [1, 9, 1])], [w([], 2), r(4)], [integer("onesided", 1)])
    yield graph("DFT", [(1, [1, 5, 2])], [w([], 4), w([], -2)],
                [integer("inverse", 1), integer("onesided", 1)], 1, 20)
    yield graph("MelWeightMatrix", [],
                [w([], 4), w([], 16), w([], 8000), r(),
                 lambda name: onnx_tensor(name, 1, [], (9, struct.pack("<f", 4000)))])
    yield graph("Col2Im", [(1, [1, 4, 4])], [w([2], 3, 3), w([2], 2, 2)],
                [ints("pads", 0, 0, 0, 0)], 1, 18)
    yield graph("AffineGrid", [(1, [1, 2, 3])], [w([4], 1, 1, 2, 3)], [integer("align_corners", 1)],
                1, 20)
    yield graph("LpPool", [(1, [1, 1, 4])], [], [ints("kernel_shape", 2), integer("p", 3)])
    yield graph("CenterCropPad", [(1, [3, 4])], [w([2], 5, 2)], [], 1, 18)
    yield graph("Acosh", [(1, [3])], [], [], 1, 22)
    for to in (10, 16, 17, 20, 21, 23):
        yield graph("Cast", [(1, [3])], [], [integer("to", to), integer("saturate", 0)], 1, 23)
    yield graph("Cast", [(18, [3])], [], [integer("to", 1)], 1, 23)


def loop_operators():
    body = pb((1, onnx_node("Add", ["v", "v"], ["w"])), (11, onnx_value("i", 7, [])),
              (11, onnx_value("go", 9, [])), (11, onnx_value("v", 1, [2])),
              (12, onnx_value("go", 9, [])), (12, onnx_value("w", 1, [2])),
              (12, onnx_value("v", 1, [2])))
    step = pb((1, onnx_node("Add", ["s", "x"], ["t"])), (11, onnx_value("s", 1, [2])),
              (11, onnx_value("x", 1, [2])), (12, onnx_value("t", 1, [2])),
              (12, onnx_value("x", 1, [2])))
    yield "onnx", onnx_model(
        pb((1, onnx_node("Loop", ["m", "go0", "x0"], ["y0", "y1"],
                         pb((1, "body"), (6, body), (20, 5)))),
                           (5, onnx_tensor("m", 7, [], (9, struct.pack("<q", 3)))),
                                (5, onnx_tensor("go0", 9, [], (9, b"\1"))),
                                (11, onnx_value("x0", 1, [2])), (12, onnx_value("y0", 1, [])),
                                (12, onnx_value("y1", 1, []))))
    yield "onnx", onnx_model(
        pb((1, onnx_node("Scan", ["x0", "x1"], ["y0", "y1"], pb((1, "body"), (6, step), (20, 5)),
                         integer("num_scan_inputs", 1), ints("scan_input_directions", 1))),
                                (11, onnx_value("x0", 1, [2])), (11, onnx_value("x1", 1, [3, 2])),
                                (12, onnx_value("y0", 1, [])), (12, onnx_value("y1", 1, []))))


def other_operators():
    yield graph("ConvInteger", [(2, [1, 1, 3, 3])],
                [lambda name: onnx_tensor(name, 2, [1, 1, 2, 2], (9, bytes(4)))])
    yield graph("LRN", [(1, [1, 4, 2])], [], [integer("size", 3)])
    yield graph("LpPool", [(1, [1, 1, 4])], [], [ints("kernel_shape", 2)])
    yield graph("MaxPool", [(1, [1, 1, 4, 4])], [],
                [ints("kernel_shape", 2, 2), ints("pads", 1, 1, 0, 0)])
    yield graph("ConvTranspose", [(1, [1, 2, 3, 3])], [r(2, 1, 2, 2)],
                [ints("strides", 2, 2), ints("output_padding", 1, 1)])
    for op in ("CumProd", "CumSum"):
        yield graph(op, [(1, [2, 3])], [w([], 1)], [integer("exclusive", 1)], 1, 26)
    for op in ("Mod", "Div", "BitShift", "BitwiseAnd", "Pow"):
        yield graph(op, [(6, [2])] * 2, [], [string("direction", "LEFT")] if op == "BitShift"
                    else [], 1, 18)
    yield graph("LSTM", [(1, [3, 1, 2])], [r(1, 8, 2), r(1, 8, 2), r(1, 16)],
                [integer("hidden_size", 2)], 3)
    yield graph("GRU", [(1, [3, 2, 2])], [r(2, 6, 2), r(2, 6, 2)],
                [string("direction", "bidirectional"), integer("linear_before_reset", 1)], 2)
    yield graph("Pad", [(1, [2, 3])], [w([4], 0, 1, 0, 2)], [string("mode", "reflect")])
    yield graph("Slice", [(1, [4, 3])], [w([1], -1), w([1], -9), w([1], 0), w([1], -2)])
    yield graph("Split", [(1, [4, 3])], [w([2], 1, 3)], [], 2)
    yield graph("EyeLike", [(1, [2, 3])])
    yield graph("LayerNormalization", [(1, [2, 3])], [r(3), r(3)], [], 3)
    yield graph("ReduceMax", [(1, [2, 3])], [w([1], -1)], [], 1, 18)
    yield graph("Concat", [(1, [2, 1]), (1, [2, 0])], [r(2, 2)], [integer("axis", 1)])


def operators():
    """A graph for each operator of the importer that has shapes or indices of its own."""
    yield from transformer_operators()
    yield from index_operators()
    yield from sampling_operators()
    yield from quantized_operators()
    yield from late_operators()
    yield from loop_operators()
    yield from other_operators()


def safetensors_seeds():
    every = [("BOOL", 1), ("U8", 1), ("I8", 1), ("F8_E5M2", 1), ("F8_E4M3", 1), ("I16", 2),
             ("U16", 2), ("F16", 2), ("BF16", 2), ("I32", 4),
             ("U32", 4), ("F32", 4), ("F64", 8), ("I64", 8), ("U64", 8)]
    yield "safetensors", safetensors([])
    yield "safetensors", safetensors([("a", "F32", [2, 3], bytes(range(24)))], {"format": "pt"})
    yield "safetensors", safetensors([(f"t.{d}", d, [2], bytes(range(2 * n))) for d, n in every])
    yield "safetensors", safetensors(
        [("f4", "F4", [2, 2], b"\x21\x43"), ("scalar", "F64", [], b"\0" * 8),
         ("none", "U8", [0, 7], b"")])


def torch_seeds():
    """Files of torch.save: a zip archive of stored records, one of them a pickle."""
    word = lambda t: b"X" + struct.pack("<I", len(t)) + t.encode()
    tensor = lambda kind, key, shape, strides: (
        b"ctorch._utils\n_rebuild_tensor_v2\n((" + word("storage") + b"ctorch\n" + kind +
        b"\n" + word(key) + word("cpu") + b"K\x06tQK\0(" +
        b"".join(b"K" + bytes([n]) for n in shape) + b"t(" +
        b"".join(b"K" + bytes([n]) for n in strides) + b"t\x89ccollections\nOrderedDict\n)RtR")
    matrix = tensor(b"FloatStorage", "0", [2, 3], [3, 1])
    turned = tensor(b"FloatStorage", "0", [3, 2], [1, 3])
    ids = tensor(b"LongStorage", "1", [6], [1])
    for items in (word("w") + matrix, word("w") + matrix + word("t") + turned + word("n") + ids,
                  word("model") + b"}(" + word("w") + turned + b"u" + word("epoch") + b"K\3" +
                  word("rest") + b"](NG" + struct.pack(">d", 0.1) + b"\x88e"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a/data.pkl", b"\x80\x02}(" + items + b"u.")
            archive.writestr("a/byteorder", "little")
            archive.writestr("a/data/0", bytes(range(24)))
            archive.writestr("a/data/1", bytes(range(48)))
        yield "torch", file.getvalue()


def gguf_seeds():
    scalars = [("u8", 0, b"\1"), ("i8", 1, b"\xff"), ("u16", 2, b"\1\2"), ("i16", 3, b"\1\2"),
               ("u32", 4, b"\1\2\3\4"), ("i32", 5, b"\1\2\3\4"),
               ("f32", 6, struct.pack("<f", 1.5)), ("bool", 7, b"\1"), ("string", 8, text("llama")),
               ("u64", 10, b"\1" * 8), ("i64", 11, b"\2" * 8),
               ("f64", 12, struct.pack("<d", 0.1))]
    arrays = [("tokens", 9, struct.pack("<IQ", 8, 3) + text("<s>") + text("a") + text("")),
              ("scores", 9, struct.pack("<IQ2f", 6, 2, 0, 1)),
              ("types", 9, struct.pack("<IQ2i", 5, 2, 1, 3)),
              ("flags", 9, struct.pack("<IQ", 7, 2) + b"\0\1")]
    blocks = [("f32", 0, 1, 4), ("f16", 1, 1, 2), ("q4_0", 2, 32, 18), ("q8_0", 8, 32, 34),
              ("q4_k", 12, 256, 144), ("q6_k", 14, 256, 210),
              ("bf16", 30, 1, 2), ("i8", 24, 1, 1), ("f64", 28, 1, 8)]
    yield "gguf", gguf([], [])
    yield "gguf", gguf(scalars, [], version=2)
    yield "gguf", gguf(arrays, [("x", [2, 2], 0, b"\0" * 16)])
    yield "gguf", gguf([("general.alignment", 4, struct.pack("<I", 8))],
                       [("x", [3], 0, b"\1" * 12), ("y", [], 28, b"\2" * 8)], alignment=8)
    yield "gguf", gguf([],
                       [(name, [block, 2], kind, bytes(range(size)) * 2) for name, kind, block,
                        size in blocks])


def npy_seeds():
    yield "npy", npy("<f4", (2, 3), bytes(24))
    yield "npy", npy("|b1", (3,), b"\0\1\1")
    yield "npy", npy("<i8", (), bytes(8))
    yield "npy", npy("<f2", (2, 0, 1), b"")


def onnx_seeds():
    x, y, f = onnx_value("x", 1, ["n", 2, 8, 8]), onnx_value("y", 1,
                                                             []), lambda n: struct.pack(f"<{n}f",
                                                             *range(n))
    yield "onnx", onnx_model(pb((1, onnx_node("Relu", ["x"], ["y"])), (11, x), (12, y)))
    yield "onnx", onnx_model(
        pb((1, onnx_node("Conv", ["x", "w"], ["c"], ints("pads", 1, 1, 1, 1),
                         pb((1, "group"), (3, 1), (20, 2)))),
                                (1, onnx_node("Reshape", ["c", "s"], ["y"])),
                                (5, onnx_tensor("w", 1, [1, 2, 3, 3], (9, f(18)))),
                                (5, onnx_tensor("s", 7, [2], (7, varint(-1) + varint(2)))), (11, x),
                                (12, y)))
    branch = pb((1, onnx_node("Neg", ["x"], ["z"])), (12, onnx_value("z", 1, [2])))
    yield "onnx", onnx_model(
        pb((1, onnx_node("If", ["c"], ["y"], pb((1, "then_branch"), (6, branch), (20, 5)),
                         pb((1, "else_branch"), (6, branch), (20, 5)))),
                                (11, x), (11, onnx_value("c", 9, [])), (12, y)))
    constants = [
        (1, onnx_node("Constant", [], [f"t{k}"],
                      pb((1, "value"), (5, onnx_tensor("", k, [2], (9, bytes(n)))), (20, 4))))
                 for k, n in enumerate(
                     [8, 2, 2, 4, 4, 8, 16, 0, 2, 4, 16, 8, 16, 16, 32, 4, 2, 2, 2, 2, 1, 1, 1, 2,
                      1, 1], 1) if n]
    yield "onnx", onnx_model(
        pb(*constants, (1, onnx_node("Sum", ["t1", "t1"], ["y"], pb((1, "a"), (2, 0.5), (20, 1)))),
           (12, y)))
    yield "onnx", onnx_model(
        pb((1, pb((1, "x"), (2, "y"), (4, "F"), (7, "local"))), (11, x), (12, y)), 17,
        (8, pb((1, "local"), (2, 1))),
                             (25, pb((1, "F"), (4, "a"), (5, "b"),
                                     (7, onnx_node("Elu", ["a"], ["b"],
                                                   pb((1, "alpha"), (20, 1), (21, "alpha")))),
                                     (9, pb((2, 17))), (10, "local"))))
    yield "onnx", onnx_tensor("t", 5, [3], (5, varint(1) + varint(-2) + varint(300)))
    yield "onnx", onnx_tensor("t", 8, [2], (6, b"ab"), (6, b""))


def idx_seeds():
    images = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 2, 3) + bytes(range(12))
    yield "idx", images
    yield "idx", bytes([0, 0, 0x0B, 1]) + struct.pack(">I2h", 2, 258, -2)
    yield "idx", bytes([0, 0, 0x0E, 1]) + struct.pack(">Id", 1, -2.25)
    yield "idx", gzip.compress(images, mtime=0)
    yield "idx", gzip.compress(npy("|u1", (4,), bytes(4)), mtime=0) + gzip.compress(b"", mtime=0)
    # Bare streams, for the decoder behind the header that the target adds: stored, fixed and
    # dynamic codes.
    words = b"".join(random.Random(1).choice([b"one ", b"two ", b"three ", b"\0\xff"])
                     for _ in range(900))
    for level, strategy in ((0, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_FIXED),
                            (9, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_HUFFMAN_ONLY)):
        packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
        yield "idx", packer.compress(words) + packer.flush() + struct.pack("<II", zlib.crc32(words),
                len(words))


def image_seeds():
    yield "image", b"P2\n# grey\n3 2\n15\n0 5 10\n15 1 2\n"
    yield "image", b"P6 2 2 65535\n" + bytes(range(24))
    rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(9 * 4)) for y in range(8))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I",
            zlib.crc32(kind + data))
    yield "image", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR",
                                                struct.pack(">2I5B", 9, 8, 8, 6, 0, 0, 0)) + chunk(
                                                b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    yield "image", b"BM" + struct.pack("<3I3I2H6I", 54 + 24, 0, 54, 40, 2, 3, 1, 24, 0, 24, 0, 0, 0,
                                       0) + bytes(range(24))
    kept = (pathlib.Path(__file__).resolve().parent.parent / "e2e/images.h").read_text()
    for name in ("jpeg", "gif"):
        encoded = kept.split(f"inline std::string {name}() {{")[1].split("}")[0]
        made = base64.b64decode("".join(encoded.split('"')[1::2]))
        yield "image", made
        yield "image", made.replace(b"\xff\xc0", b"\xff\xc2")  # a JPEG read as a progressive one
        # taken with the camera on its side
        exif = b"Exif\0\0II" + struct.pack("<HIHHHIHHI", 42, 8, 1, 0x0112, 3, 1, 6, 0, 0)
        yield "image", made[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + made[2:]


def csv_seeds():
    yield "csv", b"a,b,y\n1,2,3\n4,5,6\n"
    yield "csv", b'name;"day";y\r\n"x;1";2020-01-02;1\r\n"a""b";2021-03-04;0\r\n?;;1\r\n'
    yield "csv", b"\xef\xbb\xbfM\t.5\t1e3\nF\t5.\t-2\nM\t+1\tNA\n"


def template_seeds():
    yield "template", (
        b"{%- set ns = namespace(n=0, text='') -%}\n{{ bos_token }}{% for m in messages %}\n"
        b"  {%- if m['role'] == 'system' and loop.first %}<|{{ m.role | upper }}|>{{ m.content | "
        b"trim }}"
        b"{% elif m.role is defined and not loop.last %}{% set ns.n = ns.n + 1 %}"
        b"{{ m.content.split('</think>')[-1].lstrip('\\n') ~ ns.n }}{% else %}{{ m | tojson }}{% "
        b"endif %}"
        b"{% endfor %}{% if add_generation_prompt %}{{ '<|a|>' if ns.n > 1 else "
        b"messages[::-1][0].content }}"
        b"{% endif %}")
    yield "template", (
        b"{% macro say(who, text='') %}{{ who }}: {{ text.replace('a', 'b').strip() }}{% endmacro "
        b"%}"
        b"{% if tools is not none and tools | length > 0 %}{{ raise_exception('no') }}{% endif %}"
        b"{% for m in messages | selectattr('role', 'equalto', 'user') | list %}{% if loop.index0 "
        b"% 2 %}"
        b"{% continue %}{% endif %}{{ say(m.role, text=m.content) }}{% endfor %}"
        b"{% set x %}{{ strftime_now('%d %B %Y') }}{% endset %}{{ x[2:-1:1] }}"
        b"{% for k, v in {'a': 1, 'b': [2, none]}.items() %}{{ k }}{{ v is iterable }}{% endfor %}"
        b"{{ range(3) | join(', ') }}{{ ('x' in 'xyz') and (1 not in [2]) or -1 // 2 }}")


def found_seeds():
    """What campaigns found, much work of few bytes, and calls."""
    yield "template", (b"{% for m in messages %}{{ m | tojson }}" * 9) + b"{% endfor %}" * 9
    yield "onnx", onnx_model(pb(
        (1, onnx_node("Transpose", ["x"], ["y"])), (5, onnx_tensor("x", 1, [2, 3], (9, bytes(24)))),
        (11, onnx_value("x", 1, [2, 3])), (12, onnx_value("y", 1, []))))
    # Sequences of calls are made of any bytes; these are long from the beginning.
    for seed in range(12):
        yield "abi", random.Random(seed).randbytes(3000)


def json_seeds():
    yield "json", b'{"a": [1, -2.5e-3, true, null, "x\\u00e9\\n\\ud83d\\ude00"], "b": {"c": {}}}'
    yield "json", b"[0, -0.0, 1e308, 123456789012345678901234567890, 4.9e-324]"
    yield "json", '"\u00e9\U0001f600"'.encode()
    yield "json", b"[" * 20 + b"]" * 20


def seeds():
    yield from safetensors_seeds()
    yield from torch_seeds()
    yield from gguf_seeds()
    yield from npy_seeds()
    yield from onnx_seeds()
    yield from operators()
    yield from idx_seeds()
    yield from image_seeds()
    yield from csv_seeds()
    yield from template_seeds()
    yield from found_seeds()
    yield from json_seeds()


def llama():
    """A small llama: its config.json and its tensors by their names in HuggingFace and GGUF
    files."""
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8,
              "intermediate_size": 12,
              "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
              "vocab_size": 20, "max_position_embeddings": 64,
              "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True,
              "bos_token_id": 0, "eos_token_id": 2, "hidden_act": "silu"}
    names = [("model.embed_tokens", "token_embd", [20, 8]), ("model.norm", "output_norm", [8])]
    for hf, ours, shape in (("input_layernorm", "attn_norm", [8]),
                            ("post_attention_layernorm", "ffn_norm", [8]),
                            ("mlp.down_proj", "ffn_down", [8, 12]),
                            ("mlp.gate_proj", "ffn_gate", [12, 8]),
                            ("mlp.up_proj", "ffn_up", [12, 8]),
                            ("self_attn.k_proj", "attn_k", [4, 8]),
                            ("self_attn.o_proj", "attn_output", [8, 8]),
                            ("self_attn.q_proj", "attn_q", [8, 8]),
                            ("self_attn.v_proj", "attn_v", [4, 8])):
        names.append((f"model.layers.0.{hf}", f"blk.0.{ours}", shape))
    data = lambda shape: struct.pack(f"<{shape[0] * (shape + [1])[1]}f",
                                     *[i % 7 / 8 for i in range(shape[0] * (shape + [1])[1])])
    tensors = safetensors([(f"{hf}.weight", "F32", shape, data(shape)) for hf, _, shape in names])
    u32, key = lambda v: struct.pack("<I", v), "llama."
    tokens = ["<s>", "</s>", "<unk>"] + [chr(97 + i) for i in range(17)]
    entries = [("general.architecture", 8, text("llama")), (key + "embedding_length", 4, u32(8)),
               (key + "feed_forward_length", 4, u32(12)),
               (key + "block_count", 4, u32(1)), (key + "attention.head_count", 4, u32(2)),
               (key + "attention.head_count_kv", 4, u32(1)),
               (key + "context_length", 4, u32(64)), (key + "vocab_size", 4, u32(20)),
               (key + "attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-5)),
               ("tokenizer.ggml.model", 8, text("llama")),
               ("tokenizer.ggml.tokens", 9,
                struct.pack("<IQ", 8, 20) + b"".join(map(text, tokens))),
               ("tokenizer.ggml.scores", 9, struct.pack("<IQ20f", 6, 20, *range(20))),
               ("tokenizer.ggml.token_type", 9, struct.pack("<IQ20i", 5, 20, *[3] * 3 + [1] * 17))]
    yield "model", gguf(entries,
                        [(f"{ours}.weight", shape[::-1], 0, data(shape)) for _, ours,
                         shape in names])
    yield "gguf", gguf(entries, [])
    head = json.dumps(config).encode()
    yield "model", struct.pack("<H", len(head)) + head + tensors


def populations():
    """States of saved populations; the target adds what stands around them."""
    def genome(weight, activation):
        return {"nodes": [{"id": 0, "kind": "input"}, {"id": 1, "kind": "input"},
                          {"id": 2, "kind": "output", "activation": activation, "bias": -0.5},
                          {"id": 3, "kind": "hidden", "activation": "tanh", "bias": 0.25}],
                "edges": [{"innovation": i, "from": a, "to": b, "weight": weight + i,
                           "enabled": i != 0}
                          for i, (a, b) in enumerate([(0, 2), (1, 2), (0, 3), (3, 2)])]}

    for spec in ({"task": "xor"}, {"task": "xor", "recurrent": True, "species": 2},
                 {"task": "table", "data": {"x": [[0, 1], [1, 0]], "y": [[1], [0]]}},
                 {"inputs": 2, "outputs": 1, "activations": ["sin", "abs", "relu"]}):
        yield "population", json.dumps({
            "spec": {**spec, "population": 2, "add_node": 0.5, "add_edge": 0.5, "remove_edge": 0.1,
                     "remove_node": 0.1, "toggle_edge": 0.2, "change_activation": 0.2},
            "generation": 1, "evaluations": 4, "threshold": 3.0, "next_species": 1,
            "innovations": {"edges": [0, 2, 1, 2, 0, 3, 3, 2], "splits": [0, 0]},
            "genomes": [genome(0.5, "steep_sigmoid"), genome(-1.5, "linear")],
            "species": [{"id": 0, "born": 0, "improved": 0, "best": 2.5,
                         "representative": genome(1, "sigmoid"), "members": [0, 1]}],
            "fitness": [2.5, 2.25], "champion": genome(2, "sigmoid"),
            "champion_fitness": 2.5}).encode()
    network = {"format": "loom-topology", "version": 3, "layers_per_cell": 1, "input": {"width": 1},
               "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 1}]}
    member = {"topology": network, "types": "ss", "weights": "Q57vvgAAAAA="}
    measured = {"fitness": 0.0, "bytes": 0, "milliseconds": 0.0, "violation": 0.0}
    yield "population", json.dumps({
        "spec": {"level": "networks", "task": "host", "population": 2, "network": network},
        "generation": 0, "evaluations": 0, "next_species": 1, "threshold": 0.4, "evaluated": False,
        "members": [{**member, **measured}] * 2,
        "species": [{"id": 0, "born": 0, "improved": 0, "best": 0.0, "members": [0, 1],
                     "representative": member}]}).encode()


def more_seeds():
    yield from llama()
    yield from populations()
    yield "spec", json.dumps(
        {"format": "loom-training", "version": 2,
         "network": {"format": "loom-topology", "version": 1, "input": {"width": 3},
                              "cells": [{"at": [0, 0, 0, 0], "type": "dense", "out": 2}]},
                                "data": {"type": "table", "file": "a.csv", "targets": ["y"]},
                              "loss": "mse", "steps": 5, "batch": 2, "micro_batches": 1, "seed": 7,
                              "optimizer": {"type": "sgd", "momentum": 0.9},
                              "schedule": {"type": "cosine", "lr": 0.1, "warmup": 2},
                              "validation": {"share": 0.2, "every": 4}}).encode()
    yield "spec", json.dumps(
        {"format": "loom-training", "version": 2,
         "data": {"type": "tokens", "file": "a.npy", "length": 12},
                              "network_file": "net.json", "loss": "cross_entropy", "epochs": 2,
                              "lora": {"rank": 4, "alpha": 8},
                              "optimizer": {"type": "adamw", "weight_decay": 0.1,
                                            "clip_norm": 1}}).encode()
    cells = [{"at": [0, 0, 0, 0], "type": "dense", "out": 2}]
    topology = {"format": "loom-topology", "version": 3, "input": {"width": 4}, "cells": cells}
    weight = {"parameter": "0.0.0.0:weight", "dtype": "f32", "shape": [2, 4], "bytes": 32}
    yield "push", json.dumps(
        {"version": 1, "name": "net", "topology": topology, "nonce": "0f8c2b",
         "tensors": [weight, {"parameter": "0.0.0.0:bias", "dtype": "f16", "shape": [2]}],
         "metadata": {"framework": "any", "classes": ["a", 1.5, None]}}).encode()
    yield "push", json.dumps(
        {"version": 1, "name": "a-b_c.1", "weights_of": "net",
         "tensors": [{**weight, "sha256": "0" * 64}]}).encode()
    half = [("A", [2, 3]), ("B", [4, 2])]
    tensors = safetensors(
        [(f"base_model.model.0.0.0.0.weight.lora_{ab}.weight", "F32", shape,
          bytes(4 * shape[0] * shape[1])) for ab, shape in half])
    config = json.dumps(
        {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["0.0.0.0.weight"],
         "bias": "none"}).encode()
    yield "adapter", struct.pack("<H", len(config)) + config + tensors
    yield "checkpoint", struct.pack("<IIIIII", 100, 1, 7, 1 << 31 | 40, 3, 9)


def kept_seeds():
    """What the tree has anyway: topologies of the cases, a model, a tokenizer, graphs."""
    for dtype, size in (("FLOAT32", 24), ("FLOAT64", 48), ("FLOAT16", 12), ("INT8", 6), ("INT4", 3),
                        ("TERNARY", 2), ("BINARY", 1)):
        layer = {"z": 0, "y": 0, "x": 0, "l": 0, "type": "DENSE", "input_height": 3,
                 "output_height": 2,
                 "dtype": dtype, "native": dtype != "FLOAT32", "scale": 0.5,
                 "weights": base64.b64encode(bytes(size)).decode()}
        yield "topology", json.dumps({"id": "network", "depth": 1, "rows": 1, "cols": 1,
                                      "layers_per_cell": 1, "layers": [layer]}).encode()
    tests = pathlib.Path(__file__).resolve().parent.parent
    for path in sorted(tests.glob("cases/**/*.json")):
        found = path.read_bytes()
        if b'"loom-topology"' in found and len(found) < 20000:
            yield "topology", found
            yield "entity", found
    source = (tests / "fuzz/targets/abi_fuzz.cpp").read_text() + (
        tests / "fuzz/targets/entity_fuzz.cpp").read_text()
    for found in re.findall(r'R"\((\{"format":"loom-topology".*?)\)"', source, re.S):
        yield "topology", found.encode()
        yield "entity", found.encode()
    yield "entity", (tests / "cases/data/tiny.entity").read_bytes()[:65536]
    tokenizer = (tests / "cases/data/tiny.tokenizer.json").read_bytes()
    if len(tokenizer) < 65000:
        yield "tokenizer", b"\0" + struct.pack("<H",
                                               len(tokenizer)) + tokenizer + (b" Once upon a time, "
                                                                              b"\xc3\xa4")
    for pattern in (rb"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\S)",
                    rb"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+",
                    b"[" + rb"\W(a" * 600 + b"]"):
        yield "tokenizer", b"\2" + struct.pack("<H",
                                               len(pattern)) + pattern + (b"It's 1234 o'clock\n\n  "
                                                                          b"in \xe6\x97\xa5")
    for path in sorted(tests.glob("golden/onnx/*.onnx")):
        if path.stat().st_size < 65536:
            yield "onnx", path.read_bytes()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    root = parser.parse_args().folder
    for number, (target, data) in enumerate([*seeds(), *more_seeds(), *kept_seeds()]):
        folder = root / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"seed{number:03}").write_bytes(data)


if __name__ == "__main__":
    main()
