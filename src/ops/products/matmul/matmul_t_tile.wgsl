// gx = gy W with decoded weights, as weight_rows.wgsl has it, in tiles.

const LEFT_TURNED = true;
const RIGHT_TURNED = true;

fn left_line(m: u32, n: u32, count: u32) -> vec4<f32> {
  return load_four(place(1u, min(m, rows(1u) - 1u)) + n, max(count, n) - n);
}
fn right_line(k: u32, n: u32, count: u32) -> vec4<f32> {
  if (n >= count || k >= cols(2u)) { return vec4<f32>(zero()); }
  let v = value_four(n, k);
  return select(vec4<f32>(zero()), v, vec4<u32>(n, n + 1u, n + 2u, n + 3u) < vec4<u32>(count));
}

@compute @workgroup_size(THREADS)
fn matmul_t_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = cols(2u);
  let count = P[FIRST_MATRIX];
  let at = place_of(u, outputs, thread);  // not by M: all threads meet in the loop
  var sum: Tiles;
  clear(&sum);
  var fetched = fetch_step(at, 0u, count);
  for (var n0 = 0u; n0 < count; n0 += CHUNKS) { add_chunk(&sum, &fetched, at, n0, count); }
  if (at.lane > 0u) { return; }
  for (var s = 0u; s < SLOTS; s++) {
    let k = at.n0 + (at.across + s % OUT_FOURS * ACROSS) * 4u;
    let m0 = at.m0 + (at.down + s / OUT_FOURS * DOWN) * 4u;
    for (var r = 0u; r < 4u; r++) {
      if (m0 + r >= rows(1u) || k >= outputs) { break; }
      store_four(place(2u, m0 + r) + k, outputs - k, sum[s][r]);
    }
  }
}
