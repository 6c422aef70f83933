// The most probable id of a row of logits becomes the next id of its sequence, on the device: as
// Sampler::pick (src/llm/generate/sampler.h) picks at temperature 0. Operands: 0 logits, 1 ids, 2
// positions. extra(0): how many were picked, SETTINGS (draw.wgsl), the ids that were; extra(1):
// a pair for each of the parts; extra(2): DRAW_WORDS that draw.wgsl wants to be 0; extra(4): a bit
// for each id, of those seen before.

fn word_at(at: u32) -> u32 { return A[at]; }

struct Best {
  key: u32,  // ascends with the value; 0: no number
  id: u32,
}
fn key_of(x: f32) -> u32 {
  let b = bitcast<u32>(x);
  if (is_nan(x)) { return 0u; }
  if ((b & 0x7FFFFFFFu) == 0u) { return 0x80000000u; }
  return select(b | 0x80000000u, ~b, b >= 0x80000000u);
}
// Ties go to the lower id.
fn better(a: Best, b: Best) -> Best {
  if (a.key > b.key || (a.key == b.key && a.id <= b.id)) { return a; }
  return b;
}

var<workgroup> bests: array<Best, 64>;
fn best_of_group(lane: u32, own: Best) -> Best {
  bests[lane] = own;
  workgroupBarrier();
  var best = own;
  if (lane == 0u) {
    for (var i = 1u; i < 64u; i++) { best = better(best, bests[i]); }
  }
  return best;
}

@compute @workgroup_size(64)
fn pick_parts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32) {
  let u = group_unit(group, groups);
  if (u >= units()) { return; }
  var own = Best(0u, 0u);
  for (var i = u * 64u + lane; i < cols(0u); i += parts() * 64u) {
    own = better(own, Best(key_of(logit(i)), i));
  }
  let best = best_of_group(lane, own);
  if (lane == 0u) {
    A[extra(1u) + 2u * u] = best.key;
    A[extra(1u) + 2u * u + 1u] = best.id;
  }
  for (var i = u * 64u + lane; i < DRAW_WORDS; i += parts() * 64u) { A[extra(2u) + i] = 0u; }
}

// No id where the largest is no number or infinite: the host says so.
fn is_finite_key(key: u32) -> bool {
  let infinite = INF_BITS | 0x80000000u;
  return key > ~infinite && key < infinite;
}

@compute @workgroup_size(64) fn pick(@builtin(local_invocation_index) lane: u32) {
  Z = P[0];
  var own = Best(0u, 0u);
  for (var i = lane; i < parts(); i += 64u) {
    own = better(own, Best(A[extra(1u) + 2u * i], A[extra(1u) + 2u * i + 1u]));
  }
  let best = best_of_group(lane, own);
  if (lane == 0u) {
    let count = A[extra(0u)];
    A[extra(0u) + SETTINGS + 1u + count] = select(0xFFFFFFFFu, best.id, is_finite_key(best.key));
    A[extra(0u)] = count + 1u;
    A[place(1u, 0u)] = best.id;
    A[seen_word(best.id)] |= seen_bit(best.id);
    A[place(2u, 0u)] = A[place(2u, 0u)] + 1u;
  }
}
