"""A reader of packed weight matrices written from docs/reference/packing.md alone: numpy, no Loom
code.

    read(format, rows, cols, data) -> float64 array of rows x cols
"""
import numpy as np

UNSCALED = {"f64", "f32", "f16", "bf16"}
CLASS_D = {"f64", "i64", "i32", "u64", "u32"}
CLASS_I = {"i8", "u8", "i4", "u4", "fp4", "i2", "u2", "ternary", "binary"}
BITS = {"f64": 64, "i64": 64, "u64": 64, "f32": 32, "i32": 32, "u32": 32, "f16": 16, "bf16": 16,
        "i16": 16, "u16": 16, "fp8e4m3": 8, "fp8e5m2": 8,
        "i8": 8, "u8": 8, "i4": 4, "u4": 4, "fp4": 4, "i2": 2, "u2": 2, "ternary": 0, "binary": 1}
GGUF = {"q4_0": (32, 18), "q8_0": (32, 34), "q4_k": (256, 144), "q6_k": (256, 210)}


def up(n, multiple):
    return -(-n // multiple) * multiple


def small_float(code, exponent_bits, mantissa_bits, bias):
    code = code.astype(np.int64)
    sign = np.where(code >> (exponent_bits + mantissa_bits) & 1, -1.0, 1.0)
    e = code >> mantissa_bits & (1 << exponent_bits) - 1
    m = (code & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    return sign * np.where(e == 0, np.ldexp(m, 1 - bias), np.ldexp(1 + m, e - bias))


def panel_codes(panel, dtype, k_padded):
    """The 16 x k_padded stored codes of one panel, sub-scale rows taken out."""
    bits = BITS[dtype]
    if bits >= 8:
        group = {64: 1, 32: 1, 16: 2, 8: 4}[bits]
        elements = panel.view(f"<u{bits // 8}").reshape(k_padded // group, 16, group)
        return elements.transpose(1, 0, 2).reshape(16, k_padded)
    planes = {4: 2, 2: 4, 1: 8, 0: 5}[bits]
    rows = panel.reshape(k_padded // (4 * planes), 16, 4).astype(np.int64)
    out = np.empty((rows.shape[0], planes, 16, 4), np.int64)
    for p in range(planes):
        if bits:
            out[:, p] = rows >> p * bits & (1 << bits) - 1
        else:
            out[:, p], rows = rows * 3 // 256, rows * 3 % 256
    return out.transpose(2, 0, 1, 3).reshape(16, k_padded)


def centered(codes, dtype, zero):
    if dtype == "f64":
        return codes.view("<f8").astype(np.float64)
    if dtype == "f32":
        return codes.view("<f4").astype(np.float64)
    if dtype == "fp4":
        return small_float(codes, 2, 1, 1)
    if dtype in ("f16", "bf16", "fp8e4m3", "fp8e5m2"):
        return small_float(codes,
                           *{"f16": (5, 10, 15), "bf16": (8, 7, 127), "fp8e4m3": (4, 3, 7),
                             "fp8e5m2": (5, 2, 15)}[dtype])
    if dtype in ("i64", "i32", "i16"):
        return codes.view(f"<i{BITS[dtype] // 8}").astype(np.float64)
    if dtype == "binary":
        return codes * 2.0 - 1.0
    if dtype[0] == "u":  # exact in Python's integers
        return (codes.astype(object) - zero.astype(object)).astype(np.float64)
    return codes.astype(np.float64) - {"i8": 128, "i4": 8, "i2": 2, "ternary": 1}[dtype]


def native4(panel, layout, k_padded):
    """w8 of one A4 or S4 panel."""
    lines, out, k = panel.reshape(-1, 64), np.empty((16, k_padded), np.float64), 0
    span, block = (64, 16) if layout == "a4" else (256, 32)
    line = 0
    while k < k_padded:
        count = min(span, k_padded - k)
        codes = panel_codes(lines[line : line + count // 8].reshape(-1), "i4",
                            count).astype(np.int64)
        subs = lines[line + count // 8].reshape(16, 4).astype(np.int64)
        for b in range(count // block):
            part = codes[:, b * block : (b + 1) * block]
            if layout == "a4":
                w8 = part * (subs[:, b : b + 1] & 15) - 8 * (subs[:, b : b + 1] >> 4)
            else:
                w8 = (part - 8) * (subs[:, b % 4 : b % 4 + 1] >> b // 4 * 4 & 15)
            assert np.abs(w8).max() <= 127
            out[:, k + b * block : k + (b + 1) * block] = w8
        k, line = k + count, line + count // 8 + 1
    assert line == len(lines)
    return out


def gguf(layout, rows, cols, data):
    weights, size = GGUF[layout]
    blocks = data.reshape(rows, -1, size)
    count = blocks.shape[1]
    assert count == -(-cols // weights)
    half = lambda at: np.ascontiguousarray(blocks[..., at : at + 2]).view("<f2").astype(np.float32)
    out = np.empty((rows, count, weights), np.float32)
    if layout == "q4_0":
        q = blocks[..., 2:].astype(np.float32)
        out[..., :16], out[..., 16:] = (q % 16 - 8) * half(0), (q // 16 - 8) * half(0)
    elif layout == "q8_0":
        out[:] = blocks[..., 2:].view(np.int8).astype(np.float32) * half(0)
    elif layout == "q4_k":
        s = blocks[..., 4:16].astype(np.int64)
        for j in range(8):
            if j < 4:
                sc, m = s[..., j] & 63, s[..., j + 4] & 63
            else:
                sc, m = s[..., j + 4] & 15 | s[..., j - 4] >> 6 << 4, s[..., j + 4] >> 4 | s[...,
                        j] >> 6 << 4
            byte = blocks[..., 16 + j // 2 * 32 : 48 + j // 2 * 32].astype(np.int64)
            q = (byte >> 4 if j % 2 else byte & 15).astype(np.float32)
            scale, least = half(0) * sc[..., None].astype(np.float32), half(2) * m[...,
                    None].astype(np.float32)
            out[..., 32 * j : 32 * j + 32] = scale * q - least
    else:
        ql, qh, sc = blocks[..., :128].astype(np.int64), blocks[...,
                                                                128:192].astype(np.int64), blocks[
                                                                ..., 192:208].view(np.int8).astype(
                                                                np.float32)
        for w in range(256):
            h, u, l = w // 128, w // 32 % 4, w % 32
            q = ql[..., 64 * h + 32 * (u % 2) + l] >> u // 2 * 4 & 15 | (qh[..., 32 * h + l] >> 2
                    * u & 3) << 4
            out[..., w] = (half(208)[..., 0] * sc[..., w // 16]) * (q - 32).astype(np.float32)
    return out.reshape(rows, -1)[:, :cols].astype(np.float64)


def read(name, rows, cols, data):
    data = np.frombuffer(bytes(data), np.uint8)
    if name in GGUF:
        return gguf(name, rows, cols, data)
    dtype, _, how = name.partition(":")
    layout = {"i4": "a4", "i4:s4": "s4"}.get(name, "plain")
    panels = -(-rows // 16)
    k_padded = up(cols, 20 if dtype == "ternary" else 64 if dtype in CLASS_I else 32)
    if layout == "plain":
        panel_bytes = k_padded // 20 * 64 if dtype == "ternary" else k_padded * 16 * BITS[
            dtype] // 8
    else:
        panel_bytes = k_padded * 8 + (k_padded // 64 if layout == "a4"
                                      else -(-k_padded // 256)) * 64
    block = int(how[5:]) if how.startswith("block") else 0
    blocks = -(-k_padded // block) if block else 1
    scale_type = "<f8" if dtype in CLASS_D else "<f4"
    zero_type = "<u8" if dtype == "u64" else "<u4"

    at = 0

    def section(size):
        nonlocal at
        begin, at = at, up(at + size, 64)
        return data[begin : begin + size]

    codes = section(panels * panel_bytes)
    scale = zero = None
    if dtype not in UNSCALED:
        scale = section(panels * blocks * 16 * np.dtype(scale_type).itemsize).view(
            scale_type).reshape(panels, blocks, 16).astype(np.float64)
    if dtype[0] == "u":
        zero = section(panels * blocks * 16 * np.dtype(zero_type).itemsize).view(zero_type).reshape(
            panels, blocks, 16)
    assert at == len(data), f"{name}: {at} bytes expected, {len(data)} given"

    def spread(values, p):  # [block][16] to 16 x k_padded
        return np.repeat(values[p].T, block or k_padded, axis=1)[:, :k_padded]

    out = np.empty((panels * 16, k_padded), np.float64)
    for p in range(panels):
        panel = np.ascontiguousarray(codes[p * panel_bytes : (p + 1) * panel_bytes])
        if layout != "plain":
            value = native4(panel, layout, k_padded)
        else:
            value = centered(np.ascontiguousarray(panel_codes(panel, dtype, k_padded)), dtype,
                             spread(zero, p) if zero is not None else None)
        if scale is not None:
            value = value * spread(scale, p)
            if block and dtype not in CLASS_D:
                # block scales are in the f32 that kernels multiply
                value = value.astype(np.float32).astype(np.float64)
        out[16 * p : 16 * p + 16] = value
    return out[:rows, :cols]
