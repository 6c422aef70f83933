// A thread per pair (j, j + head_dim/2) of a head. ints: head_dim, inverse.
@compute @workgroup_size(64)
fn rope(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let half = int_at(0u) / 2u;
  let pairs = cols(3u) / 2u;
  let row = u / pairs;
  let j = u % pairs % half;
  let col = u % pairs / half * int_at(0u) + j;
  let table = place(2u, min(A[place(1u, row)], rows(2u) - 1u)) + j;
  let c = load(table);
  let s = select(load(table + half), -load(table + half), int_at(1u) != 0u);
  let lo = load(place(0u, row) + col);
  let hi = load(place(0u, row) + col + half);
  store(place(3u, row) + col, mul(lo, c) - mul(hi, s));
  store(place(3u, row) + col + half, mul(hi, c) + mul(lo, s));
}
