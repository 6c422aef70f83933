// Attention in q15 by matrix units, for many rows: sums of i8 times i8 are exact in i32, and all
// else is done as attention_q15.wgsl does it, so the bits are the same. With attention_pages.wgsl.
// A workgroup has one head of 16 rows. Rows of one sequence walk over its blocks together, once to
// find each row's largest score, once to add; scores of a few blocks are kept meanwhile. Of eight
// subgroups of 32 threads two multiply for a quarter of the columns, one the planes that are alike,
// one those that are not; between products, 16 threads share a row, each has the columns that are
// 16 apart.

const ROWS = 16u;
const THREADS = 256u;
const KEY_WORDS = (PADDED_DIM + 31u) / 32u * 8u;  // of a position: beyond the head queries are 0
// Padded, so that neighbors lie in other banks.
const KEY_STEP = KEY_WORDS + 4u;
const VALUE_STEP = 16u + 4u;  // 64 positions of a dimension
const SUM_STEP = 64u + 8u;
const SUMS = ROWS * SUM_STEP;  // high high, low low, high low, low high
const DIM_ROUNDS = (PADDED_DIM / 16u + 3u) / 4u;
const NO_ROW = 0xFFFFFFFFu;
const KEPT_BLOCKS = 16u;

var<workgroup> queries: array<i32, 2u * ROWS * KEY_STEP>;  // [plane][row][k]
// Keys as [plane][position][k], then values as [plane][dimension][position].
var<workgroup> staged: array<i32, max(128u * KEY_STEP, 2u * PADDED_DIM * VALUE_STEP)>;
// Of keys [sum][row][position]; of values [tile][sum][row][dimension].
var<workgroup> sums: array<i32, 4u * SUMS>;
var<workgroup> weight_words: array<i32, 2u * ROWS * VALUE_STEP>;  // [plane][row][position]
// Of a block's keys, and scales of its weights, then 1 / sum: two blocks' in turn.
var<workgroup> key_scales: array<f32, 128>;
var<workgroup> row_factors: array<f32, 2u * ROWS>;
var<workgroup> sequence_of_row: array<u32, ROWS>;
var<workgroup> position_of_row: array<u32, ROWS>;

alias Left = subgroup_matrix_left<i8, 32, 16>;
alias Right = subgroup_matrix_right<i8, 16, 32>;
alias Sum = subgroup_matrix_result<i32, 16, 16>;

// Of the 16 threads of a row.
fn most_of_row(v: u32) -> u32 {
  var most = max(v, subgroupShuffleXor(v, 1u));
  most = max(most, subgroupShuffleXor(most, 2u));
  most = max(most, subgroupShuffleXor(most, 4u));
  return max(most, subgroupShuffleXor(most, 8u));
}
// By halves (rule 4).
fn sum_of_row(v: vec4<f32>) -> f32 {
  var sum = (v.x + v.z) + (v.y + v.w);
  sum = sum + subgroupShuffleXor(sum, 8u);
  sum = sum + subgroupShuffleXor(sum, 4u);
  sum = sum + subgroupShuffleXor(sum, 2u);
  return sum + subgroupShuffleXor(sum, 1u);
}

