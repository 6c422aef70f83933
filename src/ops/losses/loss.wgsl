// Losses per row, and the gradients of their sum over rows: a workgroup per row, 64 lanes.

// -log softmax(logits)[target]; 0 for a target below 0.
@compute @workgroup_size(64)
fn cross_entropy(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let n = cols(0u);
  let target_class = A[place(1u, r)];
  let s = exp_sum(place(0u, r), n, lane);
  if (lane != 0u) { return; }
  if (target_class >= n) { store(place(2u, r), 0.0); }
  else {
    let x = load(place(0u, r) + target_class);
    store(place(2u, r), zero() - log_share(x, s.top, logarithm_of(s)));
  }
}
@compute @workgroup_size(64)
fn cross_entropy_back(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let n = cols(0u);
  let x = place(0u, r);
  let target_class = A[place(1u, r)];
  let s = exp_sum(x, n, lane);
  let inverse = div(1.0, s.sum);
  for (var c = lane; c < n; c += 64u) {
    var g = settled(exp_difference(load(x + c), s.top) * inverse);
    if (c == target_class) { g = g - 1.0; }
    if (target_class >= n) { g = 0.0; }
    store(place(2u, r) + c, g);
  }
}

// -sum of target * log softmax(logits); a target of 0 adds nothing, whatever its logit.
@compute @workgroup_size(64)
fn soft_cross_entropy(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let n = cols(0u);
  let x = place(0u, r);
  let s = exp_sum(x, n, lane);
  let logarithm = logarithm_of(s);
  var sum = zero();
  for (var c = lane; c < n; c += 64u) {
    let p = load(place(1u, r) + c);
    if (p != 0.0) { sum = sum + mul(p, log_share(load(x + c), s.top, logarithm)); }
  }
  sum = tree_sum(lane, sum);
  if (lane == 0u) { store(place(2u, r), zero() - sum); }
}
// softmax(logits) * (sum of the targets) - target.
@compute @workgroup_size(64)
fn soft_cross_entropy_back(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let n = cols(0u);
  let x = place(0u, r);
  var total = zero();
  for (var c = lane; c < n; c += 64u) { total = total + load(place(1u, r) + c); }
  total = tree_sum(lane, total);
  let s = exp_sum(x, n, lane);
  let inverse = div(total, s.sum);
  for (var c = lane; c < n; c += 64u) {
    let g = settled(exp_difference(load(x + c), s.top) * inverse);
    store(place(2u, r) + c, g - load(place(1u, r) + c));
  }
}

// Mean over the columns of (y - target)^2.
@compute @workgroup_size(64)
fn mse(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  var sum = zero();
  for (var c = lane; c < cols(0u); c += 64u) {
    let d = opaque(load(place(0u, r) + c) - load(place(1u, r) + c));
    sum = sum + mul(d, d);
  }
  sum = tree_sum(lane, sum);
  if (lane == 0u) { store(place(2u, r), div(sum, f32(cols(0u)))); }
}
@compute @workgroup_size(64)
fn mse_back(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  let f = div(2.0, f32(cols(0u)));
  for (var c = lane; c < cols(0u); c += 64u) {
    store(place(2u, r) + c, f * opaque(load(place(0u, r) + c) - load(place(1u, r) + c)));
  }
}

// One workgroup.
@compute @workgroup_size(64) fn sum_rows(@builtin(local_invocation_index) lane: u32) {
  Z = P[0];
  var sum = zero();
  for (var i = lane; i < rows(0u); i += 64u) { sum = sum + load(place(0u, i)); }
  sum = tree_sum(lane, sum);
  if (lane == 0u) { A[place(1u, 0u)] = bitcast<u32>(sum); }
}
