// gw (+)= gy^T x in tiles: gradient.wgsl's sums over rows (rule 3), whose blocks of 1,024 rows
// combine like the digits of a binary counter. DEPTH: of the counter.

// Four words of a row from `first` on, as far as its `count` goes.
fn four_of(row: u32, first: u32, count: u32) -> vec4<f32> {
  var v = vec4<f32>(zero());
  for (var i = 0u; i < 4u && first + i < count; i++) { v[i] = load(row + first + i); }
  return v;
}

@compute @workgroup_size(256)
fn weight_grad_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let outputs = cols(0u);
  let inputs = cols(2u);
  let count = rows(0u);
  let tiles = (inputs + 63u) / 64u;
  let k0 = u % tiles * 64u;
  let n0 = u / tiles * 64u;
  var stack: array<Tile, DEPTH>;
  var depth = 0u;
  var block: Tile;
  for (var i = 0u; i < 4u; i++) { block[i] = vec4<f32>(zero()); }
  for (var r0 = 0u; r0 < count; r0 += 32u) {
    for (var i = thread; i < 32u * 16u; i += 256u) {
      let r = r0 + i / 16u;
      let four = i % 16u * 4u;
      left[i] = vec4<f32>(zero());
      right[i] = vec4<f32>(zero());
      if (r < count) {
        left[i] = four_of(place(0u, r), n0 + four, outputs);
        right[i] = four_of(place(1u, r), k0 + four, inputs);
      }
    }
    workgroupBarrier();
    add_chunk(&block, thread);
    workgroupBarrier();
    if (r0 % 1024u == 992u || r0 + 32u >= count) {
      for (var c = r0 / 1024u; (c & 1u) != 0u; c = c >> 1u) {
        depth = depth - 1u;
        for (var i = 0u; i < 4u; i++) { block[i] = stack[depth][i] + block[i]; }
      }
      stack[depth] = block;
      depth = depth + 1u;
      for (var i = 0u; i < 4u; i++) { block[i] = vec4<f32>(zero()); }
    }
  }
  for (var i = 0u; i < 4u; i++) {
    var total = vec4<f32>(zero());
    if (depth != 0u) { total = stack[depth - 1u][i]; }
    for (var d = depth; d > 1u; d--) { total = stack[d - 2u][i] + total; }
    let n = n0 + thread / 16u * 4u + i;
    for (var j = 0u; j < 4u && n < outputs; j++) {
      let k = k0 + thread % 16u * 4u + j;
      if (k < inputs) { add_total(place(2u, n) + k, total[j], int_at(0u)); }
    }
  }
}
