// One row's rotary embedding of queries and keys and its place in the cache, in one dispatch
// (decoding): a workgroup per head of queries, of keys, of values. Operands: 0 q, 1 rotated q, 2 k,
// 3 v, 4 table, 5 seq, 6 pos, 7 kv. ints: heads, kv_heads, head_dim.

@compute @workgroup_size(THREADS)
fn rope_append(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let at = position_of(lane, 5u, 6u, 4u);
  let heads = int_at(0u);
  let kv_heads = int_at(1u);
  let kind = select(select(VALUE, KEY, u < heads + kv_heads), QUERY, u < heads);
  let head = u - select(select(heads + kv_heads, heads, kind == KEY), 0u, kind == QUERY);
  let x = place(select(select(3u, 2u, kind == KEY), 0u, kind == QUERY), 0u) + head * HEAD_DIM;
  for (var d = lane; d < HEAD_DIM; d += THREADS) { head_values[d] = load(x + d); }
  workgroupBarrier();
  finish_head(lane, kind, at, select(place(7u, 0u) + head * HEAD_WORDS,
      place(1u, 0u) + head * HEAD_DIM, kind == QUERY), kv_heads);
}
