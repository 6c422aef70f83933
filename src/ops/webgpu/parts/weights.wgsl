// Packed weights (docs/reference/packing.md) as they lie: panels of 16 outputs, then scales, minima
// and zero points. FORM, DTYPE, LAYOUT and HAS_... are those of this pipeline, numbered as in
// src/ops/lowering/weight_arg.h. LAYERS of bits are in a byte row, BITS in a code; OFFSET is of
// class I, MANTISSA and BIAS of small floats: webgpu/launches.cpp takes them from dtypes.def.

@group(0) @binding(2) var<storage, read> W: array<u32>;

#kinds LOOM_FORM ops/lowering/weight_forms.def "" _FORM

#kinds LOOM_DTYPE numeric/dtypes.def

#kinds LOOM_LAYOUT numeric/layouts.def

// Where the parameters of the matrix are: here, and 20 on for each further one of a kernel with
// several.
const FIRST_MATRIX = 68u;
var<private> M: u32 = FIRST_MATRIX;

fn w_rows() -> u32 { return P[M]; }
fn w_cols() -> u32 { return P[M + 1u]; }
fn w_padded() -> u32 { return P[M + 2u]; }
fn w_panel(n: u32) -> u32 { return P[M + 9u] + n / 16u * P[M + 3u]; }
fn w_block() -> u32 { return P[M + 7u]; }
// Where the scale of output n, and of its block b, stands in its section.
fn w_place(n: u32, b: u32) -> u32 {
  if (FORM == BLOCK_FORM) { return (n / 16u * P[M + 8u] + b) * 16u + n % 16u; }
  return n;
}
fn w_scale(at: u32) -> f32 { return bitcast<f32>(W[P[M + 4u] + at]); }
fn w_zero(at: u32) -> i32 { return bitcast<i32>(W[P[M + 5u] + at]); }
fn w_minimum(at: u32) -> f32 { return bitcast<f32>(W[P[M + 6u] + at]); }

// A float of BITS, among them MANTISSA (BIAS of its exponent), by its code.
fn small_float(code: u32) -> f32 {
  let sign = (code >> (BITS - 1u)) << 31u;
  let e = (code & ((1u << (BITS - 1u)) - 1u)) >> MANTISSA;
  let f = code & ((1u << MANTISSA) - 1u);
  if (e == 0u) {  // f times the smallest value
    let smallest = bitcast<f32>((128u - BIAS - MANTISSA) << 23u);
    return bitcast<f32>(bitcast<u32>(f32(f) * smallest) | sign);
  }
  return bitcast<f32>(sign | ((e + 127u - BIAS) << 23u) | (f << (23u - MANTISSA)));
}

// The value of (n, k) without its row's scale, classes F and B.
fn float_value(panel: u32, n: u32, k: u32) -> f32 {
  if (FORM == FLOAT_FORM) { return bitcast<f32>(W[panel + k * 16u + n % 16u]); }
  if (BITS == 8u) {
    let word = W[panel + k / 4u * 16u + n % 16u];
    return small_float((word >> (8u * (k % 4u))) & 255u);
  }
  let code = (W[panel + k / 2u * 16u + n % 16u] >> (16u * (k % 2u))) & 0xFFFFu;
  if (DTYPE == BF16) { return bitcast<f32>(code << 16u); }
  if (MANTISSA > 0u) { return small_float(code); }
  if (DTYPE == I16) { return f32(bitcast<i32>(code << 16u) >> 16u); }
  return f32(i32(code) - w_zero(n));
}

