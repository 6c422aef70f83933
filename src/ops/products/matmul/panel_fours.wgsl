// Four neighboring outputs of f32 weights, read at once: in place of weights.wgsl.

@group(0) @binding(2) var<storage, read> W: array<vec4<u32>>;

const FIRST_MATRIX = 68u;

fn raw_four(n: u32, k: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(
      W[(P[FIRST_MATRIX + 9u] + n / 16u * P[FIRST_MATRIX + 3u] + k * 16u + n % 16u) / 4u]);
}
fn value_four(n: u32, k: u32) -> vec4<f32> { return raw_four(n, k); }
fn scale_of(n: u32) -> f32 { return 1.0; }
