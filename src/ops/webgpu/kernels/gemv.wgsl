// One row through up to three matrices of class I in one dispatch (decoding): [rms_norm and] quantization of x in every workgroup, products as in
// matmul_integer.wgsl, then bias, residual or silu_mul. Each step gives the bits of its own instruction.
// Operands: 0 x, 1 gain, 2.. results, 5.. biases, 8 residual. NORM, EPILOGUE, MATRICES; WORDS: of a plane of x.

const STORE = 0u;
const ADD = 1u;
const SILU_MUL = 2u;

var<workgroup> x_planes: array<vec2<u32>, WORDS>;
var<workgroup> x_largest: atomic<u32>;
var<workgroup> x_sums: array<atomic<i32>, 2>;
var<workgroup> squares: array<f32, 64>;
var<workgroup> partial: array<vec2<i32>, 256>;
var<workgroup> partial_up: array<vec2<i32>, 256>;

// 1 / rms of x, by rule 4 on the first 64 threads.
fn inverse_rms(thread: u32, n: u32) -> f32 {
  var sum = zero();
  if (thread < 64u) {
    for (var i = thread; i < n; i += 64u) { sum = sum + mul(load(place(0u, 0u) + i), load(place(0u, 0u) + i)); }
    squares[thread] = sum;
  }
  workgroupBarrier();
  for (var half = 32u; half > 0u; half = half / 2u) {
    if (thread < half) { squares[thread] = squares[thread] + squares[thread + half]; }
    workgroupBarrier();
  }
  return rsqrt_exact(div(squares[0], f32(n)) + real_at(0u));
}
fn x_value(i: u32, inverse: f32) -> f32 {
  let x = load(place(0u, 0u) + i);
  if (NORM) { return settled(mul(mul(x, inverse), load(place(1u, 0u) + i))); }
  return x;
}

fn dots(n: u32, team: u32) -> vec2<i32> {
  let panel = w_panel(n);
  let count = min(WORDS, w_padded() / 4u);
  var sum = vec2<i32>(0, 0);
  for (var r = team; r * LAYERS < count; r += 16u) {
    let row = byte_row(panel, n, r);
    let sub = sub_scales(panel, n, r);
    for (var p = 0u; p < LAYERS; p++) {
      let g = r * LAYERS + p;
      if (g < count) {
        let codes = layer_codes(row, p, sub);
        sum = sum + vec2<i32>(dot4I8Packed(codes, x_planes[g].x), dot4I8Packed(codes, x_planes[g].y));
      }
    }
  }
  return sum;
}

@compute @workgroup_size(256) fn gemv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  Z = P[0];
  let n_in = cols(0u);
  var inverse = zero();
  if (NORM) { inverse = inverse_rms(thread, n_in); }
  var most = 0u;
  for (var i = thread; i < n_in; i += 256u) { most = max(most, magnitude_bits(x_value(i, inverse))); }
  atomicMax(&x_largest, most);
  workgroupBarrier();
  most = atomicLoad(&x_largest);
  var own = vec2<i32>(0, 0);
  for (var w = thread; w < WORDS; w += 256u) {
    var planes = vec2<u32>(0u, 0u);
    for (var i = 0u; i < 4u; i++) {
      if (4u * w + i < n_in && !q15_lost(most)) {
        let q = q15_planes(x_value(4u * w + i, inverse), q15_inverse(most));
        own = own + q;
        planes = planes | vec2<u32>(byte_of(q.x, i), byte_of(q.y, i));
      }
    }
    x_planes[w] = planes;
  }
  atomicAdd(&x_sums[0], own.x);
  atomicAdd(&x_sums[1], own.y);
  workgroupBarrier();
  let row_sums = vec2<i32>(atomicLoad(&x_sums[0]), atomicLoad(&x_sums[1]));
  let row_scale = bitcast<f32>(q15_scale(most));

  let team = thread / 16u;
  for (var u = group.x; u < units(); u += groups.x) {
    M = 68u;
    var m = 0u;
    var panel = u;
    for (; m + 1u < MATRICES && EPILOGUE != SILU_MUL; m++) {
      let count = (w_rows() + 15u) / 16u;
      if (panel < count) { break; }
      panel = panel - count;
      M = M + 20u;
    }
    let n = panel * 16u + thread % 16u;
    partial[thread] = dots(n, team);
    if (EPILOGUE == SILU_MUL) {
      M = 88u;
      partial_up[thread] = dots(n, team);
    }
    workgroupBarrier();
    if (thread < 16u && n < w_rows()) {
      var sum = vec2<i32>(0, 0);
      for (var t = 0u; t < 16u; t++) { sum = sum + partial[t * 16u + thread]; }
      if (EPILOGUE == SILU_MUL) {
        M = 68u;
        let gate = settled(join_sums(n, sum, row_sums, row_scale));
        M = 88u;
        sum = vec2<i32>(0, 0);
        for (var t = 0u; t < 16u; t++) { sum = sum + partial_up[t * 16u + thread]; }
        let up = settled(join_sums(n, sum, row_sums, row_scale));
        store(place(2u, 0u) + n, mul(gate, sigmoid_exact(gate)) * up);
      } else {
        var y = join_sums(n, sum, row_sums, row_scale);
        if (HAS_BIAS) { y = y + load(place(5u + m, 0u) + n); }
        if (EPILOGUE == ADD) { y = settled(y) + load(place(8u, 0u) + n); }
        store(place(2u + m, 0u) + n, y);
      }
    }
    workgroupBarrier();
  }
}
