// Products with weights of classes F and B in the canonical order (rule 3): a thread per output and
// row.

// c + sum of x(k) * w(k), x at place `x`.
fn chains(start: f32, x: u32, panel: u32, n: u32) -> f32 {
  var c = start;
  for (var k0 = 0u; k0 < w_cols(); k0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(k0 + 32u, w_cols());
    for (var k = k0; k < end; k += 2u) {
      even = even + mul(load(x + k), float_value(panel, n, k));
      if (k + 1u < end) { odd = odd + mul(load(x + k + 1u), float_value(panel, n, k + 1u)); }
    }
    c = c + (even + odd);
  }
  return c;
}

@compute @workgroup_size(64)
fn matmul(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / w_rows();
  let n = u % w_rows();
  let panel = w_panel(n);
  let x = place(1u, r);
  // Without scales the sum starts from the bias; with them the bias is added after scaling.
  var bias = zero();
  if (HAS_BIAS) { bias = load(place(2u, 0u) + n); }
  var y = chains(select(bias, zero(), HAS_SCALES), x, panel, n);
  if (FORM == SPLIT_FORM) { y = y + chains(zero(), x + (w_cols() + 31u) / 32u * 32u, panel, n); }
  if (HAS_SCALES) {
    y = mul(y, w_scale(n));
    if (HAS_BIAS) { y = y + bias; }
  }
  store(place(3u, r) + n, y);
}
