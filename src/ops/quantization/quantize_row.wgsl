// Rows of f32 as q15: hi plane, lo plane, each padded to 64 bytes, then the scale and the sums of
// both planes. Of one of PLANES lo is 0, and hi is rounded from x. A workgroup of THREADS per row,
// which makes the row first where nothing else reads it: SOURCE. Operands: 0 x or gate, 1 gain or
// up, 2 the row, 3 planes; of SUMS, x is that of 4 and 5.

const NORM_SOURCE = 1u;
const GATED_SOURCE = 2u;

var<workgroup> row_most: atomic<u32>;
var<workgroup> row_totals: array<atomic<i32>, 2>;
var<workgroup> inverse_rms: f32;

fn source_value(x: u32, other: u32, c: u32) -> f32 {
  let v = load(x + c);
  if (SOURCE == NORM_SOURCE) { return settled(mul(mul(v, inverse_rms), load(other + c))); }
  if (SOURCE == GATED_SOURCE) { return settled(mul(v, sigmoid_exact(v)) * load(other + c)); }
  return v;
}

@compute @workgroup_size(THREADS)
fn quantize(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let n = cols(2u);
  let x = place(0u, r);
  let other = place(1u, select(r, 0u, SOURCE == NORM_SOURCE));
  let row = place(2u, r);
  let y = place(3u, r);
  let words = (n + 63u) / 64u * 16u;
  if (SUMS) {
    for (var c = thread; c < n; c += THREADS) {
      store(x + c, load(place(4u, r) + c) + load(place(5u, r) + c));
    }
    storageBarrier();
  }
  if (SOURCE == NORM_SOURCE) {
    var squares = zero();
    for (var c = thread; c < n && thread < 64u; c += 64u) {
      let v = load(x + c);
      squares = squares + mul(v, v);
    }
    squares = tree_sum(thread, squares);
    if (thread == 0u) { inverse_rms = rsqrt_exact(div(squares, f32(n)) + real_at(0u)); }
    workgroupBarrier();
  }
  var most = 0u;
  for (var w = thread; w < words; w += THREADS) {
    for (var c = 4u * w; c < min(4u * w + 4u, n); c++) {
      let v = source_value(x, other, c);
      if (SOURCE != 0u) { A[row + c] = bitcast<u32>(v); }
      most = max(most, magnitude_bits(v));
    }
  }
  most = most_of_lanes(most);
  if (speaks_for_lanes()) { atomicMax(&row_most, most); }
  workgroupBarrier();
  most = atomicLoad(&row_most);
  let inverse = q15_inverse(most);
  var totals = vec2<i32>(0, 0);
  for (var w = thread; w < words; w += THREADS) {
    var hi = 0u;
    var lo = 0u;
    for (var c = 4u * w; c < min(4u * w + 4u, n) && !q15_lost(most); c++) {
      var q = vec2<i32>(q15_high(load(row + c), inverse), 0);
      if (PLANES > 1u) { q = q15_planes(load(row + c), inverse); }
      totals = totals + q;
      hi = hi | byte_of(q.x, c % 4u);
      lo = lo | byte_of(q.y, c % 4u);
    }
    A[y + w] = hi;
    A[y + words + w] = lo;
  }
  totals = sum_of_lanes(totals);
  if (speaks_for_lanes()) {
    atomicAdd(&row_totals[0], totals.x);
    atomicAdd(&row_totals[1], totals.y);
  }
  workgroupBarrier();
  if (thread == 0u) {
    A[y + 2u * words] = q15_scale(most);
    A[y + 2u * words + 1u] = bitcast<u32>(atomicLoad(&row_totals[0]));
    A[y + 2u * words + 2u] = bitcast<u32>(atomicLoad(&row_totals[1]));
  }
}
