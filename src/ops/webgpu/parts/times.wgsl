// A product that is added. FUSED: adding -0, which no compiler knows to be it, changes no product,
// and leaves nothing to contract.
fn times(a: f32, b: vec4<f32>) -> vec4<f32> {
  if (FUSED) { return fma(vec4<f32>(a), b, vec4<f32>(bitcast<f32>(Z ^ 0x80000000u))); }
  return bitcast<vec4<f32>>(bitcast<vec4<u32>>(a * b) ^ vec4<u32>(Z));
}
