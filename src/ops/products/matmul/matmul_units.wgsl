// Products of class I with a scale per row by matrix units, for many rows: sums of i8 times i8 are
// exact in i32. A workgroup makes TILE_OUTPUTS outputs of TILE_ROWS rows. A subgroup of 32 threads
// multiplies LINES times COLS matrices of 16 times 16: a line is 16 rows of one of PLANES. STEP
// words of k of both sides pass through workgroup memory at a time, of which DEPTH subgroups take
// some each. Of BUFFERS one is multiplied while the next is filled; what is to fill it comes from
// memory a step before.

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
const GROUPS = LINES / PLANES;  // of 16 rows
const LINE_SUMS = 256u * COLS;
const AREA = PLANES * LINE_SUMS;  // sums on their way from a subgroup to its threads

// [buffer]: [16 rows][plane][row][k], then [output][k]
var<workgroup> words: array<i32, max(BUFFERS * SIZE, PARTS * DEPTH * AREA)>;
var<workgroup> row_scales: array<f32, TILE_ROWS>;
var<workgroup> row_sums: array<vec2<i32>, TILE_ROWS>;

struct Fetched {
  x: array<vec4<u32>, X_PARTS>,
  codes: array<array<u32, SPAN>, W_PARTS>,
  subs: array<u32, W_PARTS>,
}
struct Place {
  n0: u32,  // first output
  m0: u32,  // first row
  words: u32,  // of a plane of activations
}
fn first_byte_row(k0: u32, part: u32) -> u32 { return k0 / LAYERS + part / TILE_OUTPUTS * SPAN; }
fn row_at(at: Place, m: u32) -> u32 { return place(1u, min(at.m0 + m, rows(1u) - 1u)); }

fn fetch_step(at: Place, k0: u32, thread: u32) -> Fetched {
  var f: Fetched;
  for (var i = 0u; i < X_PARTS; i++) {
    let part = thread + i * THREADS;
    let line = part / (STEP / 4u);
    let k = k0 + part % (STEP / 4u) * 4u;
    f.x[i] = vec4<u32>(0u);
    if (k < at.words) {
      f.x[i] = four_words(row_at(at, line / (16u * PLANES) * 16u + line % 16u) +
          line / 16u % PLANES * at.words + k);
    }
  }
  let last_row = P[FIRST_MATRIX + 2u] / (4u * LAYERS) - 1u;
  for (var i = 0u; i < W_PARTS; i++) {
    let part = thread + i * THREADS;
    // beyond the last panel those of the last
    let n = min(at.n0 + part % TILE_OUTPUTS, (P[FIRST_MATRIX] + 15u) / 16u * 16u - 1u);
    let r = first_byte_row(k0, part);
    for (var j = 0u; j < SPAN; j++) {
      f.codes[i][j] = byte_row(w_panel(n), n, min(r + j, last_row));
    }
    if (LAYOUT != PLAIN) { f.subs[i] = sub_word(w_panel(n), n, min(r, last_row)); }
  }
  return f;
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
      for (var j = 0u; j < SPAN; j++) {
        let sub = sub_of((*f).subs[i], first_byte_row(k0, part) + j);
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

// 16 rows of a subgroup's outputs, from the sums of DEPTH of them: a row by 32 threads.
fn finish_rows(at: Place, start: u32, row0: u32, n0: u32, depth: u32, lane: u32) {
  for (var i = lane; i < 16u * COLS; i += 32u) {
    let n = n0 + i;
    if (n >= w_rows()) { break; }
    let scale = own_scale(n);
    var bias = zero();
    if (HAS_BIAS) { bias = load(place(2u, 0u) + n); }
    for (var r = depth; r < 16u; r += DEPTH) {
      let m = at.m0 + row0 + r;
      if (m >= rows(1u)) { break; }
      var sums = vec2<i32>(0, 0);
      for (var d = 0u; d < DEPTH; d++) {
        let from_word = start + d * AREA + r * 16u * COLS + i;
        sums.x += words[from_word];
        if (PLANES > 1u) { sums.y += words[from_word + LINE_SUMS]; }
      }
      var y = join_sums(n, sums, row_sums[row0 + r], row_scales[row0 + r], scale);
      if (HAS_BIAS) { y = y + bias; }
      store(place(3u, m) + n, y);
    }
  }
}

@compute @workgroup_size(THREADS)
fn matmul_units(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  // not by M: all threads meet in the loop over k
  let tiles = (P[FIRST_MATRIX] + TILE_OUTPUTS - 1u) / TILE_OUTPUTS;
  let at = Place(u % tiles * TILE_OUTPUTS, u / tiles * TILE_ROWS,
      (P[FIRST_MATRIX + 1u] + 63u) / 64u * 16u);
  let lane = thread % 32u;
  let depth = thread / 32u % DEPTH;
  let part = thread / (32u * DEPTH);
  let line0 = part / ACROSS * (16u * LINES);  // of the subgroup in the tile
  let outputs0 = part % ACROSS * (16u * COLS);
  for (var m = thread; m < TILE_ROWS; m += THREADS) {
    let q = row_at(at, m) + 2u * at.words;  // scale, sums of both planes
    row_scales[m] = load(q);
    row_sums[m] = vec2<i32>(bitcast<i32>(word_at(q + 1u)), bitcast<i32>(word_at(q + 2u)));
  }
  var sums: array<Result, LINES * COLS>;
  var fetched = fetch_step(at, 0u, thread);
  var start = 0u;
  for (var k0 = 0u; k0 < at.words; k0 += STEP) {
    put_step(&fetched, k0, start, thread);
    workgroupBarrier();
    if (k0 + STEP < at.words) { fetched = fetch_step(at, k0 + STEP, thread); }
    for (var k = depth * 8u; k < STEP; k += DEPTH * 8u) {
      var x: array<Left, LINES>;
      for (var i = 0u; i < LINES; i++) {
        x[i] = subgroupMatrixLoad<Left, row_major>(&words,
            start + (line0 + 16u * i) * ROW_WORDS + k, ROW_WORDS);
      }
      for (var c = 0u; c < COLS; c++) {
        let w = subgroupMatrixLoad<Right, col_major>(&words,
            start + X_SIZE + (outputs0 + 16u * c) * ROW_WORDS + k, ROW_WORDS);
        for (var i = 0u; i < LINES; i++) {
          sums[i * COLS + c] = subgroupMatrixMultiplyAccumulate(x[i], w, sums[i * COLS + c]);
        }
      }
    }
    if (BUFFERS == 1u) { workgroupBarrier(); }
    else { start = SIZE - start; }
  }
  let area = part * DEPTH * AREA;
  for (var g = 0u; g < GROUPS; g++) {
    workgroupBarrier();
    for (var p = 0u; p < PLANES; p++) {
      for (var c = 0u; c < COLS; c++) {
        subgroupMatrixStore<row_major>(&words, area + depth * AREA + p * LINE_SUMS + 16u * c,
            sums[(g * PLANES + p) * COLS + c], 16u * COLS);
      }
    }
    workgroupBarrier();
    finish_rows(at, area, (line0 / PLANES) + 16u * g, at.n0 + outputs0, depth, lane);
  }
}
