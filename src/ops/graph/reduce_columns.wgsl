// Reductions over groups of n consecutive columns (ops/graph/kinds.h): KIND; ints kind, n. A thread
// per group.

#kinds LOOM_REDUCE ops/graph/kinds.def R_

fn is_real(x: f32) -> bool { return magnitude_bits(x) < INF_BITS; }
fn extreme(x: u32, n: u32, most: bool) -> u32 {
  var best = 0u;
  var value = load(x);
  for (var i = 1u; i < n; i++) {
    let v = load(x + i);
    if (!is_nan(value) && (is_nan(v) || select((v < value), (v > value), most))) {
      best = i;
      value = v;
    }
  }
  return best;
}
fn term(x: f32, most: f32) -> f32 {
  switch (KIND) {
    case R_L1: { return select(x, -x, x < 0.0); }
    case R_L2, R_SUM_SQUARE: { return mul(x, x); }
    case R_LOG_SUM_EXP: { return exp_difference(x, most); }
    default: { return x; }
  }
}
fn chunk_sum(x: u32, n: u32, most: f32) -> f32 {
  var sum = zero();
  for (var i0 = 0u; i0 < n; i0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(i0 + 32u, n);
    for (var i = i0; i < end; i += 2u) {
      even = even + term(load(x + i), most);
      if (i + 1u < end) { odd = odd + term(load(x + i + 1u), most); }
    }
    sum = sum + (even + odd);
  }
  return opaque(sum);
}
fn reduced(x: u32, n: u32) -> f32 {
  switch (KIND) {
    case R_MEAN: { return div(chunk_sum(x, n, 0.0), f32(n)); }
    case R_MAX: { return load(x + extreme(x, n, true)); }
    case R_MIN: { return load(x + extreme(x, n, false)); }
    case R_PROD: {
      var p = opaque(1.0);
      for (var i = 0u; i < n; i++) { p = mul(p, load(x + i)); }
      return p;
    }
    case R_L2: { return sqrt_exact(chunk_sum(x, n, 0.0)); }
    case R_LOG_SUM: { return log_exact(chunk_sum(x, n, 0.0)); }
    case R_LOG_SUM_EXP: {
      let most = load(x + extreme(x, n, true));
      if (!is_real(most)) { return most; }
      return most + opaque(log_exact(chunk_sum(x, n, most)));
    }
    case R_ARGMAX: { return f32(extreme(x, n, true)); }
    case R_ARGMIN: { return f32(extreme(x, n, false)); }
    default: { return chunk_sum(x, n, 0.0); }
  }
}
@compute @workgroup_size(64)
fn reduce(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let c = u % cols(1u);
  store(place(1u, row) + c, reduced(place(0u, row) + c * int_at(1u), int_at(1u)));
}
// A thread per element of gx.
@compute @workgroup_size(64)
fn reduce_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = int_at(1u);
  let row = u / cols(3u);
  let c = u % cols(3u);
  let first = place(0u, row) + c / n * n;
  let x = load(place(0u, row) + c);
  let y = load(place(1u, row) + c / n);
  let g = load(place(2u, row) + c / n);
  var d = zero();
  switch (KIND) {
    case R_SUM: { d = g; }
    case R_MEAN: { d = div(g, f32(n)); }
    case R_MAX: { d = select(zero(), g, extreme(first, n, true) == c % n); }
    case R_MIN: { d = select(zero(), g, extreme(first, n, false) == c % n); }
    case R_PROD: {
      d = g;
      for (var i = 0u; i < n; i++) {
        if (i != c % n) { d = mul(d, load(first + i)); }
      }
    }
    case R_L1: { d = select(select(zero(), -g, x < 0.0), g, x > 0.0); }
    case R_L2: {
      if (magnitude_bits(y) != 0u) { d = g * div(x, y); }
    }
    case R_SUM_SQUARE: { d = g * opaque(x + x); }
    case R_LOG_SUM: { d = div(g, exp_exact(y)); }
    case R_LOG_SUM_EXP: {
      let most = load(first + extreme(first, n, true));
      d = g * mul(exp_difference(x, most), div(1.0, chunk_sum(first, n, most)));
    }
    default: { }
  }
  store(place(3u, row) + c, d);
}
