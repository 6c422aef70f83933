// f32 as two planes of int8 and a power of two (rule 5).

// e of the least scale 2^e that holds a row whose largest magnitude has these bits: 16256 =
// 1.984375 * 2^13.
fn q15_exponent(largest: u32) -> i32 {
  return i32(largest >> 23u) - 140 + select(0, 1, (largest & 0x7FFFFFu) > 0x7E0000u);
}
// Planes of a value as bytes: hi, then lo.
fn q15_planes(x: f32, inverse: f32) -> vec2<i32> {
  let v = bitcast<i32>(opaque(x * inverse) + 12582912.0) - 0x4B400000;
  let hi = (v + 64) >> 7u;
  return vec2<i32>(hi, v - 128 * hi);
}
// The value of one plane alone: 128 times the scale.
fn q15_high(x: f32, inverse: f32) -> i32 {
  return bitcast<i32>(opaque(x * (inverse * 0.0078125)) + 12582912.0) - 0x4B400000;
}

// Whether a row with this largest magnitude has no scale: not finite, or all below 2^-100.
fn q15_lost(largest: u32) -> bool { return largest >= INF_BITS || largest < (27u << 23u); }
// Bits of its scale: 2^e, 0 for zeros, NaN for what is not finite.
fn q15_scale(largest: u32) -> u32 {
  return select(select(u32(q15_exponent(largest) + 127) << 23u, 0u, q15_lost(largest)), NAN_BITS,
      largest >= INF_BITS);
}
// 2^-e; 0 where there is no scale, so that the planes are 0.
fn q15_inverse(largest: u32) -> f32 {
  return bitcast<f32>(select(u32(127 - q15_exponent(largest)) << 23u, 0u, q15_lost(largest)));
}
fn byte_of(v: i32, i: u32) -> u32 { return (bitcast<u32>(v) & 255u) << (8u * i); }
