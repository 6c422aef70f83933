#!/usr/bin/env python3
"""Writes small valid files, one folder per fuzz target: make_seeds.py FOLDER."""
import json
import pathlib
import random
import struct
import sys


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


def seeds():
    every = [("BOOL", 1), ("U8", 1), ("I8", 1), ("F8_E5M2", 1), ("F8_E4M3", 1), ("I16", 2), ("U16", 2), ("F16", 2), ("BF16", 2), ("I32", 4),
             ("U32", 4), ("F32", 4), ("F64", 8), ("I64", 8), ("U64", 8)]
    yield "safetensors", safetensors([])
    yield "safetensors", safetensors([("a", "F32", [2, 3], bytes(range(24)))], {"format": "pt"})
    yield "safetensors", safetensors([(f"t.{d}", d, [2], bytes(range(2 * n))) for d, n in every])
    yield "safetensors", safetensors([("f4", "F4", [2, 2], b"\x21\x43"), ("scalar", "F64", [], b"\0" * 8), ("none", "U8", [0, 7], b"")])

    scalars = [("u8", 0, b"\1"), ("i8", 1, b"\xff"), ("u16", 2, b"\1\2"), ("i16", 3, b"\1\2"), ("u32", 4, b"\1\2\3\4"), ("i32", 5, b"\1\2\3\4"),
               ("f32", 6, struct.pack("<f", 1.5)), ("bool", 7, b"\1"), ("string", 8, text("llama")), ("u64", 10, b"\1" * 8), ("i64", 11, b"\2" * 8),
               ("f64", 12, struct.pack("<d", 0.1))]
    arrays = [("tokens", 9, struct.pack("<IQ", 8, 3) + text("<s>") + text("a") + text("")), ("scores", 9, struct.pack("<IQ2f", 6, 2, 0, 1)),
              ("types", 9, struct.pack("<IQ2i", 5, 2, 1, 3)), ("flags", 9, struct.pack("<IQ", 7, 2) + b"\0\1")]
    blocks = [("f32", 0, 1, 4), ("f16", 1, 1, 2), ("q4_0", 2, 32, 18), ("q8_0", 8, 32, 34), ("q4_k", 12, 256, 144), ("q6_k", 14, 256, 210),
              ("bf16", 30, 1, 2), ("i8", 24, 1, 1), ("f64", 28, 1, 8)]
    yield "gguf", gguf([], [])
    yield "gguf", gguf(scalars, [], version=2)
    yield "gguf", gguf(arrays, [("x", [2, 2], 0, b"\0" * 16)])
    yield "gguf", gguf([("general.alignment", 4, struct.pack("<I", 8))], [("x", [3], 0, b"\1" * 12), ("y", [], 28, b"\2" * 8)], alignment=8)
    yield "gguf", gguf([], [(name, [block, 2], kind, bytes(range(size)) * 2) for name, kind, block, size in blocks])

    yield "npy", npy("<f4", (2, 3), bytes(24))
    yield "npy", npy("|b1", (3,), b"\0\1\1")
    yield "npy", npy("<i8", (), bytes(8))
    yield "npy", npy("<f2", (2, 0, 1), b"")

    # Sequences of calls are made of any bytes; these are long from the beginning.
    for seed in range(12):
        yield "abi", random.Random(seed).randbytes(3000)

    yield "json", b'{"a": [1, -2.5e-3, true, null, "x\\u00e9\\n\\ud83d\\ude00"], "b": {"c": {}}}'
    yield "json", b"[0, -0.0, 1e308, 123456789012345678901234567890, 4.9e-324]"
    yield "json", '"\u00e9\U0001f600"'.encode()
    yield "json", b"[" * 20 + b"]" * 20


def main():
    root = pathlib.Path(sys.argv[1])
    for number, (target, data) in enumerate(seeds()):
        folder = root / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"seed{number:02}").write_bytes(data)


if __name__ == "__main__":
    main()
