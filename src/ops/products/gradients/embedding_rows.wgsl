// For embedding_grad, two words of each row at extra(0): whether a row before it has its id, and
// the next one that has, or the number of rows. A workgroup per row.

var<workgroup> before: atomic<u32>;
var<workgroup> next: atomic<u32>;

@compute @workgroup_size(64)
fn embedding_rows(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group_unit(group, groups);
  if (i >= units()) { return; }
  let last = rows(2u) - 1u;
  let own = min(A[place(1u, i)], last);
  if (lane == 0u) { atomicStore(&next, rows(0u)); }
  workgroupBarrier();
  for (var j = lane; j < rows(0u); j += 64u) {
    if (j == i || min(A[place(1u, j)], last) != own) { continue; }
    if (j < i) { atomicMax(&before, 1u); } else { atomicMin(&next, j); }
  }
  workgroupBarrier();
  if (lane == 0u) {
    A[extra(0u) + 2u * i] = atomicLoad(&before);
    A[extra(0u) + 2u * i + 1u] = atomicLoad(&next);
  }
}
