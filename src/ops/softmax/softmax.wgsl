// Distributions over groups of columns: a workgroup per group, 64 lanes. KIND: ops/softmax.h. ints:
// kind, group; reals: alpha.

#kinds LOOM_SOFTMAX_KIND ops/softmax/kinds.def
fn group_place(u: u32, operand: u32) -> u32 {
  let groups = cols(0u) / int_at(1u);
  return place(operand, u / groups) + u % groups * int_at(1u);
}

// Zeros of both signs are the same number.
fn equal_keys(a: i32, b: i32) -> bool { return a == b || (max(a, b) == 0 && min(a, b) == -1); }
fn largest(x: u32, n: u32, lane: u32) -> i32 {
  var top = NO_KEY;
  for (var i = lane; i < n; i += 64u) { top = max(top, key_of(load(x + i))); }
  return lane_max(lane, top);
}

fn entmax_value(above: f32, q: f32) -> f32 {
  if (!(above > 0.0)) { return zero(); }
  if (KIND == SPARSEMAX) { return above; }
  if (KIND == ENTMAX15) { return mul(above, above); }
  return exp_exact(mul(q, log_exact(above)));
}
fn entmax_slope(above: f32) -> f32 {
  if (!(above > 0.0)) { return zero(); }
  return select(1.0, 2.0 * above, KIND == ENTMAX15);
}
struct Logits {
  x: u32,
  n: u32,
  lane: u32,
  top: f32,
  scale: f32,
  q: f32,
}
fn logit(l: Logits, i: u32) -> f32 { return mul(l.scale, opaque(load(l.x + i) - l.top)); }
fn sum_above(l: Logits, tau: f32) -> f32 {
  var sum = zero();
  for (var i = l.lane; i < l.n; i += 64u) {
    sum = sum + entmax_value(opaque(logit(l, i) - tau), l.q);
  }
  return tree_sum(l.lane, sum);
}
fn sum_slopes(l: Logits, tau: f32) -> f32 {
  var sum = zero();
  for (var i = l.lane; i < l.n; i += 64u) { sum = sum + entmax_slope(opaque(logit(l, i) - tau)); }
  return tree_sum(l.lane, sum);
}

var<workgroup> stop: u32;

fn entmax_group(x: u32, y: u32, n: u32, lane: u32) {
  let key = largest(x, n, lane);
  let alpha = real_at(0u);
  let scale = opaque(alpha - 1.0);
  let l = Logits(x, n, lane, of_key(key), scale, div(1.0, scale));
  var tau = opaque(zero() - 1.0);
  var total = 1.0;
  if (KIND != ENTMAX) {
    for (var step = 0u; step < 1000u; step++) {
      let over = opaque(sum_above(l, tau) - 1.0);
      let next = opaque(tau + div(over, sum_slopes(l, tau)));
      let grows = next > tau;
      if (lane == 0u) { stop = select(1u, 0u, grows); }
      if (workgroupUniformLoad(&stop) != 0u) { break; }
      tau = next;
    }
  } else {
    var width = 1.0;
    for (var step = 0u; step < 26u; step++) {
      width = width * 0.5;
      let middle = opaque(tau + width);
      if (sum_above(l, middle) >= 1.0) { tau = middle; }
    }
    total = sum_above(l, tau);
  }
  let finite = key < 0x7F800000 && key > (-0x7F800000 - 1);
  for (var i = lane; i < n; i += 64u) {
    var p = entmax_value(opaque(logit(l, i) - tau), l.q);
    if (KIND == ENTMAX) { p = div(p, total); }
    if (!finite) { p = nan(); }
    store(y + i, p);
  }
}

@compute @workgroup_size(64)
fn softmax(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let n = int_at(1u);
  let x = group_place(u, 0u);
  let y = group_place(u, 1u);
  if (KIND == HARDMAX) {
    let key = largest(x, n, lane);
    var first = NO_KEY;
    for (var i = lane; i < n; i += 64u) {
      if (equal_keys(key_of(load(x + i)), key)) { first = max(first, -i32(i)); }
    }
    first = lane_max(lane, first);
    for (var i = lane; i < n; i += 64u) {
      if (is_nan(of_key(key))) { store(y + i, nan()); }
      else { store(y + i, select(0.0, 1.0, -i32(i) == first)); }
    }
  } else if (KIND == SOFTMAX || KIND == LOG_SOFTMAX) {
    let row = exp_sum(x, n, lane);
    let inverse = div(1.0, row.sum);
    let logarithm = logarithm_of(row);
    for (var i = lane; i < n; i += 64u) {
      if (KIND == LOG_SOFTMAX) { store(y + i, log_share(load(x + i), row.top, logarithm)); }
      else { store(y + i, exp_difference(load(x + i), row.top) * inverse); }
    }
  } else {
    entmax_group(x, y, n, lane);
  }
}

fn weight_of(y: f32, alpha: f32) -> f32 {
  if (KIND == SOFTMAX) { return y; }
  if (KIND == LOG_SOFTMAX) { return exp_exact(y); }
  if (!(y > 0.0)) { return zero(); }
  if (KIND == SPARSEMAX) { return 1.0; }
  if (KIND == ENTMAX15) { return sqrt_exact(y); }
  return exp_exact(mul(opaque(2.0 - alpha), log_exact(y)));
}
@compute @workgroup_size(64)
fn softmax_back(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let n = int_at(1u);
  let alpha = real_at(0u);
  let y = group_place(u, 0u);
  let g = group_place(u, 1u);
  var dot = zero();
  var weights = zero();
  for (var i = lane; i < n; i += 64u) {
    let s = weight_of(load(y + i), alpha);
    if (KIND == LOG_SOFTMAX) { dot = dot + load(g + i); }
    else { dot = dot + mul(s, load(g + i)); }
    weights = weights + s;
  }
  dot = tree_sum(lane, dot);
  weights = tree_sum(lane, weights);
  var mean = dot;
  if (KIND != SOFTMAX && KIND != LOG_SOFTMAX) { mean = div(dot, weights); }
  for (var i = lane; i < n; i += 64u) {
    let s = weight_of(load(y + i), alpha);
    if (KIND == LOG_SOFTMAX) { store(group_place(u, 2u) + i, load(g + i) - mul(s, mean)); }
    else { store(group_place(u, 2u) + i, s * opaque(load(g + i) - mean)); }
  }
}
