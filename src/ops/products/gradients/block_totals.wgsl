// The sums of blocks of rows that chunks_gradient.wgsl has kept combine like the digits of a binary
// counter. A thread per element of the gradient. RESULT: its operand; SUMS: how many rows a block's
// sums are of, for each row of operand 0; ACCUMULATE: the int that says so.

@compute @workgroup_size(64)
fn block_totals(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  var sum = row_sum();
  for (var block = 0u; block * 1024u < rows(0u) * SUMS; block++) {
    sum.block = load(extra(0u) + KEPT + block * units() + u);
    close_block(&sum);
  }
  add_total(place(RESULT, u / cols(RESULT)) + u % cols(RESULT), row_total(&sum),
      int_at(ACCUMULATE));
}
