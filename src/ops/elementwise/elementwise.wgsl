// Ops that treat each element by itself: a thread per element. ACT is the activation of this
// pipeline.

@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 2u);
  if (at.inside) {
    store(place(2u, at.row) + at.col, load(place(0u, at.row) + at.col) +
        load(place(1u, at.row) + at.col));
  }
}

@compute @workgroup_size(64)
fn mul_elements(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 2u);
  if (at.inside) {
    store(place(2u, at.row) + at.col, load(place(0u, at.row) + at.col) *
        load(place(1u, at.row) + at.col));
  }
}

@compute @workgroup_size(64)
fn scale(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 1u);
  if (at.inside) {
    store(place(1u, at.row) + at.col, load(place(0u, at.row) + at.col) * real_at(0u));
  }
}

// (x - mean) * scale by columns. ints: missing.
@compute @workgroup_size(64)
fn standardize(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 3u);
  if (!at.inside) { return; }
  let x = load(place(0u, at.row) + at.col);
  let y = opaque(x - load(place(1u, 0u) + at.col)) * load(place(2u, 0u) + at.col);
  store(place(3u, at.row) + at.col, select(y, 0.0, int_at(0u) != 0u && is_nan(x)));
}
@compute @workgroup_size(64)
fn standardize_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 3u);
  if (!at.inside) { return; }
  let gx = load(place(2u, at.row) + at.col) * load(place(1u, 0u) + at.col);
  store(place(3u, at.row) + at.col, select(gx, 0.0, int_at(0u) != 0u &&
      is_nan(load(place(0u, at.row) + at.col))));
}

#kinds LOOM_ACTIVATION ops/elementwise/activations.def

const LEAKY_SLOPE = 0x1.47ae14p-7f;
const SQRT_2_OVER_PI = 0x1.988454p-1f;
const INV_SQRT_2 = 0x1.6a09e6p-1f;
const INV_SQRT_2_PI = 0x1.988454p-2f;
const GELU_CUBE = 0x1.6e4e26p-5f;
const GELU_CUBE_3 = 0x1.12ba9cp-3f;

fn slope_at_nan() -> f32 {
  switch (ACT) {
    case RELU: { return 1.0; }
    case LEAKY_RELU: { return LEAKY_SLOPE; }
    default: { return nan(); }
  }
}
fn gelu_inner(x: f32) -> f32 {
  return tanh_exact(SQRT_2_OVER_PI * opaque(x + mul(GELU_CUBE, mul(mul(x, x), x))));
}

// A NaN goes through: compilers make clamps of selections, which lose it.
fn act(x: f32) -> f32 {
  if (is_nan(x)) { return nan(); }
  let positive = x > 0.0;
  switch (ACT) {
    case RELU: { return select(0.0, x, positive); }
    case RELU2: { return select(0.0, x * x, positive); }
    case LEAKY_RELU: { return select(LEAKY_SLOPE * x, x, positive); }
    case SILU: { return x * sigmoid_exact(x); }
    case GELU_TANH: { return (0.5 * x) * opaque(1.0 + gelu_inner(x)); }
    case GELU_ERF: { return (0.5 * x) * opaque(1.0 + erf_exact(x * INV_SQRT_2)); }
    case TANH: { return tanh_exact(x); }
    case SIGMOID: { return sigmoid_exact(x); }
    case SOFTPLUS: { return softplus_exact(x); }
    case MISH: { return x * tanh_exact(softplus_exact(x)); }
    default: { return x; }
  }
}

fn act_slope(x: f32) -> f32 {
  if (is_nan(x)) { return slope_at_nan(); }
  let positive = x > 0.0;
  switch (ACT) {
    case RELU: { return select(0.0, 1.0, positive); }
    case RELU2: { return select(0.0, x + x, positive); }
    case LEAKY_RELU: { return select(LEAKY_SLOPE, 1.0, positive); }
    case SILU: {
      let s = sigmoid_exact(x);
      return s * opaque(1.0 + mul(x, opaque(1.0 - s)));
    }
    case GELU_TANH: {
      let t = gelu_inner(x);
      return mul(0.5, opaque(1.0 + t)) + mul(mul(0.5 * x, opaque(1.0 - mul(t, t))),
          mul(SQRT_2_OVER_PI, opaque(1.0 + mul(GELU_CUBE_3, mul(x, x)))));
    }
    case GELU_ERF: {
      return mul(0.5, opaque(1.0 + erf_exact(x * INV_SQRT_2))) +
          mul(x, mul(INV_SQRT_2_PI, exp_exact(-0.5 * mul(x, x))));
    }
    case TANH: {
      let t = tanh_exact(x);
      return 1.0 - mul(t, t);
    }
    case SIGMOID: {
      let s = sigmoid_exact(x);
      return s * opaque(1.0 - s);
    }
    case SOFTPLUS: { return sigmoid_exact(x); }
    case MISH: {
      let t = tanh_exact(softplus_exact(x));
      return t + mul(x, mul(opaque(1.0 - mul(t, t)), sigmoid_exact(x)));
    }
    default: { return 1.0; }
  }
}

@compute @workgroup_size(64)
fn activation(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 1u);
  if (at.inside) { store(place(1u, at.row) + at.col, act(load(place(0u, at.row) + at.col))); }
}
@compute @workgroup_size(64)
fn activation_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 2u);
  if (at.inside) {
    store(place(2u, at.row) + at.col, load(place(1u, at.row) + at.col) *
        act_slope(load(place(0u, at.row) + at.col)));
  }
}

@compute @workgroup_size(64)
fn silu_mul(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 2u);
  if (!at.inside) { return; }
  let gate = load(place(0u, at.row) + at.col);
  store(place(2u, at.row) + at.col, mul(gate, sigmoid_exact(gate)) *
      load(place(1u, at.row) + at.col));
}
@compute @workgroup_size(64)
fn silu_mul_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 2u);
  if (!at.inside) { return; }
  let gate = load(place(0u, at.row) + at.col);
  let up = load(place(1u, at.row) + at.col);
  let g = load(place(2u, at.row) + at.col);
  let s = sigmoid_exact(gate);
  let silu = mul(gate, s);
  let slope = mul(s, opaque(1.0 + mul(gate, opaque(1.0 - s))));
  store(place(3u, at.row) + at.col, mul(g, up) * slope);
  store(place(4u, at.row) + at.col, g * silu);
}
