// Four neighboring words of the arena, as far as `left` says that there are.

fn load_four(at: u32, left: u32) -> vec4<f32> {
  var v = vec4<f32>(zero());
  for (var i = 0u; i < 4u && i < left; i++) { v[i] = load(at + i); }
  return v;
}
fn store_four(at: u32, left: u32, v: vec4<f32>) {
  for (var i = 0u; i < 4u && i < left; i++) { store(at + i, v[i]); }
}
