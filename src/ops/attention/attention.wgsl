// Attention (rule 6), class F: a workgroup of 64 per row and head, a lane per position of a block.
// One walk over the blocks finds the largest score, a second one sums. ints: heads, kv_heads,
// head_dim, window, causal; reals: scale. TILES: head_dim in units of 64. ALIBI: operand 4 is the
// slopes; RESULT: the operand of y; STATS: values of a head in the stats behind it.

var<workgroup> weight: array<f32, 64>;

struct Head {
  row: u32,
  head: u32,
  kv_head: u32,
}
fn head_of(u: u32) -> Head {
  let h = u % int_at(0u);
  return Head(u / int_at(0u), h, h / (int_at(0u) / int_at(1u)));
}

// Sum over head_dim of x[d] * y[d * step] in the canonical order.
fn dot_chains(x: u32, y: u32, step: u32) -> f32 {
  var c = zero();
  for (var d0 = 0u; d0 < int_at(2u); d0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(d0 + 32u, int_at(2u));
    for (var d = d0; d < end; d += 2u) {
      even = even + mul(load(x + d), load(y + d * step));
      if (d + 1u < end) { odd = odd + mul(load(x + d + 1u), load(y + (d + 1u) * step)); }
    }
    c = c + (even + odd);
  }
  return c;
}

fn bounded(x: f32) -> f32 {
  if (magnitude_bits(x) != INF_BITS) { return x; }
  return from_bits(0x7F7FFFFFu | (bitcast<u32>(x) & 0x80000000u));
}
// Bits of the power of two p with |x| / p in [2, 4), x from its magnitude.
fn power_under(magnitude: u32) -> u32 { return max((magnitude >> 23u) - 1u, 1u) << 23u; }
fn inverse_power(power: u32) -> f32 { return bitcast<f32>((254u << 23u) - power); }
// x, or 0 below 2^-60.
fn large_part(x: f32) -> f32 { return select(x, zero(), magnitude_bits(x) < (67u << 23u)); }

// A score that is not finite: far_score of attention_scores.h.
fn far_score(q: u32, key: u32, step: u32, plain: f32) -> f32 {
  var a = 0u;
  var b = 0u;
  for (var d = 0u; d < int_at(2u); d++) {
    a = max(a, magnitude_bits(load(q + d)));
    b = max(b, magnitude_bits(load(key + d * step)));
  }
  if (a >= INF_BITS || b >= INF_BITS || a == 0u || b == 0u) {
    if (is_nan(plain)) { return nan(); }  // of either sign
    return plain;
  }
  let pa = power_under(a);
  let pb = power_under(b);
  var sum = zero();
  for (var d0 = 0u; d0 < int_at(2u); d0 += 32u) {
    var even = zero();
    var odd = zero();
    for (var d = d0; d < min(d0 + 32u, int_at(2u)); d++) {
      let product = mul(large_part(mul(load(q + d), inverse_power(pa))),
          large_part(mul(load(key + d * step), inverse_power(pb))));
      if ((d & 1u) != 0u) { odd = odd + product; } else { even = even + product; }
    }
    sum = sum + (even + odd);
  }
  let scaled = mul(large_part(opaque(sum)), real_at(0u));
  return bounded(mul(mul(scaled, bitcast<f32>(min(pa, pb))), bitcast<f32>(max(pa, pb))));
}
// ALiBi: less the slope of the head times the distance of query and key.
fn nearer(s: f32, slope: f32, p: u32, j: u32) -> f32 {
  if (!ALIBI) { return s; }
  return s - mul(slope, f32(select(p - j, j - p, j > p)));
}
fn slope_of(head: u32) -> f32 {
  if (!ALIBI) { return zero(); }
  return load(place(4u, 0u) + head);
}
// The score of a query at p and a key at j, which is finite where both are.
fn score_of(q: u32, key: u32, step: u32, slope: f32, p: u32, j: u32) -> f32 {
  let s = mul(dot_chains(q, key, step), real_at(0u));
  if (magnitude_bits(s) < INF_BITS) { return nearer(s, slope, p, j); }
  return nearer(far_score(q, key, step, s), slope, p, j);
}

// Adds to num[] what `count` positions of a block give, their weights in workgroup memory: lane d
// of each tile of head_dim.
fn add_values(num: ptr<function, array<f32, TILES>>, values: u32, step: u32, count: u32,
    lane: u32) {
  for (var t = 0u; t < TILES; t++) {
    let d = t * 64u + lane;
    if (d >= int_at(2u)) { continue; }
    var c = zero();
    for (var j0 = 0u; j0 < count; j0 += 32u) {
      var even = zero();
      var odd = zero();
      let end = min(j0 + 32u, count);
      for (var j = j0; j < end; j += 2u) {
        even = even + mul(weight[j], load(values + j * step + d));
        if (j + 1u < end) { odd = odd + mul(weight[j + 1u], load(values + (j + 1u) * step + d)); }
      }
      c = c + (even + odd);
    }
    (*num)[t] = (*num)[t] + c;
  }
}

