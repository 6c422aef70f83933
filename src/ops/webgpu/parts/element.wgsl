// A thread for each element of an operand.

struct At {
  row: u32,
  col: u32,
  inside: bool,
}
// The element of operand `y` that a thread computes.
fn element(id: vec3<u32>, groups: vec3<u32>, y: u32) -> At {
  let u = thread_unit(id, groups);
  return At(u / cols(y), u % cols(y), u < units());
}
