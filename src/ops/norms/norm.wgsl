// RMSNorm and LayerNorm over groups of columns: a workgroup per group, 64 lanes. CENTERED tells
// them apart. ints: group; reals: eps.

struct Stats {
  mean: f32,
  inverse: f32,
}

// Place of unit u of operand `operand`.
fn group_place(u: u32, operand: u32) -> u32 {
  let groups = cols(0u) / int_at(0u);
  return place(operand, u / groups) + u % groups * int_at(0u);
}

fn norm_stats(x: u32, lane: u32) -> Stats {
  let n = int_at(0u);
  var mean = 0.0;
  if (CENTERED) {
    var sum = zero();
    for (var i = lane; i < n; i += 64u) { sum = sum + load(x + i); }
    mean = div(tree_sum(lane, sum), f32(n));
  }
  var squares = zero();
  for (var i = lane; i < n; i += 64u) {
    let d = opaque(select(load(x + i), load(x + i) - mean, CENTERED));
    squares = squares + mul(d, d);
  }
  return Stats(mean, rsqrt_exact(div(tree_sum(lane, squares), f32(n)) + real_at(0u)));
}

fn centered(x: f32, s: Stats) -> f32 { return opaque(select(x, x - s.mean, CENTERED)); }

@compute @workgroup_size(64)
fn norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let y = select(2u, 3u, CENTERED);
  let x = group_place(u, 0u);
  let s = norm_stats(x, lane);
  for (var i = lane; i < int_at(0u); i += 64u) {
    let scaled = mul(mul(centered(load(x + i), s), s.inverse), load(place(1u, 0u) + i));
    if (CENTERED) { store(group_place(u, y) + i, scaled + load(place(2u, 0u) + i)); }
    else { store(group_place(u, y) + i, scaled); }
  }
}

@compute @workgroup_size(64)
fn norm_back(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let n = int_at(0u);
  let x = group_place(u, 0u);
  let gy = group_place(u, 2u);
  let s = norm_stats(x, lane);
  var mean_g = 0.0;
  if (CENTERED) {
    var sum = zero();
    for (var i = lane; i < n; i += 64u) { sum = sum + mul(load(gy + i), load(place(1u, 0u) + i)); }
    mean_g = div(tree_sum(lane, sum), f32(n));
  }
  var sum = zero();
  for (var i = lane; i < n; i += 64u) {
    sum = sum + mul(mul(load(gy + i), load(place(1u, 0u) + i)),
        mul(centered(load(x + i), s), s.inverse));
  }
  let mean_gx = div(tree_sum(lane, sum), f32(n));
  for (var i = lane; i < n; i += 64u) {
    let xh = mul(centered(load(x + i), s), s.inverse);
    let g = mul(load(gy + i), load(place(1u, 0u) + i));
    store(group_place(u, 3u) + i, s.inverse * opaque(select(g, g - mean_g, CENTERED) -
        mul(xh, mean_gx)));
  }
}

// The statistics of every group, for norm_gain: two words each at extra(0).
@compute @workgroup_size(64)
fn norm_gain_stats(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let s = norm_stats(group_place(u, 0u), lane);
  if (lane == 0u) {
    A[extra(0u) + 2u * u] = bitcast<u32>(s.mean);
    A[extra(0u) + 2u * u + 1u] = bitcast<u32>(s.inverse);
  }
}
fn gain_part(u: u32, c: u32) -> f32 {
  let s = Stats(load(extra(0u) + 2u * u), load(extra(0u) + 2u * u + 1u));
  return mul(load(group_place(u, 1u) + c), mul(centered(load(group_place(u, 0u) + c), s),
      s.inverse));
}
// gg (+)= sum over rows and groups, ascending, of gy * xh: a thread per column. ints: group,
// accumulate.
@compute @workgroup_size(64)
fn norm_gain(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = thread_unit(id, groups);
  if (c >= units()) { return; }
  let count = rows(0u) * (cols(0u) / int_at(0u));
  var sum = row_sum();
  for (var u = 0u; u < count; u++) { push_row(&sum, gain_part(u, c)); }
  add_total(place(2u, 0u) + c, row_total(&sum), int_at(1u));
}
