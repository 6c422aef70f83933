// In place of arena.wgsl where four words that lie at a multiple of four are read at once.

@group(0) @binding(1) var<storage, read_write> A: array<vec4<u32>>;

fn word_at(at: u32) -> u32 { return A[at / 4u][at % 4u]; }
fn four_words(at: u32) -> vec4<u32> { return A[at / 4u]; }
fn load(at: u32) -> f32 { return bitcast<f32>(word_at(at)); }
fn store(at: u32, x: f32) { A[at / 4u][at % 4u] = stored_above(x, FLOOR); }
