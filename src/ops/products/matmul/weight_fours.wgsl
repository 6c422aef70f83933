// Four neighboring outputs of decoded weights.

// Without their scales.
fn raw_four(n: u32, k: u32) -> vec4<f32> {
  let panel = w_panel(n);
  return vec4<f32>(float_value(panel, n, k), float_value(panel, n + 1u, k),
      float_value(panel, n + 2u, k), float_value(panel, n + 3u, k));
}
fn value_four(n: u32, k: u32) -> vec4<f32> {
  return vec4<f32>(weight_value(n, k), weight_value(n + 1u, k), weight_value(n + 2u, k),
      weight_value(n + 3u, k));
}
fn scale_of(n: u32) -> f32 { return w_scale(n); }
