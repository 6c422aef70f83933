#include "numeric/packed/quantize.h"

#include <algorithm>
#include <bit>

#include "numeric/codec.h"

namespace loom {
namespace {

constexpr double kTiniest = 0x1p-100;       // numerics rule 9: less is stored as 0
constexpr double kTiniestScale = 0x1p-120;  // a scale this small belongs to a mean over almost nothing
constexpr double kShrink = 0.96;

double magnitude(double x) { return x < 0 ? -x : x; }

// The range of integer codes around zero, and what is added when they are stored.
struct IntegerCodes { double low, high; std::uint64_t bias; };
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
  const auto exponent = [](double v) { return static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52) - 1023; };
  const auto power = [](int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); };
  int e = std::max(exponent(x) - exponent(limit) - 1, -1022);
  while (e < 1023 && limit * power(e) < x) ++e;
  return power(e);
}

struct Range { double low = 0, high = 0, sum = 0; };  // low <= 0 <= high
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
    const double top = info(dtype).is_float ? static_cast<double>(decode_small_float(f.max_code, f)) : integer_codes(dtype).high;
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
  double least = -1, part = 1;
  for (int j = 0; j < steps; ++j, part *= kShrink) {
    const GroupScale g = scale_of(dtype, r, part);
    const double inverse = 1 / g.scale, zero = static_cast<double>(g.zero);
    double error = 0;
    for (const T v : values) {
      const double x = magnitude(static_cast<double>(v)) < floor ? 0 : static_cast<double>(v);
      const double code = dtype == DType::fp4 ? static_cast<double>(fp4_to_f32(f32_to_fp4(static_cast<float>(x * inverse))))
                                              : std::clamp(round_even(x * inverse), c.low - zero, c.high - zero);
      const double d = code * g.scale - x;
      error += d * d;
    }
    if (least < 0 || error < least) { least = error; best = g; }
  }
  return best;
}

}  // namespace

double flush_floor(DType dtype) {
  if (info(dtype).arith == ArithClass::real) return 0;
  return dtype == DType::f32 ? 0x1p-40 : dtype == DType::bf16 ? 0x1p-56 : kTiniest;
}

template <class T>
GroupScale choose_scale(DType dtype, std::span<const T> values) {
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
    case DType::i4: case DType::i2: case DType::u4: case DType::u2: case DType::fp4: g = search(dtype, values, r); break;
    case DType::ternary: case DType::binary: g.scale = to_f32(r.sum / static_cast<double>(values.size())); break;
    default: g = scale_of(dtype, r, 1); break;
  }
  return g.scale < kTiniestScale && info(dtype).arith != ArithClass::real ? GroupScale{0, 0} : g;
}

std::uint64_t zero_code(DType dtype, std::uint64_t zero) {
  if (info(dtype).is_float || dtype == DType::binary) return 0;
  return info(dtype).is_signed ? integer_codes(dtype).bias : zero;
}

template <class T>
void encode_group(DType dtype, std::span<const T> values, const GroupScale& group, std::uint64_t* out) {
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
  if constexpr (sizeof(T) == sizeof(float)) {
    // What models come in, without a detour over double.
    if (dtype == DType::bf16) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t b = std::bit_cast<std::uint32_t>(values[i]), m = b & 0x7FFFFFFFu;
        const std::uint32_t rounded = (m + 0x7FFFu + (m >> 16 & 1u)) >> 16;
        const std::uint32_t code = m < 0x23800000u ? 0u : std::min(rounded, kBf16.max_code);  // 2^-56
        out[i] = code | (m < 0x23800000u ? 0u : b >> 31 << 15);
      }
      return;
    }
  }
  const double scale = group.scale;
  switch (dtype) {
    case DType::f64: return each([](double x) { return std::bit_cast<std::uint64_t>(x); });
    case DType::f32: return each([](double x) { return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(x))}; });
    case DType::f16: case DType::bf16: case DType::fp8e4m3: case DType::fp8e5m2: case DType::fp4: {
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
        return q >= 0x1p63 ? ~std::uint64_t{0} >> 1 : static_cast<std::uint64_t>(static_cast<std::int64_t>(q));
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

void decode_group(DType dtype, std::span<const std::uint64_t> codes, std::uint64_t zero, double* out) {
  const auto each = [&](auto&& value_of) {
    for (std::size_t i = 0; i < codes.size(); ++i) out[i] = value_of(codes[i]);
  };
  switch (dtype) {
    case DType::f64: return each([](std::uint64_t c) { return std::bit_cast<double>(c); });
    case DType::f32: return each([](std::uint64_t c) { return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(c))); });
    case DType::f16: case DType::bf16: case DType::fp8e4m3: case DType::fp8e5m2: case DType::fp4: {
      const SmallFloat& f = small_float(dtype);
      return each([&](std::uint64_t c) { return static_cast<double>(decode_small_float(static_cast<std::uint32_t>(c), f)); });
    }
    case DType::binary: return each([](std::uint64_t c) { return c != 0 ? 1.0 : -1.0; });
    case DType::i64: return each([](std::uint64_t c) { return static_cast<double>(static_cast<std::int64_t>(c)); });
    case DType::i32: return each([](std::uint64_t c) { return static_cast<double>(static_cast<std::int32_t>(c)); });
    case DType::i16: return each([](std::uint64_t c) { return static_cast<double>(static_cast<std::int16_t>(c)); });
    case DType::u64:
      return each([&](std::uint64_t c) { return c >= zero ? static_cast<double>(c - zero) : -static_cast<double>(zero - c); });
    default: {
      const std::int64_t offset = static_cast<std::int64_t>(info(dtype).is_signed ? integer_codes(dtype).bias : zero);
      return each([&](std::uint64_t c) { return static_cast<double>(static_cast<std::int64_t>(c) - offset); });
    }
  }
}

template GroupScale choose_scale(DType, std::span<const float>);
template GroupScale choose_scale(DType, std::span<const double>);
template void encode_group(DType, std::span<const float>, const GroupScale&, std::uint64_t*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint64_t*);

}  // namespace loom
