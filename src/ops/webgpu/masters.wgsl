// Parameters that were updated on the device become what kernels read: panels of 16 outputs, or
// plain rows, of values as an instruction stores them.

@group(0) @binding(2) var<storage, read_write> W: array<u32>;

// A thread per element of the master (operand 0), in the order of panels, as far as there are rows.
// extra: words of a panel, and where the first begins.
@compute @workgroup_size(64)
fn to_panels(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let panel = u / 16u / cols(0u);
  let k = u / 16u % cols(0u);
  let n = panel * 16u + u % 16u;
  if (n >= P[68u]) { return; }  // its rows, as in weights.wgsl
  W[extra(1u) + panel * extra(0u) + k * 16u + u % 16u] =
      stored_above(load(place(0u, n) + k), FLOOR);
}

// Into the vector of operand 1.
@compute @workgroup_size(64)
fn to_vector(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u < units()) {
    store(place(1u, u / cols(0u)) + u % cols(0u), load(place(0u, u / cols(0u)) + u % cols(0u)));
  }
}
