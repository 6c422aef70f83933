// The encoders against plain ones that take one value after the other: the same bytes for every
// format, shape and kind of values.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/threads/thread_pool.h"
#include "numeric/codec.h"
#include "numeric/packed/native4.h"
#include "numeric/packed/native4_search.h"
#include "numeric/packed/packed_view.h"

namespace loom {
namespace {

// As plainly as the policies of quantize.h say it.
constexpr double kTiniestScale =
    0x1p-120;  // a scale this small belongs to a mean over almost nothing
constexpr double kShrink = 0.96;

double magnitude(double x) { return x < 0 ? -x : x; }

// The range of integer codes around zero, and what is added when they are stored.
struct IntegerCodes {
  double low, high;
  std::uint64_t bias;
};
IntegerCodes integer_codes(DType dtype) {
  switch (dtype) {
    case DType::i64: return {-0x1p63, 0x1p63, 0};
    case DType::i32: return {-0x1p31 + 1, 0x1p31 - 1, 0};
    case DType::i16: return {-32767, 32767, 0};
    case DType::i8: return {-127, 127, 128};
    case DType::i4: return {-8, 7, 8};
    case DType::i2: return {-2, 1, 2};
    case DType::ternary: return {-1, 1, 1};
    case DType::u64: return {0, 0x1p64, 0};
    case DType::u32: return {0, 0x1p32 - 1, 0};
    case DType::u16: return {0, 65535, 0};
    case DType::u8: return {0, 255, 0};
    case DType::u4: return {0, 15, 0};
    default: return {0, 3, 0};  // u2
  }
}

const SmallFloat& small_float(DType dtype) {
  switch (dtype) {
    case DType::f16: return kF16;
    case DType::bf16: return kBf16;
    case DType::fp8e4m3: return kFp8e4m3;
    case DType::fp8e5m2: return kFp8e5m2;
    default: return kFp4;
  }
}

// The nearest integer of a double of any size: from 2^52 on all are integers.
double round_wide(double x) { return magnitude(x) < 0x1p51 ? round_even(x) : x; }

// The least power of two p with x <= limit * p, for x > 0.
double power_of_two_scale(double x, double limit) {
  const auto exponent = [](double v) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52) - 1023;
  };
  const auto power = [](int e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
  };
  int e = std::max(exponent(x) - exponent(limit) - 1, -1022);
  while (e < 1023 && limit * power(e) < x) ++e;
  return power(e);
}

struct Range {
  double low = 0, high = 0, sum = 0;
};  // low <= 0 <= high
template <class T>
Range range_of(std::span<const T> values, double floor) {
  Range r;
  for (const T v : values) {
    const double x = static_cast<double>(v);
    if (magnitude(x) < floor) continue;
    r.low = std::min(r.low, x);
    r.high = std::max(r.high, x);
    r.sum += magnitude(x);
  }
  return r;
}

double to_f32(double scale) { return static_cast<double>(static_cast<float>(scale)); }

// Zero point of an affine type: the code of 0, so that zeros stay zeros.
std::uint64_t zero_point(const Range& r, double scale, double levels) {
  return static_cast<std::uint64_t>(std::clamp(round_wide(-r.low / scale), 0.0, levels));
}

// Scale (and zero point) of the range shrunk to `part` of itself.
GroupScale scale_of(DType dtype, const Range& r, double part) {
  GroupScale g;
  if (info(dtype).is_signed) {
    const SmallFloat f = info(dtype).is_float ? small_float(dtype) : SmallFloat{};
    const double top = info(dtype).is_float ? static_cast<double>(decode_small_float(f.max_code, f))
                                            : integer_codes(dtype).high;
    g.scale = to_f32(std::max(r.high, -r.low) * part / top);
  } else {
    const double levels = integer_codes(dtype).high;
    g.scale = to_f32((r.high - r.low) * part / levels);
    g.zero = zero_point({r.low * part, r.high * part, 0}, g.scale, levels);
  }
  return g;
}

