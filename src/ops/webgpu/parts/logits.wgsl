// A row of logits (operand 0) as kernels pick from it (pick.wgsl): those of ids that were seen
// before are penalized, as Sampler::penalize does. Before it: word_at.

fn parts() -> u32 { return int_at(0u); }
fn setting(i: u32) -> u32 { return word_at(extra(0u) + 1u + i); }
fn seen_word(id: u32) -> u32 { return extra(4u) + (id >> 5u); }
fn seen_bit(id: u32) -> u32 { return 1u << (id & 31u); }
fn logit(i: u32) -> f32 {
  let x = bitcast<f32>(word_at(place(0u, 0u) + i));
  let penalty = bitcast<f32>(setting(6u));
  if (penalty == 1.0 || (word_at(seen_word(i)) & seen_bit(i)) == 0u) { return x; }
  if (x > 0.0) { return div(x, penalty); }
  return mul(x, penalty);
}
