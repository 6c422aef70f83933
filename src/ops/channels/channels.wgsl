// y = x * gain[c] + bias[c], where channel c is the column divided by int 0. HAS_GAIN, HAS_BIAS.
@compute @workgroup_size(64)
fn channel_affine(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(3u);
  let col = u % cols(3u);
  var v = load(place(0u, row) + col);
  if (HAS_GAIN) { v = mul(v, load(place(1u, 0u) + col / int_at(0u))); }
  if (HAS_BIAS) { v = v + load(place(2u, 0u) + col / int_at(0u)); }
  store(place(3u, row) + col, v);
}

// (x - mean) / sqrt(variance + eps) * gain + bias as x * scale + shift.
@compute @workgroup_size(64)
fn fold_norm(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let i = thread_unit(id, groups);
  if (i >= units()) { return; }
  var s = rsqrt_exact(opaque(load(place(1u, 0u) + i) + real_at(0u)));
  if (HAS_GAIN) { s = mul(s, load(place(2u, 0u) + i)); }
  var b = zero();
  if (HAS_BIAS) { b = load(place(3u, 0u) + i); }
  store(place(4u, 0u) + i, s);
  store(place(5u, 0u) + i, b - mul(load(place(0u, 0u) + i), s));
}

// w += momentum * (value - w)
@compute @workgroup_size(64)
fn moving_average(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let i = thread_unit(id, groups);
  if (i >= units()) { return; }
  let w = load(place(1u, 0u) + i);
  store(place(1u, 0u) + i, w + mul(real_at(0u), opaque(load(place(0u, 0u) + i) - w)));
}
