// All values that instructions read and write: buffers, states, masters, vectors, tables and
// scratch, in words.

@group(0) @binding(1) var<storage, read_write> A: array<u32>;

fn load(at: u32) -> f32 { return bitcast<f32>(A[at]); }
fn store(at: u32, x: f32) { A[at] = stored_above(x, FLOOR); }
