// Products of class I with a scale per row by matrix units, for many rows: sums of i8 times i8 are
// exact in i32. A workgroup makes TILE_OUTPUTS outputs of TILE_ROWS rows, a subgroup of 32 threads
// 64 outputs of 32 rows: the planes of 16 rows are a matrix each. STEP words of k (a multiple of 8)
// of both sides pass through workgroup memory at a time. PREFETCH: what the next step needs is on
// its way while this one computes.

const ACROSS = TILE_OUTPUTS / 64u;
const THREADS = 32u * ACROSS * (TILE_ROWS / 32u);
const ROW_WORDS = STEP + 4u;  // padded, so that neighbors lie in other banks
const BYTE_ROWS = STEP / LAYERS;  // of a step
const X_PARTS = 2u * TILE_ROWS * STEP / THREADS;
const W_PARTS = TILE_OUTPUTS * BYTE_ROWS / THREADS;

// [16 rows][plane][row][k], [output][k]; when all k are added, sums on their way to the threads
var<workgroup> x_words: array<i32, 2u * TILE_ROWS * ROW_WORDS>;
var<workgroup> w_words: array<i32, TILE_OUTPUTS * ROW_WORDS>;

struct Fetched {
  x: array<u32, X_PARTS>,
  codes: array<u32, W_PARTS>,
  subs: array<u32, W_PARTS>,
}
struct Place {
  n0: u32,  // first output
  m0: u32,  // first row
  words: u32,  // of a plane of activations
  count: u32,  // words of k that there are
}
// Which output and byte row a part of the weights is: neighboring threads take neighboring outputs,
// as they lie in memory.
fn output_of(part: u32) -> u32 { return part % TILE_OUTPUTS; }
fn depth_of(part: u32) -> u32 { return part / TILE_OUTPUTS; }
fn byte_row_at(k0: u32, part: u32) -> u32 {
  return min(k0 / LAYERS + depth_of(part), P[FIRST_MATRIX + 2u] / (4u * LAYERS) - 1u);
}
fn fetch_step(at: Place, k0: u32, thread: u32) -> Fetched {
  var f: Fetched;
  let last_row = rows(1u) - 1u;
  for (var i = 0u; i < X_PARTS; i++) {
    let part = thread + i * THREADS;
    let line = part / STEP;
    let k = k0 + part % STEP;
    let m = min(at.m0 + line / 32u * 16u + line % 16u, last_row);
    f.x[i] = 0u;
    if (k < at.count) { f.x[i] = A[place(1u, m) + line / 16u % 2u * at.words + k]; }
  }
  for (var i = 0u; i < W_PARTS; i++) {
    let part = thread + i * THREADS;
    // beyond the last panel those of the last
    let n = min(at.n0 + output_of(part), (P[FIRST_MATRIX] + 15u) / 16u * 16u - 1u);
    let r = byte_row_at(k0, part);
    f.codes[i] = byte_row(w_panel(n), n, r);
    if (LAYOUT != PLAIN) { f.subs[i] = sub_word(w_panel(n), n, r); }
  }
  return f;
}
fn put_step(f: ptr<function, Fetched>, k0: u32, thread: u32) {
  for (var i = 0u; i < X_PARTS; i++) {
    let part = thread + i * THREADS;
    x_words[part / STEP * ROW_WORDS + part % STEP] = bitcast<i32>((*f).x[i]);
  }
  for (var i = 0u; i < W_PARTS; i++) {
    let part = thread + i * THREADS;
    let sub = sub_of((*f).subs[i], byte_row_at(k0, part));
    for (var p = 0u; p < LAYERS; p++) {
      w_words[output_of(part) * ROW_WORDS + depth_of(part) * LAYERS + p] =
          bitcast<i32>(layer_codes((*f).codes[i], p, sub));
    }
  }
}

alias Left = subgroup_matrix_left<i8, 32, 16>;
alias Right = subgroup_matrix_right<i8, 16, 32>;
alias Result = subgroup_matrix_result<i32, 16, 16>;

// 16 rows by 16 outputs from both planes' sums in workgroup memory.
fn finish_sums(at: Place, from_word: u32, m0: u32, n0: u32, lane: u32) {
  for (var i = lane; i < 256u; i += 32u) {
    let m = m0 + i / 16u;
    let n = n0 + i % 16u;
    if (m >= rows(1u) || n >= w_rows()) { continue; }
    let q = place(1u, m) + 2u * at.words;  // scale, sums of both planes
    let row_sums = vec2<i32>(bitcast<i32>(A[q + 1u]), bitcast<i32>(A[q + 2u]));
    var y = join_sums(n, vec2<i32>(x_words[from_word + i], x_words[from_word + 256u + i]), row_sums,
        load(q), own_scale(n));
    if (HAS_BIAS) { y = y + load(place(2u, 0u) + n); }
    store(place(3u, m) + n, y);
  }
}

