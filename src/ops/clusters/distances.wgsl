// Squared distances of rows to the rows of a weight matrix, and their gradients: a thread per
// element of the result. Sums in the order of groups.wgsl.

@compute @workgroup_size(64)
fn distances(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = u % cols(2u);
  let x = place(1u, u / cols(2u));
  var sum = zero();
  for (var k0 = 0u; k0 < w_cols(); k0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(k0 + 32u, w_cols());
    for (var k = k0; k < end; k += 2u) {
      let d = opaque(load(x + k) - weight_value(n, k));
      even = even + mul(d, d);
      if (k + 1u < end) {
        let e = opaque(load(x + k + 1u) - weight_value(n, k + 1u));
        odd = odd + mul(e, e);
      }
    }
    sum = sum + (even + odd);
  }
  store(place(2u, u / cols(2u)) + n, sum);
}

@compute @workgroup_size(64)
fn distances_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(3u);
  let k = u % cols(3u);
  let x = load(place(1u, row) + k);
  let g = place(2u, row);
  var sum = zero();
  for (var n0 = 0u; n0 < w_rows(); n0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(n0 + 32u, w_rows());
    for (var n = n0; n < end; n += 2u) {
      even = even + mul(load(g + n), opaque(x - weight_value(n, k)));
      if (n + 1u < end) { odd = odd + mul(load(g + n + 1u), opaque(x - weight_value(n + 1u, k))); }
    }
    sum = sum + (even + odd);
  }
  store(place(3u, row) + k, 2.0 * opaque(sum));
}

@compute @workgroup_size(64)
fn distances_weight(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = u / cols(3u);
  let k = u % cols(3u);
  let w = weight_value(n, k);
  var sum = row_sum();
  for (var r = 0u; r < rows(1u); r++) {
    push_row(&sum, mul(opaque(w - load(place(1u, r) + k)), load(place(2u, r) + n)));
  }
  add_total(place(3u, n) + k, mul(row_total(&sum), 2.0), int_at(0u));
}
