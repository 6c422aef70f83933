// Statistics of channels over all rows: a channel is int_at(0) consecutive columns, a workgroup of
// 64 lanes takes one.

// `what` is summed: 0: the values of operand 0, 1: squares of their distance from `center`, 2:
// their products with the values of operand 1.
fn channel_total(channel: u32, lane: u32, what: u32, center: f32) -> f32 {
  let n = int_at(0u);
  var total = row_sum();
  for (var r = 0u; r < rows(0u); r++) {
    var sum = zero();
    for (var i = lane; i < n; i += 64u) {
      let x = load(place(0u, r) + channel * n + i);
      let d = opaque(x - center);
      var term = x;
      if (what == 1u) { term = mul(d, d); }
      if (what == 2u) { term = mul(x, load(place(1u, r) + channel * n + i)); }
      sum = sum + term;
    }
    push_row(&total, tree_sum(lane, sum));
  }
  return row_total(&total);
}

@compute @workgroup_size(64)
fn channel_moments(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let c = group_unit(group, groups);
  if (c >= units()) { return; }
  let channels = cols(0u) / int_at(0u);
  let n = rows(0u) * int_at(0u);
  let mean = settled(div(channel_total(c, lane, 0u, 0.0), f32(n)));
  let squares = channel_total(c, lane, 1u, mean);
  if (lane != 0u) { return; }
  store(place(1u, 0u) + c, mean);
  store(place(1u, 0u) + channels + c, div(squares, f32(n)));
  store(place(1u, 0u) + 2u * channels + c, div(squares, f32(max(n, 2u) - 1u)));
}

@compute @workgroup_size(64)
fn channel_sums(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let c = group_unit(group, groups);
  if (c >= units()) { return; }
  let channels = cols(0u) / int_at(0u);
  let n = f32(rows(0u) * int_at(0u));
  let sum = channel_total(c, lane, 0u, 0.0);
  let product = channel_total(c, lane, 2u, 0.0);
  if (lane != 0u) { return; }
  store(place(2u, 0u) + c, sum);
  store(place(2u, 0u) + channels + c, product);
  store(place(2u, 0u) + 2u * channels + c, div(sum, n));
  store(place(2u, 0u) + 3u * channels + c, div(product, n));
}
