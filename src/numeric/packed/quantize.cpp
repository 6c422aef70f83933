#include "numeric/packed/quantize.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "numeric/codec.h"

namespace loom {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kExponent = std::uint64_t{0x7FF} << 52;

double magnitude(double x) { return x < 0 ? -x : x; }

// The nearest integer of a double of any size: from 2^52 on all are integers.
double round_wide(double x) { return magnitude(x) < 0x1p51 ? round_even(x) : x; }

// out[i] = code_of(x[i]): loops without branches, which compilers turn into vectors.
template <class Code>
inline void each(std::span<const double> x, std::uint64_t* __restrict out, Code&& code_of) {
  const double* __restrict from = x.data();
  for (std::size_t i = 0, n = x.size(); i < n; ++i) out[i] = code_of(from[i]);
}

// Codes of encode_small_float(x / scale), with what is beyond the largest finite value brought back
// to it: a weight too large for f16 saturates, since an infinity would poison every sum it enters.
//
// With v = min(|x / scale|, largest) and p the power of two below it, not less than the least
// normal one, the codes around v are p * 2^-M apart. c = p * 2^(52 - M) is a power of two whose
// last bit counts exactly those steps, and v < 2p <= c * 2^-M * 2 leaves v + c in its binade: so
// the addition rounds v to nearest, ties to the even code, and the bits above those of c are the
// significand as kept: with its leading bit where p is of v itself, without where v is subnormal. A
// carry steps the exponent field, which is what the sum does. The exponent of c is that of p and 52
// - M.
void encode_floats(std::span<const double> x, double scale, const SmallFloat& f,
                   std::uint64_t* out) {
  const int mantissa = f.mantissa_bits, sign_shift = 64 - f.bits();
  const auto power = [](int e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + e) << 52);
  };
  const double top = static_cast<double>(decode_small_float(f.max_code, f));
  const double max = std::bit_cast<double>(std::bit_cast<std::uint64_t>(top) & kExponent);
  const double min = power(1 - f.bias), grid = power(52 - mantissa);
  const auto first = static_cast<std::uint64_t>(1024 - f.bias + 52 - mantissa);
  const std::uint64_t sign_bit = std::uint64_t{1} << (f.bits() - 1);
  each(x, out, [=](double value) {
    const std::uint64_t b = std::bit_cast<std::uint64_t>(value / scale);
    double v = std::bit_cast<double>(b & ~kSign), p = std::bit_cast<double>(b & kExponent);
    v = v < top ? v : top;
    p = p < max ? p : max;
    p = p > min ? p : min;
    const double c = p * grid;
    const auto bits_of_c = std::bit_cast<std::uint64_t>(c);
    const std::uint64_t kept = std::bit_cast<std::uint64_t>(v + c) - bits_of_c;
    return (((bits_of_c >> 52) - first) << mantissa) + kept + (b >> sign_shift & sign_bit);
  });
}

// Codes of clamp(rne(x / scale) + zero, low, high) + bias. The bounds are integers, so clamping may
// come before rounding; and 1.5 * 2^52 plus a number below 2^51 is that number to nearest even, in
// two's complement in the last bits. Bits above those of a code are not 0.
void encode_integers(std::span<const double> x, const GroupScale& g, const IntegerCodes& c,
                     std::uint64_t* out) {
  const double scale = g.scale, low = c.low - static_cast<double>(g.zero),
               high = c.high - static_cast<double>(g.zero);
  const std::uint64_t add = g.zero + c.bias;
  each(x, out, [=](double value) {
    double q = value / scale;
    q = q < low ? low : q;
    q = q > high ? high : q;
    return std::bit_cast<std::uint64_t>(q + 0x1.8p52) + add;
  });
}

}  // namespace

double flush_floor(DType dtype) { return info(dtype).floor; }

template <class T>
bool within(std::span<const T> values, T limit) {
  int beyond = 0;
  for (const T x : values) beyond |= !(x >= -limit && x <= limit);
  return beyond == 0;
}

template <class T, class Out>
void flush(DType dtype, std::span<const T> values, Out* out) {
  const T floor = static_cast<T>(flush_floor(dtype));  // 0 or a power of two
  const T* from = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i)
    out[i] = (from[i] < 0 ? -from[i] : from[i]) < floor ? Out{0} : static_cast<Out>(from[i]);
}

std::uint64_t zero_code(DType dtype, std::uint64_t zero) {
  const DTypeInfo& type = info(dtype);
  if (type.codec.family != CodecFamily::integer) return 0;
  return type.is_signed ? type.codec.integer.bias : zero;
}

