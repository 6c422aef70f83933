// Keys and values of new positions into the pages. Rows may share a word of a page (four positions
// of a value plane), so this kernel sees the arena as atomics. ints: kv_heads, head_dim.

@group(0) @binding(1) var<storage, read_write> A: array<atomic<u32>>;

fn load_word(at: u32) -> u32 { return atomicLoad(&A[at]); }

// The page of a row's position, or none.
fn page_of(row: u32) -> u32 {
  return load_word(P[2] + load_word(place(2u, row)) * P[3] + load_word(place(3u, row)) / 64u);
}
fn beyond(row: u32) -> bool { return load_word(place(3u, row)) >= P[3] * 64u; }

// Class F: a thread per element of k.
@compute @workgroup_size(64)
fn kv_append(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(0u);
  let c = u % cols(0u);
  if (beyond(row)) { return; }
  let hd = int_at(1u);
  let part = int_at(0u) * hd * 64u;
  let page = place(4u, 0u) + page_of(row) * 2u * part;
  let j = load_word(place(3u, row)) % 64u;
  atomicStore(&A[page + c * 64u + j], load_word(place(0u, row) + c));
  atomicStore(&A[page + part + (c / hd * 64u + j) * hd + c % hd], load_word(place(1u, row) + c));
}

var<workgroup> largest: atomic<u32>;

fn largest_of(x: u32, lane: u32) -> u32 {
  workgroupBarrier();
  if (lane == 0u) { atomicStore(&largest, 0u); }
  workgroupBarrier();
  var most = 0u;
  for (var d = lane; d < int_at(1u); d += 64u) { most = max(most, load_word(x + d) & 0x7FFFFFFFu); }
  atomicMax(&largest, most);
  workgroupBarrier();
  return atomicLoad(&largest);
}
// Planes of element d, each byte value + 128; zeros beyond head_dim.
fn plane_bytes(x: u32, d: u32, most: u32) -> vec2<i32> {
  var v = vec2<i32>(0, 0);
  if (d < int_at(1u) && !q15_lost(most)) {
    v = q15_planes(bitcast<f32>(load_word(x + d)), q15_inverse(most));
  }
  return v + vec2<i32>(128, 128);
}

// q15: a workgroup per row and KV head; attention_q15.wgsl has the layout of a page.
@compute @workgroup_size(64)
fn kv_append_q15(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let row = u / int_at(0u);
  let head = u % int_at(0u);
  let key = place(0u, row) + head * int_at(1u);
  let value = place(1u, row) + head * int_at(1u);
  let key_most = largest_of(key, lane);
  let value_most = largest_of(value, lane);
  if (beyond(row)) { return; }
  let padded = (int_at(1u) + 15u) / 16u * 16u;
  let part = place(4u, 0u) + (page_of(row) * int_at(0u) + head) * (64u * padded + 128u);
  let j = load_word(place(3u, row)) % 64u;
  for (var w = lane; w < padded / 4u; w += 64u) {
    var hi = 0u;
    var lo = 0u;
    for (var i = 0u; i < 4u; i++) {
      let v = plane_bytes(key, 4u * w + i, key_most);
      hi = hi | byte_of(v.x, i);
      lo = lo | byte_of(v.y, i);
    }
    atomicStore(&A[part + w * 64u + j], hi);
    atomicStore(&A[part + 16u * padded + w * 64u + j], lo);
  }
  // One byte of a word, the other three belong to other positions.
  let keep = ~(255u << (8u * (j % 4u)));
  for (var d = lane; d < padded; d += 64u) {
    let v = plane_bytes(value, d, value_most);
    let at = part + 32u * padded + j / 4u * padded + d;
    atomicAnd(&A[at], keep);
    atomicOr(&A[at], byte_of(v.x, j % 4u));
    atomicAnd(&A[at + 16u * padded], keep);
    atomicOr(&A[at + 16u * padded], byte_of(v.y, j % 4u));
  }
  if (lane == 0u) {
    atomicStore(&A[part + 64u * padded + j], q15_scale(key_most));
    atomicStore(&A[part + 64u * padded + 64u + j], q15_scale(value_most));
  }
}
