// Parameters that were updated on the device become what kernels read: panels of 16 outputs, or
// plain rows, of values as an instruction stores them.

@group(0) @binding(2) var<storage, read_write> W: array<u32>;

// Of a matrix in squares of 8 by 8, a workgroup each: a master's rows are read, and the outputs of
// panels written, eight words at a time.
fn cell_of(u: u32, width: u32) -> vec2<u32> {
  let across = (width + 7u) / 8u;
  return vec2<u32>(u / 64u / across * 8u + u % 64u / 8u, u / 64u % across * 8u + u % 8u);
}
// P[68] and on: its rows, words of a panel, and where the first begins, as in weights.wgsl.
fn put_panel(n: u32, k: u32, x: f32) {
  W[P[77u] + n / 16u * P[71u] + k * 16u + n % 16u] = stored_above(x, FLOOR);
}

// A thread per element of the master (operand 0).
@compute @workgroup_size(64)
fn to_panels(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  let at = cell_of(u, cols(0u));
  if (u < units() && at.x < P[68u] && at.y < cols(0u)) {
    put_panel(at.x, at.y, load(place(0u, at.x) + at.y));
  }
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
