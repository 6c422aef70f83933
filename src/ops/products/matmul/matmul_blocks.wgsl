// Products of class I with a scale per block of k: a workgroup per panel of 16 outputs and ROWS
// rows of activations. Its 16 teams of 16 threads make a block each: exact sums in a block. Then
// team i adds the blocks of row i, ascending from +0.

var<workgroup> terms: array<f32, ROWS * 256u>;  // [row][block of the step][output]

struct Sums {
  dots: vec2<i32>,
  ones: vec2<i32>,
}

// Of block b of output n: what it adds to ROWS rows.
fn put_terms(n: u32, b: u32, first: u32, thread: u32) {
  let panel = w_panel(n);
  let words = (w_cols() + 63u) / 64u * 16u;  // of a plane of activations
  let count = min(words, w_padded() / 4u);
  let per_block = w_block() / 4u;
  var sum: array<Sums, ROWS>;
  for (var g = b * per_block; g < min((b + 1u) * per_block, words); g++) {
    var codes = 0u;
    if (g < count) {
      codes = layer_codes(byte_row(panel, n, g / LAYERS), g % LAYERS, vec2<u32>(1u, 0u));
    }
    for (var i = 0u; i < ROWS; i++) {
      let x = place(1u, min(first + i, rows(1u) - 1u)) + g;
      var planes = vec2<u32>(A[x], 0u);
      if (PLANES > 1u) { planes.y = A[x + words]; }
      sum[i].dots += vec2<i32>(dot4I8Packed(codes, planes.x), dot4I8Packed(codes, planes.y));
      sum[i].ones += vec2<i32>(dot4I8Packed(0x01010101u, planes.x),
          dot4I8Packed(0x01010101u, planes.y));
    }
  }
  let at = w_place(n, b);
  for (var i = 0u; i < ROWS; i++) {
    let all = sum[i].ones.x * 128 + sum[i].ones.y;
    var term = mul(f32(sum[i].dots.x * 128 + sum[i].dots.y - code_offset(at) * all),
        own_scale(at));
    if (HAS_MINIMA) { term = term - mul(f32(all), w_minimum(at)); }
    terms[i * 256u + thread] = term;
  }
}

@compute @workgroup_size(256)
fn matmul(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let panels = (P[FIRST_MATRIX] + 15u) / 16u;  // not by M: all threads meet in the loop
  let blocks = (P[FIRST_MATRIX + 1u] + P[FIRST_MATRIX + 7u] - 1u) / P[FIRST_MATRIX + 7u];
  let n = u % panels * 16u + thread % 16u;
  let first = u / panels * ROWS;
  let team = thread / 16u;
  var y = zero();
  for (var b = 0u; b < blocks; b += 16u) {
    if (b + team < blocks) { put_terms(n, b + team, first, thread); }
    workgroupBarrier();
    if (team < ROWS) {
      for (var t = 0u; t < min(16u, blocks - b); t++) {
        y = y + terms[team * 256u + t * 16u + thread % 16u];
      }
    }
    workgroupBarrier();
  }
  if (team >= ROWS || first + team >= rows(1u) || n >= w_rows()) { return; }
  let scale = load(place(1u, first + team) + (w_cols() + 63u) / 64u * 32u);
  y = mul(scale, y);
  if (HAS_BIAS) { y = y + load(place(2u, 0u) + n); }
  store(place(3u, first + team) + n, y);
}
