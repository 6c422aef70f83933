// Rows of f32 as q15 or bf16x2.

var<workgroup> sums: array<atomic<i32>, 2>;

// A row by a workgroup. x: hi plane, lo plane, each padded to 64 bytes, then the scale and the sums
// of both planes. Of one plane lo is 0, and hi is rounded from x.
fn quantize_row(group: vec3<u32>, groups: vec3<u32>, lane: u32, one_plane: bool) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let n = cols(0u);
  let x = place(0u, r);
  let y = place(1u, r);
  let words = (n + 63u) / 64u * 16u;
  var most = 0u;
  for (var c = lane; c < n; c += 64u) { most = max(most, A[x + c] & 0x7FFFFFFFu); }
  most = u32(lane_max(lane, i32(most)));
  let inverse = q15_inverse(most);
  var sum = vec2<i32>(0, 0);
  for (var w = lane; w < words; w += 64u) {
    var hi = 0u;
    var lo = 0u;
    for (var i = 0u; i < 4u; i++) {
      let c = 4u * w + i;
      if (c < n && !q15_lost(most)) {
        var q = q15_planes(load(x + c), inverse);
        if (one_plane) { q = vec2<i32>(q15_high(load(x + c), inverse), 0); }
        sum = sum + q;
        hi = hi | byte_of(q.x, i);
        lo = lo | byte_of(q.y, i);
      }
    }
    A[y + w] = hi;
    A[y + words + w] = lo;
  }
  atomicAdd(&sums[0], sum.x);
  atomicAdd(&sums[1], sum.y);
  workgroupBarrier();
  if (lane == 0u) {
    A[y + 2u * words] = q15_scale(most);
    A[y + 2u * words + 1u] = bitcast<u32>(atomicLoad(&sums[0]));
    A[y + 2u * words + 2u] = bitcast<u32>(atomicLoad(&sums[1]));
  }
}

@compute @workgroup_size(64)
fn quantize(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  quantize_row(group, groups, lane, false);
}
@compute @workgroup_size(64)
fn quantize_i8(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  quantize_row(group, groups, lane, true);
}

fn to_bf16(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= INF_BITS) { return x; }
  var rounded = (bits + 0x7FFFu + ((bits >> 16u) & 1u)) & 0xFFFF0000u;
  if ((rounded & 0x7FFFFFFFu) >= INF_BITS) { rounded = (bits & 0x80000000u) | 0x7F7F0000u; }
  if (magnitude < (71u << 23u)) { rounded = bits & 0x80000000u; }
  return bitcast<f32>(rounded);
}

// x = hi + lo: a plane of f32 values each, padded to 32.
@compute @workgroup_size(64)
fn split_bf16(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let n = cols(0u);
  let r = u / n;
  let c = u % n;
  let x = load(place(0u, r) + c);
  let h = to_bf16(x);
  A[place(1u, r) + c] = bitcast<u32>(h);
  let rest = opaque(x - h);
  A[place(1u, r) + (n + 31u) / 32u * 32u + c] = select(bitcast<u32>(to_bf16(rest)), 0u,
      is_nan(rest) || magnitude_bits(x) >= INF_BITS);
}
