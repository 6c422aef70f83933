// Gradients of products by chunks_gradient.wgsl. ints: accumulate.

// gw (+)= gy^T x: 8 x 8 results of a block, of which a thread sums a row.
@compute @workgroup_size(256)
fn weight_grad_chunks(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  let outputs = cols(0u);
  let inputs = cols(2u);
  let count = rows(0u);
  let across = (inputs + 7u) / 8u;
  let tiles = (outputs + 7u) / 8u * across;
  let block = u / tiles;
  if (u >= units() || block * 1024u >= max(count, 1u)) { return; }
  let n0 = u % tiles / across * 8u;
  let k0 = u % tiles % across * 8u;
  let lane = thread % 8u;
  let n = min(n0 + lane, outputs - 1u);
  let last = inputs - 1u;
  let begin = block * 1024u + thread / 8u * 32u;
  var even: array<f32, 8>;
  var odd: array<f32, 8>;
  for (var j = 0u; j < 8u; j++) {
    even[j] = zero();
    odd[j] = zero();
  }
  if (begin < count) {
    for (var i = 0u; i < 32u; i += 2u) {
      let r = min(begin + i, count - 1u);
      let s = min(begin + i + 1u, count - 1u);
      let a = load(place(0u, r) + n);
      let b = load(place(0u, s) + n);
      for (var j = 0u; j < 8u; j++) {
        let k = min(k0 + j, last);
        even[j] = even[j] + select(zero(), mul(a, load(place(1u, r) + k)), begin + i < count);
        odd[j] = odd[j] + select(zero(), mul(b, load(place(1u, s) + k)), begin + i + 1u < count);
      }
    }
  }
  for (var j = 0u; j < 8u; j++) { sums[thread / 8u * 64u + lane * 8u + j] = even[j] + odd[j]; }
  workgroupBarrier();
  let own_n = n0 + thread / 8u;
  let own_k = k0 + thread % 8u;
  if (thread < 64u && own_n < outputs && own_k < inputs) {
    keep_sum(place(2u, own_n) + own_k, block, own_n * inputs + own_k, outputs * inputs,
        block_sum(thread, 64u), int_at(0u));
  }
}

// gb (+)= column sums of gy: 8 columns of a block.
@compute @workgroup_size(256)
fn bias_grad_chunks(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  let width = cols(0u);
  let count = rows(0u);
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
      let r = min(begin + i, count - 1u);
      let s = min(begin + i + 1u, count - 1u);
      even = even + select(zero(), load(place(0u, r) + own), begin + i < count);
      odd = odd + select(zero(), load(place(0u, s) + own), begin + i + 1u < count);
    }
  }
  sums[thread] = even + odd;
  workgroupBarrier();
  if (thread < 8u && c < width) {
    keep_sum(place(1u, 0u) + c, block, c, width, block_sum(thread, 8u), int_at(0u));
  }
}
