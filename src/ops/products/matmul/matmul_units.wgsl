// Products of class I with a scale per row by matrix units, for many rows: sums of i8 times i8 are
// exact in i32. A workgroup makes TILE_OUTPUTS outputs of TILE_ROWS rows. A subgroup of 32 threads
// multiplies LINES times COLS matrices of 16 times 16, 2 or 4 of each: a line is 16 rows of one of
// PLANES. STEP words of k of both sides pass through workgroup memory at a time, of which DEPTH
// subgroups take some each; the next step's are on their way from memory while one computes. With
// two BUFFERS one is filled while the other is multiplied.
//
// On an H200 loops over matrices, and over results that end early, took more than twice the time.

const ROW_WORDS = STEP + 4u;  // padded, so that neighbors lie in other banks
const X_LINES = PLANES * TILE_ROWS;
const X_SIZE = X_LINES * ROW_WORDS;
const SIZE = X_SIZE + TILE_OUTPUTS * ROW_WORDS;
const ACROSS = TILE_OUTPUTS / (16u * COLS);
const PARTS = ACROSS * (X_LINES / (16u * LINES));
const THREADS = 32u * PARTS * DEPTH;
const SPAN = max(4u / LAYERS, 1u);  // byte rows that a thread takes at a time
const SPANS = STEP / (SPAN * LAYERS);
const X_PARTS = (X_LINES * STEP / 4u + THREADS - 1u) / THREADS;
const W_PARTS = (TILE_OUTPUTS * SPANS + THREADS - 1u) / THREADS;
const ROW_SUMS = 16u * COLS;  // of a subgroup
const LINE_SUMS = 16u * ROW_SUMS;
const AREA = PLANES * LINE_SUMS;  // sums on their way from a subgroup to its threads
const HALVES = COLS / 2u;  // outputs of a thread in a row

// [buffer]: [16 rows][plane][row][k], then [output][k]
var<workgroup> words: array<i32, max(BUFFERS * SIZE, PARTS * DEPTH * AREA)>;
var<workgroup> row_scales: array<vec4<f32>, TILE_ROWS / 4u>;
var<workgroup> high_sums: array<vec4<i32>, TILE_ROWS / 4u>;
var<workgroup> low_sums: array<vec4<i32>, TILE_ROWS / 4u>;