template <class T>
GroupScale search(DType dtype, std::span<const T> values, const Range& r) {
  const double floor = flush_floor(dtype);
  const int steps = info(dtype).bits == 2 ? 48 : 24;
  const IntegerCodes c = integer_codes(dtype);
  GroupScale best;
  double min = -1, part = 1;
  for (int j = 0; j < steps; ++j, part *= kShrink) {
    const GroupScale g = scale_of(dtype, r, part);
    const double inverse = 1 / g.scale, zero = static_cast<double>(g.zero);
    double error = 0;
    for (const T v : values) {
      const double x = magnitude(static_cast<double>(v)) < floor ? 0 : static_cast<double>(v);
      const double code =
          dtype == DType::fp4
              ? static_cast<double>(fp4_to_f32(f32_to_fp4(static_cast<float>(x * inverse))))
              : std::clamp(round_even(x * inverse), c.low - zero, c.high - zero);
      const double d = code * g.scale - x;
      error += d * d;
    }
    if (min < 0 || error < min) {
      min = error;
      best = g;
    }
  }
  return best;
}

template <class T>
GroupScale reference_scale(DType dtype, std::span<const T> values) {
  if (!info(dtype).scaled) return {1, 0};
  const Range r = range_of(values, flush_floor(dtype));
  const double peak = std::max(r.high, -r.low);
  if (peak == 0) return {0, 0};
  GroupScale g;
  switch (dtype) {
    case DType::i32: g.scale = power_of_two_scale(peak, 0x1p31 - 1); break;
    case DType::i64: g.scale = power_of_two_scale(peak, 0x1.fffffffffffffp62); break;
    case DType::u32:
    case DType::u64: {
      // Two codes less than there are: both ends may round outwards.
      const double levels = dtype == DType::u32 ? 0x1p32 - 3 : 0x1.fffffffffffffp63;
      g.scale = power_of_two_scale(r.high * 0.5 - r.low * 0.5, levels * 0.5);
      g.zero = zero_point(r, g.scale, levels);
      break;
    }
    case DType::i4:
    case DType::i2:
    case DType::u4:
    case DType::u2:
    case DType::fp4: g = search(dtype, values, r); break;
    case DType::ternary:
    case DType::binary: g.scale = to_f32(r.sum / static_cast<double>(values.size())); break;
    default: g = scale_of(dtype, r, 1); break;
  }
  return g.scale < kTiniestScale && info(dtype).arith != ArithClass::real ? GroupScale{0, 0} : g;
}

// bf16 of what models come in, without a detour over double.
void reference_bf16(std::span<const float> values, std::uint64_t* out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t b = std::bit_cast<std::uint32_t>(values[i]), m = b & 0x7FFFFFFFu;
    const std::uint32_t rounded = (m + 0x7FFFu + (m >> 16 & 1u)) >> 16;
    const std::uint32_t code = m < 0x23800000u ? 0u : std::min(rounded, kBf16.max_code);  // 2^-56
    out[i] = code | (m < 0x23800000u ? 0u : b >> 31 << 15);
  }
}

template <class T>
void reference_codes(DType dtype, std::span<const T> values, const GroupScale& group,
                     std::uint64_t* out) {
  const double floor = flush_floor(dtype);
  const auto each = [&](auto&& code_of) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = static_cast<double>(values[i]);
      out[i] = code_of(magnitude(x) < floor ? 0.0 : x);
    }
  };
  if (group.scale == 0) {
    std::fill_n(out, values.size(), zero_code(dtype, group.zero));
    return;
  }
  if constexpr (sizeof(T) == sizeof(float))
    if (dtype == DType::bf16) return reference_bf16(values, out);
  const double scale = group.scale;
  switch (dtype) {
    case DType::f64: return each([](double x) { return std::bit_cast<std::uint64_t>(x); });
    case DType::f32:
      return each([](double x) {
        return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(x))};
      });
    case DType::f16:
    case DType::bf16:
    case DType::fp8e4m3:
    case DType::fp8e5m2:
    case DType::fp4: {
      const SmallFloat f = small_float(dtype);
      const std::uint32_t sign = 1u << (f.bits() - 1);
      return each([&](double x) {
        // A weight too large for f16 saturates: an infinity would poison every sum it enters.
        const std::uint32_t code = encode_small_float(x / scale, f);
        return std::uint64_t{(code & (sign - 1)) > f.max_code ? (code & sign) | f.max_code : code};
      });
    }
    case DType::binary: return each([](double x) { return std::uint64_t{x >= 0}; });
    case DType::i64:
      return each([&](double x) {
        const double q = round_wide(x / scale);
        return q >= 0x1p63 ? ~std::uint64_t{0} >> 1
                           : static_cast<std::uint64_t>(static_cast<std::int64_t>(q));
      });
    case DType::u64:
      return each([&](double x) {
        const double q = round_wide(x / scale);
        const std::uint64_t m = static_cast<std::uint64_t>(magnitude(q));
        if (q < 0) return m > group.zero ? 0 : group.zero - m;
        return m > ~group.zero ? ~std::uint64_t{0} : group.zero + m;
      });
    default: {
      const IntegerCodes c = integer_codes(dtype);
      const double zero = static_cast<double>(group.zero);
      const std::uint64_t mask = (std::uint64_t{1} << info(dtype).bits) - 1;
      return each([&](double x) {
        const double q = std::clamp(round_wide(x / scale) + zero, c.low, c.high);
        return (static_cast<std::uint64_t>(static_cast<std::int64_t>(q)) + c.bias) & mask;
      });
    }
  }
}