@compute @workgroup_size(THREADS)
fn matmul_units(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  // not by M: all threads meet in the loop over k
  let tiles = (P[FIRST_MATRIX] + TILE_OUTPUTS - 1u) / TILE_OUTPUTS;
  let words = (P[FIRST_MATRIX + 1u] + 63u) / 64u * 16u;
  let at = Place(u % tiles * TILE_OUTPUTS, u / tiles * TILE_ROWS, words,
      min(words, P[FIRST_MATRIX + 2u] / 4u));
  let part = thread / 32u;
  let lane = thread % 32u;
  let rows0 = part / ACROSS * 32u;       // of the subgroup in the tile
  let outputs0 = part % ACROSS * 64u;
  var c00: Result;
  var c01: Result;
  var c02: Result;
  var c03: Result;
  var c10: Result;
  var c11: Result;
  var c12: Result;
  var c13: Result;
  var c20: Result;
  var c21: Result;
  var c22: Result;
  var c23: Result;
  var c30: Result;
  var c31: Result;
  var c32: Result;
  var c33: Result;
  var fetched = fetch_step(at, 0u, thread);
  for (var k0 = 0u; k0 < at.count; k0 += STEP) {
    put_step(&fetched, k0, thread);
    workgroupBarrier();
    if (PREFETCH && k0 + STEP < at.count) { fetched = fetch_step(at, k0 + STEP, thread); }
    for (var k = 0u; k < STEP; k += 8u) {
      let x0 = subgroupMatrixLoad<Left, row_major>(&x_words,
          (2u * rows0 + 0u) * ROW_WORDS + k, ROW_WORDS);
      let x1 = subgroupMatrixLoad<Left, row_major>(&x_words,
          (2u * rows0 + 16u) * ROW_WORDS + k, ROW_WORDS);
      let x2 = subgroupMatrixLoad<Left, row_major>(&x_words,
          (2u * rows0 + 32u) * ROW_WORDS + k, ROW_WORDS);
      let x3 = subgroupMatrixLoad<Left, row_major>(&x_words,
          (2u * rows0 + 48u) * ROW_WORDS + k, ROW_WORDS);
      let w0 = subgroupMatrixLoad<Right, col_major>(&w_words,
          (outputs0 + 0u) * ROW_WORDS + k, ROW_WORDS);
      let w1 = subgroupMatrixLoad<Right, col_major>(&w_words,
          (outputs0 + 16u) * ROW_WORDS + k, ROW_WORDS);
      let w2 = subgroupMatrixLoad<Right, col_major>(&w_words,
          (outputs0 + 32u) * ROW_WORDS + k, ROW_WORDS);
      let w3 = subgroupMatrixLoad<Right, col_major>(&w_words,
          (outputs0 + 48u) * ROW_WORDS + k, ROW_WORDS);
      c00 = subgroupMatrixMultiplyAccumulate(x0, w0, c00);
      c01 = subgroupMatrixMultiplyAccumulate(x0, w1, c01);
      c02 = subgroupMatrixMultiplyAccumulate(x0, w2, c02);
      c03 = subgroupMatrixMultiplyAccumulate(x0, w3, c03);
      c10 = subgroupMatrixMultiplyAccumulate(x1, w0, c10);
      c11 = subgroupMatrixMultiplyAccumulate(x1, w1, c11);
      c12 = subgroupMatrixMultiplyAccumulate(x1, w2, c12);
      c13 = subgroupMatrixMultiplyAccumulate(x1, w3, c13);
      c20 = subgroupMatrixMultiplyAccumulate(x2, w0, c20);
      c21 = subgroupMatrixMultiplyAccumulate(x2, w1, c21);
      c22 = subgroupMatrixMultiplyAccumulate(x2, w2, c22);
      c23 = subgroupMatrixMultiplyAccumulate(x2, w3, c23);
      c30 = subgroupMatrixMultiplyAccumulate(x3, w0, c30);
      c31 = subgroupMatrixMultiplyAccumulate(x3, w1, c31);
      c32 = subgroupMatrixMultiplyAccumulate(x3, w2, c32);
      c33 = subgroupMatrixMultiplyAccumulate(x3, w3, c33);
    }
    workgroupBarrier();
    if (!PREFETCH && k0 + STEP < at.count) { fetched = fetch_step(at, k0 + STEP, thread); }
  }
  let from_word = part * 512u;
  subgroupMatrixStore<row_major>(&x_words, from_word, c00, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c10, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 0u, at.n0 + outputs0 + 0u, lane);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&x_words, from_word, c01, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c11, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 0u, at.n0 + outputs0 + 16u, lane);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&x_words, from_word, c02, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c12, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 0u, at.n0 + outputs0 + 32u, lane);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&x_words, from_word, c03, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c13, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 0u, at.n0 + outputs0 + 48u, lane);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&x_words, from_word, c20, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c30, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 16u, at.n0 + outputs0 + 0u, lane);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&x_words, from_word, c21, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c31, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 16u, at.n0 + outputs0 + 16u, lane);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&x_words, from_word, c22, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c32, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 16u, at.n0 + outputs0 + 32u, lane);
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&x_words, from_word, c23, 16u);
  subgroupMatrixStore<row_major>(&x_words, from_word + 256u, c33, 16u);
  workgroupBarrier();
  finish_sums(at, from_word, at.m0 + rows0 + 16u, at.n0 + outputs0 + 48u, lane);
}
