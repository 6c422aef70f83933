// Products of class I with a scale per row, for many rows: a workgroup per tile
// (product_tiles.wgsl).

fn tile_codes(row: u32, p: u32, sub: vec2<u32>) -> u32 { return layer_codes(row, p, sub); }

fn finish_sums(high: ptr<function, Sums>, low: ptr<function, Sums>, at: Place, m0: u32, n0: u32) {
  for (var j = 0u; j < 4u; j++) {
    let m = m0 + j;
    if (m >= rows(1u)) { return; }
    let q = place(1u, m) + 2u * at.words;  // scale, sums of both planes
    let row_sums = vec2<i32>(bitcast<i32>(A[q + 1u]), bitcast<i32>(A[q + 2u]));
    for (var i = 0u; i < 4u; i++) {
      let n = n0 + i;
      if (n >= w_rows()) { break; }
      var y = join_sums(n, vec2<i32>((*high)[j][i], (*low)[j][i]), row_sums, load(q),
          own_scale(n));
      if (HAS_BIAS) { y = y + bias_at(at.matrix, n); }
      store(result_at(at.matrix, m) + n, y);
    }
  }
}

@compute @workgroup_size(THREADS)
fn matmul_tiled(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let at = place_of(u);
  let right = thread % ACROSS;
  let left = thread / ACROSS;
  var high00: Sums;
  var high01: Sums;
  var high10: Sums;
  var high11: Sums;
  var low00: Sums;
  var low01: Sums;
  var low10: Sums;
  var low11: Sums;
  var fetched = fetch_step(at, 0u, thread);
  for (var k0 = 0u; k0 < at.count; k0 += STEP) {
    put_step(&fetched, k0, thread);
    workgroupBarrier();
    if (PREFETCH && k0 + STEP < at.count) { fetched = fetch_step(at, k0 + STEP, thread); }
    for (var k = 0u; k < STEP; k++) {
      let w0 = w_words[k * W_FOURS + right];
      let w1 = w_words[k * W_FOURS + right + OUT_1];
      add_word(&high00, &high01, &high10, &high11, w0, w1, x_high[k * X_ROW + left],
          x_high[k * X_ROW + left + ROW_1]);
      if (PLANES > 1u) {
        add_word(&low00, &low01, &low10, &low11, w0, w1, x_low[k * X_ROW + left],
            x_low[k * X_ROW + left + ROW_1]);
      }
    }
    workgroupBarrier();
    if (!PREFETCH && k0 + STEP < at.count) { fetched = fetch_step(at, k0 + STEP, thread); }
  }
  let m = at.m0 + left * 4u;
  let n = at.n0 + right * 4u;
  finish_sums(&high00, &low00, at, m, n);
  if (OUT_FOURS > 1u) { finish_sums(&high01, &low01, at, m, n + 4u * OUT_1); }
  if (ROW_FOURS > 1u) { finish_sums(&high10, &low10, at, m + 4u * ROW_1, n); }
  if (ROW_FOURS > 1u && OUT_FOURS > 1u) {
    finish_sums(&high11, &low11, at, m + 4u * ROW_1, n + 4u * OUT_1);
  }
}