// The bytes of a plain layout, written one code after the other.
template <class T>
std::vector<std::byte> reference_bytes(const WeightFormat& format, std::int64_t rows,
                                       std::int64_t cols, std::span<const T> values) {
  const PackedLayout layout = packed_layout(format, rows, cols).value();
  const PackedView view(format, layout);
  const PanelGeometry& g = view.geometry;
  std::vector<std::byte> bytes(static_cast<std::size_t>(layout.total), std::byte{0});
  GroupScale scale{1, 0};
  if (format.scale == ScaleKind::tensor) scale = reference_scale<T>(format.dtype, values);
  for (std::int64_t row = 0; row < layout.panels * kPanel; ++row) {
    const auto weights = row < rows ? values.subspan(static_cast<std::size_t>(row * cols),
                                                     static_cast<std::size_t>(cols))
                                    : std::span<const T>();
    const std::int64_t block = format.scale == ScaleKind::block ? format.block : layout.padded_cols;
    for (std::int64_t b = 0, k = 0; k < layout.padded_cols; ++b, k += block) {
      const std::size_t from = std::min(static_cast<std::size_t>(k), weights.size());
      const auto group =
          weights.subspan(from, std::min(static_cast<std::size_t>(block), weights.size() - from));
      if (format.scale == ScaleKind::row || format.scale == ScaleKind::block)
        scale = reference_scale<T>(format.dtype, group);
      std::vector<std::uint64_t> codes(
          static_cast<std::size_t>(std::min(block, layout.padded_cols - k)),
          zero_code(format.dtype, scale.zero));
      reference_codes<T>(format.dtype, group, scale, codes.data());
      view.put_group(bytes.data(), row, b, scale);
      for (std::size_t i = 0; i < codes.size(); ++i) {
        const std::int64_t at = k + static_cast<std::int64_t>(i), per_row = g.k_per_row(),
                           plane = at % per_row / g.group;
        std::byte* to =
            bytes.data() + view.panel_at(row) +
            static_cast<std::uint64_t>(at / per_row * g.row_bytes() +
                                       (row % kPanel * g.group + at % g.group) * g.code_bytes);
        if (g.planes == 1) {
          for (int j = 0; j < g.code_bytes; ++j)
            to[j] = static_cast<std::byte>(codes[i] >> (8 * j) & 255);
        } else if (g.plane_bits != 0) {
          *to |= static_cast<std::byte>(codes[i] << (plane * g.plane_bits));
        } else {
          // Digits first; the byte is made of them with the last.
          constexpr int kPow3[] = {81, 27, 9, 3, 1};
          const int sum = static_cast<int>(*to) + static_cast<int>(codes[i]) * kPow3[plane];
          *to = plane == 4 ? static_cast<std::byte>(pack_trits(sum)) : static_cast<std::byte>(sum);
        }
      }
    }
  }
  return bytes;
}

