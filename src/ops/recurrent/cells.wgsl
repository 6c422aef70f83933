// What recurrent layers do between their products: a thread per unit of the state. Operands 0 and 1
// hold the gates' sums, gate after gate.

struct Cell {
  row: u32,
  unit: u32,
  inside: bool,
}
fn cell_of(id: vec3<u32>, groups: vec3<u32>, y: u32) -> Cell {
  let u = thread_unit(id, groups);
  return Cell(u / cols(y), u % cols(y), u < units());
}
fn at(operand: u32, c: Cell) -> u32 { return place(operand, c.row) + c.unit; }
fn gate_x(c: Cell, gate: u32, n: u32) -> f32 { return load(at(0u, c) + gate * n); }
fn gate_s(c: Cell, gate: u32, n: u32) -> f32 { return load(at(1u, c) + gate * n); }
fn gate_sum(c: Cell, gate: u32, n: u32) -> f32 {
  return opaque(gate_x(c, gate, n) + gate_s(c, gate, n));
}
fn slope_of_sigmoid(s: f32) -> f32 { return mul(s, opaque(1.0 - s)); }

@compute @workgroup_size(64)
fn lstm_cell(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = cell_of(id, groups, 3u);
  if (!c.inside) { return; }
  let n = cols(3u);
  let i = sigmoid_exact(gate_sum(c, 0u, n));
  let f = sigmoid_exact(gate_sum(c, 1u, n));
  let g = tanh_exact(gate_sum(c, 2u, n));
  let o = sigmoid_exact(gate_sum(c, 3u, n));
  let next = settled(mul(f, load(at(2u, c))) + mul(i, g));
  store(at(4u, c), next);
  store(at(3u, c), o * tanh_exact(next));
}

@compute @workgroup_size(64)
fn lstm_cell_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = cell_of(id, groups, 7u);
  if (!c.inside) { return; }
  let n = cols(7u);
  let i = sigmoid_exact(gate_sum(c, 0u, n));
  let f = sigmoid_exact(gate_sum(c, 1u, n));
  let g = tanh_exact(gate_sum(c, 2u, n));
  let o = sigmoid_exact(gate_sum(c, 3u, n));
  let t = tanh_exact(load(at(3u, c)));
  let gh = load(at(4u, c));
  var cell = mul(mul(gh, o), opaque(1.0 - mul(t, t)));
  if (HAS_LATER) { cell = opaque(cell + load(at(5u, c))); }
  store(at(6u, c), mul(cell, g) * slope_of_sigmoid(i));
  store(at(6u, c) + n, mul(cell, load(at(2u, c))) * slope_of_sigmoid(f));
  store(at(6u, c) + 2u * n, mul(cell, i) * opaque(1.0 - mul(g, g)));
  store(at(6u, c) + 3u * n, mul(gh, t) * slope_of_sigmoid(o));
  store(at(7u, c), cell * f);
}

@compute @workgroup_size(64)
fn gru_cell(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = cell_of(id, groups, 3u);
  if (!c.inside) { return; }
  let n = cols(3u);
  let r = sigmoid_exact(gate_sum(c, 0u, n));
  let z = sigmoid_exact(gate_sum(c, 1u, n));
  let candidate = tanh_exact(opaque(gate_x(c, 2u, n) + mul(r, gate_s(c, 2u, n))));
  store(at(3u, c), mul(opaque(1.0 - z), candidate) + mul(z, load(at(2u, c))));
}

@compute @workgroup_size(64)
fn gru_cell_back(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = cell_of(id, groups, 6u);
  if (!c.inside) { return; }
  let n = cols(6u);
  let r = sigmoid_exact(gate_sum(c, 0u, n));
  let z = sigmoid_exact(gate_sum(c, 1u, n));
  let candidate = tanh_exact(opaque(gate_x(c, 2u, n) + mul(r, gate_s(c, 2u, n))));
  let g = load(at(3u, c));
  let reset = mul(mul(g, opaque(1.0 - z)), opaque(1.0 - mul(candidate, candidate)));
  let to_r = mul(reset, gate_s(c, 2u, n)) * slope_of_sigmoid(r);
  let to_z = mul(g, opaque(load(at(2u, c)) - candidate)) * slope_of_sigmoid(z);
  store(at(4u, c), to_r);
  store(at(5u, c), to_r);
  store(at(4u, c) + n, to_z);
  store(at(5u, c) + n, to_z);
  store(at(4u, c) + 2u * n, reset);
  store(at(5u, c) + 2u * n, reset * r);
  store(at(6u, c), g * z);
}

// The state of a row's sequence; nothing where the sequence begins.
@compute @workgroup_size(64)
fn state_read(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = cell_of(id, groups, 3u);
  if (!c.inside) { return; }
  let from_row = place(0u, min(A[place(1u, c.row)], rows(0u) - 1u));
  A[at(3u, c)] = select(A[from_row + c.unit], 0u, A[place(2u, c.row)] == 0u);
}
// The last row of a sequence is the one that stays.
@compute @workgroup_size(64)
fn state_write(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let c = cell_of(id, groups, 0u);
  if (!c.inside) { return; }
  let sequence = min(A[place(1u, c.row)], rows(2u) - 1u);
  for (var r = c.row + 1u; r < rows(0u); r++) {
    if (A[place(1u, r)] == sequence) { return; }
  }
  A[place(2u, sequence) + c.unit] = A[at(0u, c)];
}
