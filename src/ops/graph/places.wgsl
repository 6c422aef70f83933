// Places taken from a list, and choices between values: a thread per element of the result.

// y[j] = x[places[j]], or the fill value.
@compute @workgroup_size(64)
fn index_select(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(2u);
  let at = bitcast<i32>(A[place(1u, 0u) + u % cols(2u)]);
  let to = place(2u, row) + u % cols(2u);
  if (at < 0) { store(to, real_at(0u)); }
  else { A[to] = A[place(0u, row) + u32(at)]; }
}
// Each value gets the sum of its uses, ascending from +0.
@compute @workgroup_size(64)
fn index_select_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(2u);
  let inverse = place(1u, 0u);
  let c = u % cols(2u);
  var sum = zero();
  for (var i = A[inverse + c]; i < A[inverse + c + 1u]; i++) {
    sum = sum + load(place(0u, row) + A[inverse + cols(2u) + 1u + i]);
  }
  store(place(2u, row) + c, sum);
}
@compute @workgroup_size(64)
fn select_elements(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(3u);
  let c = u % cols(3u);
  A[place(3u, row) + c] = select(A[place(2u, row) + c], A[place(1u, row) + c],
      magnitude_bits(load(place(0u, row) + c)) != 0u);
}