// Kinds of values: what rounding, saturation, flushing and the choice of a scale turn on.
template <class T>
std::vector<T> some_values(int kind, std::int64_t rows, std::int64_t cols) {
  const RandomStream random(static_cast<std::uint64_t>(kind), 7);
  std::vector<T> v(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < v.size(); ++i) {
    const T u = static_cast<T>(random.uniform(2 * i)) * 2 - 1;
    const std::uint32_t pick = static_cast<std::uint32_t>(random.bits(2 * i + 1) % 8);
    switch (kind) {
      case 0: v[i] = u; break;
      case 1: v[i] = u * u * u * T(0.01); break;  // a peak far from the rest
      case 2:
        v[i] = static_cast<T>(static_cast<int>(u * 14)) * T(0.25);
        break;                         // on the grid, and ties
      case 3: v[i] = T(0.125); break;  // all equal
      case 4: v[i] = -T(0.7); break;
      case 5: v[i] = pick < 6 ? T(0) : pick == 6 ? -T(0) : u; break;
      case 6: v[i] = u * static_cast<T>(0x1p-98); break;  // about the flush
      case 7:
        v[i] = pick < 4 ? std::numeric_limits<T>::denorm_min() * static_cast<T>(pick)
                        : -std::numeric_limits<T>::min();
        break;
      case 8: v[i] = u * static_cast<T>(std::numeric_limits<float>::max()); break;
      case 9:
        v[i] = static_cast<T>(pick & 1 ? -1 : 1) *
               (pick < 4   ? static_cast<T>(std::numeric_limits<float>::max())
                : pick < 6 ? T(0)
                           : T(1e-30));
        break;
      case 10:
        v[i] = static_cast<T>(
            std::bit_cast<float>(static_cast<std::uint32_t>(random.bits(2 * i)) & 0xBFFFFFFFu));
        break;                                         // any below 2
      case 11: v[i] = (u < 0 ? -u : u) + T(3); break;  // all of one sign
      case 12:
        v[i] = i % 5 == 0 ? T(448) : static_cast<T>(static_cast<int>(i % 897) - 448) * T(0.0625);
        break;  // ties of the small floats, whose scale is 1
      case 13: v[i] = u * static_cast<T>(0x1p-39); break;
      default: v[i] = u * static_cast<T>(0x1p-55); break;
    }
    if (v[i] - v[i] != 0) v[i] = T(1);
  }
  return v;
}

template <class T>
void compare_all() {
  constexpr struct {
    std::int64_t rows, cols;
  } kShapes[] = {{1, 1}, {3, 16}, {17, 70}, {2, 1100}};
  for (const WeightFormat& f : all_weight_formats()) {
    if (f.layout != Layout::plain) continue;
    for (const auto& s : kShapes)
      for (int kind = 0; kind < 15; ++kind) {
        const std::vector<T> v = some_values<T>(kind, s.rows, s.cols);
        const auto m = PackedMatrix::encode(f, s.rows, s.cols, std::span<const T>(v));
        ASSERT_TRUE(m.ok()) << m.status().to_string();
        const auto expected = reference_bytes<T>(f, s.rows, s.cols, v);
        ASSERT_TRUE(std::ranges::equal(m->bytes(), expected))
            << to_string(f) << " " << s.rows << " x " << s.cols << ", values of kind " << kind;
      }
  }
}
TEST(Encode, FloatsAsThePlainEncoder) { compare_all<float>(); }
TEST(Encode, DoublesAsThePlainEncoder) { compare_all<double>(); }

// Groups under scales that were not made for them, zero points included.
TEST(Encode, CodesUnderAnyScale) {
  constexpr double kScales[] = {1, 0, 0x1p-120, 0x1p-90, 0.1f, 3e-5f, 0x1.fffffep-7, 7, 1e30f};
  for (int d = 0; d < kDTypeCount; ++d) {
    const DType dtype = static_cast<DType>(d);
    for (const double scale : kScales)
      for (int kind = 0; kind < 15; ++kind)
        for (const std::uint64_t zero : {0, 1, 3}) {
          if (info(dtype).is_signed && zero != 0) continue;
          if (!info(dtype).scaled && scale != 1) continue;
          const std::vector<double> v = some_values<double>(kind, 1, 131);
          if ((dtype == DType::i64 || dtype == DType::u64) && std::ranges::any_of(v, [&](double x) {
                return x / scale >= 0x1p62 || x / scale <= -0x1p62;
              }))
            continue;
          const GroupScale g{scale, zero};
          std::vector<std::uint64_t> expected(v.size());
          reference_codes<double>(dtype, v, g, expected.data());
          std::vector<double> flushed(v.size());
          flush<double>(dtype, v, flushed.data());
          const auto same = [&]<class U>(U) {
            std::vector<U> codes(v.size());
            encode_group<U>(dtype, flushed, g, codes.data());
            for (std::size_t i = 0; i < v.size(); ++i)
              ASSERT_EQ(codes[i], static_cast<U>(expected[i]))
                  << name(dtype) << " scale " << scale << ", " << v[i];
          };
          switch (info(dtype).bits) {
            case 64: same(std::uint64_t{}); break;
            case 32: same(std::uint32_t{}); break;
            case 16: same(std::uint16_t{}); break;
            default: same(std::uint8_t{}); break;
          }
        }
  }
}

