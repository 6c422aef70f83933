// y = x W^T + b and gx = gy W with decoded weights, as matmul_float.wgsl and weight_rows.wgsl have
// them, in tiles. Not bf16x2.

// A chunk of four rows' elements from `first` on becomes the left side: operand 1.
fn stage_rows(m0: u32, first: u32, count: u32, thread: u32) {
  for (var i = thread; i < 32u * 16u; i += 256u) {
    let e = first + i % 32u;
    var v = vec4<f32>(zero());
    for (var j = 0u; j < 4u; j++) {
      let m = min(m0 + i / 32u * 4u + j, rows(1u) - 1u);
      if (e < count) { v[j] = load(place(1u, m) + e); }
    }
    left[i % 32u * 16u + i / 32u] = v;
  }
}

@compute @workgroup_size(256)
fn matmul_tile(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = P[FIRST_MATRIX];  // not by M: all threads meet in the loop
  let count = P[FIRST_MATRIX + 1u];
  let tiles = (outputs + 63u) / 64u;
  let n0 = u % tiles * 64u + thread % 16u * 4u;
  let m0 = u / tiles * 64u;
  var sum: Tile;
  for (var i = 0u; i < 4u; i++) {
    // Without scales the sum starts from the bias; with them the bias is added after scaling.
    for (var j = 0u; j < 4u; j++) {
      sum[i][j] = zero();
      if (HAS_BIAS && !HAS_SCALES) { sum[i][j] = load(place(2u, 0u) + min(n0 + j, outputs - 1u)); }
    }
  }
  for (var k0 = 0u; k0 < count; k0 += 32u) {
    stage_rows(m0, k0, count, thread);
    for (var i = thread; i < 32u * 16u; i += 256u) {
      let k = k0 + i / 16u;
      var v = vec4<f32>(zero());
      for (var j = 0u; j < 4u; j++) {
        let n = u % tiles * 64u + i % 16u * 4u + j;
        if (k < count && n < outputs) { v[j] = float_value(w_panel(n), n, k); }
      }
      right[i] = v;
    }
    workgroupBarrier();
    add_chunk(&sum, thread);
    workgroupBarrier();
  }
  for (var i = 0u; i < 4u; i++) {
    let m = m0 + thread / 16u * 4u + i;
    for (var j = 0u; j < 4u && m < rows(1u); j++) {
      if (n0 + j >= outputs) { break; }
      var y = sum[i][j];
      if (HAS_SCALES) {
        y = mul(y, w_scale(n0 + j));
        if (HAS_BIAS) { y = y + load(place(2u, 0u) + n0 + j); }
      }
      store(place(3u, m) + n0 + j, y);
    }
  }
}

@compute @workgroup_size(256)
fn matmul_t_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = cols(2u);
  let count = P[FIRST_MATRIX];
  let tiles = (outputs + 63u) / 64u;
  let k0 = u % tiles * 64u;
  let m0 = u / tiles * 64u;
  var sum: Tile;
  for (var i = 0u; i < 4u; i++) { sum[i] = vec4<f32>(zero()); }
  for (var n0 = 0u; n0 < count; n0 += 32u) {
    stage_rows(m0, n0, count, thread);
    for (var i = thread; i < 32u * 16u; i += 256u) {
      let n = n0 + i % 32u;  // neighbors in a panel
      var v = vec4<f32>(zero());
      for (var j = 0u; j < 4u; j++) {
        let k = k0 + i / 32u * 4u + j;
        if (n < count && k < outputs) { v[j] = weight_value(n, k); }
      }
      right[i % 32u * 16u + i / 32u] = v;
    }
    workgroupBarrier();
    add_chunk(&sum, thread);
    workgroupBarrier();
  }
  for (var i = 0u; i < 4u; i++) {
    let m = m0 + thread / 16u * 4u + i;
    for (var j = 0u; j < 4u && m < rows(1u); j++) {
      let k = k0 + thread % 16u * 4u + j;
      if (k < outputs) { store(place(2u, m) + k, sum[i][j]); }
    }
  }
}
