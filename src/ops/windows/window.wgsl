// Ops that move values between places, and windows over them: windows_kernels.h. A thread per value
// of the result. The geometry is in constants: CHANNELS, and for each of depth, height, width (0,
// 1, 2) IN, KERNEL, STRIDE, PAD, PAD_END, DILATION, OUT; COUNT_PAD.

const INPUTS = IN[0] * IN[1] * IN[2];
const PLACES = OUT[0] * OUT[1] * OUT[2];
const TAPS = KERNEL[0] * KERNEL[1] * KERNEL[2];

fn split(flat: u32, size: array<u32, 3>) -> vec3<u32> {
  return vec3<u32>(flat / (size[1] * size[2]), flat / size[2] % size[1], flat % size[2]);
}

// Where tap `t` of the window at place `o` lies in one dimension; outside of 0..IN: padding.
fn meets(d: u32, o: u32, t: u32) -> i32 {
  return i32(o * STRIDE[d] + t * DILATION[d]) - i32(PAD[d]);
}
struct Tap {
  at: u32,
  inside: bool,
}
fn tap_of(o: vec3<u32>, tap: u32) -> Tap {
  let t = split(tap, KERNEL);
  let at = vec3<i32>(meets(0u, o.x, t.x), meets(1u, o.y, t.y), meets(2u, o.z, t.z));
  let inside = all(at >= vec3<i32>(0)) && all(at < vec3<i32>(i32(IN[0]), i32(IN[1]), i32(IN[2])));
  return Tap(u32((at.x * i32(IN[1]) + at.y) * i32(IN[2]) + at.z), inside);
}
// The places [first, last] of one dimension whose windows may reach input i.
fn reach(d: u32, i: u32) -> vec2<u32> {
  let span = (KERNEL[d] - 1u) * DILATION[d];
  let at = i + PAD[d];
  var first = 0u;
  if (at > span) { first = (at - span + STRIDE[d] - 1u) / STRIDE[d]; }
  return vec2<u32>(first, min(at / STRIDE[d], OUT[d] - 1u));
}
// Which tap of the window at place o lies on input i in one dimension; KERNEL or more: none. `o` is
// one of reach().
fn tap_on(d: u32, o: u32, i: u32) -> u32 {
  let gap = i + PAD[d] - o * STRIDE[d];
  return select(KERNEL[d], gap / DILATION[d], gap % DILATION[d] == 0u);
}
// What a sum over the window is divided by.
fn counted(d: u32, o: u32) -> u32 {
  var count = 0u;
  for (var t = 0u; t < KERNEL[d]; t++) {
    let at = meets(d, o, t);
    if (select(at >= 0 && at < i32(IN[d]), at < i32(IN[d] + PAD_END[d]), COUNT_PAD)) {
      count = count + 1u;
    }
  }
  return count;
}
fn window_count(o: vec3<u32>) -> f32 {
  return f32(counted(0u, o.x) * counted(1u, o.y) * counted(2u, o.z));
}

@compute @workgroup_size(64)
fn unfold(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let c = u % cols(1u);
  let t = tap_of(split(row % PLACES, OUT), c % TAPS);
  var value = 0u;
  if (t.inside) { value = A[place(0u, row / PLACES) + c / TAPS * INPUTS + t.at]; }
  A[place(1u, row) + c] = value;
}

@compute @workgroup_size(64)
fn fold(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let c = u % cols(1u);
  let i = split(c % INPUTS, IN);
  let column = c / INPUTS * TAPS;
  let z = reach(0u, i.x);
  let y = reach(1u, i.y);
  let x = reach(2u, i.z);
  var sum = zero();
  for (var oz = z.x; oz <= z.y; oz++) {
    let tz = tap_on(0u, oz, i.x);
    for (var oy = y.x; oy <= y.y && tz < KERNEL[0]; oy++) {
      let ty = tap_on(1u, oy, i.y);
      for (var ox = x.x; ox <= x.y && ty < KERNEL[1]; ox++) {
        let tx = tap_on(2u, ox, i.z);
        if (tx < KERNEL[2]) {
          sum = sum + load(place(0u, row * PLACES + (oz * OUT[1] + oy) * OUT[2] + ox) + column +
              (tz * KERNEL[1] + ty) * KERNEL[2] + tx);
        }
      }
    }
  }
  store(place(1u, row) + c, sum);
}

// The first of the greatest values under the window at place o, a NaN greater than all; INPUTS:
// nothing under it.
fn greatest(channel: u32, o: vec3<u32>) -> u32 {
  var best = INPUTS;
  var most = zero();
  for (var k = 0u; k < TAPS; k++) {
    let t = tap_of(o, k);
    if (!t.inside) { continue; }
    let value = load(channel + t.at);
    if (best == INPUTS || (!is_nan(most) && (value > most || is_nan(value)))) {
      best = t.at;
      most = value;
    }
  }
  return best;
}
@compute @workgroup_size(64)
fn max_pool(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let c = u % cols(1u);
  let channel = place(0u, row) + c / PLACES * INPUTS;
  let best = greatest(channel, split(c % PLACES, OUT));
  var value = 0u;
  if (best < INPUTS) { value = A[channel + best]; }
  A[place(1u, row) + c] = value;
}
@compute @workgroup_size(64)
fn max_pool_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(2u);
  let c = u % cols(2u);
  let i = split(c % INPUTS, IN);
  let channel = place(0u, row) + c / INPUTS * INPUTS;
  let z = reach(0u, i.x);
  let y = reach(1u, i.y);
  let x = reach(2u, i.z);
  var sum = zero();
  for (var oz = z.x; oz <= z.y; oz++) {
    for (var oy = y.x; oy <= y.y; oy++) {
      for (var ox = x.x; ox <= x.y; ox++) {
        if (greatest(channel, vec3<u32>(oz, oy, ox)) == c % INPUTS) {
          sum = sum + load(place(1u, row) + c / INPUTS * PLACES + (oz * OUT[1] + oy) * OUT[2] + ox);
        }
      }
    }
  }
  store(place(2u, row) + c, sum);
}

@compute @workgroup_size(64)
fn avg_pool(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let c = u % cols(1u);
  let o = split(c % PLACES, OUT);
  let channel = place(0u, row) + c / PLACES * INPUTS;
  var sum = zero();
  for (var k = 0u; k < TAPS; k++) {
    let t = tap_of(o, k);
    if (t.inside) { sum = sum + load(channel + t.at); }
  }
  let count = window_count(o);
  if (count > 0.0) { sum = div(sum, count); }
  store(place(1u, row) + c, sum);
}
@compute @workgroup_size(64)
fn avg_pool_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(1u);
  let c = u % cols(1u);
  let i = split(c % INPUTS, IN);
  let z = reach(0u, i.x);
  let y = reach(1u, i.y);
  let x = reach(2u, i.z);
  var sum = zero();
  for (var oz = z.x; oz <= z.y; oz++) {
    let tz = tap_on(0u, oz, i.x);
    for (var oy = y.x; oy <= y.y && tz < KERNEL[0]; oy++) {
      let ty = tap_on(1u, oy, i.y);
      for (var ox = x.x; ox <= x.y && ty < KERNEL[1]; ox++) {
        if (tap_on(2u, ox, i.z) >= KERNEL[2]) { continue; }
        let count = window_count(vec3<u32>(oz, oy, ox));
        if (count > 0.0) {
          sum = sum + settled(div(load(place(0u, row) + c / INPUTS * PLACES +
              (oz * OUT[1] + oy) * OUT[2] + ox), count));
        }
      }
    }
  }
  store(place(1u, row) + c, sum);
}