// Each boundary between two codes of a small float, and its neighbours, as float and as double.
TEST(Encode, SmallFloatsAtEveryBoundary) {
  const auto check = [&]<class U>(DType dtype, const SmallFloat& f, U) {
    std::vector<double> v;
    for (std::uint32_t code = 0; code < f.max_code; ++code) {
      const double low = static_cast<double>(decode_small_float(code, f)),
                   high = static_cast<double>(decode_small_float(code + 1, f)),
                   middle = (low + high) / 2;
      for (const double x : {low, middle}) {
        const double about[] = {
            x, std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) + 1),
            x == 0 ? 0 : std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) - 1)};
        for (const double y : about)
          for (const double signed_y : {y, -y}) v.push_back(signed_y);
      }
    }
    const double max = static_cast<double>(decode_small_float(f.max_code, f));
    for (const double x : {max, max * 1.03, max * 1.07, max * 2, 1e30, 1e300,
                           std::numeric_limits<double>::infinity()})
      v.insert(v.end(), {x, -x});
    std::vector<double> flushed(v.size());
    flush<double>(dtype, v, flushed.data());
    std::vector<std::uint64_t> expected(v.size());
    reference_codes<double>(dtype, v, {1, 0}, expected.data());
    std::vector<U> codes(v.size());
    encode_group<U>(dtype, flushed, {1, 0}, codes.data());
    for (std::size_t i = 0; i < v.size(); ++i)
      ASSERT_EQ(codes[i], expected[i]) << name(dtype) << " " << v[i];
  };
  check(DType::fp8e4m3, kFp8e4m3, std::uint8_t{});
  check(DType::fp8e5m2, kFp8e5m2, std::uint8_t{});
  check(DType::fp4, kFp4, std::uint8_t{});
  check(DType::f16, kF16, std::uint16_t{});
  check(DType::bf16, kBf16, std::uint16_t{});
}

// A4 and S4: a block's scale s and offset m.
struct Pick {
  int s, m;
};
float native4_code(float t, Pick p) {
  const float top = static_cast<float>(std::min(15, (127 + 8 * p.m) / p.s)),
              q = (t + static_cast<float>(8 * p.m)) * (1.0f / static_cast<float>(p.s));
  return round_even(std::clamp(q > 0 ? q : 0.0f, 0.0f, top));
}
float native4_value(float t, Pick p) {
  return native4_code(t, p) * static_cast<float>(p.s) - static_cast<float>(8 * p.m);
}
float scaled(std::span<const float> values, std::size_t i, float scale) {
  return i < values.size() && scale != 0 ? values[i] / scale : 0.0f;
}

// The pair that a block of `size` values from `first` has the smallest error with, by trying every
// one in order; the error in the four lanes and the order that are the definition.
std::pair<Pick, float> best_pick(bool a4, std::span<const float> values, std::size_t first,
                                 std::size_t size, float scale) {
  Pick best{};
  float smallest = -1;
  for (int s = 1; s <= 15; ++s)
    for (int m = a4 ? 0 : s; m <= (a4 ? 15 : s); ++m) {
      float lanes[4] = {};
      for (std::size_t i = 0; i < size; ++i) {
        const float t = scaled(values, first + i, scale), d = native4_value(t, {s, m}) - t;
        lanes[i % 4] += d * d;
      }
      const float error = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
      if (smallest < 0 || error < smallest) {
        smallest = error;
        best = {s, m};
      }
    }
  return {best, smallest};
}

