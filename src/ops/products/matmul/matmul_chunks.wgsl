// matmul_float.wgsl's product where sums are long and results few: a workgroup makes 8 outputs of a
// row, 32 chunks of a sum side by side, then adds them in order. Not bf16x2.

var<workgroup> sums: array<f32, 256>;  // [chunk][output]

@compute @workgroup_size(256)
fn matmul_chunks(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = P[FIRST_MATRIX];  // not by M: all threads meet in the loop
  let count = P[FIRST_MATRIX + 1u];
  let across = (outputs + 7u) / 8u;
  let r = u / across;
  let n = u % across * 8u + thread % 8u;
  let own = min(n, outputs - 1u);
  let panel = w_panel(own);
  let x = place(1u, r);
  // Without scales the sum starts from the bias; with them the bias is added after scaling.
  var bias = zero();
  if (HAS_BIAS) { bias = load(place(2u, 0u) + own); }
  var y = select(bias, zero(), HAS_SCALES);
  for (var k0 = 0u; k0 < count; k0 += 1024u) {
    var even = zero();
    var odd = zero();
    let begin = k0 + thread / 8u * 32u;
    let end = min(begin + 32u, count);
    for (var k = begin; k < end; k += 2u) {
      even = even + mul(load(x + k), float_value(panel, own, k));
      if (k + 1u < end) { odd = odd + mul(load(x + k + 1u), float_value(panel, own, k + 1u)); }
    }
    sums[thread] = even + odd;
    workgroupBarrier();
    if (thread < 8u) {
      for (var chunk = 0u; chunk < 32u; chunk++) { y = y + sums[chunk * 8u + thread]; }
    }
    workgroupBarrier();
  }
  if (thread >= 8u || n >= outputs) { return; }
  if (HAS_SCALES) {
    y = mul(y, w_scale(n));
    if (HAS_BIAS) { y = y + bias; }
  }
  store(place(3u, r) + n, y);
}