// Four codes of class I, k = 4 * g and on, as signed bytes: the value plus code_offset().
fn byte_row(panel: u32, n: u32, r: u32) -> u32 {
  if (LAYOUT == A4) { return W[panel + r / 8u * 144u + r % 8u * 16u + n % 16u]; }
  if (LAYOUT == S4) { return W[panel + r / 32u * 528u + r % 32u * 16u + n % 16u]; }
  return W[panel + r * 16u + n % 16u];
}
// What the codes of a byte row share in the native 4-bit layouts lies in a word per column, for the
// eight byte rows of A4 or the 32 of S4.
fn sub_word(panel: u32, n: u32, r: u32) -> u32 {
  if (LAYOUT == A4) { return W[panel + r / 8u * 144u + 128u + n % 16u]; }
  if (LAYOUT == S4) {
    let super_block = r / 32u;
    return W[panel + super_block * 528u + min(32u, w_padded() / 8u - super_block * 32u) * 16u +
        n % 16u];
  }
  return 0u;
}
// Of byte row r: scale, then what is added, in every byte.
fn sub_of(word: u32, r: u32) -> vec2<u32> {
  if (LAYOUT == A4) {
    let both = (word >> (8u * (r % 8u / 2u))) & 255u;
    return vec2<u32>(both & 15u, (128u - 8u * (both >> 4u)) * 0x01010101u);
  }
  if (LAYOUT == S4) {
    let b = r % 32u / 4u;
    let both = (word >> (8u * (b % 4u))) & 255u;
    let s = select(both >> 4u, both & 15u, b < 4u);
    return vec2<u32>(s, (128u - 8u * s) * 0x01010101u);
  }
  return vec2<u32>(1u, 0u);
}
fn sub_scales(panel: u32, n: u32, r: u32) -> vec2<u32> { return sub_of(sub_word(panel, n, r), r); }
fn layer_codes(row: u32, p: u32, sub: vec2<u32>) -> u32 {
  if (LAYOUT != PLAIN) { return (((row >> (4u * p)) & 0x0F0F0F0Fu) * sub.x + sub.y) ^ 0x80808080u; }
  if (DTYPE == FP4) {  // 12 + twice the value: magnitudes 0 1 2 3 4 6 8 12
    let code = (row >> (4u * p)) & 0x0F0F0F0Fu;
    let m = code & 0x07070707u;
    let twice = m + (((m + 0x03030303u) >> 3u) & 0x01010101u) +
        (((m + 0x02020202u) >> 3u) & 0x01010101u) + (((m + 0x01010101u) >> 3u) & 0x01010101u) * 3u;
    return 0x0C0C0C0Cu + twice - 2u * (twice & (((code >> 3u) & 0x01010101u) * 255u));
  }
  if (DTYPE == TERNARY) {  // digit p of y is (3^p y mod 256) * 3 div 256
    let powers = array<u32, 5>(1u, 3u, 9u, 27u, 81u);
    let even = ((row & 0x00FF00FFu) * powers[p]) & 0x00FF00FFu;
    let odd = (((row >> 8u) & 0x00FF00FFu) * powers[p]) & 0x00FF00FFu;
    return (((even * 3u) >> 8u) & 0x00FF00FFu) | ((odd * 3u) & 0xFF00FF00u);
  }
  switch (BITS) {
    case 4u: { return (row >> (4u * p)) & 0x0F0F0F0Fu; }
    case 2u: { return (row >> (2u * p)) & 0x03030303u; }
    case 1u: { return ((row >> p) & 0x01010101u) << 1u; }
    default: { return row ^ 0x80808080u; }
  }
}
// What the codes of output n have over their values.
fn code_offset(at: u32) -> i32 {
  if (LAYOUT != PLAIN) { return 0; }
  let signed_bytes = select(0, 128, BITS == 8u);
  if (HAS_ZEROS) { return w_zero(at) - signed_bytes; }
  return i32(OFFSET) - signed_bytes;
}
// the codes are twice the values
fn own_scale(at: u32) -> f32 { return select(w_scale(at), 0.5 * w_scale(at), DTYPE == FP4); }

// The decoded value of (n, k), its scale included and rounded once, as an instruction stores it.
fn weight_value(n: u32, k: u32) -> f32 {
  let panel = w_panel(n);
  if (FORM == FLOAT_FORM) { return float_value(panel, n, k); }
  if (FORM == DECODED_FORM || FORM == SPLIT_FORM) {
    if (HAS_SCALES) { return settled(float_value(panel, n, k) * w_scale(n)); }
    return settled(float_value(panel, n, k));
  }
  let g = k / 4u;
  let r = g / LAYERS;
  let word = layer_codes(byte_row(panel, n, r), g % LAYERS, sub_scales(panel, n, r));
  let at = w_place(n, select(0u, k / max(w_block(), 1u), FORM == BLOCK_FORM));
  let code = extractBits(bitcast<i32>(word), 8u * (k % 4u), 8u) - code_offset(at);
  let value = mul(f32(code), own_scale(at));
  if (HAS_MINIMA) { return settled(value - w_minimum(at)); }
  return settled(value);
}
