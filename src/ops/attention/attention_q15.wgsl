// Attention of cells of classes I and B (rule 6): keys, values and queries are q15, sums over
// head_dim and over a block exact in integers. With attention_pages.wgsl. TEAMS of 64 lanes take
// blocks side by side; what they find is added block by block.

var<workgroup> planes: array<vec2<u32>, TILES * 16u>;  // of the query
var<workgroup> query_most: atomic<u32>;
var<workgroup> top_found: atomic<u32>;  // the key of the largest score; 0: none
// Of a round, in which each team has a block:
var<workgroup> weights: array<f32, TEAMS * 64u>;
var<workgroup> eighth_sums: array<f32, TEAMS * 8u>;
var<workgroup> heaviest: array<atomic<u32>, TEAMS * 2u>;  // [round % 2][team]
var<workgroup> bytes: array<vec2<i32>, TEAMS * 64u>;
var<workgroup> packed_weights: array<vec2<u32>, TEAMS * 16u>;
var<workgroup> block_sum: array<f32, TEAMS>;
var<workgroup> block_num: array<f32, TEAMS * TILES * 64u>;

fn plain_score(part: u32, lane: u32, query_scale: f32) -> f32 {
  var hh = 0;
  var middle = 0;
  var ll = 0;
  for (var w = 0u; w < PADDED_DIM / 4u; w++) {
    let hi = A[part + w * 64u + lane] ^ SIGNS;
    let lo = A[part + (PADDED_DIM / 4u + w) * 64u + lane] ^ SIGNS;
    hh = hh + dot4I8Packed(hi, planes[w].x);
    middle = middle + dot4I8Packed(hi, planes[w].y) + dot4I8Packed(lo, planes[w].x);
    ll = ll + dot4I8Packed(lo, planes[w].y);
  }
  return scaled_score(join_planes(hh, middle, ll), query_scale,
      load(part + 64u * PADDED_DIM + lane));
}
fn score(part: u32, lane: u32, query_scale: f32, slope: f32, p: u32, j: u32) -> f32 {
  return nearer(plain_score(part, lane, query_scale), slope, p, j);
}

// Both planes of four positions' values, element d.
fn value_words(values: u32, four: u32, d: u32) -> vec2<u32> {
  return vec2<u32>(A[values + four * PADDED_DIM + d], A[values + (16u + four) * PADDED_DIM + d]);
}

