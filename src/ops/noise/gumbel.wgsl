// y = x - log(-log(u)), u in (0, 1) of 23 bits.
@compute @workgroup_size(64)
fn gumbel(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let i = thread_unit(id, groups);
  if (i >= units()) { return; }
  let row = i / cols(1u);
  let col = i % cols(1u);
  let u = opaque(f32(noise_bits(i) >> 1u) + 0.5) * 0x1p-23f;
  store(place(1u, row) + col, load(place(0u, row) + col) - log_exact(-log_exact(u)));
}
