// Both sides of a tile of a product of class I, which pass through workgroup memory: TILE_ROWS rows
// of x in its PLANES, and TILE_OUTPUTS outputs as codes of a byte each, STEP words of k (16, for
// ternary 15) at a time. A thread makes ROW_FOURS times four rows of OUT_FOURS times four outputs.
// PREFETCH: what the next step needs is on its way while this one computes.

const X_FOURS = TILE_ROWS / 4u;
const W_FOURS = TILE_OUTPUTS / 4u;
const ACROSS = W_FOURS / OUT_FOURS;
const DOWN = X_FOURS / ROW_FOURS;
const THREADS = ACROSS * DOWN;
const STEP_ROWS = max(16u / LAYERS, 2u);  // byte rows of a step
const STEP = STEP_ROWS * LAYERS;
const X_ROW = X_FOURS + 1u;  // padded, so that neighbors in k lie in other banks
const W_PARTS = (STEP_ROWS * W_FOURS + THREADS - 1u) / THREADS;
const X_PARTS = (STEP * X_FOURS + THREADS - 1u) / THREADS;

var<workgroup> w_words: array<vec4<u32>, STEP * W_FOURS>;  // [k][output / 4]
var<workgroup> x_high: array<vec4<u32>, STEP * X_ROW>;     // [k][row / 4]
var<workgroup> x_low: array<vec4<u32>, select(1u, STEP * X_ROW, PLANES > 1u)>;

struct Place {
  n0: u32,  // first output
  m0: u32,  // first row
  columns: u32,  // of all panels
  words: u32,  // of a plane of activations
  count: u32,  // words of k that there are
  matrix: u32,
  base: u32,
}
fn place_of(u: u32) -> Place {
  let tile = tile_place(u);
  let words = (P[tile.base + 1u] + 63u) / 64u * 16u;
  return Place(tile.across * TILE_OUTPUTS, tile.down * TILE_ROWS,
      (P[tile.base] + 15u) / 16u * 16u, words, min(words, P[tile.base + 2u] / 4u), tile.matrix,
      tile.base);
}

// A step's words of memory, of one thread.
struct Fetched {
  codes: array<vec4<u32>, W_PARTS>,  // a byte row of four neighboring outputs
  subs: array<vec4<u32>, W_PARTS>,
  high: array<vec4<u32>, X_PARTS>,   // a word of four neighboring rows
  low: array<vec4<u32>, X_PARTS>,
}
fn byte_row_of(k0: u32, part: u32) -> u32 {
  return min(k0 / LAYERS + part / W_FOURS, w_padded() / (4u * LAYERS) - 1u);
}
fn fetch_step(at: Place, k0: u32, thread: u32) -> Fetched {
  var f: Fetched;
  let last_row = rows(1u) - 1u;
  for (var i = 0u; i < W_PARTS; i++) {
    let part = thread + i * THREADS;
    let r = byte_row_of(k0, part);
    // beyond the last panel those of the last
    let column = min(at.n0 + part % W_FOURS * 4u, at.columns - 4u);
    let panel = w_panel(column);
    for (var j = 0u; j < 4u; j++) {
      f.codes[i][j] = byte_row(panel, column + j, r);
      if (LAYOUT != PLAIN) { f.subs[i][j] = sub_word(panel, column + j, r); }
    }
  }
  for (var i = 0u; i < X_PARTS; i++) {
    let part = thread + i * THREADS;
    let k = k0 + part % STEP;
    f.high[i] = vec4<u32>(0u);
    f.low[i] = vec4<u32>(0u);
    if (k < at.count) {
      for (var j = 0u; j < 4u; j++) {
        let x = place(1u, min(at.m0 + part / STEP * 4u + j, last_row)) + k;
        f.high[i][j] = A[x];
        if (PLANES > 1u) { f.low[i][j] = A[x + at.words]; }
      }
    }
  }
  return f;
}
fn put_step(f: ptr<function, Fetched>, k0: u32, thread: u32) {
  for (var i = 0u; i < W_PARTS; i++) {
    let part = thread + i * THREADS;
    if (part < STEP_ROWS * W_FOURS) {
      let r = byte_row_of(k0, part);
      let row = (*f).codes[i];
      let subs = (*f).subs[i];
      for (var p = 0u; p < LAYERS; p++) {
        w_words[(part / W_FOURS * LAYERS + p) * W_FOURS + part % W_FOURS] =
            vec4<u32>(tile_codes(row.x, p, sub_of(subs.x, r)),
                tile_codes(row.y, p, sub_of(subs.y, r)), tile_codes(row.z, p, sub_of(subs.z, r)),
                tile_codes(row.w, p, sub_of(subs.w, r)));
      }
    }
  }
  for (var i = 0u; i < X_PARTS; i++) {
    let part = thread + i * THREADS;
    if (part < STEP * X_FOURS) {
      x_high[part % STEP * X_ROW + part / STEP] = (*f).high[i];
      if (PLANES > 1u) { x_low[part % STEP * X_ROW + part / STEP] = (*f).low[i]; }
    }
  }
}

alias Sums = array<vec4<i32>, 4>;  // of four rows: four outputs

fn add_four(sums: ptr<function, Sums>, w: vec4<u32>, x: vec4<u32>) {
  (*sums)[0] += dot_four(w, x.x);
  (*sums)[1] += dot_four(w, x.y);
  (*sums)[2] += dot_four(w, x.z);
  (*sums)[3] += dot_four(w, x.w);
}
// A word of k to one plane's sums of a thread: ab are those of its four rows a and four outputs b.
fn add_word(s00: ptr<function, Sums>, s01: ptr<function, Sums>, s10: ptr<function, Sums>,
    s11: ptr<function, Sums>, w0: vec4<u32>, w1: vec4<u32>, x0: vec4<u32>, x1: vec4<u32>) {
  add_four(s00, w0, x0);
  if (OUT_FOURS > 1u) { add_four(s01, w1, x0); }
  if (ROW_FOURS > 1u) { add_four(s10, w0, x1); }
  if (ROW_FOURS > 1u && OUT_FOURS > 1u) { add_four(s11, w1, x1); }
}
// Where a thread's second four outputs and rows are; the first, where it has but those.
const OUT_1 = (OUT_FOURS - 1u) * ACROSS;
const ROW_1 = (ROW_FOURS - 1u) * DOWN;
