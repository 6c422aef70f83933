// Whole numbers of 64 and 128 bits.

// Sums of 64 bits, low word first; with a number: of weights, and of how many they are.
fn less(a: vec2<u32>, b: vec2<u32>) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }
fn plus(a: vec3<u32>, b: vec3<u32>) -> vec3<u32> {
  let low = a.x + b.x;
  return vec3(low, a.y + b.y + select(0u, 1u, low < a.x), a.z + b.z);
}
fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

// Numbers of 128 bits, low words first.
fn right(x: vec4<u32>, n: u32) -> vec4<u32> {
  var y = vec4(0u);
  for (var i = 0u; i + n / 32u < 4u; i++) {
    let at = i + n / 32u;
    y[i] = x[at] >> (n & 31u);
    if ((n & 31u) != 0u && at < 3u) { y[i] |= x[at + 1u] << (32u - (n & 31u)); }
  }
  return y;
}
fn any_below(x: vec4<u32>, n: u32) -> bool {
  var bits = 0u;
  for (var i = 0u; i < 4u && 32u * i < n; i++) {
    bits |= select(x[i] & ((1u << ((n - 32u * i) & 31u)) - 1u), x[i], n >= 32u * i + 32u);
  }
  return bits != 0u;
}
fn product(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  let ends = vec4(a.x * b.x, mul_high(a.x, b.x), a.y * b.y, mul_high(a.y, b.y));
  let one = plus(vec3(a.x * b.y, mul_high(a.x, b.y), 0u), vec3(0u));
  let middle = plus(one, vec3(a.y * b.x, mul_high(a.y, b.x), 0u));
  let carry = select(0u, 1u, less(middle.xy, one.xy));
  let lower = plus(vec3(ends.y, ends.z, 0u), middle);
  let up = select(0u, 1u, less(lower.xy, middle.xy));
  return vec4(ends.x, lower.x, lower.y, ends.w + carry + up);
}
