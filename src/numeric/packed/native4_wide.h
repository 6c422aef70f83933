// The search for the best pair of blocks, LOOM_LANES of them side by side, on x86-64: `find`. A
// few good pairs are tried. Against the best of them waves and clipping rule out most sizes s of
// A4, sums of rounded errors most pairs of the rest, and what remains is tried.
#include <immintrin.h>

#include "numeric/packed/native4_search.h"

namespace loom::native4 {
namespace {

constexpr int kLanes = LOOM_LANES;
typedef float F __attribute__((vector_size(4 * kLanes)));
typedef std::int32_t I __attribute__((vector_size(4 * kLanes)));

template <int Block>
struct alignas(64) Work {
  float t[Block][kRun];              // value by value
  std::int32_t errors[Block][kRun];  // where a value's are in the tables
  std::int32_t waves[16][kRun];
  float estimates[kRun][16];  // S4: rounded errors
  float error[kRun], range[kRun];
  float rest[kRun];   // how far rounding moved the root of the error
  float limit[kRun];  // rounded errors above cannot win
  std::int32_t pair[kRun];
  std::int32_t first[kRun];            // smaller s clip more than the best leaves
  std::int32_t looked[kRun];           // bit s: no other offset of it may be better
  std::int16_t sizes[kRun * 16 + 2];   // block * 16 + s
  std::int16_t pairs[kRun * 240 + 2];  // pair * kRun + block
  int pair_count = 0;
};

template <int Block>
LOOM_INLINE void transpose(const float* t, Work<Block>& work) {
  for (int b = 0; b < kRun; b += 4)
    for (int i = 0; i < Block; i += 4) {
      const float* from = t + b * Block + i;
      const Lanes r0 = load<Lanes>(from), r1 = load<Lanes>(from + Block),
                  r2 = load<Lanes>(from + 2 * Block), r3 = load<Lanes>(from + 3 * Block);
      const Lanes a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5),
                  c = __builtin_shufflevector(r2, r3, 0, 4, 1, 5),
                  e = __builtin_shufflevector(r0, r1, 2, 6, 3, 7),
                  g = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
      const Lanes columns[4] = {
          __builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(a, c, 2, 3, 6, 7),
          __builtin_shufflevector(e, g, 0, 1, 4, 5), __builtin_shufflevector(e, g, 2, 3, 6, 7)};
      for (int j = 0; j < 4; ++j) std::memcpy(&work.t[i + j][b], &columns[j], sizeof(Lanes));
    }
}

// Codes to nearest even.
#if LOOM_LANES == 16
LOOM_INLINE F nearest(F q) { return F(_mm512_roundscale_ps(__m512(q), _MM_FROUND_TO_NEAREST_INT)); }
#elif LOOM_LANES == 8
LOOM_INLINE F nearest(F q) {
  return F(_mm256_round_ps(__m256(q), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#endif

// A pair for each of kLanes blocks from g on, taken where it is better. All find the same errors as
// error_of: what is added up are products and differences of the same operands in the same order.
template <int Block>
LOOM_INLINE void try_sizes(Work<Block>& work, int g, F s, F offset, F inverse, I pair) {
  const F zero = {}, fifteen = zero + 15.0f;
  // The quotient is that or at least 1/15 from the next integer.
  F top = __builtin_convertvector(
      __builtin_convertvector((offset + 127.0f) * inverse + 0.03125f, I), F);
  top = top < fifteen ? top : fifteen;
  F sums[4];
#pragma GCC unroll 32
  for (int i = 0; i < Block; ++i) {
    const F v = load<F>(&work.t[i][g]);
    F q = (v + offset) * inverse;
    q = q > zero ? q : zero;
    q = q < top ? q : top;
    q = nearest(q);
    const F d = (q * s - offset) - v;
    sums[i % 4] = i < 4 ? d * d : sums[i % 4] + d * d;
  }
  const F error = (sums[0] + sums[2]) + (sums[1] + sums[3]), best = load<F>(&work.error[g]);
  const I chosen = load<I>(&work.pair[g]);
  const I better = (error < best) | ((error == best) & (pair < chosen));
  const F e = better ? error : best;
  const I p = better ? pair : chosen;
  std::memcpy(&work.error[g], &e, sizeof e);
  std::memcpy(&work.pair[g], &p, sizeof p);
}

// Places in the tables.
template <int Block>
LOOM_INLINE void place(Work<Block>& work, int g) {
  constexpr float kMagic = 0x1.8p23f + kPlaces / 2;
  F rest = {};
  for (int i = 0; i < Block; ++i) {
    const F v = load<F>(&work.t[i][g]), big = v * static_cast<float>(kStep) + kMagic,
            moved = (big - kMagic) * (1.0f / kStep) - v;
    rest += moved * moved;
    I n = load<I>(&big) - __builtin_bit_cast(std::int32_t, 0x1.8p23f);
    if constexpr (Block == 16) {
      const I wave = n * 32;
      std::memcpy(&work.waves[i][g], &wave, sizeof wave);
      n = (n & (8 * kStep - 1)) * kColumns + (n >> 5);
    } else {
      n = n * 16;
    }
    std::memcpy(&work.errors[i][g], &n, sizeof n);
  }
  std::memcpy(&work.rest[g], &rest, sizeof rest);
  const F far = F{} + __builtin_inff();
  std::memcpy(&work.error[g], &far, sizeof far);
}

// The pairs of A4 that are tried first: three s, from where little is clipped, with the offsets
// that centre them, some of each.
constexpr int kOffsets[] = {2, 4, 5};
LOOM_INLINE void guess(Work<16>& work, int g) {
  F low = load<F>(&work.t[0][g]), high = low;
  for (int i = 1; i < 16; ++i) {
    const F v = load<F>(&work.t[i][g]);
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  const F range = high - low, zero = {};
  std::memcpy(&work.range[g], &range, sizeof range);
  F size = range * (1.0f / 15);
  size = size > 1.0f ? size : zero + 1.0f;
  size = size < 13.0f ? size : zero + 13.0f;
  const I from = __builtin_convertvector(size, I);
  I windows[3];
  for (int j = 0; j < 3; ++j) {
    const int count = kOffsets[j];
    const F s = __builtin_convertvector(from + j, F), last = zero + static_cast<float>(16 - count);
    F m = (7.5f * s - 0.5f * (high + low)) * 0.125f - (0.5f * static_cast<float>(count) - 1);
    m = m > zero ? m : zero;
    m = m < last ? m : last;
    windows[j] = __builtin_convertvector(m, I);
    const F inverse = 1.0f / s, first = __builtin_convertvector(windows[j], F);
    for (int k = 0; k < count; ++k)
      try_sizes(work, g, s, (first + static_cast<float>(k)) * 8.0f, inverse,
                (from + (j - 1)) * 16 + windows[j] + k);
  }
  // Offsets that were not tried must clip more than the best leaves.
  const F left = load<F>(&work.error[g]) * 1.0001f;
  I looked = {};
  for (int j = 0; j < 3; ++j) {
    const F s = __builtin_convertvector(from + j, F),
            first = __builtin_convertvector(windows[j], F), under = (8.0f - 8.0f * first) - low,
            over = high - (15.0f * s - 8.0f * first - static_cast<float>(8 * kOffsets[j]));
    const I closed = ((windows[j] == 0) | ((under > zero) & (under * under > left))) &
                     ((windows[j] == 16 - kOffsets[j]) | ((over > zero) & (over * over > left)));
    looked |= closed & (I{} + (1 << j));
  }
  looked = looked << from;
  std::memcpy(&work.looked[g], &looked, sizeof looked);
}

// Sums of 16 bits, one row of a table for each value.
template <int Count, int Rows>
LOOM_INLINE void sum_up(const std::int16_t* table, const std::int32_t (&at)[Rows][kRun], int block,
                        Shorts* out) {
  typedef std::int16_t Wide __attribute__((vector_size(32)));
  Wide first = {};
  Shorts last = {};
#pragma GCC unroll 32
  for (int i = 0; i < Rows; ++i) {
    const std::int16_t* row = table + at[i][block];
    first += load<Wide>(row);
    if constexpr (Count == 3) last += load<Shorts>(row + 16);
  }
  std::memcpy(out, &first, sizeof first);
  if constexpr (Count == 3) out[2] = last;
}

// Bit by bit, which of 16 are at most `limit`.
LOOM_INLINE unsigned which(const Shorts* sums, int limit) {
  const Shorts a = sums[0] <= static_cast<std::int16_t>(limit),
               b = sums[1] <= static_cast<std::int16_t>(limit);
  return static_cast<unsigned>(
      _mm_movemask_epi8(_mm_packs_epi16(load<__m128i>(&a), load<__m128i>(&b))));
}

// Which s remain of a block, of those from 4 on by what any offset leaves. With x = 2 pi / s times
// the distance from the nearest multiple of s, less an offset, x^2 >= 2.462 - 3 cos x. So the
// squared distances sum up to at least (s / 2 pi)^2 * (16 * 2.462 - 3 * |sum of exp(2 pi i t /
// s)|). The waves are within 12 of their sum.
LOOM_INLINE unsigned open_sizes(const Tables& tables, const Work<16>& work, int block) {
  Shorts waves[3];
  sum_up<3>(tables.waves, work.waves, block, waves);
  Ints open = {};
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
    const Ints both = load<Ints>(&waves[j]);
    const Lanes c = __builtin_convertvector(both << 16 >> 16, Lanes),
                n = __builtin_convertvector(both >> 16, Lanes), zero = {};
    Lanes bound = (kAmplitude / 3 * 39.38f - 20) - work.limit[block] * tables.per_square[j];
    bound = bound > zero ? bound : zero;
    open |= (c * c + n * n >= bound * bound) & (Ints{16, 32, 64, 128} << (4 * j));
  }
  return static_cast<unsigned>((open[0] | open[1]) | (open[2] | open[3])) | 14u;
}

// The first two that are set without a branch since few have more.
template <class Each>
LOOM_INLINE void each_bit(unsigned bits, Each&& each) {
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i, bits &= bits - 1) each(__builtin_ctz(bits | 1u << 24), bits != 0);
  for (; bits != 0; bits &= bits - 1) each(__builtin_ctz(bits), true);
}

// The errors that leave a chance. Those in f32 are within 2^-19 of the real ones.
template <int Block>
LOOM_INLINE void set_limits(Work<Block>& work) {
  for (int i = 0; i < kRun; ++i) {
    const float root = __builtin_sqrtf(work.error[i]) + __builtin_sqrtf(work.rest[i]);
    work.limit[i] = root * root * 1.0001f;
    if constexpr (Block != 16) continue;
    const float clipped = __builtin_sqrtf(2.0001f * work.error[i]);
    const float min = (work.range[i] - clipped) * (1.0f / 15) + 0.999f;
    work.first[i] = static_cast<std::int32_t>(min > 1 ? min : 1.0f);
  }
}

template <int Block>
LOOM_INLINE void list_pair(Work<Block>& work, int block, int pair, bool counts) {
  const int best = work.pair[block];
  work.pairs[work.pair_count] = static_cast<std::int16_t>(pair * kRun + block);
  work.pair_count += counts && pair != best && (work.error[block] != 0 || pair < best);
}

LOOM_INLINE void list_pairs(const Tables& tables, Work<16>& work, int blocks) {
  int sizes = 0;
  for (int block = 0; block < blocks; ++block) {
    const unsigned open = open_sizes(tables, work, block) & ~0u << work.first[block] &
                          ~static_cast<unsigned>(work.looked[block]);
    each_bit(open, [&](int s, bool counts) {
      work.sizes[sizes] = static_cast<std::int16_t>(block * 16 + s);
      sizes += counts;
    });
  }
  for (int i = 0; i < sizes; ++i) {
    const int block = work.sizes[i] / 16, s = work.sizes[i] % 16;
    Shorts sums[2];
    sum_up<2>(tables.errors + (s - 1) * kOfSize, work.errors, block, sums);
    const float limit = work.limit[block] * tables.per_unit[s - 1];
    each_bit(which(sums, static_cast<int>(limit < 32767 ? limit : 32767.0f)),
             [&](int m, bool counts) { list_pair(work, block, (s - 1) * 16 + m, counts); });
  }
}

// Which of 16 rounded errors are at most `limit`.
LOOM_INLINE unsigned within(const float* errors, float limit) {
  Ints bits = {};
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j)
    bits |= (load<Lanes>(errors + 4 * j) <= limit) & (Ints{1, 2, 4, 8} << (4 * j));
  return static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
}

// All pairs of S4 side by side; the best as it seems.
LOOM_INLINE void estimate(const Tables& tables, Work<32>& work, int block) {
  Shorts sums[2];
  sum_up<2>(tables.errors, work.errors, block, sums);
  std::int16_t counts[16];
  std::memcpy(counts, sums, sizeof sums);
  float* const errors = work.estimates[block];
  for (int s = 0; s < 16; ++s) errors[s] = static_cast<float>(counts[s]) * tables.unit[s];
  Lanes min = load<Lanes>(errors);
  for (int j = 4; j < 16; j += 4) {
    const Lanes e = load<Lanes>(errors + j);
    min = e < min ? e : min;
  }
  const float a = min[0] < min[1] ? min[0] : min[1], b = min[2] < min[3] ? min[2] : min[3];
  work.pair[block] = __builtin_ctz(within(errors, a < b ? a : b));
}

template <int Block>
void find(const Tables& tables, const float* t, int blocks, Choice* best) {
  Work<Block> work;
  transpose(t, work);
  for (int g = 0; g < kRun; g += kLanes) place(work, g);
  if constexpr (Block == 16) {
    for (int g = 0; g < kRun; g += kLanes) guess(work, g);
    set_limits(work);
    list_pairs(tables, work, blocks);
  } else {
    for (int block = 0; block < kRun; ++block) estimate(tables, work, block);
    for (int g = 0; g < kRun; g += kLanes) {
      const I pair = load<I>(&work.pair[g]);
      const F s = __builtin_convertvector(pair + 1, F);
      try_sizes(work, g, s, s * 8.0f, 1.0f / s, pair);
    }
    set_limits(work);
    for (int block = 0; block < blocks; ++block)
      each_bit(within(work.estimates[block], work.limit[block]),
               [&](int pair, bool counts) { list_pair(work, block, pair, counts); });
  }
  for (int i = 0; i < work.pair_count; ++i) {
    const int block = work.pairs[i] % kRun, pair = work.pairs[i] / kRun;
    const float error = error_of<Block>(t + block * Block, tables.pairs[pair]);
    float& min = work.error[block];
    std::int32_t& chosen = work.pair[block];
    const bool better = error < min || (error == min && pair < chosen);
    min = better ? error : min;
    chosen = better ? pair : chosen;
  }
  for (int i = 0; i < blocks; ++i) best[i] = {work.error[i], work.pair[i]};
}

}  // namespace
}  // namespace loom::native4
