// What the searches of native4.cpp share: pairs (s, m4), and what rules most of them out before any
// is tried exactly. Files that are built for several instruction sets include it, so its functions
// are always inlined: none of them is shared.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

// One function to the compiler: loops over blocks keep what they need in registers.
#define LOOM_INLINE __attribute__((always_inline)) inline

namespace loom {
enum class Layout : std::uint8_t;
}

namespace loom::native4 {

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

// Values are rounded to steps of 1 / kStep. That moves the root of a sum of squared distances to a
// set, such as the w8 of a pair, by no more than the root of the sum of squared changes.
constexpr int kStep = 4, kPlaces = 256 * kStep;
// Errors count in (s + 8)^2 / (32767 / block), rounded down, and none counts more than (s + 8)^2:
// the sum of a block has 16 bits.
constexpr int kColumns = 64, kOfSize = 8 * kStep * kColumns;
constexpr float kAmplitude = 2000;
struct Tables {
  Pair pairs[240];
  float unit[16] = {}, per_unit[16] = {};
  // A4: [s][value mod 8][value / 8 + m4]. S4: [value][s], with a 16th that never wins.
  alignas(64) std::int16_t errors[15 * kOfSize];
  // A4: kAmplitude * (cos, sin) of 2 pi / s * value, s = 4..15, at a cache line each.
  alignas(64) std::int16_t waves[(kPlaces + 1) * 32];
  float per_square[16] = {};  // none of the last four
  explicit Tables(Layout layout);
};

// The codes of four values.
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
  Lanes sums = {0, 0, 0, 0};
#pragma GCC unroll 8
  for (int i = 0; i < Block; i += 4) {
    const Lanes v = load<Lanes>(t + i), d = (code_of(v, p) * p.s - p.offset) - v;
    sums += d * d;
  }
  return sum_of(sums);
}

struct Choice {
  float error;
  int pair;
};

// The best pair of each of `blocks` blocks, no more than kRun; `t` has kRun. All find the same.
constexpr int kRun = 16;
using Find = void (*)(const Tables& tables, const float* t, int blocks, Choice* best);
struct Search {
  Find a4, s4;
};
extern const Search search_narrow;
#if defined(__x86_64__)
extern const Search search_avx2, search_avx512;
void find_s4_avx2(const Tables& tables, const float* t, int blocks, Choice* best);
#endif
// Those that this machine runs, the fastest first.
std::span<const Search* const> searches();

}  // namespace loom::native4
