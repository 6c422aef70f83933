// Rows of f32 as q15: hi plane, lo plane, each padded to 64 bytes, then the scale and the sums of
// both planes. Of one of PLANES lo is 0, and hi is rounded from x. A workgroup of THREADS per row
// of COLS, which makes the row first where nothing else reads it: SOURCE. A thread reads all that
// it takes at once and has it in registers, but for rows so wide that they are made in memory.
// Operands: 0 x or gate, 1 gain or up, 2 the row, 3 planes; of SUMS, x is that of 4 and 5.

const NORM_SOURCE = 1u;
const GATED_SOURCE = 2u;

var<workgroup> row_most: atomic<u32>;
var<workgroup> row_totals: array<atomic<i32>, 2>;
var<workgroup> inverse_rms: f32;

const WORDS = (COLS + 63u) / 64u * 16u;  // of a plane
const FOURS = (WORDS + THREADS - 1u) / THREADS;
const KEEP = FOURS <= 32u;
alias Own = array<vec4<f32>, select(1u, FOURS, KEEP)>;

fn column(n: u32, i: u32, thread: u32) -> u32 { return 4u * (n * THREADS + thread) + i; }
fn own_value(own: ptr<function, Own>, n: u32, i: u32, row: u32, thread: u32) -> f32 {
  if (KEEP) { return (*own)[n][i]; }
  return load(row + min(column(n, i, thread), COLS - 1u));
}

@compute @workgroup_size(THREADS)
fn quantize(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let x = place(0u, r);
  let other = place(1u, select(r, 0u, SOURCE == NORM_SOURCE));
  let row = place(2u, r);
  let y = place(3u, r);
  var own: Own;
  if (SUMS || KEEP) {
    for (var n = 0u; n < FOURS; n++) {
      for (var i = 0u; i < 4u; i++) {
        let c = column(n, i, thread);
        var v: f32;
        if (SUMS) {
          v = settled(load(place(4u, r) + min(c, COLS - 1u)) +
              load(place(5u, r) + min(c, COLS - 1u)));
          if (c < COLS) { A[x + c] = bitcast<u32>(v); }
        } else {
          v = load(x + min(c, COLS - 1u));
        }
        if (KEEP) { own[n][i] = v; }
      }
    }
    storageBarrier();
  }
  if (SOURCE == NORM_SOURCE) {
    var squares = zero();
    for (var c = thread; c < COLS && thread < 64u; c += 64u) {
      let v = load(x + c);
      squares = squares + mul(v, v);
    }
    squares = tree_sum(thread, squares);
    if (thread == 0u) { inverse_rms = rsqrt_exact(div(squares, f32(COLS)) + real_at(0u)); }
    workgroupBarrier();
  }
  var most = 0u;
  for (var n = 0u; n < FOURS; n++) {
    for (var i = 0u; i < 4u; i++) {
      let c = column(n, i, thread);
      let at = min(c, COLS - 1u);
      var v = own_value(&own, n, i, x, thread);
      if (SOURCE == NORM_SOURCE) { v = settled(mul(mul(v, inverse_rms), load(other + at))); }
      if (SOURCE == GATED_SOURCE) { v = settled(mul(v, sigmoid_exact(v)) * load(other + at)); }
      if (KEEP) { own[n][i] = v; }
      else if (SOURCE != 0u && c < COLS) { A[row + c] = bitcast<u32>(v); }
      most = max(most, magnitude_bits(v));
    }
  }
  most = most_of_lanes(most);
  if (speaks_for_lanes()) { atomicMax(&row_most, most); }
  workgroupBarrier();
  most = atomicLoad(&row_most);
  let inverse = q15_inverse(most);
  var totals = vec2<i32>(0, 0);
  for (var n = 0u; n < FOURS; n++) {
    var hi = 0u;
    var lo = 0u;
    for (var i = 0u; i < 4u && !q15_lost(most); i++) {
      if (column(n, i, thread) >= COLS) { continue; }
      let v = own_value(&own, n, i, row, thread);
      var q = vec2<i32>(q15_high(v, inverse), 0);
      if (PLANES > 1u) { q = q15_planes(v, inverse); }
      totals = totals + q;
      hi = hi | byte_of(q.x, i);
      lo = lo | byte_of(q.y, i);
    }
    let w = n * THREADS + thread;
    if (w < WORDS) {
      A[y + w] = hi;
      A[y + WORDS + w] = lo;
    }
  }
  totals = sum_of_lanes(totals);
  if (speaks_for_lanes()) {
    atomicAdd(&row_totals[0], totals.x);
    atomicAdd(&row_totals[1], totals.y);
  }
  workgroupBarrier();
  if (thread == 0u) {
    A[y + 2u * WORDS] = q15_scale(most);
    A[y + 2u * WORDS + 1u] = bitcast<u32>(atomicLoad(&row_totals[0]));
    A[y + 2u * WORDS + 2u] = bitcast<u32>(atomicLoad(&row_totals[1]));
  }
}
