// Products of class I with a scale per block of k: exact sums in a block, blocks ascending from +0.
// A thread per output and row.

@compute @workgroup_size(64)
fn matmul(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / w_rows();
  let n = u % w_rows();
  let panel = w_panel(n);
  let x = place(1u, row);
  let words = (w_cols() + 63u) / 64u * 16u;
  let count = min(words, w_padded() / 4u);
  let per_block = w_block() / 4u;
  let blocks = (w_cols() + w_block() - 1u) / w_block();
  var y = zero();
  for (var b = 0u; b < blocks; b++) {
    var dots = vec2<i32>(0, 0);
    var ones = vec2<i32>(0, 0);
    for (var g = b * per_block; g < min((b + 1u) * per_block, words); g++) {
      if (g < count) {
        let r = g / LAYERS;
        let codes = layer_codes(byte_row(panel, n, r), g % LAYERS, vec2<u32>(1u, 0u));
        dots = dots + vec2<i32>(dot4I8Packed(codes, A[x + g]),
            dot4I8Packed(codes, A[x + words + g]));
      }
      ones = ones + vec2<i32>(dot4I8Packed(0x01010101u, A[x + g]),
          dot4I8Packed(0x01010101u, A[x + words + g]));
    }
    let at = w_place(n, b);
    let all = ones.x * 128 + ones.y;
    var term = mul(f32(dots.x * 128 + dots.y - code_offset(at) * all), own_scale(at));
    if (HAS_MINIMA) { term = term - mul(f32(all), w_minimum(at)); }
    y = y + term;
  }
  y = mul(load(x + 2u * words), y);
  if (HAS_BIAS) { y = y + load(place(2u, 0u) + n); }
  store(place(3u, row) + n, y);
}
