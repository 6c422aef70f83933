// Gradient accumulation, clipping and the optimizers (optimizers_kernels.h). `scale` is 1/N times
// the clip factor.

// A thread per element of g. ints: micro_batches; registers: micro.
@compute @workgroup_size(64)
fn grad_merge(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let i = u / cols(0u);
  let c = u % cols(0u);
  let micro = u32_register(0u);
  var v = load(place(0u, i) + c);
  var level = 0u;
  for (; ((micro >> level) & 1u) != 0u; level++) {
    v = load(place(1u, level * rows(0u) + i) + c) + v;
  }
  if (micro + 1u < int_at(0u)) {
    store(place(1u, level * rows(0u) + i) + c, v);
    return;
  }
  // The sums pending above are older, so they stand to the left, the youngest first.
  for (level++; (micro >> level) != 0u; level++) {
    if (((micro >> level) & 1u) != 0u) { v = load(place(1u, level * rows(0u) + i) + c) + v; }
  }
  store(place(2u, i) + c, v);
}

// total (+)= sum of squares of all elements by rule 4 over the row-major index. One workgroup.
// ints: accumulate.
@compute @workgroup_size(64) fn sum_squares(@builtin(local_invocation_index) lane: u32) {
  Z = P[0];
  let n = rows(0u) * cols(0u);
  var sum = zero();
  for (var first = lane; first < n; first += 64u * 32u) {  // 32 words on their way together
    for (var j = 0u; j < 32u; j++) {
      let i = min(first + 64u * j, n - 1u);
      let v = load(place(0u, i / cols(0u)) + i % cols(0u));
      sum = sum + select(zero(), mul(v, v), first + 64u * j < n);
    }
  }
  sum = tree_sum(lane, sum);
  if (lane == 0u) {
    if (int_at(0u) != 0u) { sum = load(place(1u, 0u)) + sum; }
    A[place(1u, 0u)] = bitcast<u32>(sum);
  }
}

// One thread. reals: max_norm; registers: inv_n; HAS_TOTAL.
@compute @workgroup_size(1) fn clip_scale() {
  Z = P[0];
  let inv_n = f32_register(0u);
  let limit = real_at(0u);
  var s = inv_n;
  if (HAS_TOTAL && limit > 0.0) {
    let factor = div(limit, mul(sqrt_exact(load(place(0u, 0u))), inv_n) + 0x1.0c6f7ap-20f);
    if (factor < 1.0) { s = inv_n * factor; }
  }
  A[place(1u, 0u)] = bitcast<u32>(s);
}

// Weights and moments are kept down to 2^-100, and a gradient that is squared down to 2^-50.
fn lasting(x: f32) -> f32 { return bitcast<f32>(stored_above(x, 27u << 23u)); }
fn scaled_gradient(g: f32, s: f32) -> f32 { return bitcast<f32>(stored_above(g * s, 77u << 23u)); }

// A thread per element of w. reals: momentum, weight_decay; registers: lr; HAS_VELOCITY.
@compute @workgroup_size(64)
fn sgd(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / cols(2u);
  let c = u % cols(2u);
  let at = place(2u, r) + c;
  let w = load(at);
  var d = scaled_gradient(load(place(0u, r) + c), load(place(1u, 0u))) + mul(real_at(1u), w);
  if (HAS_VELOCITY) {
    let velocity = place(3u, r) + c;
    d = lasting(mul(real_at(0u), load(velocity)) + d);
    A[velocity] = bitcast<u32>(d);
  }
  A[at] = bitcast<u32>(lasting(w - mul(f32_register(0u), d)));
}

// reals: beta1, beta2, eps, weight_decay; registers: lr, correction1, correction2. The new weight.
fn adamw_at(r: u32, c: u32) -> f32 {
  let lr = f32_register(0u);
  let keep = opaque(1.0 - mul(lr, real_at(3u)));
  let d = scaled_gradient(load(place(0u, r) + c), load(place(1u, 0u)));
  let m = place(3u, r) + c;
  let v = place(4u, r) + c;
  let mean = lasting(mul(real_at(0u), load(m)) + mul(opaque(1.0 - real_at(0u)), d));
  let square = lasting(mul(real_at(1u), load(v)) + mul(opaque(1.0 - real_at(1u)), mul(d, d)));
  A[m] = bitcast<u32>(mean);
  A[v] = bitcast<u32>(square);
  let at = place(2u, r) + c;
  let step = div(mul(mean, f32_register(1u)), sqrt_exact(mul(square, f32_register(2u))) +
      real_at(2u));
  let w = lasting(mul(load(at), keep) - mul(lr, step));
  A[at] = bitcast<u32>(w);
  return w;
}
@compute @workgroup_size(64)
fn adamw(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u < units()) { adamw_at(u / cols(2u), u % cols(2u)); }
}

