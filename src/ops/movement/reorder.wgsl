// y = the values of x, each block of SIZE[0] x .. x SIZE[4] with its dimensions in the order ORDER.
// Values count row-major over all of an operand.
@compute @workgroup_size(64)
fn reorder(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  var step: array<u32, 5>;
  var block = 1u;
  for (var d = 5u; d > 0u; d--) {
    step[d - 1u] = block;
    block = block * SIZE[d - 1u];
  }
  var flat = u / block * block;
  var rest = u % block;
  for (var d = 5u; d > 0u; d--) {
    let from_dim = ORDER[d - 1u];
    flat = flat + rest % SIZE[from_dim] * step[from_dim];
    rest = rest / SIZE[from_dim];
  }
  A[place(1u, u / cols(1u)) + u % cols(1u)] = A[place(0u, flat / cols(0u)) + flat % cols(0u)];
}
