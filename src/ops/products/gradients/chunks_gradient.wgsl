// gradient.wgsl's sums over rows where they are many and their results few: a workgroup sums the 32
// chunks of a block of 1,024 rows side by side (rule 3), eight threads each, then adds them in
// order.

var<workgroup> sums: array<f32, 32u * 64u>;  // [chunk][result]

// The block that begins at row r0 as it stands in `sums`, `width` results of each chunk.
fn push_block(s: ptr<function, RowSum>, result: u32, width: u32) {
  for (var chunk = 0u; chunk < 32u; chunk++) {
    (*s).block = (*s).block + sums[chunk * width + result];
  }
  close_block(s);
}

// gw (+)= gy^T x: 8 x 8 results, of which a thread sums a row.
@compute @workgroup_size(256)
fn weight_grad_chunks(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = cols(0u);
  let inputs = cols(2u);
  let count = rows(0u);
  let across = (inputs + 7u) / 8u;
  let n0 = u / across * 8u;
  let k0 = u % across * 8u;
  let lane = thread % 8u;
  let n = min(n0 + lane, outputs - 1u);
  let last = inputs - 1u;
  var total = row_sum();
  for (var r0 = 0u; r0 < count; r0 += 1024u) {
    var even: array<f32, 8>;
    var odd: array<f32, 8>;
    for (var j = 0u; j < 8u; j++) {
      even[j] = zero();
      odd[j] = zero();
    }
    let begin = r0 + thread / 8u * 32u;
    let end = min(begin + 32u, count);
    for (var r = begin; r < end; r += 2u) {
      let a = load(place(0u, r) + n);
      let x = place(1u, r);
      for (var j = 0u; j < 8u; j++) { even[j] = even[j] + mul(a, load(x + min(k0 + j, last))); }
      if (r + 1u < end) {
        let b = load(place(0u, r + 1u) + n);
        let y = place(1u, r + 1u);
        for (var j = 0u; j < 8u; j++) { odd[j] = odd[j] + mul(b, load(y + min(k0 + j, last))); }
      }
    }
    for (var j = 0u; j < 8u; j++) { sums[thread / 8u * 64u + lane * 8u + j] = even[j] + odd[j]; }
    workgroupBarrier();
    if (thread < 64u) { push_block(&total, thread, 64u); }
    workgroupBarrier();
  }
  if (thread < 64u && n0 + thread / 8u < outputs && k0 + thread % 8u < inputs) {
    add_total(place(2u, n0 + thread / 8u) + k0 + thread % 8u, row_total(&total), int_at(0u));
  }
}

// gb (+)= column sums of gy: 8 columns.
@compute @workgroup_size(256)
fn bias_grad_chunks(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let width = cols(0u);
  let count = rows(0u);
  let c = min(u * 8u + thread % 8u, width - 1u);
  var total = row_sum();
  for (var r0 = 0u; r0 < count; r0 += 1024u) {
    var even = zero();
    var odd = zero();
    let begin = r0 + thread / 8u * 32u;
    let end = min(begin + 32u, count);
    for (var r = begin; r < end; r += 2u) {
      even = even + load(place(0u, r) + c);
      if (r + 1u < end) { odd = odd + load(place(0u, r + 1u) + c); }
    }
    sums[thread] = even + odd;
    workgroupBarrier();
    if (thread < 8u) { push_block(&total, thread, 8u); }
    workgroupBarrier();
  }
  if (thread < 8u && u * 8u + thread < width) {
    add_total(place(1u, 0u) + c, row_total(&total), int_at(0u));
  }
}
