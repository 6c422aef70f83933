// What the kernels of attention in q15 share. With attention.wgsl. A page is per KV head: planes of
// keys as [padded/4][64 positions][4], of values as [16][padded dims][4 positions], hi and lo,
// every byte value + 128; then the scales of 64 keys and 64 values.

const SIGNS = 0x80808080u;

const PADDED_DIM = (HEAD_DIM + 15u) / 16u * 16u;
fn page_part(b: u32, table: u32, kv_head: u32) -> u32 {
  return place(1u, 0u) + (A[table + b] * int_at(1u) + kv_head) * (64u * PADDED_DIM + 128u);
}

// Sums of four plane products joined; every sum is exact in f32, and products by 128 are.
fn join_planes(hh: i32, middle: i32, ll: i32) -> f32 {
  return (f32(hh) * 128.0 + f32(middle)) * 128.0 + f32(ll);
}

// Of exact sums over head_dim.
fn scaled_score(joined: f32, query_scale: f32, key_scale: f32) -> f32 {
  let s = mul(mul(joined, mul(query_scale, key_scale)), real_at(0u));
  if (magnitude_bits(s) < INF_BITS) { return s; }
  if (is_nan(query_scale) || is_nan(key_scale)) { return nan(); }
  let scaled = mul(mul(joined, real_at(0u)), min(query_scale, key_scale));
  return bounded(mul(scaled, max(query_scale, key_scale)));
}
const HEADROOM = 0x1.02p-7f;  // above the largest score: attention_q15_kernels.h
// Scores in the order of integers from 1 on, NaN above all.
fn score_key(s: f32) -> u32 {
  let b = bitcast<u32>(s);
  return select(b | 0x80000000u, ~b, b >= 0x80000000u);
}
fn of_score_key(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key & 0x7FFFFFFFu, key >= 0x80000000u));
}
