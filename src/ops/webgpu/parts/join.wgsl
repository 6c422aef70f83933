// Exact sums, and from them a value of class I.

// Of four words of codes with one of x.
fn dot_four(w: vec4<u32>, x: u32) -> vec4<i32> {
  return vec4<i32>(dot4I8Packed(w.x, x), dot4I8Packed(w.y, x), dot4I8Packed(w.z, x),
      dot4I8Packed(w.w, x));
}

// f(S) of rule 5: rounds once.
fn sum_to_f32(s: i32) -> f32 { return f32(s >> 12u) * 4096.0 + f32(s & 4095); }

// A value from its sums with both planes, for each of four rows.
fn join_four(high: vec4<i32>, low: vec4<i32>, row_scales: vec4<f32>, scale: f32) -> vec4<f32> {
  var y = (vec4<f32>(high >> vec4<u32>(12u)) * 4096.0 + vec4<f32>(high & vec4<i32>(4095))) * 128.0;
  if (PLANES > 1u) {
    y = y + (vec4<f32>(low >> vec4<u32>(12u)) * 4096.0 + vec4<f32>(low & vec4<i32>(4095)));
  }
  return bitcast<vec4<f32>>(bitcast<vec4<u32>>(y * row_scales * scale) ^ vec4<u32>(Z));
}
// Output n of this scale: its sums with both planes of a row whose own sums and scale are given.
fn join_sums(n: u32, dots: vec2<i32>, row_sums: vec2<i32>, row_scale: f32, scale: f32) -> f32 {
  let s = dots - code_offset(n) * row_sums;
  if (PLANES == 1u) { return mul(sum_to_f32(s.x) * 128.0 * row_scale, scale); }
  return mul((sum_to_f32(s.x) * 128.0 + sum_to_f32(s.y)) * row_scale, scale);
}
