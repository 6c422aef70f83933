// y = x W^T + b with decoded weights, as matmul_float.wgsl has it, in tiles. Not bf16x2.

const LEFT_TURNED = true;
const RIGHT_TURNED = false;

fn left_line(m: u32, k: u32, count: u32) -> vec4<f32> {
  return load_four(place(1u, min(m, rows(1u) - 1u)) + k, max(count, k) - k);
}
fn right_line(k: u32, n: u32, count: u32) -> vec4<f32> {
  if (k >= count || n >= P[FIRST_MATRIX]) { return vec4<f32>(zero()); }
  return raw_four(n, k);
}

@compute @workgroup_size(THREADS)
fn matmul_tile(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = P[FIRST_MATRIX];
  let count = P[FIRST_MATRIX + 1u];
  let at = place_of(u, outputs, thread);
  var sum: Tiles;
  clear(&sum);
  var bias: array<vec4<f32>, OUT_FOURS>;
  if (HAS_BIAS) {
    for (var j = 0u; j < OUT_FOURS; j++) {
      let n = at.n0 + (at.across + j * ACROSS) * 4u;
      bias[j] = load_four(place(2u, 0u) + n, max(outputs, n) - n);
      // Without scales the sum starts from the bias; with them the bias is added after scaling.
      for (var i = 0u; i < ROW_FOURS && !HAS_SCALES; i++) {
        for (var r = 0u; r < 4u; r++) { sum[i * OUT_FOURS + j][r] = bias[j]; }
      }
    }
  }
  var fetched = fetch_step(at, 0u, count);
  for (var k0 = 0u; k0 < count; k0 += CHUNKS) { add_chunk(&sum, &fetched, at, k0, count); }
  if (at.lane > 0u) { return; }
  for (var s = 0u; s < SLOTS; s++) {
    let n = at.n0 + (at.across + s % OUT_FOURS * ACROSS) * 4u;
    let m0 = at.m0 + (at.down + s / OUT_FOURS * DOWN) * 4u;
    for (var r = 0u; r < 4u; r++) {
      if (m0 + r >= rows(1u) || n >= outputs) { break; }
      var y = sum[s][r];
      if (HAS_SCALES) {
        for (var j = 0u; j < 4u; j++) {
          y[j] = mul(y[j], scale_of(min(n + j, outputs - 1u)));
          if (HAS_BIAS) { y[j] = y[j] + bias[s % OUT_FOURS][j]; }
        }
      }
      store_four(place(3u, m0 + r) + n, outputs - n, y);
    }
  }
}