struct Place {
  n0: u32,  // first output
  m0: u32,  // first row
  outputs: u32,
  rows: u32,
  words: u32,  // of a plane of activations
  matrix: u32,
}
// Where a thread reads, and what it has read of a step.
struct Fetched {
  x_at: array<u32, X_PARTS>,
  w_at: array<u32, W_PARTS>,
  x: array<vec4<u32>, X_PARTS>,
  codes: array<array<u32, SPAN>, W_PARTS>,
  subs: array<u32, W_PARTS>,
}
fn row_at(at: Place, m: u32) -> u32 { return place(1u, min(at.m0 + m, at.rows - 1u)); }
fn start_of(at: Place, thread: u32) -> Fetched {
  var f: Fetched;
  for (var i = 0u; i < X_PARTS; i++) {
    let part = thread + i * THREADS;
    let line = part / (STEP / 4u);
    f.x_at[i] = row_at(at, line / (16u * PLANES) * 16u + line % 16u) +
        line / 16u % PLANES * at.words + part % (STEP / 4u) * 4u;
  }
  for (var i = 0u; i < W_PARTS; i++) {
    // beyond the last panel those of the last
    let n = min(at.n0 + (thread + i * THREADS) % TILE_OUTPUTS, (at.outputs + 15u) / 16u * 16u - 1u);
    f.w_at[i] = w_panel(n) + n % 16u;
  }
  return f;
}
fn first_byte_row(k0: u32, part: u32) -> u32 { return k0 / LAYERS + part / TILE_OUTPUTS * SPAN; }
fn fetch_step(f: ptr<function, Fetched>, at: Place, k0: u32, last_row: u32, thread: u32) {
  for (var i = 0u; i < X_PARTS; i++) {
    let x = (*f).x_at[i] + k0;
    (*f).x[i] = vec4<u32>(0u);
    if (STEP == 16u || k0 + (thread + i * THREADS) % (STEP / 4u) * 4u < at.words) {
      (*f).x[i] = vec4<u32>(A[x], A[x + 1u], A[x + 2u], A[x + 3u]);
    }
  }
  for (var i = 0u; i < W_PARTS; i++) {
    let r = first_byte_row(k0, thread + i * THREADS);
    for (var j = 0u; j < SPAN; j++) {
      (*f).codes[i][j] = byte_row((*f).w_at[i], 0u, min(r + j, last_row));
    }
    if (LAYOUT != PLAIN) { (*f).subs[i] = sub_word((*f).w_at[i], 0u, min(r, last_row)); }
  }
}
fn put_step(f: ptr<function, Fetched>, k0: u32, start: u32, thread: u32) {
  for (var i = 0u; i < X_PARTS; i++) {
    let part = thread + i * THREADS;
    if (part < X_LINES * STEP / 4u) {
      let to = start + part / (STEP / 4u) * ROW_WORDS + part % (STEP / 4u) * 4u;
      let four = bitcast<vec4<i32>>((*f).x[i]);
      words[to] = four.x;
      words[to + 1u] = four.y;
      words[to + 2u] = four.z;
      words[to + 3u] = four.w;
    }
  }
  for (var i = 0u; i < W_PARTS; i++) {
    let part = thread + i * THREADS;
    if (part < TILE_OUTPUTS * SPANS) {
      let to = start + X_SIZE + part % TILE_OUTPUTS * ROW_WORDS +
          part / TILE_OUTPUTS * (SPAN * LAYERS);
      // the same for all byte rows of a span
      let sub = sub_of((*f).subs[i], first_byte_row(k0, part));
      for (var j = 0u; j < SPAN; j++) {
        for (var p = 0u; p < LAYERS; p++) {
          words[to + j * LAYERS + p] = bitcast<i32>(layer_codes((*f).codes[i][j], p, sub));
        }
      }
    }
  }
}

alias Left = subgroup_matrix_left<i8, 32, 16>;
alias Right = subgroup_matrix_right<i8, 16, 32>;
alias Result = subgroup_matrix_result<i32, 16, 16>;

// Of the outputs of a thread.
struct Finish {
  scale: array<f32, HALVES>,
  bias: array<f32, HALVES>,
  offset: array<i32, HALVES>,
}
fn finish_of(at: Place, n0: u32) -> Finish {
  var f: Finish;
  for (var h = 0u; h < HALVES; h++) {
    let n = min(n0 + 32u * h, at.outputs - 1u);
    f.scale[h] = own_scale(n);
    f.offset[h] = code_offset(n);
    if (HAS_BIAS) { f.bias[h] = bias_at(at.matrix, n); }
  }
  return f;
}
fn four_sums(from_word: u32) -> vec4<i32> {
  var sum = vec4<i32>(0);
  for (var d = 0u; d < DEPTH; d++) {
    let w = from_word + d * AREA;
    sum += vec4<i32>(words[w], words[w + ROW_SUMS], words[w + 2u * ROW_SUMS],
        words[w + 3u * ROW_SUMS]);
  }
  return sum;
}
// 16 rows of a subgroup's outputs, from the sums of DEPTH of them: four rows of a thread at a time.
fn finish_rows(f: ptr<function, Finish>, at: Place, area: u32, row0: u32, n0: u32, depth: u32,
    lane: u32) {
  for (var four = depth; four < 4u; four += DEPTH) {
    let rows_of = row0 / 4u + four;
    let m = at.m0 + 4u * rows_of;
    for (var h = 0u; h < HALVES; h++) {
      let from_word = area + four * 4u * ROW_SUMS + 32u * h + lane;
      var low = vec4<i32>(0);
      if (PLANES > 1u) {
        low = four_sums(from_word + LINE_SUMS) - (*f).offset[h] * low_sums[rows_of];
      }
      var y = join_four(four_sums(from_word) - (*f).offset[h] * high_sums[rows_of], low,
          row_scales[rows_of], (*f).scale[h]);
      if (HAS_BIAS) { y = y + vec4<f32>((*f).bias[h]); }
      let n = n0 + 32u * h;
      let to = result_at(at.matrix, m) + n;
      let step = row_step(3u + at.matrix);
      if (n < at.outputs && m < at.rows) { store(to, y.x); }
      if (n < at.outputs && m + 1u < at.rows) { store(to + step, y.y); }
      if (n < at.outputs && m + 2u < at.rows) { store(to + 2u * step, y.z); }
      if (n < at.outputs && m + 3u < at.rows) { store(to + 3u * step, y.w); }
    }
  }
}

