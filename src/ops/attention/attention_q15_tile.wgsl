// attention_q15.wgsl for TEAMS times four rows that follow one another, most of them of one
// sequence: the four of a team share the keys and values that its lanes read. KEEP blocks' scores
// are kept from the first walk for the second. Blocks that a row does not see add 0 to it.

const ROWS = 4u * TEAMS;
const DIM_WORDS = PADDED_DIM / 4u;

var<workgroup> query_high: array<vec4<u32>, TEAMS * DIM_WORDS>;  // [team][word]: of four rows
var<workgroup> query_low: array<vec4<u32>, TEAMS * DIM_WORDS>;
var<workgroup> rows_most: array<atomic<u32>, ROWS>;
var<workgroup> rows_top: array<atomic<u32>, ROWS>;  // as top_found
var<workgroup> rows_heaviest: array<atomic<u32>, 2u * ROWS>;  // [block % 2][row]
var<workgroup> row_weights: array<f32, ROWS * 64u>;
var<workgroup> row_bytes: array<vec2<i32>, ROWS * 64u>;
var<workgroup> weights_high: array<u32, TEAMS * 64u>;  // [team][word][row]
var<workgroup> weights_low: array<u32, TEAMS * 64u>;
var<workgroup> row_eighths: array<f32, ROWS * 8u>;
var<workgroup> row_sums: array<f32, ROWS>;
var<workgroup> kept: array<vec4<f32>, KEEP * TEAMS * 64u>;
var<workgroup> shared_run: vec4<u32>;

// Four sums of products of planes.
struct Joined {
  high: vec4<i32>,
  middle: vec4<i32>,
  low: vec4<i32>,
}
fn dots_of(word: u32, x: vec4<u32>) -> vec4<i32> {
  return vec4<i32>(dot4I8Packed(word, x.x), dot4I8Packed(word, x.y), dot4I8Packed(word, x.z),
      dot4I8Packed(word, x.w));
}
fn joined_with(sums: Joined, hi: u32, lo: u32, x_high: vec4<u32>, x_low: vec4<u32>) -> Joined {
  return Joined(sums.high + dots_of(hi, x_high),
      sums.middle + (dots_of(hi, x_low) + dots_of(lo, x_high)), sums.low + dots_of(lo, x_low));
}

fn position_at(row: u32) -> u32 { return min(A[place(3u, row)], P[3] * 64u - 1u); }

// From row `first` of the tile on: the end of those of its sequence, the blocks they see, and the
// sequence.
fn run_from(first: u32, row0: u32, count: u32) -> vec4<u32> {
  let sequence = A[place(2u, row0 + first)];
  var run = vec4<u32>(first, 0xFFFFFFFFu, 0u, sequence);
  for (; run.x < count; run.x++) {
    if (A[place(2u, row0 + run.x)] != sequence) { break; }
    let p = position_at(row0 + run.x);
    run.y = min(run.y, first_seen(p) / 64u);
    run.z = max(run.z, p / 64u);
  }
  return run;
}

