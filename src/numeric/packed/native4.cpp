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
  explicit Pairs(Layout layout) {
    for (int s = 1; s <= 15; ++s)
      for (int m = layout == Layout::a4 ? 0 : s; m <= (layout == Layout::a4 ? 15 : s); ++m) {
        const int top = std::min(15, (127 + 8 * m) / s);
        const int stored = layout == Layout::a4 ? s | m << 4 : s;
        all[count++] = {static_cast<float>(s),   1.0f / static_cast<float>(s), static_cast<float>(8 * m),
                        static_cast<float>(top), static_cast<float>(-8 * m),   static_cast<float>(top * s - 8 * m),
                        static_cast<std::uint8_t>(stored)};
      }
  }
};

// Four values at a time (GCC and Clang vector extensions): lane for lane the same IEEE operations on every target.
typedef float Lanes __attribute__((vector_size(16)));

template <class V>
inline V code_of(V t, const Pair& p) {
  V q = (t + p.offset) * p.inverse;
  q = q > 0.0f ? q : V{};
  q = q < p.top ? q : V{} + p.top;
  return (q + 0x1.8p23f) - 0x1.8p23f;  // to nearest even
}

// The squared error of a block under a pair. Stops early with some sum above `limit` once it is there: lanes only grow.
template <int Block>
inline float error_of(const Lanes* t, const Pair& p, float limit) {
  Lanes lanes = {0, 0, 0, 0};
  float sum = 0;
  for (int i = 0; i < Block / 4 && !(sum > limit); i += 2) {
    const Lanes d0 = (code_of(t[i], p) * p.s - p.offset) - t[i], d1 = (code_of(t[i + 1], p) * p.s - p.offset) - t[i + 1];
    lanes += d0 * d0;
    lanes += d1 * d1;
    sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  }
  return sum;
}

struct Choice { float error; int pair; };

// The pair with the least error, ties to the first. `guess` is tried first: a good one rules most of the others out by what
// they must clip at the ends alone.
template <int Block>
Choice best_pair(const float* values, const Pairs& pairs, int guess) {
  Lanes t[Block / 4];
  std::memcpy(t, values, sizeof t);
  const auto [lowest, highest] = std::minmax_element(values, values + Block);
  const float low = *lowest, high = *highest;
  Choice best{error_of<Block>(t, pairs.all[guess], 1e30f), guess};
  const int per_s = pairs.count / 15;
  for (int s = 1; s <= 15; ++s) {
    // Offsets that clip no more than the best error so far, one to spare on either side.
    const float slack = __builtin_sqrtf(best.error);
    const float from = (-low - slack) / 8, to = (static_cast<float>(15 * s) - high + slack) / 8 + 1;
    const int first = per_s == 1 || from < 0 ? 0 : static_cast<int>(std::min(from, 15.0f));
    const int last = per_s == 1 ? 0 : to < 0 ? -1 : static_cast<int>(std::min(to, 15.0f));
    for (int i = (s - 1) * per_s + first; i <= (s - 1) * per_s + last; ++i) {
      const Pair& p = pairs.all[i];
      const float under = p.low - low, over = high - p.high;
      const float clipped = (under > 0 ? under * under : 0.0f) + (over > 0 ? over * over : 0.0f);
      if (clipped > best.error || i == guess) continue;
      const float error = error_of<Block>(t, p, best.error);
      if (error < best.error || (error == best.error && i < best.pair)) best = {error, i};
    }
  }
  return best;
}

// The index of the pair that spans the block's range, roughly.
int guess_pair(Layout layout, const float* t, int block) {
  const auto [low, high] = std::minmax_element(t, t + block);
  const auto clamp = [](float v, int least) { return std::clamp(static_cast<int>(v), least, 15); };
  if (layout == Layout::s4) return clamp(std::max(-*low / 8, *high / 7) + 0.5f, 1) - 1;
  const int s = clamp((*high - *low) / 15 + 0.5f, 1);
  const int m = clamp((7.5f * static_cast<float>(s) - (*high + *low) / 2) / 8 + 0.5f, 0);
  return (s - 1) * 16 + m;
}

template <int Block>
float encode(Layout layout, std::span<const float> values, std::uint8_t* codes, std::uint8_t* sub_scales) {
  const Pairs pairs(layout);
  const std::size_t blocks = (values.size() + Block - 1) / Block;
  float peak = 0;
  for (const float v : values) peak = std::max(peak, v < 0 ? -v : v);
  std::vector<float> t(blocks * Block, 0.0f);
  std::vector<int> picked(blocks), best_picked(blocks, 0);
  float best_scale = 0;
  double least = -1;
  for (const float divisor : kDivisors) {
    const float scale = peak / divisor;
    if (peak == 0) break;
    for (std::size_t i = 0; i < values.size(); ++i) t[i] = values[i] / scale;
    const double unit = static_cast<double>(scale) * static_cast<double>(scale);
    double error = 0;
    for (std::size_t b = 0; b < blocks && (least < 0 || error < least); ++b) {
      const Choice c = best_pair<Block>(t.data() + b * Block, pairs, guess_pair(layout, t.data() + b * Block, Block));
      picked[b] = c.pair;
      error += static_cast<double>(c.error) * unit;
    }
    if (least < 0 || error < least) {
      least = error;
      best_scale = scale;
      best_picked.swap(picked);
    }
  }
  // Codes of the winner, and the scale that suits them best: the projection of the values on w8.
  double dot = 0, square = 0;
  for (std::size_t i = 0; i < blocks * Block; ++i) {
    const Pair& p = pairs.all[best_picked[i / Block]];
    const float x = i < values.size() ? values[i] : 0.0f;
    const float code = code_of(best_scale == 0 ? 0.0f : x / best_scale, p);
    codes[i] = static_cast<std::uint8_t>(code);
    const double w8 = static_cast<double>(code * p.s - p.offset);
    dot += w8 * static_cast<double>(x);
    square += w8 * w8;
  }
  for (std::size_t b = 0; b < blocks; ++b) sub_scales[b] = pairs.all[best_picked[b]].stored;
  return square > 0 && dot > 0 ? static_cast<float>(dot / square) : 0.0f;
}

}  // namespace

float encode_native4(Layout layout, std::span<const float> values, std::uint8_t* codes, std::uint8_t* sub_scales) {
  return layout == Layout::a4 ? encode<16>(layout, values, codes, sub_scales) : encode<32>(layout, values, codes, sub_scales);
}

}  // namespace loom
