// Products of class I with a scale per row: a workgroup per panel of 16 outputs and ROWS rows of
// activations. Its 16 teams of 16 threads share out the byte rows of the panel; integer sums are
// exact in any order, so they meet in workgroup memory at the end.

var<workgroup> partial: array<vec2<i32>, ROWS * 256u>;

@compute @workgroup_size(256)
fn matmul(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let panels = (w_rows() + 15u) / 16u;
  let n = u % panels * 16u + thread % 16u;
  let first = u / panels * ROWS;
  let team = thread / 16u;
  let panel = w_panel(n);
  let words = (w_cols() + 63u) / 64u * 16u;  // of a plane of activations
  let count = min(words, w_padded() / 4u);
  var sum: array<vec2<i32>, ROWS>;
  for (var r = team; r * LAYERS < count; r += 16u) {
    let row = byte_row(panel, n, r);
    let sub = sub_scales(panel, n, r);
    for (var p = 0u; p < LAYERS; p++) {
      let g = r * LAYERS + p;
      if (g >= count) { break; }
      let codes = layer_codes(row, p, sub);
      for (var i = 0u; i < ROWS; i++) {
        let x = place(1u, min(first + i, rows(1u) - 1u)) + g;
        sum[i].x += dot4I8Packed(codes, A[x]);
        if (PLANES > 1u) { sum[i].y += dot4I8Packed(codes, A[x + words]); }
      }
    }
  }
  for (var i = 0u; i < ROWS; i++) { partial[i * 256u + thread] = sum[i]; }
  workgroupBarrier();
  // Team i finishes row i.
  if (team >= ROWS || first + team >= rows(1u) || n >= w_rows()) { return; }
  var total = vec2<i32>(0, 0);
  for (var t = 0u; t < 16u; t++) { total = total + partial[team * 256u + t * 16u + thread % 16u]; }
  let q = place(1u, first + team) + 2u * words;  // scale, sums of both planes
  var y = join_sums(n, total, vec2<i32>(bitcast<i32>(A[q + 1u]), bitcast<i32>(A[q + 2u])), load(q),
      own_scale(n));
  if (HAS_BIAS) { y = y + load(place(2u, 0u) + n); }
  store(place(3u, first + team) + n, y);
}
