// A head of a new row: queries and keys are turned by their position, keys and values go to the q15
// cache (layout: attention_q15.wgsl). For kernels of THREADS threads that decode a single row.
// HEAD_DIM is even.

const QUERY = 0u;
const KEY = 1u;
const VALUE = 2u;

const PADDED_HEAD = (HEAD_DIM + 15u) / 16u * 16u;
const HEAD_WORDS = 64u * PADDED_HEAD + 128u;  // of a head in a page

// Where the row stands in its sequence, by the operands that say so.
struct Position {
  index: u32,   // in its block of 64
  page: u32,
  kept: bool,   // within the cache
}
// cosines, then sines, of its rotation; there after the next barrier
var<workgroup> head_angles: array<f32, HEAD_DIM>;
fn position_of(thread: u32, sequence: u32, position: u32, table: u32) -> Position {
  let p = A[place(position, 0u)];
  let angles = place(table, min(p, rows(table) - 1u));
  for (var d = thread; d < HEAD_DIM; d += THREADS) { head_angles[d] = load(angles + d); }
  return Position(p % 64u, A[P[2] + A[place(sequence, 0u)] * P[3] + min(p / 64u, P[3] - 1u)],
      p < P[3] * 64u);
}

var<workgroup> head_values: array<f32, HEAD_DIM>;
var<workgroup> head_most: atomic<u32>;

// As the cache has element d, each byte value + 128; zeros beyond the head.
fn head_planes(d: u32, most: u32, inverse: f32) -> vec2<i32> {
  if (d >= HEAD_DIM || q15_lost(most)) { return vec2<i32>(128, 128); }
  return q15_planes(head_values[d], inverse) + vec2<i32>(128, 128);
}

// What is in head_values, written before a barrier, becomes. `to`: place of a turned query; of the
// head's part of page 0.
fn finish_head(thread: u32, kind: u32, at: Position, to: u32, kv_heads: u32) {
  if (kind != VALUE) {
    for (var j = thread; j < HEAD_DIM / 2u; j += THREADS) {
      let c = head_angles[j];
      let s = head_angles[j + HEAD_DIM / 2u];
      let lo = head_values[j];
      let hi = head_values[j + HEAD_DIM / 2u];
      head_values[j] = settled(mul(lo, c) - mul(hi, s));
      head_values[j + HEAD_DIM / 2u] = settled(mul(hi, c) + mul(lo, s));
    }
    workgroupBarrier();
  }
  if (kind == QUERY) {
    for (var d = thread; d < HEAD_DIM; d += THREADS) { A[to + d] = bitcast<u32>(head_values[d]); }
    return;
  }
  for (var d = thread; d < HEAD_DIM; d += THREADS) {
    atomicMax(&head_most, magnitude_bits(head_values[d]));
  }
  workgroupBarrier();
  if (!at.kept) { return; }
  let most = atomicLoad(&head_most);
  let inverse = q15_inverse(most);
  let part = to + at.page * kv_heads * HEAD_WORDS;
  if (kind == VALUE) {
    // A byte of a word; the other three are of other positions.
    let byte = at.index % 4u;
    let keep = ~(255u << (8u * byte));
    for (var d = thread; d < PADDED_HEAD; d += THREADS) {
      let v = head_planes(d, most, inverse);
      let word = part + 32u * PADDED_HEAD + at.index / 4u * PADDED_HEAD + d;
      let high = A[word];
      let low = A[word + 16u * PADDED_HEAD];
      A[word] = (high & keep) | byte_of(v.x, byte);
      A[word + 16u * PADDED_HEAD] = (low & keep) | byte_of(v.y, byte);
    }
  } else {
    for (var w = thread; w < PADDED_HEAD / 4u; w += THREADS) {
      var planes = vec2<u32>(0u, 0u);
      for (var i = 0u; i < 4u; i++) {
        let v = head_planes(4u * w + i, most, inverse);
        planes = planes | vec2<u32>(byte_of(v.x, i), byte_of(v.y, i));
      }
      A[part + w * 64u + at.index] = planes.x;
      A[part + 16u * PADDED_HEAD + w * 64u + at.index] = planes.y;
    }
  }
  if (thread == 0u) {
    A[part + 64u * PADDED_HEAD + select(0u, 64u, kind == VALUE) + at.index] = q15_scale(most);
  }
}
