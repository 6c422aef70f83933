// Rows of f32 as bf16x2.

fn to_bf16(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= INF_BITS) { return x; }
  var rounded = (bits + 0x7FFFu + ((bits >> 16u) & 1u)) & 0xFFFF0000u;
  if ((rounded & 0x7FFFFFFFu) >= INF_BITS) { rounded = (bits & 0x80000000u) | 0x7F7F0000u; }
  if (magnitude < (71u << 23u)) { rounded = bits & 0x80000000u; }
  return bitcast<f32>(rounded);
}

// x = hi + lo: a plane of f32 values each, padded to 32.
@compute @workgroup_size(64)
fn split_bf16(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = cols(0u);
  let r = u / n;
  let c = u % n;
  let x = load(place(0u, r) + c);
  let h = to_bf16(x);
  A[place(1u, r) + c] = bitcast<u32>(h);
  let rest = opaque(x - h);
  A[place(1u, r) + (n + 31u) / 32u * 32u + c] = select(bitcast<u32>(to_bf16(rest)), 0u,
      is_nan(rest) || magnitude_bits(x) >= INF_BITS);
}
