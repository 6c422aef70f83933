// y = a b for each matrix of a row. SHAPE: outer, inner, m, n, k; A_STEP: outer, inner, m, k;
// B_STEP: outer, inner, k, n. A thread per element of y.
@compute @workgroup_size(64)
fn batched_matmul(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(2u);
  let c = u % cols(2u);
  let n = c % SHAPE[3];
  let m = c / SHAPE[3] % SHAPE[2];
  let matrix = c / (SHAPE[3] * SHAPE[2]);
  let a = place(0u, row) + matrix / SHAPE[1] * A_STEP[0] + matrix % SHAPE[1] * A_STEP[1] +
      m * A_STEP[2];
  let b = place(1u, row) + matrix / SHAPE[1] * B_STEP[0] + matrix % SHAPE[1] * B_STEP[1] +
      n * B_STEP[3];
  var sum = zero();
  for (var k0 = 0u; k0 < SHAPE[4]; k0 += 32u) {
    var even = zero();
    var odd = zero();
    let end = min(k0 + 32u, SHAPE[4]);
    for (var k = k0; k < end; k += 2u) {
      even = even + mul(load(a + k * A_STEP[3]), load(b + k * B_STEP[2]));
      if (k + 1u < end) {
        odd = odd + mul(load(a + (k + 1u) * A_STEP[3]), load(b + (k + 1u) * B_STEP[2]));
      }
    }
    sum = sum + (even + odd);
  }
  store(place(2u, row) + c, sum);
}