@compute @workgroup_size(TEAMS * 64u)
fn attention_q15_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let unit = group_unit(group, groups);
  if (unit >= units()) { return; }
  let team = thread / 64u;
  let lane = thread % 64u;
  let row0 = (units() - 1u - unit) / int_at(0u) * ROWS;  // those that see the most come first
  let head = unit % int_at(0u);
  let kv_head = head / (int_at(0u) / int_at(1u));
  let slope = slope_of(head);
  let count = min(rows(0u) - row0, ROWS);

  // The team's queries as planes.
  var position: vec4<u32>;
  var begin: vec4<u32>;
  var query_at: vec4<u32>;
  for (var r = 0u; r < 4u; r++) {
    let row = row0 + min(4u * team + r, count - 1u);
    position[r] = position_at(row);
    begin[r] = first_seen(position[r]);
    query_at[r] = place(0u, row) + head * HEAD_DIM;
    var own_most = 0u;
    for (var d = lane; d < HEAD_DIM; d += 64u) {
      own_most = max(own_most, A[query_at[r] + d] & 0x7FFFFFFFu);
    }
    own_most = most_of_lanes(own_most);
    if (speaks_for_lanes()) { atomicMax(&rows_most[4u * team + r], own_most); }
  }
  workgroupBarrier();
  var query_scale: vec4<f32>;
  for (var r = 0u; r < 4u; r++) {
    let most = atomicLoad(&rows_most[4u * team + r]);
    query_scale[r] = bitcast<f32>(q15_scale(most));
    for (var w = lane; w < DIM_WORDS; w += 64u) {
      var hi = 0u;
      var lo = 0u;
      for (var i = 0u; i < 4u; i++) {
        if (4u * w + i < HEAD_DIM && !q15_lost(most)) {
          let v = q15_planes(load(query_at[r] + 4u * w + i), q15_inverse(most));
          hi = hi | byte_of(v.x, i);
          lo = lo | byte_of(v.y, i);
        }
      }
      query_high[team * DIM_WORDS + w][r] = hi;
      query_low[team * DIM_WORDS + w][r] = lo;
    }
  }
  workgroupBarrier();

  var num: array<vec4<f32>, TILES>;
  for (var t = 0u; t < TILES; t++) { num[t] = vec4<f32>(zero()); }
  var den = vec4<f32>(zero());
  var turn = 0u;
  var first = 0u;
  loop {
    if (thread == 0u) { shared_run = run_from(first, row0, count); }
    let run = workgroupUniformLoad(&shared_run);
    let table = P[2] + run.w * P[3];
    var own_key = vec4<u32>(0u);
    for (var b = run.y; b <= run.z; b++) {
      let s = four_scores(page_part(b, table, kv_head), lane, team, query_scale, slope, position,
          b * 64u + lane);
      if (b - run.y < KEEP) { kept[(b - run.y) * TEAMS * 64u + thread] = s; }
      for (var r = 0u; r < 4u; r++) {
        if (seen_by(4u * team + r, first, run.x, begin[r], position[r], b * 64u + lane)) {
          own_key[r] = max(own_key[r], score_key(s[r]));
        }
      }
    }
    for (var r = 0u; r < 4u; r++) {
      let most_found = most_of_lanes(own_key[r]);
      if (speaks_for_lanes()) { atomicMax(&rows_top[4u * team + r], most_found); }
    }
    workgroupBarrier();
    for (var b = run.y; b <= run.z; b++) {
      let part = page_part(b, table, kv_head);
      var s: vec4<f32>;
      if (b - run.y < KEEP) { s = kept[(b - run.y) * TEAMS * 64u + thread]; }
      else {
        s = four_scores(part, lane, team, query_scale, slope, position, b * 64u + lane);
      }
      let value_scale = load(part + 64u * PADDED_DIM + 64u + lane);
      var w = vec4<f32>(zero());
      for (var r = 0u; r < 4u; r++) {
        var e = zero();
        if (seen_by(4u * team + r, first, run.x, begin[r], position[r], b * 64u + lane)) {
          e = exp_difference(s[r],
              opaque(of_score_key(atomicLoad(&rows_top[4u * team + r])) + HEADROOM));
          w[r] = mul(e, value_scale);
        }
        row_weights[(4u * team + r) * 64u + lane] = e;
        let most = most_of_lanes(magnitude_bits(w[r]));
        if (speaks_for_lanes()) { atomicMax(&rows_heaviest[turn * ROWS + 4u * team + r], most); }
      }
      workgroupBarrier();
      var weight_scale: vec4<f32>;
      for (var r = 0u; r < 4u; r++) {
        let heavy = atomicLoad(&rows_heaviest[turn * ROWS + 4u * team + r]);
        weight_scale[r] = bitcast<f32>(q15_scale(heavy));
        var v = vec2<i32>(0, 0);
        if (!q15_lost(heavy)) { v = q15_planes(w[r], q15_inverse(heavy)); }
        row_bytes[(4u * team + r) * 64u + lane] = v;
      }
      if (thread < ROWS * 8u) {
        var every: array<f32, 8>;
        for (var i = 0u; i < 8u; i++) {
          every[i] = row_weights[thread / 8u * 64u + thread % 8u + 8u * i];
        }
        row_eighths[thread] = halves(every);
      }
      workgroupBarrier();
      // a word of a row's weights for each thread
      var hi = 0u;
      var lo = 0u;
      for (var i = 0u; i < 4u; i++) {
        hi = hi | byte_of(row_bytes[thread * 4u + i].x, i);
        lo = lo | byte_of(row_bytes[thread * 4u + i].y, i);
      }
      let to = team * 64u + thread % 16u * 4u + thread / 16u % 4u;
      weights_high[to] = hi;
      weights_low[to] = lo;
      if (thread < ROWS) {
        var eighths: array<f32, 8>;
        for (var i = 0u; i < 8u; i++) { eighths[i] = row_eighths[thread * 8u + i]; }
        row_sums[thread] = halves(eighths);
        atomicStore(&rows_heaviest[turn * ROWS + thread], 0u);  // for the block after the next
      }
      turn = 1u - turn;
      workgroupBarrier();
      for (var r = 0u; r < 4u; r++) { den[r] = den[r] + row_sums[4u * team + r]; }
      for (var t = 0u; t < TILES; t++) {
        let d = t * 64u + lane;
        if (d >= HEAD_DIM) { continue; }
        var sums = Joined();
        for (var g = 0u; g < 16u; g++) {
          let words = value_words(part + 32u * PADDED_DIM, g, d);
          let w = team * 64u + 4u * g;
          sums = joined_with(sums, words.x ^ SIGNS, words.y ^ SIGNS,
              vec4<u32>(weights_high[w], weights_high[w + 1u], weights_high[w + 2u],
                  weights_high[w + 3u]),
              vec4<u32>(weights_low[w], weights_low[w + 1u], weights_low[w + 2u],
                  weights_low[w + 3u]));
        }
        for (var r = 0u; r < 4u; r++) {
          num[t][r] = num[t][r] + mul(join_planes(sums.high[r], sums.middle[r], sums.low[r]),
              weight_scale[r]);
        }
      }
    }
    first = run.x;
    if (first >= count) { break; }
  }
  for (var r = 0u; r < 4u && 4u * team + r < count; r++) {
    let inverse = div(1.0, den[r]);
    let y = place(RESULT, row0 + 4u * team + r) + head * HEAD_DIM;
    for (var d = lane; d < HEAD_DIM; d += 64u) { store(y + d, num[d / 64u][r] * inverse); }
  }
}

// Whether row r of the tile, one of first..next, sees the key at j.
fn seen_by(r: u32, first: u32, next: u32, begin: u32, p: u32, j: u32) -> bool {
  return r >= first && r < next && j >= begin && j <= p;
}
fn four_scores(part: u32, lane: u32, team: u32, query_scale: vec4<f32>, slope: f32,
    position: vec4<u32>, j: u32) -> vec4<f32> {
  var sums = Joined();
  for (var w = 0u; w < DIM_WORDS; w++) {
    sums = joined_with(sums, A[part + w * 64u + lane] ^ SIGNS,
        A[part + (DIM_WORDS + w) * 64u + lane] ^ SIGNS, query_high[team * DIM_WORDS + w],
        query_low[team * DIM_WORDS + w]);
  }
  let key_scale = load(part + 64u * PADDED_DIM + lane);
  var s: vec4<f32>;
  for (var r = 0u; r < 4u; r++) {
    s[r] = nearer(scaled_score(join_planes(sums.high[r], sums.middle[r], sums.low[r]),
        query_scale[r], key_scale), slope, position[r], j);
  }
  return s;
}
