// Attention of cells of classes I and B (rule 6): keys, values and queries are q15, sums over head_dim and over a block exact in integers. With
// attention.wgsl. A page is per KV head: planes of keys as [padded/4][64 positions][4], of values as [16][padded dims][4 positions], hi and lo, every
// byte value + 128; then the scales of 64 keys and 64 values. TEAMS of 64 lanes take blocks side by side; what they find is added block by block.

const SIGNS = 0x80808080u;

var<workgroup> bytes: array<vec2<i32>, TEAMS * 64u>;
var<workgroup> planes: array<vec2<u32>, TILES * 16u>;  // of the query
var<workgroup> packed_weights: array<vec2<u32>, TEAMS * 16u>;
var<workgroup> block_sum: array<f32, TEAMS>;
var<workgroup> block_num: array<f32, TEAMS * TILES * 64u>;

fn padded_dim() -> u32 { return (int_at(2u) + 15u) / 16u * 16u; }
fn page_part(b: u32, table: u32, kv_head: u32) -> u32 { return place(1u, 0u) + (A[table + b] * int_at(1u) + kv_head) * (64u * padded_dim() + 128u); }

// Sums of four plane products joined; every sum is exact in f32, and products by 128 are.
fn join_planes(hh: i32, middle: i32, ll: i32) -> f32 { return (f32(hh) * 128.0 + f32(middle)) * 128.0 + f32(ll); }

fn score(part: u32, lane: u32, query_scale: f32) -> f32 {
  let words = padded_dim() / 4u;
  var hh = 0;
  var middle = 0;
  var ll = 0;
  for (var w = 0u; w < words; w++) {
    let hi = A[part + w * 64u + lane] ^ SIGNS;
    let lo = A[part + words * 64u + w * 64u + lane] ^ SIGNS;
    hh = hh + dot4I8Packed(hi, planes[w].x);
    middle = middle + dot4I8Packed(hi, planes[w].y) + dot4I8Packed(lo, planes[w].x);
    ll = ll + dot4I8Packed(lo, planes[w].y);
  }
  let key_scale = load(part + 64u * padded_dim() + lane);
  return mul(mul(join_planes(hh, middle, ll), mul(query_scale, key_scale)), real_at(0u));
}

@compute @workgroup_size(TEAMS * 64u) fn attention_q15(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let team = thread / 64u;
  let lane = thread % 64u;
  let at = head_of(u);
  let hd = int_at(2u);
  let p = uniform_word(thread, min(A[place(3u, at.row)], P[3] * 64u - 1u));
  let table = P[2] + A[place(2u, at.row)] * P[3];
  let q = place(0u, at.row) + at.head * hd;
  let begin = first_seen(p);

  // The query as planes; every team finds its scale.
  var most = 0u;
  for (var d = lane; d < hd; d += 64u) { most = max(most, A[q + d] & 0x7FFFFFFFu); }
  most = u32(team_max(thread, i32(most)));
  let query_scale = bitcast<f32>(q15_scale(most));
  for (var w = thread; w < padded_dim() / 4u; w += TEAMS * 64u) {
    var hi = 0u;
    var lo = 0u;
    for (var i = 0u; i < 4u; i++) {
      if (4u * w + i < hd && !q15_lost(most)) {
        let v = q15_planes(load(q + 4u * w + i), q15_inverse(most));
        hi = hi | byte_of(v.x, i);
        lo = lo | byte_of(v.y, i);
      }
    }
    planes[w] = vec2<u32>(hi, lo);
  }
  workgroupBarrier();

  var top = -1000000;
  for (var b = begin / 64u + team; b <= p / 64u; b += TEAMS) {
    let j = b * 64u + lane;
    if (j >= begin && j <= p) { top = max(top, exp_parts(score(page_part(b, table, at.kv_head), lane, query_scale)).k); }
  }
  top = group_max(thread, top);
  var num: array<f32, TILES>;  // of the first team
  for (var t = 0u; t < TILES; t++) { num[t] = zero(); }
  var den = zero();
  for (var b0 = begin / 64u; b0 <= p / 64u; b0 += TEAMS) {
    let b = b0 + team;
    let j = b * 64u + lane;
    let part = page_part(min(b, p / 64u), table, at.kv_head);
    var e = zero();
    var w = zero();
    if (j >= begin && j <= p) {
      let parts = exp_parts(score(part, lane, query_scale));
      e = rescale(parts.m, parts.k, top);
      w = mul(e, load(part + 64u * padded_dim() + 64u + lane));
    }
    let sum = tree_sum(thread, e);
    if (lane == 0u) { block_sum[team] = sum; }
    let heaviest = u32(team_max(thread, i32(magnitude_bits(w))));
    var v = vec2<i32>(0, 0);
    if (!q15_lost(heaviest)) { v = q15_planes(w, q15_inverse(heaviest)); }
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
    workgroupBarrier();
    let weight_scale = bitcast<f32>(q15_scale(heaviest));
    let values = part + 32u * padded_dim();
    for (var t = 0u; t < TILES; t++) {
      let d = t * 64u + lane;
      if (d >= hd || b > p / 64u) { continue; }
      var hh = 0;
      var middle = 0;
      var ll = 0;
      for (var g = 0u; g < 16u; g++) {
        let hi = A[values + g * padded_dim() + d] ^ SIGNS;
        let lo = A[values + (16u + g) * padded_dim() + d] ^ SIGNS;
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
        for (var t = 0u; t < TILES; t++) { num[t] = num[t] + block_num[(i * TILES + t) * 64u + lane]; }
      }
    }
  }
  if (team == 0u) { store_result(&num, place(4u, at.row) + at.head * hd, div(1.0, den), lane); }
}
