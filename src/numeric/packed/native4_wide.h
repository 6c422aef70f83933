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
  std::int32_t first[kRun];             // smaller s clip more than the best leaves
  std::int32_t open[kRun];              // without bit s: no other offset of it may be better
  std::int32_t sizes[kRun * 16 + 16];   // block * 16 + s
  std::int32_t pairs[kRun * 256 + 16];  // pair * kRun + block
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

// Codes to nearest even from 0 to a top one, and a bit for each lane that is set. Numbers above 0
// compare as integers do, for which there are more units than for comparisons and sums in f32.
#if LOOM_LANES == 16
LOOM_INLINE F larger(F a, F b) { return F(_mm512_maskz_max_ps(0xFFFF, __m512(a), __m512(b))); }
LOOM_INLINE F smaller(F a, F b) { return F(_mm512_maskz_min_ps(0xFFFF, __m512(a), __m512(b))); }
LOOM_INLINE F code_of(F q, F top) {
  const __m512i above = _mm512_max_epi32(__m512i(q), __m512i{});
  return F(_mm512_roundscale_ps(__m512(_mm512_min_epi32(above, __m512i(top))),
                                _MM_FROUND_TO_NEAREST_INT));
}
LOOM_INLINE unsigned mask_of(I v) { return _mm512_movepi32_mask(__m512i(v)); }
LOOM_INLINE F root_of(F v) { return F(_mm512_maskz_sqrt_ps(0xFFFF, __m512(v))); }
LOOM_INLINE void put(__m256i first, __m128i last, I* to) {
  *to = I(_mm512_inserti64x4(_mm512_castsi256_si512(first), _mm256_zextsi128_si256(last), 1));
}
#elif LOOM_LANES == 8
LOOM_INLINE F larger(F a, F b) { return F(_mm256_max_ps(__m256(a), __m256(b))); }
LOOM_INLINE F smaller(F a, F b) { return F(_mm256_min_ps(__m256(a), __m256(b))); }
LOOM_INLINE F code_of(F q, F top) {
  const __m256i above = _mm256_max_epi32(__m256i(q), __m256i{});
  return F(_mm256_round_ps(__m256(_mm256_min_epi32(above, __m256i(top))),
                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
LOOM_INLINE unsigned mask_of(I v) { return static_cast<unsigned>(_mm256_movemask_ps(__m256(v))); }
LOOM_INLINE F root_of(F v) { return F(_mm256_sqrt_ps(__m256(v))); }
LOOM_INLINE void put(__m256i first, __m128i last, I* to) {
  to[0] = I(first);
  to[1] = I(_mm256_zextsi128_si256(last));
}
#endif

// The largest code of a pair. The quotient is that or at least 1/15 from the next integer.
LOOM_INLINE F top_of(F offset, F inverse) {
  const I top = __builtin_convertvector((offset + 127.0f) * inverse + 0.03125f, I);
  return smaller(__builtin_convertvector(top, F), F{} + 15.0f);
}

// The error of a pair for each of kLanes blocks from g on, in fewer operations than try_sizes
// takes. Its root is within 2^-10 of that of the error which that finds: no value, with the offset,
// is above 2^8, so none of 16 distances is 2^-13 off in either.
LOOM_INLINE F near_error(const Work<16>& work, int g, F s, F offset, F inverse) {
  const F top = top_of(offset, inverse), shift = offset * inverse;
  F sums[4] = {};
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const F q = load<F>(&work.t[i][g]) * inverse + shift, d = q - code_of(q, top);
    sums[i % 4] += d * d;
  }
  return ((sums[0] + sums[2]) + (sums[1] + sums[3])) * (s * s);
}

// A pair for each of kLanes blocks from g on, taken where it is better. All find the same errors as
// error_of: what is added up are products and differences of the same operands in the same order.
template <int Block>
LOOM_INLINE void try_sizes(Work<Block>& work, int g, F s, F offset, F inverse, I pair) {
  const F top = top_of(offset, inverse);
  F sums[4];
#pragma GCC unroll 32
  for (int i = 0; i < Block; ++i) {
    const F v = load<F>(&work.t[i][g]);
    const F d = (code_of((v + offset) * inverse, top) * s - offset) - v;
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
// that centre them, some of each. Adds those that may be better than the one that seems best, which
// is tried, to a list of `count`; returns how many.
constexpr int kOffsets[] = {2, 4, 5}, kTried = 2 + 4 + 5;
LOOM_INLINE int guess(Work<16>& work, int g, int count) {
  F lows[4], highs[4];  // none waits for all before
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const F v = load<F>(&work.t[i][g]);
    lows[i % 4] = i < 4 ? v : smaller(v, lows[i % 4]);
    highs[i % 4] = i < 4 ? v : larger(v, highs[i % 4]);
  }
  const F low = smaller(smaller(lows[0], lows[1]), smaller(lows[2], lows[3])),
          high = larger(larger(highs[0], highs[1]), larger(highs[2], highs[3]));
  const F range = high - low, zero = {};
  std::memcpy(&work.range[g], &range, sizeof range);
  const I from =
      __builtin_convertvector(smaller(larger(range * (1.0f / 15), zero + 1.0f), zero + 13.0f), I);
  I windows[3], tried[kTried], chosen = {};
  F errors[kTried], min = zero + __builtin_inff();
  for (int j = 0, n = 0; j < 3; ++j) {
    const int some = kOffsets[j];
    const F s = __builtin_convertvector(from + j, F), last = zero + static_cast<float>(16 - some);
    F m = (7.5f * s - 0.5f * (high + low)) * 0.125f - (0.5f * static_cast<float>(some) - 1);
    m = smaller(larger(m, zero), last);
    windows[j] = __builtin_convertvector(m, I);
    const F inverse = 1.0f / s, first = __builtin_convertvector(windows[j], F);
    for (int k = 0; k < some; ++k, ++n) {
      errors[n] = near_error(work, g, s, (first + static_cast<float>(k)) * 8.0f, inverse);
      tried[n] = (from + (j - 1)) * 16 + windows[j] + k;
      chosen = errors[n] < min ? tried[n] : chosen;
      min = smaller(errors[n], min);
    }
  }
  const F size = __builtin_convertvector((chosen >> 4) + 1, F);
  try_sizes(work, g, size, __builtin_convertvector((chosen & 15) * 8, F), 1.0f / size, chosen);
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
  const I open = ~(looked << from);
  std::memcpy(&work.open[g], &open, sizeof open);
  const F root = root_of(load<F>(&work.error[g])) + 0x1p-10f, limit = root * root * 1.0001f;
  for (int n = 0; n < kTried; ++n)
    for (unsigned bits = mask_of((errors[n] <= limit) & (tried[n] != chosen)); bits != 0;
         bits &= bits - 1) {
      const int lane = __builtin_ctz(bits);
      work.pairs[count++] = tried[n][lane] * kRun + g + lane;
    }
  return count;
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
  Shorts sums[3];
  sum_up<3>(tables.waves, work.waves, block, sums);
  I waves[16 / kLanes];
  put(load<__m256i>(sums), load<__m128i>(sums + 2), waves);
  unsigned open = 14;
  for (int g = 0; g < 16; g += kLanes) {
    const I both = waves[g / kLanes];
    const F c = __builtin_convertvector(both << 16 >> 16, F),
            n = __builtin_convertvector(both >> 16, F), zero = {};
    F bound = (kAmplitude / 3 * 39.38f - 20) - work.limit[block] * load<F>(tables.per_square + g);
    bound = larger(bound, zero);
    open |= mask_of(c * c + n * n >= bound * bound) << (g + 4);
  }
  return open;
}

// Writes base + step * i for each bit i of 16 that is set, with room for 16; returns how many are.
#if LOOM_LANES == 16
LOOM_INLINE int list_bits(unsigned bits, int base, int step, std::int32_t* to) {
  const I all = I{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} * step + base;
  const __m512i set = _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), __m512i(all));
  std::memcpy(to, &set, sizeof set);
  return __builtin_popcount(bits);
}
#else
LOOM_INLINE int list_bits(unsigned bits, int base, int step, std::int32_t* to) {
  int count = 0;
  // The first two without a branch since few have more.
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i, bits &= bits - 1) {
    to[count] = base + step * __builtin_ctz(bits | 1u << 24);
    count += bits != 0;
  }
  for (; bits != 0; bits &= bits - 1) to[count++] = base + step * __builtin_ctz(bits);
  return count;
}
#endif