namespace {
// Integers of 64 bits: a double does not have all of them, and the ends saturate.
void encode_wide(std::span<const double> x, const GroupScale& group, bool is_signed,
                 std::uint64_t* out) {
  const double scale = group.scale;
  if (is_signed)
    return each(x, out, [=](double v) {
      const double q = round_wide(v / scale);
      return q >= 0x1p63 ? ~std::uint64_t{0} >> 1
                         : static_cast<std::uint64_t>(static_cast<std::int64_t>(q));
    });
  return each(x, out, [=, zero = group.zero](double v) {
    const double q = round_wide(v / scale);
    const std::uint64_t m = static_cast<std::uint64_t>(magnitude(q));
    if (q < 0) return m > zero ? 0 : zero - m;
    return m > ~zero ? ~std::uint64_t{0} : zero + m;
  });
}

void codes_of(DType dtype, std::span<const double> x, const GroupScale& group, std::uint64_t* out) {
  const DTypeInfo& type = info(dtype);
  switch (type.codec.family) {
    case CodecFamily::ieee:
      if (type.bits == 64)
        return each(x, out, [](double v) { return std::bit_cast<std::uint64_t>(v); });
      return each(x, out, [](double v) {
        return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(v))};
      });
    case CodecFamily::small_float:
      return encode_floats(x, group.scale, type.codec.small_float, out);
    case CodecFamily::sign: return each(x, out, [](double v) { return std::uint64_t{v >= 0}; });
    case CodecFamily::integer:
      if (type.bits == 64) return encode_wide(x, group, type.is_signed, out);
      return encode_integers(x, group, type.codec.integer, out);
  }
}
}  // namespace

template <class U>
void encode_group(DType dtype, std::span<const double> x, const GroupScale& group, U* out) {
  if (group.scale == 0) {
    std::fill_n(out, x.size(), static_cast<U>(zero_code(dtype, group.zero)));
    return;
  }
  std::uint64_t codes[128];
  for (std::size_t i = 0; i < x.size(); i += std::size(codes)) {
    const std::size_t n = std::min(std::size(codes), x.size() - i);
    codes_of(dtype, x.subspan(i, n), group, codes);
    for (std::size_t j = 0; j < n; ++j) out[i + j] = static_cast<U>(codes[j]);
  }
}

void encode_bf16(std::span<const float> values, std::uint16_t* out) {
  const float* __restrict from = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i) {
    const std::uint32_t b = std::bit_cast<std::uint32_t>(from[i]), m = b & 0x7FFFFFFFu;
    const std::uint32_t rounded = (m + 0x7FFFu + (m >> 16 & 1u)) >> 16;
    const std::uint32_t code = std::min(rounded, kBf16.max_code) | b >> 31 << 15;
    out[i] = static_cast<std::uint16_t>(m < 0x23800000u ? 0u : code);  // 2^-56
  }
}

namespace {
// out[i] = value_of(codes[i]).
template <class Value>
inline void each_code(std::span<const std::uint64_t> codes, double* out, Value&& value_of) {
  const std::uint64_t* from = codes.data();
  for (std::size_t i = 0, n = codes.size(); i < n; ++i) out[i] = value_of(from[i]);
}

// code - zero, or what is stored of signed codes: in two's complement, or biased.
void decode_integers(const DTypeInfo& type, std::span<const std::uint64_t> codes,
                     std::uint64_t zero, double* out) {
  const std::uint64_t offset = type.is_signed ? type.codec.integer.bias : zero;
  if (type.is_signed && offset == 0) {
    if (type.bits == 64)
      return each_code(codes, out, [](std::uint64_t c) {
        return static_cast<double>(static_cast<std::int64_t>(c));
      });
    const int unused = 32 - type.bits;
    return each_code(codes, out, [=](std::uint64_t c) {
      const auto high = static_cast<std::int32_t>(static_cast<std::uint32_t>(c) << unused);
      return static_cast<double>(high >> unused);
    });
  }
  if (type.bits == 64)
    return each_code(codes, out, [=](std::uint64_t c) {
      return c >= zero ? static_cast<double>(c - zero) : -static_cast<double>(zero - c);
    });
  each_code(codes, out, [=](std::uint64_t c) {
    return static_cast<double>(static_cast<std::int64_t>(c) - static_cast<std::int64_t>(offset));
  });
}
}  // namespace

void decode_group(DType dtype, std::span<const std::uint64_t> codes, std::uint64_t zero,
                  double* out) {
  const DTypeInfo& type = info(dtype);
  switch (type.codec.family) {
    case CodecFamily::ieee:
      if (type.bits == 64)
        return each_code(codes, out, [](std::uint64_t c) { return std::bit_cast<double>(c); });
      return each_code(codes, out, [](std::uint64_t c) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(c)));
      });
    case CodecFamily::small_float:
      return each_code(codes, out, [&f = type.codec.small_float](std::uint64_t c) {
        return static_cast<double>(decode_small_float(static_cast<std::uint32_t>(c), f));
      });
    case CodecFamily::sign:
      return each_code(codes, out, [](std::uint64_t c) { return c != 0 ? 1.0 : -1.0; });
    case CodecFamily::integer: return decode_integers(type, codes, zero, out);
  }
}

template bool within(std::span<const float>, float);
template bool within(std::span<const double>, double);
template void flush(DType, std::span<const float>, double*);
template void flush(DType, std::span<const double>, double*);
template void flush(DType, std::span<const float>, float*);
template void flush(DType, std::span<const double>, float*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint8_t*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint16_t*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint32_t*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint64_t*);

}  // namespace loom