// What a thread has read of a block, all of it under way at once, and writes where there is room.
const FOURS = PADDED_DIM / 16u;
const READS = (FOURS + 1u) / 2u;
struct Fetched {
  keys: array<vec4<u32>, READS>,
  values: array<vec4<u32>, READS>,
  key_scale: u32,
  value_scales: vec4<f32>,  // of the columns of a thread
}
fn four_at(at: u32, step: u32) -> vec4<u32> {
  return vec4<u32>(A[at], A[at + step], A[at + 2u * step], A[at + 3u * step]) ^
      vec4<u32>(SIGNS);
}
fn put_four(to: u32, words: vec4<u32>) {
  let four = bitcast<vec4<i32>>(words);
  staged[to] = four.x;
  staged[to + 1u] = four.y;
  staged[to + 2u] = four.z;
  staged[to + 3u] = four.w;
}
// Item n of a thread; what is beyond the last is the last, which is written twice alike.
fn item(n: u32, thread: u32) -> u32 { return min(n * THREADS + thread, 128u * FOURS - 1u); }
fn fetch_keys(f: ptr<function, Fetched>, part: u32, thread: u32) {
  for (var n = 0u; n < READS; n++) {
    let i = item(n, thread);  // [plane][four][position]
    (*f).keys[n] = four_at(part + i / 64u * 256u + i % 64u, 64u);
  }
  (*f).key_scale = A[part + 64u * PADDED_DIM + thread % 64u];
}
fn put_keys(f: ptr<function, Fetched>, turn: u32, thread: u32) {
  for (var n = 0u; n < READS; n++) {
    let i = item(n, thread);
    put_four((i / (64u * FOURS) * 64u + i % 64u) * KEY_STEP + i / 64u % FOURS * 4u, (*f).keys[n]);
  }
  if (thread < 64u) { key_scales[64u * turn + thread] = bitcast<f32>((*f).key_scale); }
}
fn fetch_values(f: ptr<function, Fetched>, part: u32, thread: u32) {
  for (var n = 0u; n < READS; n++) {
    let i = item(n, thread);  // [plane][four][dimension]
    (*f).values[n] = four_at(part + 32u * PADDED_DIM + i / PADDED_DIM * 4u * PADDED_DIM +
        i % PADDED_DIM, PADDED_DIM);
  }
  for (var i = 0u; i < 4u; i++) {
    (*f).value_scales[i] = load(part + 64u * PADDED_DIM + 64u + thread % 16u + 16u * i);
  }
}
fn put_values(f: ptr<function, Fetched>, thread: u32) {
  for (var n = 0u; n < READS; n++) {
    let i = item(n, thread);
    put_four((i / (4u * PADDED_DIM) * PADDED_DIM + i % PADDED_DIM) * VALUE_STEP +
        i / PADDED_DIM % 4u * 4u, (*f).values[n]);
  }
}

// A row as the threads that share it see it.
struct Query {
  scale: f32,
  slope: f32,
  position: u32,
  begin: u32,  // the first position that it sees
}
fn quantize_query(q: u32, row: u32, lane: u32) -> f32 {
  const WORDS = (KEY_WORDS + 15u) / 16u;
  var own: array<vec4<f32>, WORDS>;
  var most = 0u;
  for (var n = 0u; n < WORDS; n++) {
    for (var i = 0u; i < 4u; i++) {
      let d = 4u * (lane + 16u * n) + i;
      own[n][i] = select(load(q + min(d, HEAD_DIM - 1u)), zero(), d >= HEAD_DIM);
      most = max(most, magnitude_bits(own[n][i]));
    }
  }
  most = most_of_row(most);
  for (var n = 0u; n < WORDS; n++) {
    var hi = 0u;
    var lo = 0u;
    for (var i = 0u; i < 4u && !q15_lost(most); i++) {
      let v = q15_planes(own[n][i], q15_inverse(most));
      hi = hi | byte_of(v.x, i);
      lo = lo | byte_of(v.y, i);
    }
    let w = lane + 16u * n;
    if (w < KEY_WORDS) {
      queries[row * KEY_STEP + w] = bitcast<i32>(hi);
      queries[(ROWS + row) * KEY_STEP + w] = bitcast<i32>(lo);
    }
  }
  return bitcast<f32>(q15_scale(most));
}

// Sums of planes of all rows with 16 of a block's keys: of high with high and low with low, or of
// one with the other.
fn sum_keys(thread: u32) {
  let first = thread / 32u % 4u * 16u;
  let mixed = thread / 128u;
  var one: Sum;
  var other: Sum;
  for (var k = 0u; k < KEY_WORDS; k += 8u) {
    let x_high = subgroupMatrixLoad<Left, row_major>(&queries, k, KEY_STEP);
    let x_low = subgroupMatrixLoad<Left, row_major>(&queries, ROWS * KEY_STEP + k, KEY_STEP);
    let y_first = subgroupMatrixLoad<Right, col_major>(&staged,
        (mixed * 64u + first) * KEY_STEP + k, KEY_STEP);
    let y_second = subgroupMatrixLoad<Right, col_major>(&staged,
        ((1u - mixed) * 64u + first) * KEY_STEP + k, KEY_STEP);
    one = subgroupMatrixMultiplyAccumulate(x_high, y_first, one);
    other = subgroupMatrixMultiplyAccumulate(x_low, y_second, other);
  }
  subgroupMatrixStore<row_major>(&sums, mixed * 2u * SUMS + first, one, SUM_STEP);
  subgroupMatrixStore<row_major>(&sums, (mixed * 2u + 1u) * SUMS + first, other, SUM_STEP);
}
fn sees(q: Query, j: u32) -> bool { return j >= q.begin && j <= q.position; }
// Of the columns of a thread: lane, and those 16, 32 and 48 on. Only those that are seen.
fn scores(q: Query, turn: u32, row: u32, lane: u32, b: u32) -> vec4<f32> {
  var found: vec4<f32>;
  for (var i = 0u; i < 4u; i++) {
    let column = lane + 16u * i;
    let w = row * SUM_STEP + column;
    if (!sees(q, b * 64u + column)) { continue; }
    found[i] = nearer(scaled_score(join_planes(sums[w], sums[2u * SUMS + w] + sums[3u * SUMS + w],
        sums[SUMS + w]), q.scale, key_scales[64u * turn + column]), q.slope, q.position,
        b * 64u + column);
  }
  return found;
}

