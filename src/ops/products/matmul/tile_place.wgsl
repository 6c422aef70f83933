// Which tile a workgroup makes. Products of one operand with MATRICES of one form are made at once,
// their tiles side by side: operands 3 and on are the results, 2 and then 6 and on the biases.

struct TilePlace {
  across: u32,  // tile of outputs of the matrix
  down: u32,    // tile of rows
  matrix: u32,
  base: u32,    // of its parameters, the same for all threads: M is not known to be
}
fn tiles_across(matrix: u32) -> u32 {
  return (P[FIRST_MATRIX + 20u * matrix] + TILE_OUTPUTS - 1u) / TILE_OUTPUTS;
}
fn tile_place(u: u32) -> TilePlace {
  var all = tiles_across(0u);
  for (var i = 1u; i < MATRICES; i++) { all = all + tiles_across(i); }
  var at = TilePlace(u % all, u / all, 0u, FIRST_MATRIX);
  for (var i = 0u; i + 1u < MATRICES; i++) {
    let own = tiles_across(i);
    if (at.matrix == i && at.across >= own) {
      at.across = at.across - own;
      at.matrix = i + 1u;
    }
  }
  at.base = FIRST_MATRIX + 20u * at.matrix;
  M = at.base;
  return at;
}
fn result_at(matrix: u32, m: u32) -> u32 { return place(3u + matrix, m); }
fn bias_at(matrix: u32, n: u32) -> f32 {
  return load(place(select(5u + matrix, 2u, matrix == 0u), 0u) + n);
}
