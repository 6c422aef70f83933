// What every kernel begins with: the parameters of its dispatch, and arithmetic that no compiler
// may change.
//
// Kernels are instructions of the program machine (src/ops/program.h) and give the bits of the CPU
// kernels of their family: docs/reference/numerics.md. WGSL permits contraction, reassociation, and
// inexact division, square roots and elementary functions. So a product that is added goes through
// mul(), a sum that is multiplied or subtracted again through opaque(), and NaN and infinities are
// told by their bits.

requires packed_4x8_integer_dot_product;

// parameters: word 0 is zero, and no compiler knows
@group(0) @binding(0) var<storage, read> P: array<u32>;

var<private> Z: u32;  // P[0]

// The unit of work of a thread, or of a workgroup.
fn thread_unit(id: vec3<u32>, groups: vec3<u32>) -> u32 {
  Z = P[0];
  return id.x + id.y * groups.x * 64u;
}
fn group_unit(id: vec3<u32>, groups: vec3<u32>) -> u32 {
  Z = P[0];
  return id.x + id.y * groups.x;
}
fn units() -> u32 { return P[1]; }

// Operands: places count words of the arena. rows(): rows.wgsl.
fn place(operand: u32, row: u32) -> u32 {
  return P[4u + 4u * operand] + row * P[5u + 4u * operand];
}
fn row_step(operand: u32) -> u32 { return P[5u + 4u * operand]; }
fn cols(operand: u32) -> u32 { return P[7u + 4u * operand]; }
fn int_at(i: u32) -> u32 { return P[44u + i]; }
fn real_at(i: u32) -> f32 { return bitcast<f32>(P[52u + i]); }
fn u32_register(i: u32) -> u32 { return P[57u + i]; }
fn f32_register(i: u32) -> f32 { return bitcast<f32>(P[62u + i]); }
fn extra(i: u32) -> u32 { return P[80u + i]; }

const NAN_BITS = 0x7FC00000u;
const INF_BITS = 0x7F800000u;

fn magnitude_bits(x: f32) -> u32 { return bitcast<u32>(x) & 0x7FFFFFFFu; }
fn is_nan(x: f32) -> bool { return magnitude_bits(x) > INF_BITS; }
// no constant folding of special values
fn from_bits(b: u32) -> f32 { return bitcast<f32>(b ^ Z); }
fn nan() -> f32 { return from_bits(NAN_BITS); }
fn zero() -> f32 { return bitcast<f32>(Z); }

fn opaque(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ Z); }
fn mul(x: f32, y: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x * y) ^ Z); }

// What an instruction stores (rule 8): 0 below 2^-40, one NaN. `above` is the least magnitude kept,
// as bits.
fn stored_above(x: f32, above: u32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7FFFFFFFu;
  return select(select(bits, NAN_BITS, magnitude > INF_BITS), 0u, magnitude < above);
}
const FLOOR = 87u << 23u;  // 2^-40
fn settled(x: f32) -> f32 { return bitcast<f32>(stored_above(x, FLOOR)); }

// Magnitudes of a quotient of normal numbers, from theirs: the exponent, and the rest of its bits.
struct Quotient {
  exponent: i32,
  mantissa: u32,
}
fn quotient(mx: u32, my: u32) -> Quotient {
  let d = (my & 0x7FFFFFu) | 0x800000u;
  let less = select(0u, 1u, (mx & 0x7FFFFFu) < (my & 0x7FFFFFu));
  let n = ((mx & 0x7FFFFFu) | 0x800000u) << less;
  let e = i32(mx >> 23u) - i32(my >> 23u) + 127 - i32(less);
  // 25 bits of the quotient: 24 and one to round by. The device's own division says about what they
  // are, the rest what they are exactly.
  var q = u32((f32(n) / f32(d)) * 0x1p24f);
  var rest = bitcast<i32>((n << 24u) - q * d);
  while (rest < 0) {
    q = q - 1u;
    rest = rest + i32(d);
  }
  while (rest >= i32(d)) {
    q = q + 1u;
    rest = rest - i32(d);
  }
  let up = (q & 1u) & (((q >> 1u) & 1u) | select(0u, 1u, rest != 0));
  q = (q >> 1u) + up;  // 2^24 where all of its bits round up: the next exponent
  return Quotient(e + i32(q >> 24u), q & 0x7FFFFFu);
}
// x / y, correctly rounded, in integers. Results below the smallest normal number are 0.
fn div(x: f32, y: f32) -> f32 {
  let bx = bitcast<u32>(x);
  let by = bitcast<u32>(y);
  let mx = bx & 0x7FFFFFFFu;
  let my = by & 0x7FFFFFFFu;
  let sign = (bx ^ by) & 0x80000000u;
  if (mx > INF_BITS || my > INF_BITS || (mx == INF_BITS && my == INF_BITS) ||
      (mx == 0u && my == 0u)) {
    return nan();
  }
  if (mx == INF_BITS || my == 0u) { return from_bits(sign | INF_BITS); }
  if (my == INF_BITS || mx < 0x800000u) { return from_bits(sign); }
  if (my < 0x800000u) { return from_bits(sign | INF_BITS); }
  let q = quotient(mx, my);
  if (q.exponent >= 255) { return from_bits(sign | INF_BITS); }
  if (q.exponent <= 0) { return from_bits(sign); }
  return from_bits(sign | (u32(q.exponent) << 23u) | q.mantissa);
}

// Correctly rounded, in integers.
fn sqrt_exact(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  let m = b & 0x7FFFFFFFu;
  if (m > INF_BITS) { return nan(); }
  if (m < 0x800000u) { return from_bits(b & 0x80000000u); }
  if (b >= 0x80000000u) { return nan(); }
  if (m == INF_BITS) { return x; }
  let e = i32(m >> 23u) - 127;
  let odd = u32(e & 1);
  let n = ((m & 0x7FFFFFu) | 0x800000u) << odd;
  // 25 bits of the root of n * 2^25: 24 and one to round by. The device's own root says about what
  // they are, the rest what they are exactly.
  var root = u32(sqrt(f32(n)) * 0x1.6a09e6p+12f);
  var rest = bitcast<i32>((n << 25u) - root * root);
  while (rest < 0) {
    root = root - 1u;
    rest = rest + i32(2u * root + 1u);
  }
  while (rest > i32(2u * root)) {
    rest = rest - i32(2u * root + 1u);
    root = root + 1u;
  }
  let up = (root & 1u) & (((root >> 1u) & 1u) | select(0u, 1u, rest != 0));
  root = (root >> 1u) + up;
  return from_bits((u32((e - i32(odd)) / 2 + 127) << 23u) + (root - 0x800000u));
}
fn rsqrt_exact(x: f32) -> f32 { return div(1.0, sqrt_exact(x)); }
