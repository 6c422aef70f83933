// gradient.wgsl's sums over rows where they are many or their results few: a workgroup sums the 32
// chunks of a block of 1,024 rows side by side (rule 3), eight threads each, then adds them in
// order. Several blocks are kept one behind the other in scratch, KEPT words from its beginning,
// for block_totals.wgsl. Rows
// beyond the end add +0, so that all chunks have 32, whose words are on their way together.

var<workgroup> sums: array<f32, 32u * 64u>;  // [chunk][result]

// Of one of `width` results of each chunk.
fn block_sum(result: u32, width: u32) -> f32 {
  var s = zero();
  for (var chunk = 0u; chunk < 32u; chunk++) { s = s + sums[chunk * width + result]; }
  return s;
}
// The sum of a block belongs at `at`, or is that of result number `result` of `results`.
fn keep_sum(at: u32, block: u32, result: u32, results: u32, sum: f32, accumulate: u32) {
  if (ONE_BLOCK) { add_total(at, sum, accumulate); }
  else { A[extra(0u) + KEPT + block * results + result] = bitcast<u32>(sum); }
}
