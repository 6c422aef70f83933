// Products of groups on decoded weights (ints: groups): a thread per element of the result. Sums in
// the order of weight_rows.wgsl.

@compute @workgroup_size(64)
fn group_matmul(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = u % cols(3u);
  let x = place(1u, u / cols(3u)) + n / (w_rows() / int_at(0u)) * w_cols();
  var c = zero();
  if (HAS_BIAS) { c = load(place(2u, 0u) + n); }
  for (var k0 = 0u; k0 < w_cols(); k0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(k0 + 32u, w_cols());
    for (var k = k0; k < end; k += 2u) {
      even = even + mul(load(x + k), weight_value(n, k));
      if (k + 1u < end) { odd = odd + mul(load(x + k + 1u), weight_value(n, k + 1u)); }
    }
    c = c + (even + odd);
  }
  store(place(3u, u / cols(3u)) + n, c);
}

@compute @workgroup_size(64)
fn group_matmul_t(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let outputs = w_rows() / int_at(0u);
  let k = u % cols(2u) % w_cols();
  let first = u % cols(2u) / w_cols() * outputs;
  let gy = place(1u, u / cols(2u)) + first;
  var c = zero();
  for (var n0 = 0u; n0 < outputs; n0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(n0 + 32u, outputs);
    for (var n = n0; n < end; n += 2u) {
      even = even + mul(load(gy + n), weight_value(first + n, k));
      if (n + 1u < end) { odd = odd + mul(load(gy + n + 1u), weight_value(first + n + 1u, k)); }
    }
    c = c + (even + odd);
  }
  store(place(2u, u / cols(2u)) + u % cols(2u), c);
}
