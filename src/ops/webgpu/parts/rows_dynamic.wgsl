// In place of rows.wgsl where an operand has rows that route_rows has counted: its word is then the
// place of the count, behind a bit that says so, and the count is of so many rows each. Threads
// beyond them compute what nobody reads; sums over rows, and what is written elsewhere, end here.
fn rows(operand: u32) -> u32 {
  let word = P[6u + 4u * operand];
  if (word < 0x80000000u) { return word; }
  return A[word & 0x7FFFFFFFu] * P[98u + operand];
}
