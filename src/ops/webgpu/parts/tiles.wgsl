// Products in f32 for many rows: a workgroup makes a tile of 64 x 64 results, its 256 threads four
// by four. Both sides pass through workgroup memory 32 at a time, which is a chunk of rule 3: even
// and odd elements in chains of their own. Beyond the end both sides are 0, which leaves a sum from
// +0 as it is.

var<workgroup> left: array<vec4<f32>, 32u * 16u>;   // [element of the chunk][result row / 4]
var<workgroup> right: array<vec4<f32>, 32u * 16u>;  // [element of the chunk][result column / 4]

alias Tile = array<vec4<f32>, 4>;  // of four result rows: four columns

fn times(a: f32, b: vec4<f32>) -> vec4<f32> {
  return bitcast<vec4<f32>>(bitcast<vec4<u32>>(a * b) ^ vec4<u32>(Z));
}
fn add_element(sum: ptr<function, Tile>, e: u32, thread: u32) {
  let a = left[e * 16u + thread / 16u];
  let b = right[e * 16u + thread % 16u];
  (*sum)[0] += times(a.x, b);
  (*sum)[1] += times(a.y, b);
  (*sum)[2] += times(a.z, b);
  (*sum)[3] += times(a.w, b);
}
// The chunk in workgroup memory, between two barriers.
fn add_chunk(sum: ptr<function, Tile>, thread: u32) {
  var even: Tile;
  var odd: Tile;
  for (var i = 0u; i < 4u; i++) {
    even[i] = vec4<f32>(zero());
    odd[i] = vec4<f32>(zero());
  }
  for (var e = 0u; e < 32u; e += 2u) {
    add_element(&even, e, thread);
    add_element(&odd, e + 1u, thread);
  }
  for (var i = 0u; i < 4u; i++) { (*sum)[i] += even[i] + odd[i]; }
}
