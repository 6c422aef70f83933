// The search where vectors are four lanes: tables do what native4_wide.h tries.
#include <algorithm>
#include <bit>

#include "numeric/packed/native4_search.h"

namespace loom::native4 {
namespace {

// What is known of a block. Blocks go through each step together, without a branch where that can
// be: a step is short enough for a processor to have several in work at once.
struct Draft {
  const float* t;
  Shorts sums[3], waves[3];
  std::int32_t at[32];  // A4: in errors; from 16 on, in waves
  Ints window;          // the first of the 8 offsets tried of from, from + 1, from + 2
  float error[3];
  int counts[3];
  float rest, low, high;  // rest: how far rounding moved the root of the error
  float limit;            // rounded errors above cannot win
  int from;
  unsigned guessed;  // a bit of 8 for each window
  unsigned open;     // bit s: its offsets are to be looked at
  Choice best;
};

constexpr int kDrafts = 8;  // 12 kB of stack; more are no faster
struct Work {
  Draft drafts[kDrafts];
  // Sizes s and pairs that may be as good as the best so far. Of a block at most each s once, and
  // each pair once besides those in the windows.
  struct Item {
    std::int16_t block, index;
  } sizes[kDrafts * 16 + 1], pairs[kDrafts * 272];
  int size_count, pair_count;

  LOOM_INLINE void add_size(int block, int s, bool counts) {
    sizes[size_count] = {static_cast<std::int16_t>(block), static_cast<std::int16_t>(s)};
    size_count += counts;
  }
  LOOM_INLINE void add_pair(int block, int pair, bool counts) {
    const Choice& best = drafts[block].best;
    pairs[pair_count] = {static_cast<std::int16_t>(block), static_cast<std::int16_t>(pair)};
    pair_count += counts && pair != best.pair && (best.error != 0 || pair < best.pair);
  }
};

template <int Block>
LOOM_INLINE void place(Draft& d) {
  constexpr float kMagic = 0x1.8p23f + kPlaces / 2;
  Lanes rest = {};
  for (int i = 0; i < Block; i += 4) {
    const Lanes v = load<Lanes>(d.t + i), big = v * kStep + kMagic,
                moved = (big - kMagic) * (1.0f / kStep) - v;
    rest += moved * moved;
    Ints n = load<Ints>(&big) - std::bit_cast<std::int32_t>(0x1.8p23f);
    if constexpr (Block == 16) {
      const Ints wave = n * 32;
      std::memcpy(d.at + 16 + i, &wave, sizeof wave);
      n = (n & (8 * kStep - 1)) * kColumns + (n >> 5);
    } else {
      n = n * 16;
    }
    std::memcpy(d.at + i, &n, sizeof n);
  }
  d.rest = __builtin_sqrtf(sum_of(rest));
}

// Sums of 8 * Count entries, one row of a table for each value.
template <int Count, int Block>
LOOM_INLINE void sum_up(const std::int16_t* table, const std::int32_t* at, Shorts* out) {
  Shorts sums[Count] = {};
#pragma GCC unroll 16
  for (int i = 0; i < Block; ++i)
#pragma GCC unroll 3
    for (int j = 0; j < Count; ++j) sums[j] += load<Shorts>(table + at[i] + j * 8);
#pragma GCC unroll 3
  for (int j = 0; j < Count; ++j) out[j] = sums[j];
}
LOOM_INLINE int least_of(Shorts a) {
  Shorts b = __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3);
  a = a < b ? a : b;
  b = __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
  a = a < b ? a : b;
  b = __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
  a = a < b ? a : b;
  return a[0];
}
// Bit by bit, which of a are at most `a_limit`, then of b.
LOOM_INLINE unsigned which(Shorts a, int a_limit, Shorts b, int b_limit) {
  constexpr Shorts kBits = {1, 2, 4, 8, 16, 32, 64, 128};
  a = ((a <= static_cast<std::int16_t>(a_limit)) & kBits) |
      ((b <= static_cast<std::int16_t>(b_limit)) & (kBits << 8));
  a |= __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3);
  a |= __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
  a |= __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
  return static_cast<std::uint16_t>(a[0]);
}

// A pair that is at least a good one, and what it rules out. Errors in f32 are within 2^-19 of the
// real ones.
template <int Block>
LOOM_INLINE void set_best(const Tables& tables, Draft& d, int pair) {
  d.best = {error_of<Block>(d.t, tables.pairs[pair]), pair};
  const float root = __builtin_sqrtf(d.best.error) + d.rest;
  d.limit = root * root * 1.0001f;
}

