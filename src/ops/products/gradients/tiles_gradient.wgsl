// gw (+)= gy^T x in tiles: gradient.wgsl's sums over rows (rule 3), whose blocks of 1,024 rows
// combine like the digits of a binary counter. DEPTH: of the counter.

const LEFT_TURNED = false;
const RIGHT_TURNED = false;

fn words_of(operand: u32, r: u32, first: u32, count: u32) -> vec4<f32> {
  let width = cols(operand);
  if (r >= count) { return vec4<f32>(zero()); }
  return load_four(place(operand, r) + first, max(width, first) - first);
}
fn left_line(r: u32, n: u32, count: u32) -> vec4<f32> { return words_of(0u, r, n, count); }
fn right_line(r: u32, k: u32, count: u32) -> vec4<f32> { return words_of(1u, r, k, count); }

// `block`, of the rows from r0 on, joins the blocks before it.
fn push_block(stack: ptr<function, array<Tiles, DEPTH>>, depth: u32, block: Tiles, r0: u32) -> u32 {
  var d = depth;
  var sum = block;
  for (var c = r0 / 1024u; (c & 1u) != 0u; c = c >> 1u) {
    d = d - 1u;
    for (var s = 0u; s < SLOTS; s++) {
      for (var i = 0u; i < 4u; i++) { sum[s][i] = (*stack)[d][s][i] + sum[s][i]; }
    }
  }
  (*stack)[d] = sum;
  return d + 1u;
}
fn store_total(at: Place, total: ptr<function, Tiles>) {
  let inputs = cols(2u);
  for (var s = 0u; s < SLOTS; s++) {
    let k = at.n0 + (at.across + s % OUT_FOURS * ACROSS) * 4u;
    let n0 = at.m0 + (at.down + s / OUT_FOURS * DOWN) * 4u;
    for (var r = 0u; r < 4u; r++) {
      if (n0 + r >= cols(0u) || k >= inputs) { break; }
      let to = place(2u, n0 + r) + k;
      if (int_at(0u) != 0u) {
        store_four(to, inputs - k, load_four(to, inputs - k) + (*total)[s][r]);
      } else {
        store_four(to, inputs - k, (*total)[s][r]);
      }
    }
  }
}

@compute @workgroup_size(THREADS)
fn weight_grad_tile(@builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  let count = rows(0u);
  let at = place_of(u, cols(2u), thread);
  var stack: array<Tiles, DEPTH>;
  var depth = 0u;
  var block: Tiles;
  clear(&block);
  var fetched = fetch_step(at, 0u, count);
  for (var r0 = 0u; r0 < count; r0 += CHUNKS) {
    add_chunk(&block, &fetched, at, r0, count);
    // One block alone is the total.
    if (DEPTH > 1u && ((r0 + CHUNKS) % 1024u == 0u || r0 + CHUNKS >= count)) {
      depth = push_block(&stack, depth, block, r0);
      clear(&block);
    }
  }
  if (DEPTH > 1u && depth != 0u) {
    block = stack[depth - 1u];
    for (var d = depth - 1u; d > 0u; d--) {
      for (var s = 0u; s < SLOTS; s++) {
        for (var i = 0u; i < 4u; i++) { block[s][i] = stack[d - 1u][s][i] + block[s][i]; }
      }
    }
  }
  if (at.lane == 0u) { store_total(at, &block); }
}
