// The elementary functions of src/base/math/exact_math_detail.h, operation for operation.

struct Parts {
  m: f32,
  k: i32,
}

const LN2_HIGH = 0x1.62ep-1f;
const LN2_REST = 0x1.0bfbe8p-15f;

// exp(c) = m * 2^k for a finite c that is not too large
fn exp_reduced(c: f32) -> Parts {
  let t = opaque(mul(c, 0x1.715476p+0f) + 0x1.8p23f);
  let n = t - 0x1.8p23f;
  let r = (c - mul(n, LN2_HIGH)) - mul(n, LN2_REST);
  var y = mul(0x1.6a6238p-10f, r) + 0x1.123abcp-7f;
  y = mul(y, r) + 0x1.55589ep-5f;
  y = mul(y, r) + 0x1.55549p-3f;
  y = mul(y, r) + 0x1.fffffcp-2f;
  return Parts(1.0 + (r + mul(mul(r, r), y)), bitcast<i32>(t) - 0x4B400000);
}
// exp(x) = m * 2^k
fn exp_parts(x: f32) -> Parts {
  let limit = 1048576.0;
  let bits = bitcast<u32>(x);
  let strange = bits == INF_BITS || is_nan(x);
  let low = is_nan(x) || x < -limit;
  let c = select(select(x, limit, x > limit), -limit, low);
  var p = exp_reduced(c);
  if (x < -limit) { p = Parts(1.0, -1073741824); }
  if (strange) { p = Parts(from_bits(select(INF_BITS, NAN_BITS, is_nan(x))), 0); }
  return p;
}

// m * 2^k; 0 below the smallest normal number, infinite above the largest.
fn scale_exact(m: f32, k: i32) -> f32 {
  let sign = bitcast<u32>(m) & 0x80000000u;
  let b = bitcast<u32>(m) & 0x7FFFFFFFu;
  let e = i32(b >> 23u) + k;
  if (e > 254) { return from_bits(INF_BITS | sign); }
  if (e <= 0) { return from_bits(sign); }
  return from_bits((b + (bitcast<u32>(k) << 23u)) | sign);
}

// x - y and what rounding it lost.
struct Difference {
  high: f32,
  low: f32,
}
fn difference(x: f32, y: f32) -> Difference {
  let d = opaque(x - y);
  let v = opaque(d - x);
  return Difference(d, opaque(x - opaque(d - v)) - opaque(y + v));
}
// exp(x - top) for x <= top, 0 below 2^-60 (rule 6). Infinities are told by their bits.
fn exp_difference(x: f32, top: f32) -> f32 {
  let x_bits = bitcast<u32>(x);
  let top_bits = bitcast<u32>(top);
  if (is_nan(x) || is_nan(top)) { return nan(); }
  if (top_bits == (INF_BITS | 0x80000000u)) { return 1.0; }
  if (top_bits == INF_BITS) { return select(zero(), nan(), x_bits == INF_BITS); }
  if (x_bits == (INF_BITS | 0x80000000u)) { return zero(); }
  let d = difference(x, top);
  if (d.high < -0x1.4cb5ecp+5f) { return zero(); }
  let t = opaque(mul(d.high, 0x1.715476p+0f) + 0x1.8p23f);
  let n = t - 0x1.8p23f;
  let r = opaque(opaque(d.high - mul(n, LN2_HIGH)) + opaque(d.low - mul(n, LN2_REST)));
  var y = mul(0x1.6a6238p-10f, r) + 0x1.123abcp-7f;
  y = mul(y, r) + 0x1.55589ep-5f;
  y = mul(y, r) + 0x1.55549p-3f;
  y = mul(y, r) + 0x1.fffffcp-2f;
  let m = 1.0 + opaque(r + mul(mul(r, r), y));
  return m * bitcast<f32>(u32(bitcast<i32>(t) - 0x4B400000 + 127) << 23u);
}

fn exp_exact(x: f32) -> f32 {
  let p = exp_parts(x);
  if ((bitcast<u32>(p.m) & 0x7FFFFFFFu) >= INF_BITS) { return p.m; }
  return scale_exact(p.m, p.k);
}

