#include "numeric/packed/native4.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace loom {
namespace {

// The largest w8 of a row is near one of these.
constexpr float kDivisors[] = {127, 115, 105, 95};

// What a pair (s, m4) can express, in units of R.
struct Pair {
  float s, inverse, offset;  // w8 = code * s - offset
  float top;                 // largest code with w8 <= 127
  float low, high;           // w8 of codes 0 and top
  std::uint8_t stored;
};
struct Pairs {
  Pair all[240];
  int count = 0;
  std::uint16_t turns[15][24];  // 8 * m / s of a turn, in 2^-16 of one, for m = 0..15
  explicit Pairs(Layout layout) {
    for (int s = 1; s <= 15; ++s)
      for (int m = 0; m < 24; ++m)
        turns[s - 1][m] = static_cast<std::uint16_t>((m * 0x80000 + s / 2) / s);
    for (int s = 1; s <= 15; ++s)
      for (int m = layout == Layout::a4 ? 0 : s; m <= (layout == Layout::a4 ? 15 : s); ++m) {
        const int top = std::min(15, (127 + 8 * m) / s);
        const int stored = layout == Layout::a4 ? s | m << 4 : s;
        all[count++] = {static_cast<float>(s),
                        1.0f / static_cast<float>(s),
                        static_cast<float>(8 * m),
                        static_cast<float>(top),
                        static_cast<float>(-8 * m),
                        static_cast<float>(top * s - 8 * m),
                        static_cast<std::uint8_t>(stored)};
      }
  }
};

// Four values at a time (GCC and Clang vector extensions): lane for lane the same IEEE operations
// on every target.
typedef float Lanes __attribute__((vector_size(16)));

template <class V>
inline V code_of(V t, const Pair& p) {
  V q = (t + p.offset) * p.inverse;
  q = q > 0.0f ? q : V{};
  q = q < p.top ? q : V{} + p.top;
  return (q + 0x1.8p23f) - 0x1.8p23f;  // to nearest even
}

// The squared error of a block under a pair. Stops early with some sum above `limit` once it is
// there: lanes only grow.
template <int Block>
inline float error_of(const Lanes* t, const Pair& p, float limit) {
  Lanes lanes = {0, 0, 0, 0};
  float sum = 0;
  for (int i = 0; i < Block / 4 && !(sum > limit); i += 2) {
    const Lanes d0 = (code_of(t[i], p) * p.s - p.offset) - t[i],
                d1 = (code_of(t[i + 1], p) * p.s - p.offset) - t[i + 1];
    lanes += d0 * d0;
    lanes += d1 * d1;
    sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  }
  return sum;
}

// What clamping leaves out: how far values are from the nearest multiples of s, for 8 offsets 8 * m
// at once. A turn is s, in 2^-16 of it: 16 bits that wrap around are the distance on the circle,
// with its sign. turns: of the values. In units of s^2 / 2^14 the sum of their squares is at least
// sum - 16: each distance is within 4 units of the real one, at most 2^15, and its square over 2^18
// is rounded down.
inline void distances(const std::uint16_t* __restrict turns,
                      const std::uint16_t* __restrict offsets, std::uint16_t* __restrict sums) {
  std::uint16_t sum[8] = {};
  for (int i = 0; i < 16; ++i)
    for (int l = 0; l < 8; ++l) {
      const std::int16_t d = static_cast<std::int16_t>(turns[i] + offsets[l]);
      sum[l] = static_cast<std::uint16_t>(sum[l] + (static_cast<std::uint16_t>(d * d >> 16) >> 2));
    }
  for (int l = 0; l < 8; ++l) sums[l] = sum[l];
}

struct Choice {
  float error;
  int pair;
};
struct Ends {
  float low, high;
};
template <int Block>
Ends ends_of(const float* values) {
  Lanes low, high;
  std::memcpy(&low, values, sizeof low);
  high = low;
  for (int i = 4; i < Block; i += 4) {
    Lanes v;
    std::memcpy(&v, values + i, sizeof v);
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  return {std::min(std::min(low[0], low[1]), std::min(low[2], low[3])),
          std::max(std::max(high[0], high[1]), std::max(high[2], high[3]))};
}

// The pair with the least error, ties to the first. `guess` is tried first: a good one rules most
// of the others out by what they must clip at the ends alone, or by what even unclamped codes
// leave.
template <int Block>
Choice best_pair(const float* values, Ends ends, const Pairs& pairs, int guess) {
  Lanes t[Block / 4];
  std::memcpy(t, values, sizeof t);
  const auto [low, high] = ends;
  Choice best{error_of<Block>(t, pairs.all[guess], 1e30f), guess};
  const auto attempt = [&](int i) {
    const Pair& p = pairs.all[i];
    const float under = p.low - low, over = high - p.high;
    const float clipped = (under > 0 ? under * under : 0.0f) + (over > 0 ? over * over : 0.0f);
    if (clipped > best.error || i == guess) return;
    const float error = error_of<Block>(t, p, best.error);
    if (error < best.error || (error == best.error && i < best.pair)) best = {error, i};
  };
  if constexpr (Block == 32) {  // S4: one offset for each s
    for (int s = 0; s < 15; ++s) attempt(s);
    return best;
  }
  for (int s = 1; s <= 15; ++s) {
    // Offsets that clip no more than the best error so far, one to spare on either side.
    const float slack = __builtin_sqrtf(best.error);
    const float from = (-low - slack) / 8, to = (static_cast<float>(15 * s) - high + slack) / 8 + 1;
    const int first = from < 0 ? 0 : static_cast<int>(std::min(from, 15.0f));
    const int last = to < 0 ? -1 : static_cast<int>(std::min(to, 15.0f));
    if (first > last) continue;
    std::uint16_t turns[Block];
    const float per_turn = 65536.0f / static_cast<float>(s);
    for (int i = 0; i < Block; ++i)
      turns[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(values[i] * per_turn));
    // Errors in f32 are within 2^-19 of the real ones.
    const int max = static_cast<int>(std::min(
                        best.error * (16384 * 1.00001f) / static_cast<float>(s * s), 65535.0f)) +
                    17;
    for (int m = first; m <= last; m += 8) {
      std::uint16_t sums[8];
      distances(turns, pairs.turns[s - 1] + m, sums);
      for (int l = 0; l < 8 && m + l <= last; ++l)
        if (sums[l] <= max) attempt((s - 1) * 16 + m + l);
    }
  }
  return best;
}

// The index of the pair that spans the block's range, roughly.
int guess_pair(Layout layout, Ends ends) {
  const auto clamp = [](float v, int min) { return std::clamp(static_cast<int>(v), min, 15); };
  if (layout == Layout::s4) return clamp(std::max(-ends.low / 8, ends.high / 7) + 0.5f, 1) - 1;
  const int s = clamp((ends.high - ends.low) / 15 + 0.5f, 1);
  const int m = clamp((7.5f * static_cast<float>(s) - (ends.high + ends.low) / 2) / 8 + 0.5f, 0);
  return (s - 1) * 16 + m;
}

template <int Block>
float encode(Layout layout, std::span<const float> values, std::uint8_t* codes,
             std::uint8_t* sub_scales) {
  static const Pairs pairs(layout);  // one for each Block
  const std::size_t blocks = (values.size() + Block - 1) / Block;
  float peak = 0, peaks[8] = {};
  for (std::size_t i = 0; i + 8 <= values.size(); i += 8)
    for (std::size_t j = 0; j < 8; ++j) {
      const float v = values[i + j], magnitude = v < 0 ? -v : v;
      peaks[j] = magnitude > peaks[j] ? magnitude : peaks[j];
    }
  for (std::size_t i = values.size() / 8 * 8; i < values.size(); ++i)
    peak = std::max(peak, values[i] < 0 ? -values[i] : values[i]);
  for (const float p : peaks) peak = std::max(peak, p);
  std::vector<float> t(blocks * Block, 0.0f);
  std::vector<int> picked(blocks), best_picked(blocks, 0);
  float best_scale = 0;
  double min = -1;
  for (const float divisor : kDivisors) {
    const float scale = peak / divisor;
    if (peak == 0) break;
    for (std::size_t i = 0; i < values.size(); ++i) t[i] = values[i] / scale;
    const double unit = static_cast<double>(scale) * static_cast<double>(scale);
    double error = 0;
    for (std::size_t b = 0; b < blocks && (min < 0 || error < min); ++b) {
      const Ends ends = ends_of<Block>(t.data() + b * Block);
      const Choice c =
          best_pair<Block>(t.data() + b * Block, ends, pairs, guess_pair(layout, ends));
      picked[b] = c.pair;
      error += static_cast<double>(c.error) * unit;
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
  for (std::size_t i = 0; i < blocks * Block; i += 4) {
    const Pair& p = pairs.all[best_picked[i / Block]];
    Lanes four;
    std::memcpy(&four, t.data() + i, sizeof four);
    const Lanes code = code_of(four, p), w = code * p.s - p.offset;
    for (std::size_t j = 0; j < 4; ++j) {
      const float x = i + j < values.size() ? values[i + j] : 0.0f;
      codes[i + j] = static_cast<std::uint8_t>(code[j]);
      const double w8 = static_cast<double>(w[j]);
      dot += w8 * static_cast<double>(x);
      square += w8 * w8;
    }
  }
  for (std::size_t b = 0; b < blocks; ++b) sub_scales[b] = pairs.all[best_picked[b]].stored;
  return square > 0 && dot > 0 ? static_cast<float>(dot / square) : 0.0f;
}

}  // namespace

float encode_native4(Layout layout, std::span<const float> values, std::uint8_t* codes,
                     std::uint8_t* sub_scales) {
  return layout == Layout::a4 ? encode<16>(layout, values, codes, sub_scales)
                              : encode<32>(layout, values, codes, sub_scales);
}

}  // namespace loom