var<workgroup> shared_word: u32;
// A word that all threads of the workgroup branch on.
fn uniform_word(lane: u32, value: u32) -> u32 {
  if (lane == 0u) { shared_word = value; }
  return workgroupUniformLoad(&shared_word);
}
// The first position that a query at p may see.
fn first_seen(p: u32) -> u32 {
  return select(0u, p + 1u - int_at(3u), int_at(3u) > 0u && p + 1u > int_at(3u));
}

fn store_result(num: ptr<function, array<f32, TILES>>, y: u32, inverse: f32, lane: u32) {
  for (var t = 0u; t < TILES; t++) {
    if (t * 64u + lane < int_at(2u)) { store(y + t * 64u + lane, (*num)[t] * inverse); }
  }
}

// kv: pages of 64 positions, each [kv_heads][head_dim][64] keys, then [kv_heads][64][head_dim]
// values.
@compute @workgroup_size(64)
fn attention(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let at = head_of(u);
  let hd = int_at(2u);
  let p = uniform_word(lane, min(A[place(3u, at.row)], P[3] * 64u - 1u));
  let table = P[2] + A[place(2u, at.row)] * P[3];
  let part = int_at(1u) * hd * 64u;  // keys, or values, of a page
  let own = place(1u, 0u) + at.kv_head * hd * 64u;
  let q = place(0u, at.row) + at.head * hd;
  let begin = first_seen(p);
  let slope = slope_of(at.head);
  var key = NO_KEY;
  for (var b = begin / 64u; b <= p / 64u; b++) {
    let j = b * 64u + lane;
    if (j < begin || j > p) { continue; }
    key = max(key, key_of(score_of(q, own + A[table + b] * 2u * part + lane, 64u, slope, p, j)));
  }
  let top = of_key(lane_max(lane, key));
  var num: array<f32, TILES>;
  for (var t = 0u; t < TILES; t++) { num[t] = zero(); }
  var den = zero();
  for (var b = begin / 64u; b <= p / 64u; b++) {
    let j = b * 64u + lane;
    let page = own + A[table + b] * 2u * part;
    var e = zero();
    if (j >= begin && j <= p) {
      e = exp_difference(score_of(q, page + lane, 64u, slope, p, j), top);
    }
    den = den + tree_sum(lane, e);
    weight[lane] = e;
    workgroupBarrier();
    add_values(&num, page + part, hd, 64u, lane);
  }
  store_result(&num, place(RESULT, at.row) + at.head * hd, div(1.0, den), lane);
}

// The training form: keys and values are rows of this run. Per row extra(0) has the first row of
// its sequence, and the sequence's length.
struct Sequence {
  begin: u32,
  length: u32,
}
fn sequence_of(lane: u32, row: u32) -> Sequence {
  let begin = uniform_word(lane, A[extra(0u) + 2u * row]);
  return Sequence(begin, uniform_word(lane, A[extra(0u) + 2u * row + 1u]));
}

@compute @workgroup_size(64)
fn attention_rows(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let at = head_of(u);
  let hd = int_at(2u);
  let s = sequence_of(lane, at.row);
  let p = at.row - s.begin;
  let end = select(s.length - 1u, p, int_at(4u) != 0u);
  let q = place(0u, at.row) + at.head * hd;
  let begin = first_seen(p);
  let slope = slope_of(at.head);
  var key = NO_KEY;
  for (var j = begin / 64u * 64u + lane; j <= end; j += 64u) {
    if (j < begin) { continue; }
    key = max(key, key_of(score_of(q, place(1u, s.begin + j) + at.kv_head * hd, 1u, slope, p, j)));
  }
  let top = of_key(lane_max(lane, key));
  var num: array<f32, TILES>;
  for (var t = 0u; t < TILES; t++) { num[t] = zero(); }
  var den = zero();
  for (var b = begin / 64u; b <= end / 64u; b++) {
    let j = b * 64u + lane;
    var e = zero();
    if (j >= begin && j <= end) {
      e = exp_difference(score_of(q, place(1u, s.begin + j) + at.kv_head * hd, 1u, slope, p, j),
          top);
    }
    den = den + tree_sum(lane, e);
    weight[lane] = e;
    workgroupBarrier();
    add_values(&num, place(2u, s.begin + b * 64u) + at.kv_head * hd, row_step(2u),
        min(64u, s.length - b * 64u), lane);
  }
  let inverse = div(1.0, den);
  store_result(&num, place(RESULT, at.row) + at.head * hd, inverse, lane);
  if (lane == 0u) {
    let stats = place(RESULT + 1u, at.row) + STATS * at.head;
    if (is_nan(den)) { store(stats, den); }
    else { store(stats, top); }
    store(stats + 1u, inverse);
    if (ALIBI) { store(stats + 2u, slope); }
  }
}
