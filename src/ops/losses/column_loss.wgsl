// Losses that are a mean over the columns of a term of (y, target), and their slopes
// (losses_kernels.h). TERM is the loss of this pipeline. reals: delta.

const MAE = 0u;
const HUBER = 1u;
const BCE = 2u;

// Twice the term for huber.
fn term(y: f32, t: f32) -> f32 {
  let d = opaque(y - t);
  let a = abs(d);
  switch (TERM) {
    case MAE: { return a; }
    case HUBER: {
      return select(mul(d, d), mul(real_at(0u), opaque((a + a) - real_at(0u))), a > real_at(0u));
    }
    default: {
      return opaque(opaque(select(0.0, y, y > 0.0) - mul(y, t)) + softplus_exact(-abs(y)));
    }
  }
}
fn slope(y: f32, t: f32) -> f32 {
  let d = opaque(y - t);
  // a compiler makes clamps of what follows, and those lose a NaN
  if (is_nan(d) && TERM != BCE) { return nan(); }
  switch (TERM) {
    case MAE: { return select(select(d, -1.0, d < 0.0), 1.0, d > 0.0); }
    case HUBER: {
      return select(select(d, -real_at(0u), d < -real_at(0u)), real_at(0u), d > real_at(0u));
    }
    default: { return opaque(sigmoid_exact(y) - t); }
  }
}

@compute @workgroup_size(64)
fn column_loss(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let r = group_unit(group, groups);
  if (r >= units()) { return; }
  var sum = zero();
  for (var c = lane; c < cols(0u); c += 64u) {
    sum = sum + term(load(place(0u, r) + c), load(place(1u, r) + c));
  }
  sum = tree_sum(lane, sum);
  if (lane == 0u) {
    store(place(2u, r), div(sum, f32(cols(0u)) * select(1.0, 2.0, TERM == HUBER)));
  }
}

@compute @workgroup_size(64)
fn column_loss_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let r = u / cols(2u);
  let c = u % cols(2u);
  store(place(2u, r) + c, mul(div(1.0, f32(cols(0u))), slope(load(place(0u, r) + c),
      load(place(1u, r) + c))));
}
