// Products of class I with a scale per row, for many rows: a workgroup makes 64 outputs of 64 rows,
// its 256 threads four by four of them. The codes and both planes of the activations pass through
// workgroup memory, 16 words of k (8, 4, 3 or 2 byte rows' worth) at a time.

const STEP_ROWS = max(16u / LAYERS, 2u);       // byte rows of a step
const STEP = STEP_ROWS * LAYERS;               // words of k
const X_ROW = 17u;                             // padded, so that neighbors in k lie in other banks

var<workgroup> w_words: array<vec4<u32>, STEP * 16u>;      // [k][output / 4]
var<workgroup> x_high: array<vec4<u32>, STEP * X_ROW>;     // [k][row / 4]
var<workgroup> x_low: array<vec4<u32>, STEP * X_ROW>;

struct Sums {
  high: array<vec4<i32>, 4>,  // of four rows: four outputs
  low: array<vec4<i32>, 4>,
}
@compute @workgroup_size(256)
fn matmul_tiled(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let tiles = (w_rows() + 63u) / 64u;
  let n0 = u % tiles * 64u;
  let m0 = u / tiles * 64u;
  let last_row = rows(1u) - 1u;
  let words = (P[FIRST_MATRIX + 1u] + 63u) / 64u * 16u;       // of a plane of activations
  // not by M: all threads meet in the loop
  let count = min(words, P[FIRST_MATRIX + 2u] / 4u);
  let quad = thread % 16u;
  // The four columns of a panel that this thread decodes; beyond the last panel those of the last.
  let column = min(n0 + quad * 4u, (w_rows() + 15u) / 16u * 16u - 4u);
  let panel = w_panel(column);
  let x0 = place(1u, 0u);
  let x_step = row_step(1u);

  var sums: Sums;
  for (var k0 = 0u; k0 < count; k0 += STEP) {
    if (thread / 16u < STEP_ROWS) {
      let r = min(k0 / LAYERS + thread / 16u, w_padded() / (4u * LAYERS) - 1u);
      var row: vec4<u32>;
      var sub: array<vec2<u32>, 4>;
      for (var i = 0u; i < 4u; i++) {
        row[i] = byte_row(panel, column + i, r);
        sub[i] = sub_scales(panel, column + i, r);
      }
      for (var p = 0u; p < LAYERS; p++) {
        w_words[(thread / 16u * LAYERS + p) * 16u + quad] =
            vec4<u32>(layer_codes(row.x, p, sub[0]), layer_codes(row.y, p, sub[1]),
                layer_codes(row.z, p, sub[2]), layer_codes(row.w, p, sub[3]));
      }
    }
    for (var i = thread; i < STEP * 16u; i += 256u) {
      let k = i % STEP;
      let four = i / STEP;
      var high = vec4<u32>(0u, 0u, 0u, 0u);
      var low = vec4<u32>(0u, 0u, 0u, 0u);
      if (k0 + k < count) {
        for (var j = 0u; j < 4u; j++) {
          let x = x0 + min(m0 + four * 4u + j, last_row) * x_step + k0 + k;
          high[j] = A[x];
          low[j] = A[x + words];
        }
      }
      x_high[k * X_ROW + four] = high;
      x_low[k * X_ROW + four] = low;
    }
    workgroupBarrier();
    for (var k = 0u; k < STEP; k++) {
      let w = w_words[k * 16u + quad];
      let h = x_high[k * X_ROW + thread / 16u];
      let l = x_low[k * X_ROW + thread / 16u];
      sums.high[0] += dot_four(w, h.x);
      sums.high[1] += dot_four(w, h.y);
      sums.high[2] += dot_four(w, h.z);
      sums.high[3] += dot_four(w, h.w);
      sums.low[0] += dot_four(w, l.x);
      sums.low[1] += dot_four(w, l.y);
      sums.low[2] += dot_four(w, l.z);
      sums.low[3] += dot_four(w, l.w);
    }
    workgroupBarrier();
  }
  for (var j = 0u; j < 4u; j++) {
    let m = m0 + thread / 16u * 4u + j;
    if (m > last_row) { return; }
    let q = place(1u, m) + 2u * words;  // scale, sums of both planes
    let row_sums = vec2<i32>(bitcast<i32>(A[q + 1u]), bitcast<i32>(A[q + 2u]));
    for (var i = 0u; i < 4u; i++) {
      let n = n0 + quad * 4u + i;
      if (n >= w_rows()) { break; }
      var y = join_sums(n, vec2<i32>(sums.high[j][i], sums.low[j][i]), row_sums, load(q),
          own_scale(n));
      if (HAS_BIAS) { y = y + load(place(2u, 0u) + n); }
      store(place(3u, m) + n, y);
    }
  }
}
