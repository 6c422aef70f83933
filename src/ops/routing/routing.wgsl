// Rows go to some of several branches.

// Values in the order of integers: of zeros one, NaN above all.
fn rank_key(at: u32) -> i32 {
  let b = bitcast<i32>(A[at]);
  return select(b ^ ((b >> 31u) & 0x7FFFFFFF), 0, (A[at] & 0x7FFFFFFFu) == 0u);
}
// ints: k.
@compute @workgroup_size(64)
fn top_k(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let c = u % cols(1u);
  let x = place(0u, u / cols(1u));
  let own = rank_key(x + c);
  var before = 0u;
  for (var j = 0u; j < cols(1u); j++) {
    let other = rank_key(x + j);
    before += select(0u, 1u, other > own || (other == own && j < c));
  }
  A[place(1u, u / cols(1u)) + c] = select(INF_BITS | 0x80000000u, A[x + c], before < int_at(0u));
}

// One thread: places follow one another. The register is a word of the arena.
@compute @workgroup_size(1) fn route_rows() {
  var count = 0u;
  for (var r = 0u; r < rows(0u); r++) {
    if ((A[place(0u, r)] & 0x7FFFFFFFu) != 0u) {
      A[place(1u, count)] = r;
      count++;
    }
  }
  A[u32_register(0u)] = count;
}

@compute @workgroup_size(64)
fn scatter_add(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  let r = u / cols(0u);
  let c = u % cols(0u);
  if (u >= units() || r >= rows(0u)) { return; }
  let to = A[place(2u, r)];
  if (to >= rows(3u)) { return; }
  var x = load(place(0u, r) + c);
  if (HAS_SCALE) { x = settled(mul(x, load(place(1u, r)))); }
  store(place(3u, to) + c, load(place(3u, to) + c) + x);
}