// Weights of a block, from its scores, as planes; returns the sum of them.
fn weigh(q: Query, score: vec4<f32>, value_scales: vec4<f32>, turn: u32, row: u32, lane: u32,
    b: u32, top: f32) -> f32 {
  var every: vec4<f32>;
  var weighted: vec4<f32>;
  var heavy = 0u;
  for (var i = 0u; i < 4u; i++) {
    every[i] = zero();
    weighted[i] = zero();
    if (sees(q, b * 64u + lane + 16u * i)) {
      every[i] = exp_difference(score[i], top);
      weighted[i] = mul(every[i], value_scales[i]);
    }
    heavy = max(heavy, magnitude_bits(weighted[i]));
  }
  heavy = most_of_row(heavy);
  let inverse = q15_inverse(heavy);
  for (var i = 0u; i < 4u; i++) {
    var v = vec2<i32>(0, 0);
    if (!q15_lost(heavy)) { v = q15_planes(weighted[i], inverse); }
    var words = vec2<u32>(byte_of(v.x, lane % 4u), byte_of(v.y, lane % 4u));
    words = words | subgroupShuffleXor(words, 1u);
    words = words | subgroupShuffleXor(words, 2u);
    if (lane % 4u == i) {
      let w = row * VALUE_STEP + 4u * i + lane / 4u;
      weight_words[w] = bitcast<i32>(words.x);
      weight_words[ROWS * VALUE_STEP + w] = bitcast<i32>(words.y);
    }
  }
  if (lane == 0u) { row_factors[ROWS * turn + row] = bitcast<f32>(q15_scale(heavy)); }
  return sum_of_row(every);
}

// Sums of planes of all rows' weights with 16 dimensions of a block's values, as of keys.
fn sum_values(tile: u32, area: u32, mixed: u32) {
  var one: Sum;
  var other: Sum;
  for (var k = 0u; k < 16u; k += 8u) {
    let x_high = subgroupMatrixLoad<Left, row_major>(&weight_words, k, VALUE_STEP);
    let x_low = subgroupMatrixLoad<Left, row_major>(&weight_words, ROWS * VALUE_STEP + k,
        VALUE_STEP);
    let y_first = subgroupMatrixLoad<Right, col_major>(&staged,
        (mixed * PADDED_DIM + 16u * tile) * VALUE_STEP + k, VALUE_STEP);
    let y_second = subgroupMatrixLoad<Right, col_major>(&staged,
        ((1u - mixed) * PADDED_DIM + 16u * tile) * VALUE_STEP + k, VALUE_STEP);
    one = subgroupMatrixMultiplyAccumulate(x_high, y_first, one);
    other = subgroupMatrixMultiplyAccumulate(x_low, y_second, other);
  }
  subgroupMatrixStore<row_major>(&sums, area + mixed * 512u, one, 16u);
  subgroupMatrixStore<row_major>(&sums, area + mixed * 512u + 256u, other, 16u);
}
// Adds what a block's values come to, weighted: each thread has 4 results of a round.
fn add_weighted(num: ptr<function, array<f32, 4u * DIM_ROUNDS>>, turn: u32, thread: u32) {
  let part = thread / 32u % 4u;
  let at = thread / 64u * 1024u + thread % 64u;
  for (var t = 0u; t < DIM_ROUNDS; t++) {
    if (t > 0u) { workgroupBarrier(); }
    sum_values(min(4u * t + part, PADDED_DIM / 16u - 1u), part * 1024u, thread / 128u);
    workgroupBarrier();
    for (var i = 0u; i < 4u; i++) {
      let w = at + 64u * i;
      (*num)[4u * t + i] += mul(join_planes(sums[w], sums[512u + w] + sums[768u + w],
          sums[256u + w]), row_factors[ROWS * turn + 4u * i + thread % 64u / 16u]);
    }
  }
}

