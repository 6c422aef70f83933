// A sum over rows in the order of rule 3: chunks of 32, even rows in one chain and odd in another,
// blocks of 1,024 rows, which combine like the digits of a binary counter.

struct RowSum {
  even: f32,
  odd: f32,
  block: f32,
  n: u32,
  count: u32,
  depth: u32,
  stack: array<f32, 20>,
}
fn row_sum() -> RowSum { return RowSum(zero(), zero(), zero(), 0u, 0u, 0u, array<f32, 20>()); }
fn fold_rows(s: ptr<function, RowSum>) {
  (*s).block = (*s).block + ((*s).even + (*s).odd);
  (*s).even = zero();
  (*s).odd = zero();
}
fn close_block(s: ptr<function, RowSum>) {
  var v = (*s).block;
  for (var c = (*s).count; (c & 1u) != 0u; c = c >> 1u) {
    (*s).depth = (*s).depth - 1u;
    v = (*s).stack[(*s).depth] + v;
  }
  (*s).stack[(*s).depth] = v;
  (*s).depth = (*s).depth + 1u;
  (*s).count = (*s).count + 1u;
  (*s).block = zero();
  (*s).n = 0u;
}
fn push_row(s: ptr<function, RowSum>, v: f32) {
  if (((*s).n & 1u) != 0u) { (*s).odd = (*s).odd + v; }
  else { (*s).even = (*s).even + v; }
  (*s).n = (*s).n + 1u;
  if (((*s).n & 31u) == 0u) { fold_rows(s); }
  if ((*s).n == 1024u) { close_block(s); }
}
fn row_total(s: ptr<function, RowSum>) -> f32 {
  if (((*s).n & 31u) != 0u) { fold_rows(s); }
  if ((*s).n != 0u) { close_block(s); }
  if ((*s).depth == 0u) { return zero(); }
  var v = (*s).stack[(*s).depth - 1u];
  for (var i = (*s).depth - 1u; i > 0u; i--) { v = (*s).stack[i - 1u] + v; }
  return v;
}
// Bits of `how`: added to what is there; a part of the sum, which is kept as it is.
fn add_total(at: u32, total: f32, how: u32) {
  var sum = total;
  if ((how & 1u) != 0u) { sum = load(at) + total; }
  if ((how & 2u) != 0u) { A[at] = bitcast<u32>(sum); }
  else { store(at, sum); }
}
