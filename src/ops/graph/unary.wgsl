// Elementwise functions with parameters (ops/graph/kinds.h): KIND; reals a, b. A thread per
// element.

#kinds LOOM_UNARY ops/graph/kinds.def U_

// Compilers make clamps of pairs of selections, and a clamp loses a NaN: those are told by their
// bits first.
fn within_one(y: f32) -> f32 { return select(select(y, 1.0, y > 1.0), 0.0, y < 0.0); }
fn exp_less_one(x: f32) -> f32 { return opaque(exp_exact(x) - 1.0); }
// Toward zero; numbers this large have no fraction. Comparisons are false for NaN.
fn truncated(x: f32) -> f32 {
  if (!(x < 8388608.0 && x > -8388608.0)) { return x; }
  return f32(i32(x));
}
fn floored(x: f32) -> f32 {
  let t = truncated(x);
  return select(t, t - 1.0, t > x);
}
fn rounded(x: f32) -> f32 {
  let low = floored(x);
  let rest = opaque(x - low);
  if (rest != 0.5) { return select(low, low + 1.0, rest > 0.5); }
  return select(low, low + 1.0, opaque(low - 2.0 * floored(low * 0.5)) != 0.0);
}

// To the nearest value with 23 - drop bits of mantissa, ties to even; below `normal` in steps of
// one size, `per_one` of them in 1.
fn to_few_bits(x: f32, drop: u32, normal: f32, per_one: f32, step: f32) -> f32 {
  let bits = magnitude_bits(x);
  let a = bitcast<f32>(bits);
  var y = (bits + ((1u << (drop - 1u)) - 1u) + ((bits >> drop) & 1u)) & ~((1u << drop) - 1u);
  if (a < normal) { y = bitcast<u32>(rounded(a * per_one) * step); }
  return bitcast<f32>(y | (bitcast<u32>(x) & 0x80000000u));
}
fn to_fp8e4m3(x: f32) -> f32 {
  return select(select(to_few_bits(x, 20u, 0x1p-6f, 512.0, 0x1p-9f), 448.0, x > 448.0), -448.0,
      x < -448.0);
}
fn to_fp8e5m2(x: f32) -> f32 {
  if (magnitude_bits(x) == INF_BITS) { return x; }
  let y = to_few_bits(x, 21u, 0x1p-14f, 65536.0, 0x1p-16f);
  if (abs(y) > 57344.0) { return from_bits(INF_BITS | (bitcast<u32>(x) & 0x80000000u)); }
  return y;
}

