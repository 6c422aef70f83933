// Sums over rows of a run: gradients of parameters (rules 3 and 7). A thread per element of the
// gradient. ints: accumulate.

// gw (+)= gy^T x
@compute @workgroup_size(64)
fn weight_grad(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = u / cols(2u);
  let k = u % cols(2u);
  var sum = row_sum();
  for (var r = 0u; r < rows(0u); r++) {
    push_row(&sum, mul(load(place(0u, r) + n), load(place(1u, r) + k)));
  }
  add_total(place(2u, n) + k, row_total(&sum), int_at(0u));
}

// gb (+)= column sums of gy
@compute @workgroup_size(64)
fn bias_grad(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = thread_unit(id, groups);
  if (c >= units()) { return; }
  var sum = row_sum();
  for (var r = 0u; r < rows(0u); r++) { push_row(&sum, load(place(0u, r) + c)); }
  add_total(place(1u, 0u) + c, row_total(&sum), int_at(0u));
}

// gw (+)= per id the sum of its rows of gy, ascending from +0; without accumulation gw is filled
// with zeros before. A thread per element of gy: that of the first row of an id adds all of them.
// embedding_rows.wgsl says which row that is, and which is the next of the same id.
@compute @workgroup_size(64)
fn embedding_grad_zero(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u < units()) { A[place(2u, u / cols(2u)) + u % cols(2u)] = 0u; }
}
@compute @workgroup_size(64)
fn embedding_grad(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let i = u / cols(0u);
  let c = u % cols(0u);
  if (A[extra(0u) + 2u * i] != 0u) { return; }
  let own = min(A[place(1u, i)], rows(2u) - 1u);
  var sum = zero();
  for (var j = i; j < rows(0u); j = A[extra(0u) + 2u * j + 1u]) {
    sum = sum + load(place(0u, j) + c);
  }
  store(place(2u, own) + c, load(place(2u, own) + c) + sum);
}

// gw (+)= gy^T x by groups: output n meets its group's columns of x. ints: groups, accumulate.
@compute @workgroup_size(64)
fn group_weight_grad(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = u / cols(2u);
  let k = u % cols(2u);
  let x = n / (rows(2u) / int_at(0u)) * cols(2u) + k;
  var sum = row_sum();
  for (var r = 0u; r < rows(0u); r++) {
    push_row(&sum, mul(load(place(0u, r) + n), load(place(1u, r) + x)));
  }
  add_total(place(2u, n) + k, row_total(&sum), int_at(1u));
}