// The errors that leave a chance. Those in f32 are within 2^-19 of the real ones.
template <int Block>
LOOM_INLINE void set_limits(Work<Block>& work, int end) {
  for (int i = 0; i < end; ++i) {
    const float root = __builtin_sqrtf(work.error[i]) + __builtin_sqrtf(work.rest[i]);
    work.limit[i] = root * root * 1.0001f;
    if constexpr (Block != 16) continue;
    const float clipped = __builtin_sqrtf(2.0001f * work.error[i]);
    const float min = (work.range[i] - clipped) * (1.0f / 15) + 0.999f;
    work.first[i] = static_cast<std::int32_t>(min > 1 ? min : 1.0f);
  }
}

// Adds the pairs of a block with a bit in `bits`, from `first` on, to a list of `count` except for
// its best; returns how many.
template <int Block>
LOOM_INLINE int list(Work<Block>& work, int block, int first, unsigned bits, int count) {
  const int best = work.pair[block] - first;
  bits &= ~(static_cast<unsigned>(best >= 0 && best < 16) << (best & 15));
  if (work.error[block] == 0) bits &= best < 0 ? 0u : best < 16 ? (1u << best) - 1 : ~0u;
  return list_bits(bits, first * kRun + block, kRun, work.pairs + count);
}

LOOM_INLINE int list_pairs(const Tables& tables, Work<16>& work, int blocks, int pairs) {
  int sizes = 0;
  for (int block = 0; block < blocks; ++block) {
    const unsigned open = open_sizes(tables, work, block) & ~0u << work.first[block] &
                          static_cast<unsigned>(work.open[block]);
    sizes += list_bits(open & 0xFFFF, block * 16, 1, work.sizes + sizes);
  }
  for (int i = 0; i < sizes; ++i) {
    const int block = work.sizes[i] >> 4, s = work.sizes[i] & 15;
    Shorts sums[2];
    sum_up<2>(tables.errors + (s - 1) * kOfSize, work.errors, block, sums);
    const float limit = work.limit[block] * tables.per_unit[s - 1];
    pairs += list(work, block, (s - 1) * 16,
                  which(sums, static_cast<int>(limit < 32767 ? limit : 32767.0f)), pairs);
  }
  return pairs;
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

// Errors are no less than 0, so they compare as integers do, and a pair decides where they are
// equal.
LOOM_INLINE std::uint64_t key_of(float error, int pair) {
  return std::uint64_t{__builtin_bit_cast(std::uint32_t, error)} << 32 |
         static_cast<std::uint32_t>(pair);
}

template <int Block>
void find(const Tables& tables, const float* t, int blocks, Choice* best) {
  Work<Block> work;
  int pairs = 0;
  const int end = (blocks + kLanes - 1) / kLanes * kLanes;
  transpose(t, work);
  for (int g = 0; g < end; g += kLanes) place(work, g);
  if constexpr (Block == 16) {
    for (int g = 0; g < end; g += kLanes) pairs = guess(work, g, pairs);
    set_limits(work, end);
    pairs = list_pairs(tables, work, blocks, pairs);
  } else {
    for (int block = 0; block < end; ++block) estimate(tables, work, block);
    for (int g = 0; g < end; g += kLanes) {
      const I pair = load<I>(&work.pair[g]);
      const F s = __builtin_convertvector(pair + 1, F);
      try_sizes(work, g, s, s * 8.0f, 1.0f / s, pair);
    }
    set_limits(work, end);
    for (int block = 0; block < blocks; ++block)
      pairs += list(work, block, 0, within(work.estimates[block], work.limit[block]), pairs);
  }
  std::uint64_t keys[kRun];
  for (int i = 0; i < blocks; ++i) keys[i] = key_of(work.error[i], work.pair[i]);
  for (int i = 0; i < pairs; ++i) {
    const int block = work.pairs[i] & (kRun - 1), pair = work.pairs[i] / kRun;
    const std::uint64_t old = keys[block],
                        key = key_of(error_of<Block>(t + block * Block, tables.pairs[pair]), pair);
    keys[block] = key < old ? key : old;
  }
  for (int i = 0; i < blocks; ++i)
    best[i] = {__builtin_bit_cast(float, static_cast<std::uint32_t>(keys[i] >> 32)),
               static_cast<int>(keys[i] & 0xFFFF)};
}

}  // namespace
}  // namespace loom::native4
