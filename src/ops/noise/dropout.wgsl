// y = x * factor, or 0 where the draw is below int 4.
@compute @workgroup_size(64)
fn dropout(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let col = u % cols(1u);
  let kept = load(place(0u, row) + col) * real_at(0u);
  if (noise_bits(u) < int_at(4u)) { store(place(1u, row) + col, zero()); }
  else { store(place(1u, row) + col, kept); }
}
