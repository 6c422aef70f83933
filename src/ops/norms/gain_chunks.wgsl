// norm.wgsl's norm_gain by chunks_gradient.wgsl: 8 columns of a block of groups.

@compute @workgroup_size(256)
fn norm_gain_chunks(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  let width = int_at(0u);
  let of_row = cols(0u) / width;
  let count = rows(0u) * of_row;
  let across = (width + 7u) / 8u;
  let block = u / across;
  if (u >= units() || block * 1024u >= max(count, 1u)) { return; }
  let c = u % across * 8u + thread % 8u;
  let own = min(c, width - 1u);
  let begin = block * 1024u + thread / 8u * 32u;
  var even = zero();
  var odd = zero();
  if (begin < count) {
    for (var i = 0u; i < 32u; i += 2u) {
      even = even + select(zero(), gain_part(min(begin + i, count - 1u), own), begin + i < count);
      odd = odd + select(zero(), gain_part(min(begin + i + 1u, count - 1u), own),
          begin + i + 1u < count);
    }
  }
  sums[thread] = even + odd;
  workgroupBarrier();
  if (thread < 8u && c < width) {
    keep_sum(place(2u, 0u) + c, block, c, width, block_sum(thread, 8u), int_at(1u));
  }
}
