// One row's rotary embedding of queries and keys and its place in the q15 cache, in one dispatch (decoding): a workgroup per query head, then per KV
// head. Operands: 0 q, 1 rotated q, 2 k, 3 v, 4 table, 5 seq, 6 pos, 7 kv. ints: heads, kv_heads, head_dim. Layout: attention_q15.wgsl.

var<workgroup> rotated: array<f32, HEAD_DIM>;

// Element d of a head at place `x`, turned by the angle of the position.
fn turned(x: u32, d: u32, table: u32) -> f32 {
  let half = HEAD_DIM / 2u;
  let j = d % half;
  let c = load(table + j);
  let s = load(table + half + j);
  let lo = load(x + j);
  let hi = load(x + j + half);
  if (d < half) { return settled(mul(lo, c) - mul(hi, s)); }
  return settled(mul(hi, c) + mul(lo, s));
}

@compute @workgroup_size(64) fn rope_append(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let position = A[place(6u, 0u)];
  let table = place(4u, min(position, rows(4u) - 1u));
  if (u < int_at(0u)) {
    for (var d = lane; d < HEAD_DIM; d += 64u) { A[place(1u, 0u) + u * HEAD_DIM + d] = bitcast<u32>(turned(place(0u, 0u) + u * HEAD_DIM, d, table)); }
    return;
  }
  let head = u - int_at(0u);
  let value = place(3u, 0u) + head * HEAD_DIM;
  var most = vec2<u32>(0u, 0u);
  for (var d = lane; d < HEAD_DIM; d += 64u) {
    rotated[d] = turned(place(2u, 0u) + head * HEAD_DIM, d, table);
    most = max(most, vec2<u32>(magnitude_bits(rotated[d]), A[value + d] & 0x7FFFFFFFu));
  }
  most = vec2<u32>(u32(group_max(lane, i32(most.x))), u32(group_max(lane, i32(most.y))));
  if (position >= P[3] * 64u) { return; }
  let padded = (HEAD_DIM + 15u) / 16u * 16u;
  let page = A[P[2] + A[place(5u, 0u)] * P[3] + position / 64u];
  let part = place(7u, 0u) + (page * int_at(1u) + head) * (64u * padded + 128u);
  let j = position % 64u;
  let keep = ~(255u << (8u * (j % 4u)));
  for (var w = lane; w < padded / 4u; w += 64u) {
    var planes = vec2<u32>(0u, 0u);
    for (var i = 0u; i < 4u; i++) {
      let d = 4u * w + i;
      var key = vec2<i32>(0, 0);
      var val = vec2<i32>(0, 0);
      if (d < HEAD_DIM && !q15_lost(most.x)) { key = q15_planes(rotated[d], q15_inverse(most.x)); }
      if (d < HEAD_DIM && !q15_lost(most.y)) { val = q15_planes(load(value + d), q15_inverse(most.y)); }
      planes = planes | vec2<u32>(byte_of(key.x + 128, i), byte_of(key.y + 128, i));
      let at = part + 32u * padded + j / 4u * padded + d;
      A[at] = (A[at] & keep) | byte_of(val.x + 128, j % 4u);
      A[at + 16u * padded] = (A[at + 16u * padded] & keep) | byte_of(val.y + 128, j % 4u);
    }
    A[part + w * 64u + j] = planes.x;
    A[part + 16u * padded + w * 64u + j] = planes.y;
  }
  if (lane == 0u) {
    A[part + 64u * padded + j] = q15_scale(most.x);
    A[part + 64u * padded + 64u + j] = q15_scale(most.y);
  }
}