template <int Block>
void try_pairs(const Tables& tables, Work& work) {
  for (int i = 0; i < work.pair_count; ++i) {
    Choice& best = work.drafts[work.pairs[i].block].best;
    const int pair = work.pairs[i].index;
    const float error = error_of<Block>(work.drafts[work.pairs[i].block].t, tables.pairs[pair]);
    const bool better = error < best.error || (error == best.error && pair < best.pair);
    best.error = better ? error : best.error;
    best.pair = better ? pair : best.pair;
  }
}

// f(bit, whether there is one) for the first two that are set, without a branch since few have
// more.
template <class F>
LOOM_INLINE void each_bit(unsigned bits, F&& f) {
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i, bits &= bits - 1) f(std::countr_zero(bits | 1u << 24), bits != 0);
  for (; bits != 0; bits &= bits - 1) f(std::countr_zero(bits), true);
}

LOOM_INLINE Lanes sizes_of(const Draft& d) {
  return Lanes{0, 1, 2, 2} + static_cast<float>(d.from);
}

// Three s, from where little is clipped, with the 8 offsets that centre them.
LOOM_INLINE void open_windows(Draft& d) {
  Lanes l = load<Lanes>(d.t), h = l;
  for (int i = 4; i < 16; i += 4) {
    const Lanes v = load<Lanes>(d.t + i);
    l = v < l ? v : l;
    h = v > h ? v : h;
  }
  d.low = std::min(std::min(l[0], l[1]), std::min(l[2], l[3]));
  d.high = std::max(std::max(h[0], h[1]), std::max(h[2], h[3]));
  d.from = std::clamp(static_cast<int>((d.high - d.low) * (1.0f / 15)), 1, 13);
  const Lanes zero = {}, eight = {8, 8, 8, 8};
  Lanes first = (7.5f * sizes_of(d) - (0.5f * (d.high + d.low) + 24)) * 0.125f;
  first = first > zero ? first : zero;
  first = first < eight ? first : eight;
  d.window = __builtin_convertvector(first, Ints);
}
LOOM_INLINE void sum_windows(const Tables& tables, Draft& d) {
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
    const int s = d.from + j;
    sum_up<1, 16>(tables.errors + (s - 1) * kOfSize + d.window[j], d.at, &d.sums[j]);
    d.counts[j] = least_of(d.sums[j]);
    d.error[j] = static_cast<float>(d.counts[j]) * tables.unit[s - 1];
  }
}
LOOM_INLINE void guess(const Tables& tables, Draft& d) {
  int j = d.error[1] < d.error[0] ? 1 : 0;
  j = d.error[2] < d.error[j] ? 2 : j;
  const Shorts sums = d.sums[j];
  const int bit = std::countr_zero(which(sums, d.counts[j], sums, d.counts[j]));
  d.guessed = 1u << (8 * j + bit);
  set_best<16>(tables, d, (d.from + j - 1) * 16 + d.window[j] + bit);
}

// Which s remain. Of those above the windows' nothing but what any offset leaves: with x = 2 pi / s
// times the distance from the nearest multiple of s, less an offset, x^2 >= 2.462 - 3 cos x; so the
// squared distances sum up to at least (s / 2 pi)^2 * (16 * 2.462 - 3 * |sum of exp(2 pi i t /
// s)|). The waves are within 12 of their sum.
LOOM_INLINE void rule_out(const Tables& tables, Draft& d) {
  Ints open = {};
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) {
    const Ints both = load<Ints>(&d.waves[j]);
    const Lanes c = __builtin_convertvector(both << 16 >> 16, Lanes),
                n = __builtin_convertvector(both >> 16, Lanes), zero = {};
    Lanes bound = (kAmplitude / 3 * 39.38f - 20) - d.limit * load<Lanes>(tables.per_square + 4 * j);
    bound = bound > zero ? bound : zero;
    open |= (c * c + n * n >= bound * bound) & (Ints{16, 32, 64, 128} << (4 * j));
  }
  // Offsets outside of a window must clip more than the best leaves.
  const Lanes first = __builtin_convertvector(d.window, Lanes), under = (8 - 8 * first) - d.low,
              over = d.high - (15 * sizes_of(d) - 8 * first - 64);
  const float left = d.best.error * 1.0001f;
  const Ints enough = ((d.window == 0) | ((under > 0.0f) & (under * under > left))) &
                      ((d.window == 8) | ((over > 0.0f) & (over * over > left)));
  const Ints missed = ~enough & Ints{1, 2, 4, 0};
  const auto bits = static_cast<unsigned>((open[0] | open[1]) | (open[2] | open[3])),
             again = static_cast<unsigned>(missed[0] | missed[1] | missed[2]);
  d.open = (bits & ~0u << (d.from + 3)) | again << d.from;
}