@compute @workgroup_size(THREADS)
fn attention_units(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) index: u32,
    @builtin(subgroup_invocation_id) mate: u32) {
  let thread = index / 32u * 32u + mate;  // the order in which values are exchanged
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let heads = int_at(0u);
  let head = u % heads;
  let kv_head = head / (heads / int_at(1u));
  // The last rows, which see most, first.
  let row0 = (units() / heads - 1u - u / heads) * ROWS;
  let count = min(ROWS, rows(0u) - row0);
  let row = thread / 16u;
  let lane = thread % 16u;
  if (lane == 0u) {
    let r = row0 + min(row, count - 1u);
    sequence_of_row[row] = A[place(2u, r)];
    position_of_row[row] = min(A[place(3u, r)], P[3] * 64u - 1u);
  }
  var q: Query;
  q.scale = quantize_query(place(0u, row0 + min(row, count - 1u)) + head * HEAD_DIM, row, lane);
  q.slope = slope_of(head);
  workgroupBarrier();
  var from_row = 0u;
  var turn = 0u;
  while (from_row < count) {
    // Rows that follow one another in one sequence, and the blocks that they see.
    let sequence = sequence_of_row[from_row];
    var to_row = from_row;
    var first = NO_ROW;
    var last = 0u;
    while (to_row < count && sequence_of_row[to_row] == sequence) {
      let p = position_of_row[to_row];
      first = min(first, first_seen(p) / 64u);
      last = max(last, p / 64u);
      to_row++;
    }
    to_row = uniform_word(thread, to_row);
    first = uniform_word(thread, first);
    last = uniform_word(thread, last);
    let table = P[2] + uniform_word(thread, sequence) * P[3];
    q.position = 0u;
    q.begin = 1u;  // none
    if (row >= from_row && row < to_row) {
      q.position = position_of_row[row];
      q.begin = first_seen(q.position);
    }
    var fetched: Fetched;
    fetch_keys(&fetched, page_part(first, table, kv_head), thread);
    let keeps = last - first < KEPT_BLOCKS;
    var kept: array<vec4<f32>, KEPT_BLOCKS>;
    var own_key = 0u;
    for (var b = first; b <= last; b++) {
      turn = 1u - turn;
      put_keys(&fetched, turn, thread);
      workgroupBarrier();
      // Of the next block; a second walk begins with the first again.
      fetch_keys(&fetched, page_part(select(b + 1u, first, b == last), table, kv_head), thread);
      sum_keys(thread);
      workgroupBarrier();
      let found = scores(q, turn, row, lane, b);
      for (var i = 0u; i < 4u; i++) {
        if (sees(q, b * 64u + lane + 16u * i)) { own_key = max(own_key, score_key(found[i])); }
      }
      if (keeps) { kept[b - first] = found; }
    }
    fetch_values(&fetched, page_part(first, table, kv_head), thread);
    let top = opaque(of_score_key(most_of_row(own_key)) + HEADROOM);
    var den = zero();
    var num: array<f32, 4u * DIM_ROUNDS>;
    for (var i = 0u; i < 4u * DIM_ROUNDS; i++) { num[i] = zero(); }
    for (var b = first; b <= last; b++) {
      turn = 1u - turn;
      let next = page_part(min(b + 1u, last), table, kv_head);
      var found: vec4<f32>;
      if (keeps) {
        found = kept[b - first];
      } else {
        put_keys(&fetched, turn, thread);
        workgroupBarrier();
        fetch_keys(&fetched, next, thread);
        sum_keys(thread);
        workgroupBarrier();
        found = scores(q, turn, row, lane, b);
      }
      put_values(&fetched, thread);
      let value_scales = fetched.value_scales;
      fetch_values(&fetched, next, thread);
      den = den + weigh(q, found, value_scales, turn, row, lane, b, top);
      workgroupBarrier();
      add_weighted(&num, turn, thread);
    }
    turn = 1u - turn;
    if (lane == 0u) { row_factors[ROWS * turn + row] = div(1.0, den); }
    workgroupBarrier();
    for (var t = 0u; t < DIM_ROUNDS; t++) {
      let d = (4u * t + thread / 64u) * 16u + thread % 16u;
      for (var i = 0u; i < 4u; i++) {
        let r = 4u * i + thread % 64u / 16u;
        if (d < HEAD_DIM && r >= from_row && r < to_row) {
          store(place(RESULT, row0 + r) + head * HEAD_DIM + d,
              num[4u * t + i] * row_factors[ROWS * turn + r]);
        }
      }
    }
    from_row = to_row;
  }
}
