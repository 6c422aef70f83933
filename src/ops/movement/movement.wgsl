// Values that change places: a thread per element.

@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 0u);
  if (at.inside) { store(place(0u, at.row) + at.col, real_at(0u)); }
}

@compute @workgroup_size(64)
fn copy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 1u);
  if (at.inside) { A[place(1u, at.row) + at.col] = A[place(0u, at.row) + at.col]; }
}

// Between f32 and f32 this is what is left of it.
@compute @workgroup_size(64)
fn convert(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 1u);
  if (at.inside) { store(place(1u, at.row) + at.col, load(place(0u, at.row) + at.col)); }
}

@compute @workgroup_size(64)
fn to_ids(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 1u);
  if (at.inside) {
    let x = load(place(0u, at.row));
    A[place(1u, at.row)] = select(0u, u32(min(x, f32(int_at(0u) - 1u))), x > 0.0);
  }
}

@compute @workgroup_size(64)
fn gather_rows(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 2u);
  if (at.inside) {
    A[place(2u, at.row) + at.col] = A[place(0u, min(A[place(1u, at.row)], max(rows(0u), 1u) - 1u)) +
        at.col];
  }
}

// y was filled with zeros before; indices are distinct.
@compute @workgroup_size(64)
fn scatter_rows(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 0u);
  if (!at.inside || at.row >= rows(0u)) { return; }
  let row = A[place(1u, at.row)];
  if (row < rows(2u)) { A[place(2u, row) + at.col] = A[place(0u, at.row) + at.col]; }
}

@compute @workgroup_size(64)
fn scatter_zero(@builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>) {
  let at = element(id, groups, 2u);
  if (at.inside) { A[place(2u, at.row) + at.col] = 0u; }
}
