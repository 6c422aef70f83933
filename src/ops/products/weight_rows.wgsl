// Readers of decoded weights.

// y[r] = row ids[r] of the matrix: a thread per element.
@compute @workgroup_size(64)
fn gather(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / cols(2u);
  let c = u % cols(2u);
  A[place(2u, r) + c] = bitcast<u32>(weight_value(min(A[place(1u, r)], w_rows() - 1u), c));
}

// gx = gy W, class F on the decoded values: a thread per element.
@compute @workgroup_size(64)
fn matmul_t(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let gy = place(1u, u / cols(2u));
  let k = u % cols(2u);
  var c = zero();
  for (var n0 = 0u; n0 < w_rows(); n0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(n0 + 32u, w_rows());
    for (var n = n0; n < end; n += 2u) {
      even = even + mul(load(gy + n), weight_value(n, k));
      if (n + 1u < end) { odd = odd + mul(load(gy + n + 1u), weight_value(n + 1u, k)); }
    }
    c = c + (even + odd);
  }
  store(place(2u, u / cols(2u)) + k, c);
}
