// The reduction order along a row (rule 5): 64 lanes, one thread each, ascending; then halves are added.

var<workgroup> tree: array<f32, 64>;

// The sum over the workgroup, for all of its threads.
fn tree_sum(lane: u32, value: f32) -> f32 {
  workgroupBarrier();
  tree[lane] = value;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half = half / 2u) {
    if (lane < half) { tree[lane] = tree[lane] + tree[lane + half]; }
    workgroupBarrier();
  }
  return tree[0];
}
