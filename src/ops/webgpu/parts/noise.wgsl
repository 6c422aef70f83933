// The stream of base/random.h: a draw of 24 bits for an element of this run. ints 0 to 3: seed and
// stream, low words first; u32 register 0: the run.

fn mul_high(a: u32, b: u32) -> u32 {
  let low = (a & 0xFFFFu) * (b & 0xFFFFu);
  let middle = (a >> 16u) * (b & 0xFFFFu) + (low >> 16u);
  let other = (a & 0xFFFFu) * (b >> 16u) + (middle & 0xFFFFu);
  return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}
// Philox4x32-10.
fn philox(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var k = key;
  for (var round = 0u; round < 10u; round++) {
    c = vec4<u32>(mul_high(0xCD9E8D57u, c.z) ^ c.y ^ k.x, 0xCD9E8D57u * c.z,
        mul_high(0xD2511F53u, c.x) ^ c.w ^ k.y, 0xD2511F53u * c.x);
    k = k + vec2<u32>(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}
fn noise_bits(element: u32) -> u32 {
  let run = u32_register(0u);
  let c = philox(vec4<u32>((element >> 2u) | (run << 30u), run >> 2u, int_at(2u), int_at(3u)),
      vec2<u32>(int_at(0u), int_at(1u)));
  return c[element & 3u] >> 8u;
}
