// In place of arena.wgsl and fours.wgsl where all that a kernel reads and writes comes in fours of
// words that begin at a multiple of four.

@group(0) @binding(1) var<storage, read_write> A: array<vec4<u32>>;

fn load_four(at: u32, left: u32) -> vec4<f32> {
  if (left == 0u) { return vec4<f32>(zero()); }
  return bitcast<vec4<f32>>(A[at / 4u]);
}
fn store_four(at: u32, left: u32, v: vec4<f32>) {
  if (left == 0u) { return; }
  A[at / 4u] = vec4<u32>(stored_above(v.x, FLOOR), stored_above(v.y, FLOOR),
      stored_above(v.z, FLOOR), stored_above(v.w, FLOOR));
}