// The greatest sum that may still win.
LOOM_INLINE int max_of(const Tables& tables, const Draft& d, int s) {
  return static_cast<int>(std::min(d.limit * tables.per_unit[s - 1], 32767.0f));
}
void find_a4(const Tables& tables, Work& work, int run) {
  Draft* const end = work.drafts + run;
  for (Draft* d = work.drafts; d != end; ++d) place<16>(*d), open_windows(*d);
  for (Draft* d = work.drafts; d != end; ++d) sum_windows(tables, *d);
  for (Draft* d = work.drafts; d != end; ++d) sum_up<3, 16>(tables.waves, d->at + 16, d->waves);
  for (Draft* d = work.drafts; d != end; ++d) guess(tables, *d);
  for (Draft* d = work.drafts; d != end; ++d) rule_out(tables, *d);
  for (int block = 0; block < run; ++block) {
    const Draft& d = work.drafts[block];
    int max[3];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) max[j] = max_of(tables, d, d.from + j);
    const unsigned close = (which(d.sums[0], max[0], d.sums[1], max[1]) |
                            which(d.sums[2], max[2], Shorts{}, -1) << 16) &
                           ~d.guessed;
    each_bit(close, [&](int bit, bool counts) {
      const int j = bit / 8;
      work.add_pair(block, (d.from + j - 1) * 16 + d.window[j] + bit % 8, counts);
    });
    each_bit(d.open, [&](int bit, bool counts) { work.add_size(block, bit, counts); });
    // Smaller ones, as long as they clip no more than the best leaves.
    for (int s = d.from - 1; s >= 1; --s) {
      const float clipped = d.high - d.low - (static_cast<float>(15 * s) + 0.001f);
      if (clipped > 0 && clipped * clipped > 2.0001f * d.best.error) break;
      work.add_size(block, s, true);
    }
  }
  for (int i = 0; i < work.size_count; ++i) {
    const int block = work.sizes[i].block, s = work.sizes[i].index;
    Shorts sums[2];
    sum_up<2, 16>(tables.errors + (s - 1) * kOfSize, work.drafts[block].at, sums);
    const int max = max_of(tables, work.drafts[block], s);
    each_bit(which(sums[0], max, sums[1], max),
             [&](int bit, bool counts) { work.add_pair(block, (s - 1) * 16 + bit, counts); });
  }
  try_pairs<16>(tables, work);
}

// All 15 pairs side by side.
void find_s4(const Tables& tables, Work& work, int run) {
  Draft* const end = work.drafts + run;
  for (Draft* d = work.drafts; d != end; ++d) {
    place<32>(*d);
    sum_up<2, 32>(tables.errors, d->at, d->sums);
  }
  float errors[kDrafts][16];
  for (int block = 0; block < run; ++block) {
    Draft& d = work.drafts[block];
    std::int16_t sums[16];
    std::memcpy(sums, d.sums, sizeof sums);
    int best = 0;
    for (int s = 0; s < 16; ++s) errors[block][s] = static_cast<float>(sums[s]) * tables.unit[s];
    for (int s = 1; s < 15; ++s) best = errors[block][s] < errors[block][best] ? s : best;
    set_best<32>(tables, d, best);
  }
  for (int block = 0; block < run; ++block)
    for (int s = 0; s < 15; ++s)
      work.add_pair(block, s, errors[block][s] <= work.drafts[block].limit);
  try_pairs<32>(tables, work);
}

template <int Block>
void find(const Tables& tables, const float* t, int blocks, Choice* best) {
  Work work;
  for (int first = 0; first < blocks; first += kDrafts) {
    const int run = std::min(kDrafts, blocks - first);
    for (int i = 0; i < run; ++i) work.drafts[i].t = t + (first + i) * Block;
    work.size_count = work.pair_count = 0;
    (Block == 16 ? find_a4 : find_s4)(tables, work, run);
    for (int i = 0; i < run; ++i) best[first + i] = work.drafts[i].best;
  }
}

}  // namespace

extern const Search search_narrow = {&find<16>, &find<32>};

}  // namespace loom::native4
