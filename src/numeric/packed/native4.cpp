#include "numeric/packed/native4.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "numeric/codec.h"

// One function to the compiler: loops over blocks keep what they need in registers.
#define LOOM_INLINE __attribute__((always_inline)) inline

namespace loom {
namespace {

// The largest w8 of a row is near one of these.
constexpr float kDivisors[] = {127, 115, 105, 95};

// Vectors of GCC and Clang: lane for lane the same IEEE operations on every target.
typedef float Lanes __attribute__((vector_size(16)));
typedef std::int32_t Ints __attribute__((vector_size(16)));
typedef std::int16_t Shorts __attribute__((vector_size(16)));

template <class V>
LOOM_INLINE V load(const void* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// What a pair (s, m4) can express, in units of R.
struct Pair {
  float s, inverse, offset;  // w8 = code * s - offset
  float top;                 // largest code with w8 <= 127
  std::uint8_t stored;
};

// What rules most pairs out, before any is tried exactly. Values are rounded to steps of 1 / kStep.
// That moves the root of a sum of squared distances to a set, such as the w8 of a pair, by no more
// than the root of the squares of what rounding changed.
constexpr int kStep = 4, kPlaces = 256 * kStep;
// Errors count in (s + 8)^2 / (32767 / block), rounded down, and none counts more than (s + 8)^2:
// the sum of a block has 16 bits.
constexpr int kColumns = 64, kOfSize = 8 * kStep * kColumns;
constexpr float kAmplitude = 2000;
struct Tables {
  Pair pairs[240];
  float unit[16] = {}, per_unit[16] = {};
  // A4: [s][value mod 8][value / 8 + m4]. S4: [value][s].
  alignas(64) std::int16_t errors[15 * kOfSize];
  // A4: kAmplitude * (cos, sin) of 2 pi / s * value, s = 4..15, at a cache line each.
  alignas(64) std::int16_t waves[(kPlaces + 1) * 32];
  Lanes per_square[3];
  explicit Tables(Layout layout);
};

std::int16_t unit_error(double v, int s, int low, int parts) {
  const double code = std::clamp(round_even(v / s), static_cast<double>(low), low + 15.0);
  const double d = (v - s * code) / (s + 8);
  return static_cast<std::int16_t>(std::min(d * d, 1.0) * parts);
}
constexpr double value_of(int place) { return static_cast<double>(place) / kStep - 128; }

Tables::Tables(Layout layout) {
  const bool a4 = layout == Layout::a4;
  const int parts = 32767 / static_cast<int>(native4_block(layout));
  for (int s = 1, count = 0; s <= 15; ++s) {
    unit[s - 1] = static_cast<float>((s + 8) * (s + 8)) / static_cast<float>(parts);
    per_unit[s - 1] = 1 / unit[s - 1];
    for (int m = a4 ? 0 : s; m <= (a4 ? 15 : s); ++m)
      pairs[count++] = {static_cast<float>(s), 1.0f / static_cast<float>(s),
                        static_cast<float>(8 * m),
                        static_cast<float>(std::min(15, (127 + 8 * m) / s)),
                        static_cast<std::uint8_t>(a4 ? s | m << 4 : s)};
    if (!a4) {
      for (int i = 0; i < kPlaces; ++i)
        errors[i * 16 + s - 1] = unit_error(value_of(i), s, -8, parts);
      continue;
    }
    for (int i = 0; i < kOfSize; ++i)
      errors[(s - 1) * kOfSize + i] =
          unit_error(i % kColumns * 8 + value_of(i / kColumns), s, 0, parts);
    if (s < 4) continue;
    per_square[s / 4 - 1][s % 4] = 39.4785f * kAmplitude / 3 / static_cast<float>(s * s);
    for (int i = 0; i <= kPlaces; ++i) {
      const double x = value_of(i) / s * 6.283185307179586;
      std::int16_t* const to = waves + i * 32 + 2 * (s - 4);
      to[0] = static_cast<std::int16_t>(std::lrint(std::cos(x) * 2000));
      to[1] = static_cast<std::int16_t>(std::lrint(std::sin(x) * 2000));
    }
  }
}
const Tables& tables_of(Layout layout) {
  if (layout == Layout::a4) {
    static const Tables a4(Layout::a4);
    return a4;
  }
  static const Tables s4(Layout::s4);
  return s4;
}

LOOM_INLINE Lanes code_of(Lanes t, const Pair& p) {
  const Lanes zero = {}, top = {p.top, p.top, p.top, p.top};
  Lanes q = (t + p.offset) * p.inverse;
  q = q > zero ? q : zero;
  q = q < top ? q : top;
  return (q + 0x1.8p23f) - 0x1.8p23f;  // to nearest even
}

LOOM_INLINE float sum_of(Lanes v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// The squared error of a block under a pair.
template <int Block>
LOOM_INLINE float error_of(const float* t, const Pair& p) {
  Lanes lanes = {0, 0, 0, 0};
#pragma GCC unroll 8
  for (int i = 0; i < Block; i += 4) {
    const Lanes v = load<Lanes>(t + i), d = (code_of(v, p) * p.s - p.offset) - v;
    lanes += d * d;
  }
  return sum_of(lanes);
}

struct Choice {
  float error;
  int pair;
};

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

constexpr int kRun = 8;  // 12 kB of stack; more are no faster
struct Work {
  Draft drafts[kRun];
  // Sizes s and pairs that may be as good as the best so far. Of a block at most each s once, and
  // each pair once besides those in the windows.
  struct Item {
    std::int16_t block, index;
  } sizes[kRun * 16 + 1], pairs[kRun * 272];
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
    Lanes bound = (kAmplitude / 3 * 39.38f - 20) - d.limit * tables.per_square[j];
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
  float errors[kRun][16];
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

float peak_of(std::span<const float> values) {
  float peak = 0;
  Lanes peaks = {};
  std::size_t i = 0;
  for (; i + 4 <= values.size(); i += 4) {
    const Lanes v = load<Lanes>(values.data() + i), magnitude = v < 0.0f ? -v : v;
    peaks = magnitude > peaks ? magnitude : peaks;
  }
  for (; i < values.size(); ++i) peak = std::max(peak, values[i] < 0 ? -values[i] : values[i]);
  for (int j = 0; j < 4; ++j) peak = std::max(peak, peaks[j]);
  return peak;
}

}  // namespace

float encode_native4(Layout layout, std::span<const float> values, std::uint8_t* codes,
                     std::uint8_t* sub_scales) {
  const Tables& tables = tables_of(layout);
  const std::size_t block = static_cast<std::size_t>(native4_block(layout)),
                    blocks = (values.size() + block - 1) / block;
  const float peak = peak_of(values);
  std::vector<float> t(blocks * block, 0.0f);
  std::vector<int> picked(blocks), best_picked(blocks, 0);
  float best_scale = 0;
  double min = -1;
  Work work;
  for (const float divisor : kDivisors) {
    const float scale = peak / divisor;
    if (peak == 0) break;
    for (std::size_t i = 0; i < values.size(); ++i) t[i] = values[i] / scale;
    const double unit = static_cast<double>(scale) * static_cast<double>(scale);
    double error = 0;
    for (std::size_t b = 0; b < blocks && (min < 0 || error < min);) {
      const int run = static_cast<int>(std::min<std::size_t>(kRun, blocks - b));
      for (int i = 0; i < run; ++i)
        work.drafts[i].t = t.data() + (b + static_cast<std::size_t>(i)) * block;
      work.size_count = work.pair_count = 0;
      (layout == Layout::a4 ? find_a4 : find_s4)(tables, work, run);
      for (int i = 0; i < run; ++i, ++b) {
        picked[b] = work.drafts[i].best.pair;
        error += static_cast<double>(work.drafts[i].best.error) * unit;
      }
    }
    if (min < 0 || error < min) {
      min = error;
      best_scale = scale;
      best_picked.swap(picked);
    }
  }
  // Codes of the winner, and the scale that suits them best: the projection of the values on w8.
  for (std::size_t i = 0; i < values.size(); ++i)
    t[i] = best_scale == 0 ? 0.0f : values[i] / best_scale;
  double dot = 0, square = 0;
  for (std::size_t i = 0; i < blocks * block; i += 4) {
    const Pair& p = tables.pairs[best_picked[i / block]];
    const Lanes code = code_of(load<Lanes>(t.data() + i), p), w = code * p.s - p.offset;
    for (std::size_t j = 0; j < 4; ++j) {
      const float x = i + j < values.size() ? values[i + j] : 0.0f;
      codes[i + j] = static_cast<std::uint8_t>(code[j]);
      const double w8 = static_cast<double>(w[j]);
      dot += w8 * static_cast<double>(x);
      square += w8 * w8;
    }
  }
  for (std::size_t b = 0; b < blocks; ++b) sub_scales[b] = tables.pairs[best_picked[b]].stored;
  return square > 0 && dot > 0 ? static_cast<float>(dot / square) : 0.0f;
}

}  // namespace loom