fn log_exact(x: f32) -> f32 {
  let b = bitcast<u32>(x);
  if (is_nan(x)) { return nan(); }
  if ((b & 0x7FFFFFFFu) == 0u) { return from_bits(0xFF800000u); }
  if (b >= 0x80000000u) { return nan(); }
  if (b == INF_BITS) { return x; }
  let tiny = b < 0x800000u;
  let raw = select(b, bitcast<u32>(f32(b)), tiny);
  let d = raw - 0x3F3504F3u;
  let k = (bitcast<i32>(d) >> 23u) + select(0, -149, tiny);
  let n = f32(k);
  let f = bitcast<f32>((d & 0x7FFFFFu) + 0x3F3504F3u) - 1.0;
  let half_square = mul(0.5 * f, f);
  let s = div(f, 2.0 + f);
  let z = mul(s, s);
  var y = mul(0x1.f0760ap-3f, z) + 0x1.23d806p-2f;
  y = mul(y, z) + 0x1.999c1cp-2f;
  y = mul(y, z) + 0x1.555554p-1f;
  let series = mul(s, opaque(half_square + mul(z, y))) + mul(n, LN2_REST);
  return mul(n, LN2_HIGH) - ((half_square - series) - f);
}

fn sigmoid_exact(x: f32) -> f32 {
  // exp of -|x|: 0 below the smallest normal number, where -88 stands for all below it.
  let p = exp_reduced(max(-abs(x), -88.0));
  let bits = bitcast<u32>(p.m) + (bitcast<u32>(p.k) << 23u);
  let e = bitcast<f32>(select(bits, 0u, i32(bitcast<u32>(p.m) >> 23u) + p.k <= 0));
  let d = opaque(1.0 + e);
  let lost = e - (d - 1.0);
  let positive = x >= 0.0;
  let n = bitcast<u32>(select(e, 1.0, positive));
  let exact = quotient(n, bitcast<u32>(d));
  let q = bitcast<f32>(select((u32(exact.exponent) << 23u) | exact.mantissa, 0u, n == 0u));
  let inverse = opaque(select(1.0 - q, q, positive));
  let y = q - mul(q, mul(opaque(lost), inverse));
  if (is_nan(x)) { return nan(); }
  return y;
}

fn with_sign(y: f32, x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & 0x80000000u));
}

fn tanh_exact(x: f32) -> f32 {
  if (is_nan(x)) { return nan(); }
  let a = abs(x);
  let z = mul(a, a);
  if (a < 0.625) {
    var y = mul(-0x1.756caep-8f, z) + 0x1.520a3p-6f;
    y = mul(y, z) + -0x1.b83792p-5f;
    y = mul(y, z) + 0x1.1106fep-3f;
    y = mul(y, z) + -0x1.555532p-2f;
    return with_sign(a + mul(mul(a, z), y), x);
  }
  return with_sign(1.0 - div(2.0, exp_exact(a + a) + 1.0), x);
}

fn erf_exact(x: f32) -> f32 {
  if (is_nan(x)) { return nan(); }
  let a = abs(x);
  if (a < 1.0) {
    let z = mul(a, a);
    var y = mul(0x1.48edeep-14f, z) + -0x1.a3c95cp-11f;
    y = mul(y, z) + 0x1.53ff92p-8f;
    y = mul(y, z) + -0x1.b7f858p-6f;
    y = mul(y, z) + 0x1.ce2cfp-4f;
    y = mul(y, z) + -0x1.81273ep-2f;
    y = mul(y, z) + 0x1.06eba8p-3f;
    return with_sign(a + mul(a, y), x);
  }
  let c = select(4.0, a, a < 4.0) - 2.0;
  var y = mul(-0x1.9bfe5p-18f, c) + -0x1.cadd3p-16f;
  y = mul(y, c) + 0x1.41e812p-13f;
  y = mul(y, c) + -0x1.742c2ep-11f;
  y = mul(y, c) + 0x1.d3acdap-9f;
  y = mul(y, c) + -0x1.0df4fp-6f;
  y = mul(y, c) + -0x1.d8f654p-1f;
  y = mul(y, c) + -0x1.1ac324p+2f;
  y = mul(y, c) + -0x1.575b32p+2f;
  return with_sign(1.0 - exp_exact(y), x);
}

fn softplus_exact(x: f32) -> f32 {
  if (is_nan(x)) { return nan(); }
  let u = exp_exact(-abs(x));
  let w = opaque(1.0 + u);
  let lost = u - (w - 1.0);
  return select(0.0, x, x > 0.0) + (log_exact(w) + div(lost, w));
}