@compute @workgroup_size(TEAMS * 64u)
fn attention_q15(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let team = thread / 64u;
  let lane = thread % 64u;
  let at = head_of(u);
  let p = uniform_word(thread, min(A[place(3u, at.row)], P[3] * 64u - 1u));
  let table = P[2] + A[place(2u, at.row)] * P[3];
  let q = place(0u, at.row) + at.head * HEAD_DIM;
  let begin = first_seen(p);
  let slope = slope_of(at.head);

  // The query as planes.
  var own_most = 0u;
  for (var d = thread; d < HEAD_DIM; d += TEAMS * 64u) {
    own_most = max(own_most, A[q + d] & 0x7FFFFFFFu);
  }
  own_most = most_of_lanes(own_most);
  if (speaks_for_lanes()) { atomicMax(&query_most, own_most); }
  workgroupBarrier();
  let most = atomicLoad(&query_most);
  let query_scale = bitcast<f32>(q15_scale(most));
  for (var w = thread; w < PADDED_DIM / 4u; w += TEAMS * 64u) {
    var hi = 0u;
    var lo = 0u;
    for (var i = 0u; i < 4u; i++) {
      if (4u * w + i < HEAD_DIM && !q15_lost(most)) {
        let v = q15_planes(load(q + 4u * w + i), q15_inverse(most));
        hi = hi | byte_of(v.x, i);
        lo = lo | byte_of(v.y, i);
      }
    }
    planes[w] = vec2<u32>(hi, lo);
  }
  workgroupBarrier();

  var own_score = zero();  // of the last block that this lane looked at
  var own_key = 0u;
  for (var b = begin / 64u + team; b <= p / 64u; b += TEAMS) {
    let j = b * 64u + lane;
    if (j >= begin && j <= p) {
      own_score = score(page_part(b, table, at.kv_head), lane, query_scale, slope, p, j);
      own_key = max(own_key, score_key(own_score));
    }
  }
  let most_found = most_of_lanes(own_key);
  if (speaks_for_lanes()) { atomicMax(&top_found, most_found); }
  workgroupBarrier();
  let top = opaque(of_score_key(atomicLoad(&top_found)) + HEADROOM);
  let one_round = p / 64u - begin / 64u < TEAMS;
  var num: array<f32, TILES>;  // of the first team
  for (var t = 0u; t < TILES; t++) { num[t] = zero(); }
  var den = zero();
  var turn = 0u;
  for (var b0 = begin / 64u; b0 <= p / 64u; b0 += TEAMS) {
    let b = b0 + team;
    let j = b * 64u + lane;
    let part = page_part(min(b, p / 64u), table, at.kv_head);
    let values = part + 32u * PADDED_DIM;
    var first_tile: array<vec2<u32>, 16>;  // of the values, under way while their weights are found
    for (var g = 0u; g < 16u; g++) {
      first_tile[g] = value_words(values, g, min(lane, HEAD_DIM - 1u));
    }
    var e = zero();
    var w = zero();
    if (j >= begin && j <= p) {
      if (!one_round) { own_score = score(part, lane, query_scale, slope, p, j); }
      e = exp_difference(own_score, top);
      w = mul(e, load(part + 64u * PADDED_DIM + 64u + lane));
    }
    weights[thread] = e;
    atomicMax(&heaviest[turn * TEAMS + team], magnitude_bits(w));
    workgroupBarrier();
    let heavy = atomicLoad(&heaviest[turn * TEAMS + team]);
    if (lane < 8u) {
      var every: array<f32, 8>;
      for (var i = 0u; i < 8u; i++) { every[i] = weights[thread + 8u * i]; }
      eighth_sums[team * 8u + lane] = halves(every);
    }
    var v = vec2<i32>(0, 0);
    if (!q15_lost(heavy)) { v = q15_planes(w, q15_inverse(heavy)); }
    bytes[thread] = v;
    workgroupBarrier();
    if (lane < 16u) {
      var hi = 0u;
      var lo = 0u;
      for (var i = 0u; i < 4u; i++) {
        hi = hi | byte_of(bytes[team * 64u + 4u * lane + i].x, i);
        lo = lo | byte_of(bytes[team * 64u + 4u * lane + i].y, i);
      }
      packed_weights[team * 16u + lane] = vec2<u32>(hi, lo);
    }
    if (lane == 63u) {
      var sums: array<f32, 8>;
      for (var i = 0u; i < 8u; i++) { sums[i] = eighth_sums[team * 8u + i]; }
      block_sum[team] = halves(sums);
      atomicStore(&heaviest[turn * TEAMS + team], 0u);  // for the round after the next
    }
    turn = 1u - turn;
    workgroupBarrier();
    let weight_scale = bitcast<f32>(q15_scale(heavy));
    for (var t = 0u; t < TILES; t++) {
      let d = t * 64u + lane;
      if (d >= HEAD_DIM || b > p / 64u) { continue; }
      var hh = 0;
      var middle = 0;
      var ll = 0;
      for (var g = 0u; g < 16u; g++) {
        var words: vec2<u32>;
        if (t == 0u) { words = first_tile[g]; } else { words = value_words(values, g, d); }
        let hi = words.x ^ SIGNS;
        let lo = words.y ^ SIGNS;
        let x = packed_weights[team * 16u + g];
        hh = hh + dot4I8Packed(hi, x.x);
        middle = middle + dot4I8Packed(hi, x.y) + dot4I8Packed(lo, x.x);
        ll = ll + dot4I8Packed(lo, x.y);
      }
      block_num[(team * TILES + t) * 64u + lane] = mul(join_planes(hh, middle, ll), weight_scale);
    }
    workgroupBarrier();
    if (team == 0u) {
      for (var i = 0u; i < min(TEAMS, p / 64u - b0 + 1u); i++) {
        den = den + block_sum[i];
        for (var t = 0u; t < TILES; t++) {
          num[t] = num[t] + block_num[(i * TILES + t) * 64u + lane];
        }
      }
    }
  }
  if (team == 0u) {
    store_result(&num, place(RESULT, at.row) + at.head * HEAD_DIM, div(1.0, den), lane);
  }
}