float reference_native4(Layout layout, std::span<const float> values, std::uint8_t* codes,
                        std::uint8_t* sub_scales) {
  const bool a4 = layout == Layout::a4;
  const std::size_t block = a4 ? 16 : 32, blocks = (values.size() + block - 1) / block;
  float peak = 0;
  for (const float v : values) peak = std::max(peak, v < 0 ? -v : v);
  std::vector<Pick> best(blocks, Pick{1, a4 ? 0 : 1});
  float best_scale = 0;
  double min = -1;
  for (const float divisor : {127.0f, 115.0f, 105.0f, 95.0f}) {
    if (peak == 0) break;
    const float scale = peak / divisor;
    std::vector<Pick> picks;
    double total = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto [pick, error] = best_pick(a4, values, b * block, block, scale);
      picks.push_back(pick);
      total +=
          static_cast<double>(error) * (static_cast<double>(scale) * static_cast<double>(scale));
    }
    if (min < 0 || total < min) {
      min = total;
      best_scale = scale;
      best = picks;
    }
  }
  double dot = 0, square = 0;
  for (std::size_t i = 0; i < blocks * block; ++i) {
    const Pick p = best[i / block];
    const float t = scaled(values, i, best_scale);
    codes[i] = static_cast<std::uint8_t>(native4_code(t, p));
    const double w8 = static_cast<double>(native4_value(t, p));
    dot += w8 * static_cast<double>(i < values.size() ? values[i] : 0.0f);
    square += w8 * w8;
  }
  for (std::size_t b = 0; b < blocks; ++b)
    sub_scales[b] = static_cast<std::uint8_t>(a4 ? best[b].s | best[b].m << 4 : best[b].s);
  return square > 0 && dot > 0 ? static_cast<float>(dot / square) : 0.0f;
}
void compare_native4(Layout layout, std::vector<float> v, const std::string& what) {
  for (float& x : v)
    if (x < 0x1p-100f && x > -0x1p-100f) x = 0;
  std::vector<std::uint8_t> expected_codes(512), expected_subs(64);
  const float expected = reference_native4(layout, v, expected_codes.data(), expected_subs.data());
  // Of every instruction set that this machine has.
  for (const native4::Search* search : native4::searches()) {
    std::vector<std::uint8_t> codes(512), subs(64);
    float scale = -1;
    encode_native4({layout, 1, v.size(), v.data(), codes.data(), 512, subs.data(), 64, &scale},
                   search);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(scale), std::bit_cast<std::uint32_t>(expected)) << what;
    EXPECT_EQ(codes, expected_codes) << what;
    EXPECT_EQ(subs, expected_subs) << what;
  }
}
TEST(Encode, NativeFourBitsAsEveryPairTried) {
  for (const Layout layout : {Layout::a4, Layout::s4})
    for (const std::int64_t cols : {1, 15, 32, 70, 401})
      for (int kind = 0; kind < 15; ++kind)
        compare_native4(layout, some_values<float>(kind, 1, cols),
                        std::to_string(cols) + " columns, values of kind " + std::to_string(kind));
}
// What the tables of errors are least sure of: values on and about the grids of some pairs, rows
// whose blocks are far smaller than their peak, and runs of blocks that many pairs fit.
TEST(Encode, NativeFourBitsWherePairsAreClose) {
  for (const Layout layout : {Layout::a4, Layout::s4})
    for (int seed = 0; seed < 40; ++seed) {
      const RandomStream random(static_cast<std::uint64_t>(seed), 9);
      std::vector<float> v(static_cast<std::size_t>(17 + 9 * seed));
      for (std::size_t i = 0; i < v.size(); ++i) {
        const auto uniform = [&](std::uint64_t n) {
          return static_cast<float>(random.uniform(8 * i + n)) * 2 - 1;
        };
        const float normal = (uniform(0) + uniform(1)) + (uniform(2) + uniform(3));
        const int s = 1 + static_cast<int>(random.bits(i / 16) % 15),
                  code = static_cast<int>(random.bits(8 * i + 4) % 16);
        switch (seed % 5) {
          case 0: v[i] = normal; break;
          case 1: v[i] = i == 5 ? 40.0f : normal; break;
          case 2: v[i] = static_cast<float>(code * s - 8 * (s / 2)); break;
          case 3:
            v[i] = static_cast<float>(code - 8) * static_cast<float>(s) + normal * 0.01f;
            break;
          default:
            v[i] = static_cast<float>(s) * (i % 2 == 0 ? 1.0f : 1 + normal * 0x1p-20f);
            break;
        }
      }
      v[0] = seed % 5 == 2 ? 127.0f : v[0];
      compare_native4(layout, v, "seed " + std::to_string(seed));
    }
}

