// One row through up to three matrices of class I in one dispatch (decoding): [rms_norm and] quantization of x in every workgroup, products as in
// matmul_integer.wgsl, then bias, residual or silu_mul. Each step gives the bits of its own instruction.
// Operands: 0 x, 1 gain, 2.. results, 5.. biases, 8 residual. NORM, EPILOGUE, MATRICES; WORDS: of a plane of x.

const STORE = 0u;
const ADD = 1u;
const SILU_MUL = 2u;

var<workgroup> x_planes: array<vec2<u32>, WORDS>;
const PER_THREAD = (WORDS * 4u + 255u) / 256u;

var<workgroup> team_sums: array<vec2<i32>, 16>;
var<workgroup> x_values: array<f32, select(1u, WORDS * 4u, NORM)>;
var<workgroup> inverse_rms: f32;
var<workgroup> partial: array<vec2<i32>, 256>;
var<workgroup> partial_up: array<vec2<i32>, 256>;

// x in workgroup memory, normalized: the mean square by rule 4 on the first 64 threads, then every value as its instruction stores it.
fn normalize(thread: u32, n: u32) {
  var gain: array<f32, PER_THREAD>;  // fetched with x
  for (var i = 0u; i < PER_THREAD; i++) {
    let c = min(thread + 256u * i, n - 1u);
    gain[i] = load(place(1u, 0u) + c);
    x_values[c] = load(place(0u, 0u) + c);
  }
  workgroupBarrier();
  var sum = zero();
  if (thread < 64u) {
    for (var i = thread; i < n; i += 64u) { sum = sum + mul(x_values[i], x_values[i]); }
  }
  sum = tree_sum(thread, sum);
  if (thread == 0u) { inverse_rms = rsqrt_exact(div(sum, f32(n)) + real_at(0u)); }
  workgroupBarrier();
  for (var i = 0u; i < PER_THREAD; i++) {
    let c = thread + 256u * i;
    if (c < n) { x_values[c] = settled(mul(mul(x_values[c], inverse_rms), gain[i])); }
  }
  workgroupBarrier();
}
fn x_value(i: u32) -> f32 {
  if (NORM) { return x_values[i]; }
  return load(place(0u, 0u) + i);
}

// The byte rows of a thread's team are fetched a few at a time; those of the first panel, and its scales, before x is known.
const FETCH = min(8u, (WORDS / LAYERS + 15u) / 16u);
struct Rows {
  row: array<u32, FETCH>,
  sub: array<vec2<u32>, FETCH>,
  scale: f32,
}
fn byte_rows() -> u32 { return (min(WORDS, w_padded() / 4u) + LAYERS - 1u) / LAYERS; }
fn fetch(n: u32, first: u32) -> Rows {
  var rows: Rows;
  let panel = w_panel(n);
  for (var i = 0u; i < FETCH; i++) {
    let r = min(first + 16u * i, byte_rows() - 1u);
    rows.row[i] = byte_row(panel, n, r);
    rows.sub[i] = sub_scales(panel, n, r);
  }
  rows.scale = own_scale(min(n, w_rows() - 1u));
  return rows;
}
fn dots(n: u32, team: u32, fetched: Rows) -> vec2<i32> {
  var rows = fetched;
  let count = min(WORDS, w_padded() / 4u);
  var sum = vec2<i32>(0, 0);
  for (var first = team; first < byte_rows(); first += 16u * FETCH) {
    if (first != team) { rows = fetch(n, first); }
    for (var i = 0u; i < FETCH; i++) {
      let r = first + 16u * i;
      for (var p = 0u; p < LAYERS; p++) {
        let g = r * LAYERS + p;
        if (g < count) {
          let codes = layer_codes(rows.row[i], p, rows.sub[i]);
          sum = sum + vec2<i32>(dot4I8Packed(codes, x_planes[g].x), dot4I8Packed(codes, x_planes[g].y));
        }
      }
    }
  }
  return sum;
}

// The matrix and its panel that unit u is: sets M.
struct Unit {
  matrix: u32,
  panel: u32,
}
fn unit_of(u: u32) -> Unit {
  M = 68u;
  var at = Unit(0u, u);
  for (; at.matrix + 1u < MATRICES && EPILOGUE != SILU_MUL; at.matrix++) {
    let count = (w_rows() + 15u) / 16u;
    if (at.panel < count) { break; }
    at.panel = at.panel - count;
    M = M + 20u;
  }
  return at;
}

@compute @workgroup_size(256) fn gemv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  Z = P[0];
  let n_in = cols(0u);
  let team = thread / 16u;
  var at = unit_of(min(group.x, units() - 1u));
  var rows = fetch(at.panel * 16u + thread % 16u, team);
  var rows_up = rows;
  if (NORM) { normalize(thread, n_in); }
  var most = 0u;
  for (var i = thread; i < n_in; i += 256u) { most = max(most, magnitude_bits(x_value(i))); }
  most = u32(group_max(thread, i32(most)));
  var own = vec2<i32>(0, 0);
  for (var w = thread; w < WORDS; w += 256u) {
    var planes = vec2<u32>(0u, 0u);
    for (var i = 0u; i < 4u; i++) {
      if (4u * w + i < n_in && !q15_lost(most)) {
        let q = q15_planes(x_value(4u * w + i), q15_inverse(most));
        own = own + q;
        planes = planes | vec2<u32>(byte_of(q.x, i), byte_of(q.y, i));
      }
    }
    x_planes[w] = planes;
  }
  partial[thread] = own;
  workgroupBarrier();
  if (thread < 16u) {
    var s = vec2<i32>(0, 0);
    for (var i = 0u; i < 16u; i++) { s = s + partial[thread * 16u + i]; }
    team_sums[thread] = s;
  }
  workgroupBarrier();
  var row_sums = vec2<i32>(0, 0);
  for (var i = 0u; i < 16u; i++) { row_sums = row_sums + team_sums[i]; }
  let row_scale = bitcast<f32>(q15_scale(most));

  for (var u = group.x; u < units(); u += groups.x) {
    at = unit_of(u);
    let n = at.panel * 16u + thread % 16u;
    if (u != group.x) { rows = fetch(n, team); }
    partial[thread] = dots(n, team, rows);
    if (EPILOGUE == SILU_MUL) {
      M = 88u;
      rows_up = fetch(n, team);
      partial_up[thread] = dots(n, team, rows_up);
    }
    workgroupBarrier();
    M = 68u + 20u * at.matrix;
    if (thread < 16u && n < w_rows()) {
      var sum = vec2<i32>(0, 0);
      for (var t = 0u; t < 16u; t++) { sum = sum + partial[t * 16u + thread]; }
      if (EPILOGUE == SILU_MUL) {
        M = 68u;
        let gate = settled(join_sums(n, sum, row_sums, row_scale, rows.scale));
        M = 88u;
        sum = vec2<i32>(0, 0);
        for (var t = 0u; t < 16u; t++) { sum = sum + partial_up[t * 16u + thread]; }
        let up = settled(join_sums(n, sum, row_sums, row_scale, rows_up.scale));
        store(place(2u, 0u) + n, mul(gate, sigmoid_exact(gate)) * up);
      } else {
        var y = join_sums(n, sum, row_sums, row_scale, rows.scale);
        if (HAS_BIAS) { y = y + load(place(5u + at.matrix, 0u) + n); }
        if (EPILOGUE == ADD) { y = settled(y) + load(place(8u, 0u) + n); }
        store(place(2u + at.matrix, 0u) + n, y);
      }
    }
    workgroupBarrier();
  }
}
