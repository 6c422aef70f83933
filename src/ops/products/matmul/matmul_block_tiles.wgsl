// Products of class I with a scale per block of k, for many rows: a workgroup per tile
// (product_tiles.wgsl). Sums are exact in a block, blocks ascend from +0. BLOCK words of k are a
// block, and a step has whole ones.

const BLOCKS = STEP / BLOCK;  // of a step
// Codes are their values where all have the same offset that a byte holds. Otherwise, and for
// minima, the sums of x in a block are needed.
const SHIFTED = BITS < 8u && !HAS_ZEROS;
const ROW_SUMS = HAS_MINIMA || !(SHIFTED || (BITS == 8u && !HAS_ZEROS && OFFSET == 128u));

var<workgroup> w_scales: array<vec4<f32>, BLOCKS * W_FOURS>;  // [block][output / 4]
var<workgroup> w_minima: array<vec4<f32>, select(1u, BLOCKS * W_FOURS, HAS_MINIMA)>;
var<workgroup> w_offsets: array<vec4<i32>, select(1u, BLOCKS * W_FOURS, ROW_SUMS)>;

fn tile_codes(row: u32, p: u32, sub: vec2<u32>) -> u32 {
  let codes = layer_codes(row, p, sub);
  if (!SHIFTED) { return codes; }
  return ((codes | 0x80808080u) - OFFSET * 0x01010101u) ^ 0x80808080u;
}

fn put_scales(at: Place, k0: u32, thread: u32) {
  for (var part = thread; part < BLOCKS * W_FOURS; part += THREADS) {
    let b = min(k0 / BLOCK + part / W_FOURS, P[at.base + 8u] - 1u);
    let column = min(at.n0 + part % W_FOURS * 4u, at.columns - 4u);
    for (var j = 0u; j < 4u; j++) {
      let scale_at = w_place(column + j, b);
      w_scales[part][j] = own_scale(scale_at);
      if (HAS_MINIMA) { w_minima[part][j] = w_minimum(scale_at); }
      if (ROW_SUMS) { w_offsets[part][j] = select(code_offset(scale_at), 0, SHIFTED); }
    }
  }
}

alias Values = array<vec4<f32>, 4>;  // of four rows: four outputs

fn times(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(bitcast<vec4<u32>>(a * b) ^ vec4<u32>(Z));
}
fn add_block(y: ptr<function, Values>, sums: ptr<function, Sums>, all: vec4<i32>, w: u32) {
  let scales = w_scales[w];
  for (var j = 0u; j < 4u; j++) {
    var s = (*sums)[j];
    if (ROW_SUMS) { s = s - w_offsets[w] * all[j]; }
    var term = times(vec4<f32>(s), scales);
    if (HAS_MINIMA) { term = term - times(vec4<f32>(f32(all[j])), w_minima[w]); }
    (*y)[j] = (*y)[j] + term;
  }
}
// High planes count 128 times.
fn raise(sums: ptr<function, Sums>) {
  for (var j = 0u; j < 4u; j++) { (*sums)[j] = (*sums)[j] << vec4<u32>(7u); }
}
fn zeros() -> Values {
  let four = vec4<f32>(zero());
  return Values(four, four, four, four);
}

fn finish_values(y: ptr<function, Values>, at: Place, m0: u32, n0: u32) {
  for (var j = 0u; j < 4u; j++) {
    let m = m0 + j;
    if (m >= rows(1u)) { return; }
    let scale = load(place(1u, m) + 2u * at.words);
    for (var i = 0u; i < 4u; i++) {
      let n = n0 + i;
      if (n >= w_rows()) { break; }
      var v = mul(scale, (*y)[j][i]);
      if (HAS_BIAS) { v = v + bias_at(at.matrix, n); }
      store(result_at(at.matrix, m) + n, v);
    }
  }
}

@compute @workgroup_size(THREADS)
fn matmul_block_tiles(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let at = place_of(u);
  let right = thread % ACROSS;
  let left = thread / ACROSS;
  // as the sums in add_word
  var y00 = zeros();
  var y01 = zeros();
  var y10 = zeros();
  var y11 = zeros();
  var fetched = fetch_step(at, 0u, thread);
  for (var k0 = 0u; k0 < at.count; k0 += STEP) {
    put_step(&fetched, k0, thread);
    put_scales(at, k0, thread);
    workgroupBarrier();
    if (PREFETCH && k0 + STEP < at.count) { fetched = fetch_step(at, k0 + STEP, thread); }
    // Beyond the last block there is no x, and no scale.
    let blocks = min(BLOCKS, P[at.base + 8u] - min(k0 / BLOCK, P[at.base + 8u]));
    for (var b = 0u; b < blocks; b++) {
      // Without initializers a driver kept the sums of the block before.
      var s00 = Sums();
      var s01 = Sums();
      var s10 = Sums();
      var s11 = Sums();
      var all0 = vec4<i32>(0);
      var all1 = vec4<i32>(0);
      for (var k = b * BLOCK; k < (b + 1u) * BLOCK; k++) {
        let x0 = x_high[k * X_ROW + left];
        let x1 = x_high[k * X_ROW + left + ROW_1];
        add_word(&s00, &s01, &s10, &s11, w_words[k * W_FOURS + right],
            w_words[k * W_FOURS + right + OUT_1], x0, x1);
        if (ROW_SUMS) {
          all0 += dot_four(x0, 0x01010101u);
          all1 += dot_four(x1, 0x01010101u);
        }
      }
      raise(&s00);
      raise(&s01);
      raise(&s10);
      raise(&s11);
      all0 = all0 << vec4<u32>(7u);
      all1 = all1 << vec4<u32>(7u);
      for (var k = b * BLOCK; PLANES > 1u && k < (b + 1u) * BLOCK; k++) {
        let x0 = x_low[k * X_ROW + left];
        let x1 = x_low[k * X_ROW + left + ROW_1];
        add_word(&s00, &s01, &s10, &s11, w_words[k * W_FOURS + right],
            w_words[k * W_FOURS + right + OUT_1], x0, x1);
        if (ROW_SUMS) {
          all0 += dot_four(x0, 0x01010101u);
          all1 += dot_four(x1, 0x01010101u);
        }
      }
      let w = b * W_FOURS + right;
      add_block(&y00, &s00, all0, w);
      if (OUT_FOURS > 1u) { add_block(&y01, &s01, all0, w + OUT_1); }
      if (ROW_FOURS > 1u) { add_block(&y10, &s10, all1, w); }
      if (ROW_FOURS > 1u && OUT_FOURS > 1u) { add_block(&y11, &s11, all1, w + OUT_1); }
    }
    workgroupBarrier();
    if (!PREFETCH && k0 + STEP < at.count) { fetched = fetch_step(at, k0 + STEP, thread); }
  }
  let m = at.m0 + left * 4u;
  let n = at.n0 + right * 4u;
  finish_values(&y00, at, m, n);
  if (OUT_FOURS > 1u) { finish_values(&y01, at, m, n + 4u * OUT_1); }
  if (ROW_FOURS > 1u) { finish_values(&y10, at, m + 4u * ROW_1, n); }
  if (ROW_FOURS > 1u && OUT_FOURS > 1u) {
    finish_values(&y11, at, m + 4u * ROW_1, n + 4u * OUT_1);
  }
}
