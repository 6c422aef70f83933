// Pairs with broadcasting (ops/graph/kinds.h): KIND, SIZE of y, steps A_STEP and B_STEP of the
// operands. A thread per element of y.

#kinds LOOM_BINARY ops/graph/kinds.def B_

fn truth(x: bool) -> f32 { return select(0.0, 1.0, x); }
fn holds(x: f32) -> bool { return magnitude_bits(x) != 0u; }  // a NaN does
fn binary_of(a: f32, b: f32) -> f32 {
  let ordered = !is_nan(a) && !is_nan(b);
  switch (KIND) {
    case B_ADD: { return a + b; }
    case B_SUB: { return a - b; }
    case B_MUL: { return a * b; }
    case B_DIV: { return div(a, b); }
    case B_MAX, B_MIN: {  // a compiler's own maximum loses a NaN
      if (!ordered) { return nan(); }
      return select(b, a, select((a < b), (a > b), KIND == B_MAX));
    }
    case B_PRELU: { return select(mul(a, b), a, a > 0.0); }
    case B_LESS: { return truth(ordered && (a < b)); }
    case B_LESS_EQUAL: { return truth(ordered && (a <= b)); }
    case B_GREATER: { return truth(ordered && (a > b)); }
    case B_GREATER_EQUAL: { return truth(ordered && (a >= b)); }
    case B_EQUAL: { return truth(ordered && a == b); }
    case B_LOGICAL_AND: { return truth(holds(a) && holds(b)); }
    case B_LOGICAL_OR: { return truth(holds(a) || holds(b)); }
    case B_LOGICAL_XOR: { return truth(holds(a) != holds(b)); }
    default: { return a; }
  }
}
struct Pair {
  a: f32,
  b: f32,
}
// An operand of one row serves all.
fn pair_at(row: u32, col: u32) -> Pair {
  var a = place(0u, select(row, 0u, rows(0u) == 1u));
  var b = place(1u, select(row, 0u, rows(1u) == 1u));
  var rest = col;
  for (var d = 5u; d > 0u; d--) {
    let i = rest % SIZE[d - 1u];
    a = a + i * A_STEP[d - 1u];
    b = b + i * B_STEP[d - 1u];
    rest = rest / SIZE[d - 1u];
  }
  return Pair(load(a), load(b));
}
@compute @workgroup_size(64)
fn binary(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(2u);
  let p = pair_at(row, u % cols(2u));
  store(place(2u, row) + u % cols(2u), binary_of(p.a, p.b));
}
@compute @workgroup_size(64)
fn binary_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let u = thread_unit(id, groups);
  if (u >= units()) { return; }
  let row = u / cols(2u);
  let c = u % cols(2u);
  let p = pair_at(row, c);
  let g = load(place(2u, row) + c);
  var ga = zero();
  var gb = zero();
  switch (KIND) {
    case B_ADD: { ga = g; gb = g; }
    case B_SUB: { ga = g; gb = -g; }
    case B_MUL: { ga = g * p.b; gb = g * p.a; }
    case B_DIV: { ga = div(g, p.b); gb = -div(mul(g, p.a), mul(p.b, p.b)); }
    case B_MAX, B_MIN: {
      let ordered = !is_nan(p.a) && !is_nan(p.b);
      let first = ordered && select((p.a < p.b), (p.a > p.b), KIND == B_MAX);
      let second = ordered && select((p.b < p.a), (p.b > p.a), KIND == B_MAX);
      let same = ordered && p.a == p.b;
      ga = select(select(g, zero(), second), 0.5 * g, same);
      gb = select(select(g, zero(), first), 0.5 * g, same);
    }
    case B_PRELU: { ga = select(g * p.b, g, p.a > 0.0); gb = select(g * p.a, zero(), p.a > 0.0); }
    default: { }
  }
  store(place(3u, row) + c, ga);
  store(place(4u, row) + c, gb);
}
