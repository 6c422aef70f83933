#!/usr/bin/env python3
"""An independent decoder of the GGUF block formats and of f16, in NumPy: whole arrays in f64 from
the layout of each block, rounded to f32 once. Prints the SHA-256 of each format's f32 values over
fixed pseudo-random blocks; src/formats/decode_test.cpp holds the same digests. Run it by hand after
a change of either side."""
import argparse
import hashlib

import numpy as np

BLOCKS = 512


def stream(count, seed):
    """Bytes of the 64-bit linear congruential generator of Knuth's MMIX, upper byte of each
    state."""
    state, out = seed, bytearray()
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(state >> 56)
    return np.frombuffer(bytes(out), dtype=np.uint8)


def blocks(size, scale_offsets):
    raw = stream(BLOCKS * size, size).reshape(BLOCKS, size).copy()
    for offset in scale_offsets:
        raw[:, offset + 1] &= 0xBF  # an f16 below 2: no infinity, no NaN
    return raw


def f16(raw, offset):
    return raw[:, offset : offset + 2].copy().view("<f2").astype(np.float64)


def q4_0(raw):
    q = raw[:, 2:]
    return f16(raw, 0) * (np.concatenate([q & 15, q >> 4], axis=1).astype(np.float64) - 8)


def q8_0(raw):
    return f16(raw, 0) * raw[:, 2:].view(np.int8)


def q4_k(raw):
    bits = np.unpackbits(raw[:, 4:16], axis=1, bitorder="little").reshape(-1, 12, 8).astype(int)
    number = lambda b: (b * (1 << np.arange(b.shape[-1]))).sum(-1)
    scale, least = np.zeros((len(raw), 8)), np.zeros((len(raw), 8))
    scale[:, :4], least[:, :4] = number(bits[:, 0:4, :6]), number(bits[:, 4:8, :6])
    scale[:, 4:] = number(np.concatenate([bits[:, 8:12, :4], bits[:, 0:4, 6:]], axis=-1))
    least[:, 4:] = number(np.concatenate([bits[:, 8:12, 4:], bits[:, 4:8, 6:]], axis=-1))
    q = raw[:, 16:].reshape(-1, 4, 1, 32)
    q = np.concatenate([q & 15, q >> 4], axis=2).reshape(-1, 8, 32).astype(np.float64)
    return (f16(raw, 0)[:, :, None] * scale[:, :, None] * q - f16(raw, 2)[:, :, None]
            * least[:, :, None]).reshape(-1, 256)


def q6_k(raw):
    low = raw[:, :128].reshape(-1, 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], axis=2).reshape(-1, 256)
    high = raw[:, 128:192].reshape(-1, 2, 1, 32)
    high = np.concatenate([high >> s & 3 for s in (0, 2, 4, 6)], axis=2).reshape(-1, 256)
    scale = np.repeat(raw[:, 192:208].view(np.int8).astype(np.float64), 16, axis=1)
    return f16(raw, 208) * scale * ((low | high << 4).astype(np.float64) - 32)


def main():
    formats = [("q4_0", q4_0, 18, [0]), ("q8_0", q8_0, 34, [0]), ("q4_k", q4_k, 144, [0, 2]),
               ("q6_k", q6_k, 210, [208])]
    for name, decode, size, scales in formats:
        values = decode(blocks(size, scales)).astype("<f4")
        print(name, hashlib.sha256(values.tobytes()).hexdigest())
    codes = np.arange(65536, dtype="<u2").view("<f2")
    print("f16", hashlib.sha256(codes[~np.isnan(codes)].astype("<f4").tobytes()).hexdigest())


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
