#!/usr/bin/env python3
"""A reader of .entity files written from docs/reference/entity.md alone: numpy, no Loom code.

    read_entity.py FILE           lists the file and checks every hash in it
    read_entity.py FILE TENSOR    prints the values of a tensor
    Entity(path).tensor(name)     its values as float64 (packed) or in its own type (plain)
"""
import argparse
import hashlib
import json
import pathlib
import struct
import sys

import numpy as np

import read_packed

DTYPES = ["f64", "f32", "f16", "bf16", "fp8e4m3", "fp8e5m2", "i64", "i32", "i16", "i8", "u64",
          "u32", "u16", "u8", "i4", "u4", "fp4", "i2", "u2", "ternary", "binary"]
PLAIN = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<u2", "fp8e4m3": "u1", "fp8e5m2": "u1",
         "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "i1",
         "u64": "<u8", "u32": "<u4", "u16": "<u2", "u8": "u1"}
LAYOUTS = ["plain", "a4", "s4", "q4_0", "q8_0", "q4_k", "q6_k"]
MASK = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotl(x, n):
    return (x << n | x >> 64 - n) & MASK


def xxh64(data):
    def mix(lane, word):
        return rotl(lane + word * P2 & MASK, 31) * P1 & MASK

    whole = len(data) // 32 * 32
    h = P5
    if whole:
        lanes = [P1 + P2 & MASK, P2, 0, -P1 & MASK]
        for words in struct.iter_unpack("<4Q", data[:whole]):
            lanes = [mix(lane, word) for lane, word in zip(lanes, words)]
        h = sum(rotl(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = (h ^ mix(0, lane)) * P1 + P4 & MASK
    h = h + len(data) & MASK
    rest = data[whole:]
    while len(rest) >= 8:
        h = rotl(h ^ mix(0, struct.unpack_from("<Q", rest)[0]), 27) * P1 + P4 & MASK
        rest = rest[8:]
    if len(rest) >= 4:
        h = rotl(h ^ struct.unpack_from("<I", rest)[0] * P1 & MASK, 23) * P2 + P3 & MASK
        rest = rest[4:]
    for byte in rest:
        h = rotl(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def format_name(dtype, layout, scale, block):
    """The name that read_packed takes."""
    if layout != "plain":
        return {"a4": "i4", "s4": "i4:s4"}.get(layout, layout)
    suffix = {0: "", 1: ":tensor", 2: "" if dtype != "i4" else ":row", 3: f":block{block}"}[scale]
    return dtype + suffix


class Entity:
    def __init__(self, path):
        self.data = data = pathlib.Path(path).read_bytes()
        assert data[:8] == b"LOOMENT2", "no .entity file"
        version, flags, size, toc, toc_size, r0, r1, check = struct.unpack_from("<II6Q", data, 8)
        assert (version, flags, r0, r1) == (2, 0, 0, 0) and check == xxh64(data[:56]), "header"
        assert size == len(data) and toc % 64 == 0 and toc + toc_size == size, "sizes"
        table, digest = data[toc : size - 32], data[size - 32 :]
        assert hashlib.sha256(table).digest() == digest, "table of contents"
        self.identity = digest.hex()
        self.sections, self.tensors = {}, {}
        at, end = 0, 64
        while at < len(table):
            kind, dtype, layout, scale, block, rank, name_size = struct.unpack_from("<4B3H", table,
                    at)
            offset, size, checksum = struct.unpack_from("<3Q", table, at + 16)
            sha = table[at + 40 : at + 72]
            shape = struct.unpack_from(f"<{rank}q", table, at + 72)
            name = table[at + 72 + 8 * rank :][:name_size].decode()
            at += -(-(72 + 8 * rank + name_size) // 8) * 8
            raw = data[offset : offset + size]
            assert offset == end and xxh64(raw) == checksum and hashlib.sha256(
                raw).digest() == sha, name
            end = -(-(offset + size) // 64) * 64
            assert not any(data[offset + size : end]), f"padding behind {name}"
            if kind == 0:
                self.sections[name] = raw
            else:
                self.tensors[name] = (kind == 2, DTYPES[dtype], LAYOUTS[layout], scale, block,
                                      shape, raw)
        assert end == toc, "the entries end before the table"

    def type(self, name):
        packed, dtype, layout, scale, block, _, _ = self.tensors[name]
        return "packed " + format_name(dtype, layout, scale, block) if packed else dtype

    def tensor(self, name):
        packed, dtype, layout, scale, block, shape, raw = self.tensors[name]
        if packed:
            return read_packed.read(format_name(dtype, layout, scale, block), *shape, raw)
        return np.frombuffer(raw, PLAIN[dtype]).reshape(shape)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("tensor", nargs="?")
    args = parser.parse_args()
    entity = Entity(args.file)
    if args.tensor is not None:
        np.set_printoptions(threshold=sys.maxsize)
        print(entity.tensor(args.tensor))
        return
    print("identity", entity.identity)
    for name, raw in entity.sections.items():
        print(f"section {name}: {len(raw)} bytes"
              + (", " + str(len(json.loads(raw)["cells"])) + " cells" if name == "topology"
                 else ""))
    for name, (*_, shape, raw) in entity.tensors.items():
        print(f"tensor {name}: {entity.type(name)} {list(shape)}, {len(raw)} bytes")


if __name__ == "__main__":
    main()