@compute @workgroup_size(THREADS)
fn matmul_units(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let tile = tile_place(u);
  let at = Place(tile.across * TILE_OUTPUTS, tile.down * TILE_ROWS, P[tile.base], rows(1u),
      (P[tile.base + 1u] + 63u) / 64u * 16u, tile.matrix);
  let last_row = w_padded() / (4u * LAYERS) - 1u;
  let lane = thread % 32u;
  let depth = thread / 32u % DEPTH;
  let part = thread / (32u * DEPTH);
  let line0 = part / ACROSS * (16u * LINES);  // of the subgroup in the tile
  let outputs0 = part % ACROSS * ROW_SUMS;
  let n0 = at.n0 + outputs0 + lane;
  var fetched = start_of(at, thread);
  fetch_step(&fetched, at, 0u, last_row, thread);
  for (var four = thread; four < TILE_ROWS / 4u; four += THREADS) {
    for (var j = 0u; j < 4u; j++) {
      let q = row_at(at, 4u * four + j) + 2u * at.words;  // scale, sums of both planes
      row_scales[four][j] = load(q);
      high_sums[four][j] = bitcast<i32>(A[q + 1u]);
      low_sums[four][j] = bitcast<i32>(A[q + 2u]);
    }
  }
  var finish = finish_of(at, n0);
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
  var start = 0u;
  for (var k0 = 0u; k0 < at.words; k0 += STEP) {
    put_step(&fetched, k0, start, thread);
    workgroupBarrier();
    if (k0 + STEP < at.words) { fetch_step(&fetched, at, k0 + STEP, last_row, thread); }
    let x_from = start + line0 * ROW_WORDS;
    let w_from = start + X_SIZE + outputs0 * ROW_WORDS;
    for (var k = depth * 8u; k < STEP; k += DEPTH * 8u) {
      let x0 = subgroupMatrixLoad<Left, row_major>(&words, x_from + k, ROW_WORDS);
      let x1 = subgroupMatrixLoad<Left, row_major>(&words, x_from + 16u * ROW_WORDS + k, ROW_WORDS);
      var x2: Left;
      var x3: Left;
      if (LINES > 2u) {
        x2 = subgroupMatrixLoad<Left, row_major>(&words, x_from + 32u * ROW_WORDS + k, ROW_WORDS);
        x3 = subgroupMatrixLoad<Left, row_major>(&words, x_from + 48u * ROW_WORDS + k, ROW_WORDS);
      }
      let w0 = subgroupMatrixLoad<Right, col_major>(&words, w_from + k, ROW_WORDS);
      c00 = subgroupMatrixMultiplyAccumulate(x0, w0, c00);
      c10 = subgroupMatrixMultiplyAccumulate(x1, w0, c10);
      if (LINES > 2u) {
        c20 = subgroupMatrixMultiplyAccumulate(x2, w0, c20);
        c30 = subgroupMatrixMultiplyAccumulate(x3, w0, c30);
      }
      let w1 = subgroupMatrixLoad<Right, col_major>(&words, w_from + 16u * ROW_WORDS + k,
          ROW_WORDS);
      c01 = subgroupMatrixMultiplyAccumulate(x0, w1, c01);
      c11 = subgroupMatrixMultiplyAccumulate(x1, w1, c11);
      if (LINES > 2u) {
        c21 = subgroupMatrixMultiplyAccumulate(x2, w1, c21);
        c31 = subgroupMatrixMultiplyAccumulate(x3, w1, c31);
      }
      if (COLS > 2u) {
        let w2 = subgroupMatrixLoad<Right, col_major>(&words, w_from + 32u * ROW_WORDS + k,
            ROW_WORDS);
        c02 = subgroupMatrixMultiplyAccumulate(x0, w2, c02);
        c12 = subgroupMatrixMultiplyAccumulate(x1, w2, c12);
        if (LINES > 2u) {
          c22 = subgroupMatrixMultiplyAccumulate(x2, w2, c22);
          c32 = subgroupMatrixMultiplyAccumulate(x3, w2, c32);
        }
        let w3 = subgroupMatrixLoad<Right, col_major>(&words, w_from + 48u * ROW_WORDS + k,
            ROW_WORDS);
        c03 = subgroupMatrixMultiplyAccumulate(x0, w3, c03);
        c13 = subgroupMatrixMultiplyAccumulate(x1, w3, c13);
        if (LINES > 2u) {
          c23 = subgroupMatrixMultiplyAccumulate(x2, w3, c23);
          c33 = subgroupMatrixMultiplyAccumulate(x3, w3, c33);
        }
      }
    }
    if (BUFFERS == 1u) { workgroupBarrier(); }
    else { start = SIZE - start; }
  }
  let area = part * DEPTH * AREA;
  let own_area = area + depth * AREA;
  let row0 = line0 / PLANES;
  workgroupBarrier();
  subgroupMatrixStore<row_major>(&words, own_area, c00, ROW_SUMS);
  subgroupMatrixStore<row_major>(&words, own_area + 16u, c01, ROW_SUMS);
  if (COLS > 2u) {
    subgroupMatrixStore<row_major>(&words, own_area + 32u, c02, ROW_SUMS);
    subgroupMatrixStore<row_major>(&words, own_area + 48u, c03, ROW_SUMS);
  }
  if (PLANES == 1u) {
    workgroupBarrier();
    finish_rows(&finish, at, area, row0, n0, depth, lane);
  }
  if (PLANES == 1u) { workgroupBarrier(); }
  subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS, c10, ROW_SUMS);
  subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS + 16u, c11, ROW_SUMS);
  if (COLS > 2u) {
    subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS + 32u, c12,
        ROW_SUMS);
    subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS + 48u, c13,
        ROW_SUMS);
  }
  workgroupBarrier();
  finish_rows(&finish, at, area, row0 + 16u * (2u / PLANES - 1u), n0, depth, lane);
  if (LINES > 2u) {
    workgroupBarrier();
    subgroupMatrixStore<row_major>(&words, own_area, c20, ROW_SUMS);
    subgroupMatrixStore<row_major>(&words, own_area + 16u, c21, ROW_SUMS);
    if (COLS > 2u) {
      subgroupMatrixStore<row_major>(&words, own_area + 32u, c22, ROW_SUMS);
      subgroupMatrixStore<row_major>(&words, own_area + 48u, c23, ROW_SUMS);
    }
    if (PLANES == 1u) {
      workgroupBarrier();
      finish_rows(&finish, at, area, row0 + 32u, n0, depth, lane);
    }
    if (PLANES == 1u) { workgroupBarrier(); }
    subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS, c30, ROW_SUMS);
    subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS + 16u, c31,
        ROW_SUMS);
    if (COLS > 2u) {
      subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS + 32u, c32,
          ROW_SUMS);
      subgroupMatrixStore<row_major>(&words, own_area + (PLANES - 1u) * LINE_SUMS + 48u, c33,
          ROW_SUMS);
    }
    workgroupBarrier();
    finish_rows(&finish, at, area, row0 + 16u * (4u / PLANES - 1u), n0, depth, lane);
  }
}
