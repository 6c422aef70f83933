// The probes of probes.cpp: what a device's compiler or arithmetic could do otherwise than the CPU.
// A thread per case: a, b, c at extra(0..2), the result at extra(3); int 0 is the probe.

@compute @workgroup_size(64)
fn probe(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let i = thread_unit(id, groups);
  let a = load(extra(0u) + i);
  let b = load(extra(1u) + i);
  let c = load(extra(2u) + i);
  let sum = tree_sum(lane, mul(a, b));
  let most = lane_max(lane, bitcast<i32>(magnitude_bits(a)));
  var y = 0u;
  switch (int_at(0u)) {
    case 0u: { y = bitcast<u32>(mul(a, b) + c); }                    // not contracted
    case 1u: { y = bitcast<u32>(a * opaque(1.0 + b)); }               // not distributed
    case 2u: { y = bitcast<u32>(0x1.988454p-1f * opaque(a + mul(b, c))); }
    // not reassociated: what a sum lost
    case 3u: {
      let s = opaque(a + b);
      y = bitcast<u32>(b - (s - a));
    }
    case 4u: { y = bitcast<u32>(opaque(a + 0x1.8p23f) - 0x1.8p23f); }
    case 5u: {                                                        // two chains
      var even = zero();
      var odd = zero();
      for (var k = 0u; k < 32u; k += 2u) {
        even = even + mul(a, load(extra(1u) + (i + k) % units()));
        odd = odd + mul(c, load(extra(1u) + (i + k + 1u) % units()));
      }
      y = bitcast<u32>(zero() + (even + odd));
    }
    case 6u: { y = bitcast<u32>(div(a, b)); }
    case 7u: { y = bitcast<u32>(sqrt_exact(a)); }
    case 8u: { y = bitcast<u32>(rsqrt_exact(a)); }
    case 9u: { y = bitcast<u32>(exp_difference(min(a, b), max(a, b))); }
    case 10u: { y = bitcast<u32>(difference(a, b).low); }
    case 11u: { y = bitcast<u32>(exp_exact(a)); }
    case 12u: { y = bitcast<u32>(log_exact(a)); }
    case 13u: { y = bitcast<u32>(sigmoid_exact(a)); }
    case 14u: { y = bitcast<u32>(tanh_exact(a)); }
    case 15u: { y = bitcast<u32>(erf_exact(a)); }
    case 16u: { y = bitcast<u32>(softplus_exact(a)); }
    case 17u: { y = stored_above(a, FLOOR); }                 // the floor, infinities, NaN
    case 18u: { y = bitcast<u32>(dot4I8Packed(bitcast<u32>(a), bitcast<u32>(b))); }
    case 19u: { y = bitcast<u32>(sum); }
    case 20u: { y = bitcast<u32>(most); }
    // q15 planes at the scale of |a|
    case 21u: {
      let v = q15_planes(a, q15_inverse(magnitude_bits(a)));
      y = (bitcast<u32>(v.x) << 16u) ^ bitcast<u32>(v.y) ^ q15_scale(magnitude_bits(a));
    }
    default: {                                                        // case 5, by fma
      let none = bitcast<f32>(Z ^ 0x80000000u);
      var even = zero();
      var odd = zero();
      for (var k = 0u; k < 32u; k += 2u) {
        even = even + fma(a, load(extra(1u) + (i + k) % units()), none);
        odd = odd + fma(c, load(extra(1u) + (i + k + 1u) % units()), none);
      }
      y = bitcast<u32>(zero() + (even + odd));
    }
  }
  let number = int_at(0u) != 18u && int_at(0u) < 20u;
  A[extra(3u) + i] = select(y, NAN_BITS, number && (y & 0x7FFFFFFFu) > INF_BITS);
}