// Rows together are what each of them is alone, wherever its blocks come to lie among theirs.
TEST(Encode, NativeFourBitsOfRowsTogether) {
  for (const Layout layout : {Layout::a4, Layout::s4})
    for (const std::size_t cols : {std::size_t{5}, std::size_t{33}, std::size_t{144}}) {
      constexpr std::size_t kRows = 15, kCodes = 160, kSubs = 10;
      std::vector<float> v;
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto row =
            some_values<float>(static_cast<int>(r), 1, static_cast<std::int64_t>(cols));
        for (const float x : row) v.push_back(x < 0x1p-100f && x > -0x1p-100f ? 0 : x);
      }
      for (const native4::Search* search : native4::searches()) {
        std::vector<std::uint8_t> codes(kRows * kCodes), subs(kRows * kSubs);
        std::vector<float> scales(kRows, -1);
        encode_native4({layout, kRows, cols, v.data(), codes.data(), kCodes, subs.data(), kSubs,
                        scales.data()},
                       search);
        for (std::size_t r = 0; r < kRows; ++r) {
          std::vector<std::uint8_t> own_codes(kCodes), own_subs(kSubs);
          const float own = reference_native4(layout, std::span(v).subspan(r * cols, cols),
                                              own_codes.data(), own_subs.data());
          EXPECT_EQ(std::bit_cast<std::uint32_t>(scales[r]), std::bit_cast<std::uint32_t>(own))
              << r;
          EXPECT_TRUE(std::equal(own_codes.begin(), own_codes.end(), &codes[r * kCodes])) << r;
          EXPECT_TRUE(std::equal(own_subs.begin(), own_subs.end(), &subs[r * kSubs])) << r;
        }
      }
    }
}

PackedMatrix::ReadRows rows_of(const std::vector<float>& v, std::int64_t cols) {
  return [&v, cols](std::int64_t first, std::span<float> rows) -> Status {
    std::copy_n(v.begin() + first * cols, rows.size(), rows.begin());
    return {};
  };
}
// However many share the work, and with the last panel cut.
TEST(Encode, TeamsWriteTheSameBytes) {
  constexpr std::int64_t kRows = 201, kCols = 90;
  const std::vector<float> v = some_values<float>(1, kRows, kCols);
  const std::vector<double> wide(v.begin(), v.end());
  ThreadPool three(3), twenty(20);
  for (const WeightFormat& f : all_weight_formats()) {
    if (f.layout == Layout::q4_k || f.layout == Layout::q6_k) continue;
    const auto alone = PackedMatrix::encode(f, kRows, kCols, std::span<const float>(v)).value();
    EXPECT_TRUE(std::ranges::equal(
        PackedMatrix::encode(f, kRows, kCols, std::span<const float>(v), &three)->bytes(),
        alone.bytes()))
        << to_string(f);
    EXPECT_TRUE(std::ranges::equal(
        PackedMatrix::encode(f, kRows, kCols, std::span<const double>(wide), &twenty)->bytes(),
        alone.bytes()))
        << to_string(f);
    EXPECT_TRUE(std::ranges::equal(
        PackedMatrix::encode(f, kRows, kCols, rows_of(v, kCols), &three)->bytes(), alone.bytes()))
        << to_string(f);
  }
}

// Whoever comes to it first.
TEST(Encode, TeamsNameTheFirstBadValue) {
  constexpr std::int64_t kRows = 201, kCols = 90;
  std::vector<float> v = some_values<float>(1, kRows, kCols);
  v[190 * kCols + 1] = v[180 * kCols + 7] = v[40 * kCols + 3] =
      std::numeric_limits<float>::quiet_NaN();
  ThreadPool three(3);
  for (const WeightFormat& f : all_weight_formats())
    for (const auto& made :
         {PackedMatrix::encode(f, kRows, kCols, rows_of(v, kCols), &three),
          PackedMatrix::encode(f, kRows, kCols, std::span<const float>(v), &three)})
      EXPECT_NE(made.status().message().find("(row 40, column 3) is NaN"), std::string::npos)
          << to_string(f) << ": " << made.status().message();
}

}  // namespace
}  // namespace loom
