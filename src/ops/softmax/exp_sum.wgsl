// Sums of exponentials of a row (rule 6): vectors/exp_sum.h.

// A sum and what its additions lost.
struct Kept {
  sum: f32,
  lost: f32,
}
// The two-sum of b, and of what it lost.
fn kept_add(a: Kept, b: Kept) -> Kept {
  let s = opaque(a.sum + b.sum);
  let t = opaque(s - a.sum);
  let lost = opaque(opaque(a.sum - opaque(s - t)) + opaque(b.sum - t));
  return Kept(s, opaque(opaque(a.lost + b.lost) + lost));
}

var<workgroup> kept_lanes: array<Kept, 64>;
var<workgroup> kept_eighths: array<Kept, 8>;
fn kept_halves(v: array<Kept, 8>) -> Kept {
  let even = kept_add(kept_add(v[0], v[4]), kept_add(v[2], v[6]));
  return kept_add(even, kept_add(kept_add(v[1], v[5]), kept_add(v[3], v[7])));
}
// tree_sum of parts/reduce.wgsl that keeps what it loses.
fn kept_tree_sum(lane: u32, value: Kept) -> Kept {
  workgroupBarrier();
  kept_lanes[lane] = value;
  workgroupBarrier();
  if (lane < 8u) {
    var s: array<Kept, 8>;
    for (var i = 0u; i < 8u; i++) { s[i] = kept_lanes[lane + 8u * i]; }
    kept_eighths[lane] = kept_halves(s);
  }
  workgroupBarrier();
  var u: array<Kept, 8>;
  for (var i = 0u; i < 8u; i++) { u[i] = kept_eighths[i]; }
  return kept_halves(u);
}

struct ExpSum {
  top: f32,
  sum: f32,
  rest: f32,
}
// The largest number of a row and the sum of exp(x - top), 64 lanes, which lost `rest`.
fn exp_sum(x: u32, n: u32, lane: u32) -> ExpSum {
  var key = NO_KEY;
  for (var i = lane; i < n; i += 64u) { key = max(key, key_of(load(x + i))); }
  let top = of_key(lane_max(lane, key));
  var own = Kept(zero(), zero());
  for (var i = lane; i < n; i += 64u) {
    own = kept_add(own, Kept(exp_difference(load(x + i), top), zero()));
  }
  let all = kept_tree_sum(lane, own);
  let sum = opaque(all.sum + all.lost);
  return ExpSum(top, sum, opaque(all.lost - opaque(sum - all.sum)));
}
fn logarithm_of(s: ExpSum) -> f32 {
  let logarithm = log_exact(s.sum);
  if (s.sum < 2.0) { return opaque(logarithm + s.rest); }
  return logarithm;
}

// (x - top) - logarithm, -inf of -inf.
fn log_share(x: f32, top: f32, logarithm: f32) -> f32 {
  if (is_nan(logarithm)) { return nan(); }
  if (bitcast<u32>(x) == (INF_BITS | 0x80000000u)) { return x; }
  let d = difference(x, top);
  if (magnitude_bits(d.high) >= INF_BITS) { return d.high; }
  return d.high + opaque(d.low - logarithm);
}
