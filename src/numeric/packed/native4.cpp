#include "numeric/packed/native4.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "numeric/codec.h"
#include "numeric/packed/native4_search.h"

namespace loom {
namespace {

using namespace native4;

// The largest w8 of a row is near one of these.
constexpr float kDivisors[] = {127, 115, 105, 95};

std::int16_t unit_error(double v, int s, int low, int parts) {
  const double code = std::clamp(round_even(v / s), static_cast<double>(low), low + 15.0);
  const double d = (v - s * code) / (s + 8);
  return static_cast<std::int16_t>(std::min(d * d, 1.0) * parts);
}
constexpr double value_of(int place) { return static_cast<double>(place) / kStep - 128; }

}  // namespace

namespace native4 {
Tables::Tables(Layout layout) {
  const bool a4 = layout == Layout::a4;
  const int parts = 32767 / static_cast<int>(native4_block(layout));
  unit[15] = 1e30f;
  for (int s = 1, count = 0; s <= 15; ++s) {
    unit[s - 1] = static_cast<float>((s + 8) * (s + 8)) / static_cast<float>(parts);
    per_unit[s - 1] = 1 / unit[s - 1];
    for (int m = a4 ? 0 : s; m <= (a4 ? 15 : s); ++m)
      pairs[count++] = {static_cast<float>(s), 1.0f / static_cast<float>(s),
                        static_cast<float>(8 * m),
                        static_cast<float>(std::min(15, (127 + 8 * m) / s)),
                        static_cast<std::uint8_t>(a4 ? s | m << 4 : s)};
    if (!a4) {
      for (int i = 0; i <= kPlaces; ++i) {
        errors[i * 16 + s - 1] = unit_error(value_of(i), s, -8, parts);
        errors[i * 16 + 15] = static_cast<std::int16_t>(parts);
      }
      continue;
    }
    for (int i = 0; i < kOfSize; ++i)
      errors[(s - 1) * kOfSize + i] =
          unit_error(i % kColumns * 8 + value_of(i / kColumns), s, 0, parts);
    if (s < 4) continue;
    per_square[s - 4] = 39.4785f * kAmplitude / 3 / static_cast<float>(s * s);
    for (int i = 0; i <= kPlaces; ++i) {
      const double x = value_of(i) / s * 6.283185307179586;
      std::int16_t* const to = waves + i * 32 + 2 * (s - 4);
      to[0] = static_cast<std::int16_t>(std::lrint(std::cos(x) * 2000));
      to[1] = static_cast<std::int16_t>(std::lrint(std::sin(x) * 2000));
    }
  }
}

std::span<const Search* const> searches() {
  static const std::vector<const Search*> list = [] {
    std::vector<const Search*> here;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      here.push_back(&search_avx512);
    if (avx2) here.push_back(&search_avx2);
#endif
    here.push_back(&search_narrow);
    return here;
  }();
  return list;
}

}  // namespace native4

namespace {

const Tables& tables_of(Layout layout) {
  if (layout == Layout::a4) {
    static const Tables a4(Layout::a4);
    return a4;
  }
  static const Tables s4(Layout::s4);
  return s4;
}

LOOM_INLINE float peak_of(std::span<const float> values) {
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

// What a row was found to be best as so far.
struct RowState {
  float peak, scale, best_scale;
  double min;
};

// A row in units of its scale.
LOOM_INLINE void scale_row(const Native4Rows& rows, std::size_t row, float scale,
                           std::vector<float>& t) {
  const std::size_t block = static_cast<std::size_t>(native4_block(rows.layout));
  const float* const from = rows.values + row * rows.cols;
  float* __restrict to = t.data() + row * ((rows.cols + block - 1) / block * block);
  if (scale == 0) return;  // of a row of zeros
  for (std::size_t i = 0; i < rows.cols; ++i) to[i] = from[i] / scale;
}

// The best pairs of all blocks under the best of four R, row by row; `t` has room for whole runs.
LOOM_INLINE void pick(const Native4Rows& rows, const Tables& tables, Find find,
                      std::vector<float>& t, std::vector<RowState>& states,
                      std::vector<int>& best_picked) {
  const std::size_t block = static_cast<std::size_t>(native4_block(rows.layout)),
                    blocks = (rows.cols + block - 1) / block, total = rows.count * blocks;
  std::vector<Choice> found((total + kRun - 1) / kRun * kRun);
  for (const float divisor : kDivisors) {
    for (std::size_t r = 0; r < rows.count; ++r) {
      states[r].scale = states[r].peak / divisor;
      scale_row(rows, r, states[r].scale, t);
    }
    for (std::size_t b = 0; b < total; b += kRun)
      find(tables, t.data() + b * block, static_cast<int>(std::min<std::size_t>(kRun, total - b)),
           found.data() + b);
    for (std::size_t r = 0; r < rows.count; ++r) {
      RowState& row = states[r];
      const double unit = static_cast<double>(row.scale) * static_cast<double>(row.scale);
      const Choice* const here = found.data() + r * blocks;
      double error = 0;
      for (std::size_t b = 0; b < blocks; ++b) error += static_cast<double>(here[b].error) * unit;
      if (row.peak == 0 || (row.min >= 0 && !(error < row.min))) continue;
      row.min = error;
      row.best_scale = row.scale;
      for (std::size_t b = 0; b < blocks; ++b) best_picked[r * blocks + b] = here[b].pair;
    }
  }
}

LOOM_INLINE void encode(const Native4Rows& rows, const Search& search) {
  const Layout layout = rows.layout;
  const Tables& tables = tables_of(layout);
  const std::size_t block = static_cast<std::size_t>(native4_block(layout)), cols = rows.cols,
                    blocks = (cols + block - 1) / block, total = rows.count * blocks;
  std::vector<float> t((total + kRun - 1) / kRun * kRun * block, 0.0f);
  std::vector<int> picked(total, 0);
  std::vector<RowState> states(rows.count);
  for (std::size_t r = 0; r < rows.count; ++r)
    states[r] = {peak_of({rows.values + r * cols, cols}), 0, 0, -1};
  pick(rows, tables, layout == Layout::a4 ? search.a4 : search.s4, t, states, picked);
  // Codes of the winner, and the scale that suits them best: the projection of the values on w8.
  for (std::size_t r = 0; r < rows.count; ++r) scale_row(rows, r, states[r].best_scale, t);
  typedef double Reals __attribute__((vector_size(32)));
  typedef std::uint8_t Bytes __attribute__((vector_size(4)));
  struct Fit {
    double dot = 0, square = 0;
  };
  std::vector<Fit> fits(rows.count);
  // Block by block of all rows, since a row's sum waits for each value of it.
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t r = 0; r < rows.count; ++r) {
      const float* const here = rows.values + r * cols + b * block;
      const float* const from = t.data() + (r * blocks + b) * block;
      std::uint8_t* const codes = rows.codes + r * rows.code_stride + b * block;
      const std::size_t count = std::min(block, cols - b * block);
      const Pair& p = tables.pairs[picked[r * blocks + b]];
      double dot = fits[r].dot;
      Ints squares = {};  // whole numbers: in any order the same
      for (std::size_t i = 0; i < block; i += 4) {
        const Lanes code = code_of(load<Lanes>(from + i), p), w = code * p.s - p.offset;
        const Ints c = __builtin_convertvector(code, Ints), w8 = __builtin_convertvector(w, Ints);
        squares += w8 * w8;
        const Bytes bytes = __builtin_convertvector(c, Bytes);
        std::memcpy(codes + i, &bytes, sizeof bytes);
        if (i + 4 <= count) {
          const Reals products = __builtin_convertvector(w, Reals) *
                                 __builtin_convertvector(load<Lanes>(here + i), Reals);
          dot = (((dot + products[0]) + products[1]) + products[2]) + products[3];
        } else {
          for (std::size_t j = 0; i + j < count; ++j)
            dot += static_cast<double>(w[j]) * static_cast<double>(here[i + j]);
        }
      }
      fits[r].dot = dot;
      fits[r].square += (squares[0] + squares[1]) + (squares[2] + squares[3]);
      rows.sub_scales[r * rows.sub_stride + b] = p.stored;
    }
  for (std::size_t r = 0; r < rows.count; ++r)
    rows.scales[r] = fits[r].square > 0 && fits[r].dot > 0
                         ? static_cast<float>(fits[r].dot / fits[r].square)
                         : 0.0f;
}

#if defined(__x86_64__)
// The same operations in eight lanes.
__attribute__((target("avx2"))) void encode_wide(const Native4Rows& rows, const Search& search) {
  encode(rows, search);
}
#define LOOM_RARE __attribute__((cold))  // small rather than fast: there was none before 2013
#else
#define LOOM_RARE
#endif

LOOM_RARE void encode_narrow(const Native4Rows& rows, const Search& search) {
  encode(rows, search);
}

}  // namespace

void encode_native4(const Native4Rows& rows, const Search* search) {
  if (search == nullptr) search = searches().front();
#if defined(__x86_64__)
  if (search != &search_narrow) return encode_wide(rows, *search);
#endif
  encode_narrow(rows, *search);
}

}  // namespace loom
