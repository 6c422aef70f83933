// All values that instructions read and write: buffers, states, masters, vectors, tables and
// scratch, in words.

@group(0) @binding(1) var<storage, read_write> A: array<u32>;

fn word_at(at: u32) -> u32 { return A[at]; }
fn four_words(at: u32) -> vec4<u32> {
  return vec4<u32>(A[at], A[at + 1u], A[at + 2u], A[at + 3u]);
}
fn load(at: u32) -> f32 { return bitcast<f32>(A[at]); }
fn store(at: u32, x: f32) { A[at] = stored_above(x, FLOOR); }