// ints: coupled, uncorrected; reals and registers of adamw.
@compute @workgroup_size(64)
fn adam(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / cols(2u);
  let c = u % cols(2u);
  let lr = f32_register(0u);
  let at = place(2u, r) + c;
  let w = load(at);
  let coupled = int_at(0u) != 0u;
  var d = scaled_gradient(load(place(0u, r) + c), load(place(1u, 0u)));
  var keep = 1.0;
  if (coupled) { d = scaled_gradient(d + mul(real_at(3u), w), 1.0); }
  else { keep = opaque(1.0 - mul(lr, real_at(3u))); }
  var eps = real_at(2u);
  if (int_at(1u) != 0u) { eps = mul(eps, sqrt_exact(f32_register(2u))); }
  let m = place(3u, r) + c;
  let v = place(4u, r) + c;
  let mean = lasting(mul(real_at(0u), load(m)) + mul(opaque(1.0 - real_at(0u)), d));
  let square = lasting(mul(real_at(1u), load(v)) + mul(opaque(1.0 - real_at(1u)), mul(d, d)));
  A[m] = bitcast<u32>(mean);
  A[v] = bitcast<u32>(square);
  let step = div(mul(mean, f32_register(1u)), sqrt_exact(mul(square, f32_register(2u))) + eps);
  A[at] = bitcast<u32>(lasting(mul(w, keep) - mul(lr, step)));
}

// reals: momentum, weight_decay; registers: lr.
@compute @workgroup_size(64)
fn sgd_nesterov(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / cols(2u);
  let c = u % cols(2u);
  let at = place(2u, r) + c;
  let w = load(at);
  let velocity = place(3u, r) + c;
  let d = opaque(scaled_gradient(load(place(0u, r) + c), load(place(1u, 0u))) +
      mul(real_at(1u), w));
  let moved = lasting(mul(real_at(0u), load(velocity)) + d);
  A[velocity] = bitcast<u32>(moved);
  A[at] = bitcast<u32>(lasting(w - mul(f32_register(0u), lasting(d + mul(real_at(0u), moved)))));
}

// reals: alpha, eps, momentum, weight_decay; registers: lr; CENTERED, HAS_VELOCITY.
@compute @workgroup_size(64)
fn rmsprop(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / cols(2u);
  let c = u % cols(2u);
  let at = place(2u, r) + c;
  let w = load(at);
  let rest = opaque(1.0 - real_at(0u));
  let d = bitcast<f32>(stored_above(scaled_gradient(load(place(0u, r) + c), load(place(1u, 0u))) +
      mul(real_at(3u), w), 77u << 23u));
  let v = place(3u, r) + c;
  var variance = lasting(mul(real_at(0u), load(v)) + mul(rest, mul(d, d)));
  A[v] = bitcast<u32>(variance);
  if (CENTERED) {
    let m = place(4u, r) + c;
    let mean = lasting(mul(real_at(0u), load(m)) + mul(rest, d));
    A[m] = bitcast<u32>(mean);
    variance = opaque(variance - mul(mean, mean));
    variance = select(variance, 0.0, variance < 0.0);
  }
  var step = lasting(div(d, sqrt_exact(variance) + real_at(1u)));
  if (HAS_VELOCITY) {
    let velocity = place(5u, r) + c;
    step = lasting(mul(real_at(2u), load(velocity)) + step);
    A[velocity] = bitcast<u32>(step);
  }
  A[at] = bitcast<u32>(lasting(w - mul(f32_register(0u), step)));
}

// reals: beta1, beta2, weight_decay; registers: lr.
@compute @workgroup_size(64)
fn lion(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / cols(2u);
  let c = u % cols(2u);
  let lr = f32_register(0u);
  let keep = opaque(1.0 - mul(lr, real_at(2u)));
  let d = scaled_gradient(load(place(0u, r) + c), load(place(1u, 0u)));
  let m = place(3u, r) + c;
  let way = lasting(mul(real_at(0u), load(m)) + mul(opaque(1.0 - real_at(0u)), d));
  A[m] = bitcast<u32>(lasting(mul(real_at(1u), load(m)) + mul(opaque(1.0 - real_at(1u)), d)));
  let at = place(2u, r) + c;
  A[at] = bitcast<u32>(lasting(mul(load(at), keep) - select(select(way, -lr, way < 0.0), lr,
      way > 0.0)));
}