fn unary_of(x: f32, a: f32, b: f32) -> f32 {
  if (is_nan(x)) {
    switch (KIND) {
      case U_LOGICAL_NOT, U_IS_INF: { return 0.0; }
      case U_IS_NAN: { return 1.0; }
      default: { return nan(); }
    }
  }
  let positive = x > 0.0;
  switch (KIND) {
    case U_ABS: { return select(x, -x, x < 0.0); }
    case U_NEG: { return -x; }
    case U_SQRT: { return sqrt_exact(x); }
    case U_RECIPROCAL: { return div(1.0, x); }
    case U_EXP: { return exp_exact(x); }
    case U_LOG: { return log_exact(x); }
    case U_FLOOR: { return floored(x); }
    case U_CEIL: { return -floored(-x); }
    case U_ROUND: { return rounded(x); }
    case U_SIGN: { return select(select(x, -1.0, x < 0.0), 1.0, positive); }
    case U_ERF: { return erf_exact(x); }
    case U_ELU: {
      if (positive) { return x; }
      return a * exp_less_one(x);
    }
    case U_SELU: {
      if (positive) { return b * x; }
      return b * mul(a, exp_less_one(x));
    }
    case U_CELU: {
      if (positive) { return x; }
      return a * exp_less_one(div(x, a));
    }
    case U_HARD_SIGMOID: { return within_one(mul(a, x) + b); }
    case U_HARD_SWISH: { return x * opaque(within_one(div(x, 6.0) + 0.5)); }
    case U_SOFTSIGN: { return div(x, opaque(1.0 + select(x, -x, x < 0.0))); }
    case U_THRESHOLDED_RELU: { return select(0.0, x, x > a); }
    case U_CLIP: { return select(select(x, b, x > b), a, x < a); }
    case U_LOGICAL_NOT: { return select(0.0, 1.0, magnitude_bits(x) == 0u); }
    case U_IS_NAN: { return select(0.0, 1.0, is_nan(x)); }
    case U_IS_INF: {
      return select(0.0, 1.0, magnitude_bits(x) == INF_BITS && select(a, b, positive) != 0.0);
    }
    case U_LEAKY_RELU: { return select(mul(a, x), x, positive); }
    case U_SHRINK: { return select(select(0.0, x - b, x > a), x + b, x < -a); }
    case U_TRUNC: { return truncated(x); }
    case U_SWISH: { return x * sigmoid_exact(mul(a, x)); }
    case U_SQUARE: { return x * x; }
    case U_FP8E4M3: { return to_fp8e4m3(x); }
    case U_FP8E5M2: { return to_fp8e5m2(x); }
    default: { return x; }
  }
}
fn unary_slope(x: f32, a: f32, b: f32) -> f32 {
  if (is_nan(x)) {
    switch (KIND) {
      case U_NEG: { return -1.0; }
      case U_CLIP, U_FP8E4M3, U_FP8E5M2, U_THRESHOLDED_RELU, U_SHRINK: { return 1.0; }
      case U_LEAKY_RELU: { return a; }
      case U_SQRT, U_RECIPROCAL, U_EXP, U_LOG, U_ERF, U_ELU, U_SELU, U_CELU, U_HARD_SWISH,
          U_SOFTSIGN, U_SWISH, U_SQUARE: {
        return nan();
      }
      default: { return 0.0; }
    }
  }
  let positive = x > 0.0;
  switch (KIND) {
    case U_ABS: { return select(select(0.0, -1.0, x < 0.0), 1.0, positive); }
    case U_NEG: { return -1.0; }
    case U_SQRT: { return div(0.5, sqrt_exact(x)); }
    case U_RECIPROCAL: {
      let y = div(1.0, x);
      return -mul(y, y);
    }
    case U_EXP: { return exp_exact(x); }
    case U_LOG: { return div(1.0, x); }
    case U_ERF: { return 2.0 * mul(0x1.20dd76p-1f, exp_exact(-mul(x, x))); }
    case U_ELU: {
      if (positive) { return 1.0; }
      return mul(a, exp_exact(x));
    }
    case U_SELU: {
      if (positive) { return b; }
      return mul(b, mul(a, exp_exact(x)));
    }
    case U_CELU: {
      if (positive) { return 1.0; }
      return exp_exact(div(x, a));
    }
    case U_HARD_SIGMOID: {
      let y = mul(a, x) + b;
      return select(0.0, a, y > 0.0 && y < 1.0);
    }
    case U_HARD_SWISH: {
      let y = div(x, 6.0) + 0.5;
      if (y <= 0.0) { return 0.0; }
      if (y >= 1.0) { return 1.0; }
      return opaque(div(x, 3.0) + 0.5);
    }
    case U_SOFTSIGN: {
      let y = div(1.0, opaque(1.0 + select(x, -x, x < 0.0)));
      return mul(y, y);
    }
    case U_THRESHOLDED_RELU: { return select(0.0, 1.0, x > a); }
    case U_CLIP: { return select(1.0, 0.0, x < a || x > b); }
    case U_LEAKY_RELU: { return select(a, 1.0, positive); }
    case U_SHRINK: { return select(0.0, 1.0, x < -a || x > a); }
    case U_SWISH: {
      let s = sigmoid_exact(mul(a, x));
      return opaque(s + mul(mul(a, x), mul(s, opaque(1.0 - s))));
    }
    case U_SQUARE: { return opaque(x + x); }
    case U_FP8E4M3: { return select(1.0, 0.0, x < -448.0 || x > 448.0); }
    case U_FP8E5M2: { return 1.0; }
    default: { return 0.0; }
  }
}
@compute @workgroup_size(64)
fn unary(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let c = u % cols(1u);
  store(place(1u, row) + c, unary_of(load(place(0u, row) + c), real_at(0u), real_at(1u)));
}
@compute @workgroup_size(64)
fn unary_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(2u);
  let c = u % cols(2u);
  store(place(2u, row) + c, load(place(1u, row) + c) * unary_slope(load(place(0u, row) + c),
      real_at(0u), real_at(1u)));
}
