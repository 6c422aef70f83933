// matmul_float.wgsl's product where sums are long and results few. A workgroup makes 8 outputs of a
// row, 32 chunks of the sum side by side, then adds them in order; of a sum of more chunks it keeps
// them in scratch, as [chunk][result], and matmul_chunk_totals adds all. Elements beyond the end
// add +0, so that all chunks have 32, whose words are on their way together. Not bf16x2.

var<workgroup> sums: array<f32, 256>;  // [chunk][output]

// Without scales the sum starts from the bias; with them the bias is added after scaling.
fn first_sum(n: u32) -> f32 {
  if (HAS_BIAS && !HAS_SCALES) { return load(place(2u, 0u) + n); }
  return zero();
}
fn store_sum(r: u32, n: u32, sum: f32) {
  var y = sum;
  if (HAS_SCALES) {
    y = mul(y, w_scale(n));
    if (HAS_BIAS) { y = y + load(place(2u, 0u) + n); }
  }
  store(place(3u, r) + n, y);
}

@compute @workgroup_size(256)
fn matmul_chunks(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = P[FIRST_MATRIX];
  let count = P[FIRST_MATRIX + 1u];
  let across = (outputs + 7u) / 8u;
  let blocks = (count + 1023u) / 1024u;
  let r = u / blocks / across;
  let n = u / blocks % across * 8u + thread % 8u;
  let own = min(n, outputs - 1u);
  let panel = w_panel(own);
  let x = place(1u, r);
  let chunk = u % blocks * 32u + thread / 8u;
  let begin = chunk * 32u;
  var even = zero();
  var odd = zero();
  if (begin < count) {
    for (var i = 0u; i < 32u; i += 2u) {
      let k = min(begin + i, count - 1u);
      let l = min(begin + i + 1u, count - 1u);
      even = even + select(zero(), mul(load(x + k), float_value(panel, own, k)),
          begin + i < count);
      odd = odd + select(zero(), mul(load(x + l), float_value(panel, own, l)),
          begin + i + 1u < count);
    }
  }
  if (!ONE_BLOCK) {
    if (begin < count && n < outputs) {
      A[extra(0u) + (chunk * rows(3u) + r) * outputs + n] = bitcast<u32>(even + odd);
    }
    return;
  }
  sums[thread] = even + odd;
  workgroupBarrier();
  if (thread >= 8u || n >= outputs) { return; }
  var y = first_sum(n);
  for (var c = 0u; c < 32u; c++) { y = y + sums[c * 8u + thread]; }
  store_sum(r, n, y);
}

// A workgroup for each result: 256 sums of chunks come together, and one thread adds them.
@compute @workgroup_size(256)
fn matmul_chunk_totals(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = P[FIRST_MATRIX];
  let chunks = (P[FIRST_MATRIX + 1u] + 31u) / 32u;
  let results = rows(3u) * outputs;
  var y = first_sum(u % outputs);
  for (var first = 0u; first < chunks; first += 256u) {
    let own = first + thread;
    sums[thread] = zero();
    if (own < chunks) { sums[thread] = load(extra(0u) + own * results + u); }
    workgroupBarrier();
    if (thread == 0u) {
      for (var c = 0u; c < 256u; c++) { y = y + sums[c]; }  // beyond the end +0 again
    }
    workgroupBarrier();
  }
  if (thread == 0u) { store_sum(u / outputs, u % outputs, y); }
}
