#include "numeric/packed/quantize.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "numeric/codec.h"

namespace loom {
namespace {

constexpr double kTiniest = 0x1p-100;       // numerics rule 9: less is stored as 0
constexpr double kTiniestScale = 0x1p-120;  // a scale this small belongs to a mean over almost nothing
constexpr double kShrink = 0.96;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kExponent = std::uint64_t{0x7FF} << 52;

double magnitude(double x) { return x < 0 ? -x : x; }

// The nearest integer of a double of any size: from 2^52 on all are integers.
double round_wide(double x) { return magnitude(x) < 0x1p51 ? round_even(x) : x; }

// The greatest code, as far as a double has it, of which both signs (of unsigned types both ends)
// may round outwards: those of 64 bits end at a power of two that no code reaches.
double power_of_two_limit(const DTypeInfo& type) {
  const double high = type.codec.integer.high;
  if (type.bits == 64) return std::bit_cast<double>(std::bit_cast<std::uint64_t>(high) - 1);
  return type.is_signed ? high : high - 2;
}

// The least power of two p with x <= limit * p, for x > 0.
double power_of_two_scale(double x, double limit) {
  const auto exponent = [](double v) { return static_cast<int>(std::bit_cast<std::uint64_t>(v) >> 52) - 1023; };
  const auto power = [](int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); };
  int e = std::max(exponent(x) - exponent(limit) - 1, -1022);
  while (e < 1023 && limit * power(e) < x) ++e;
  return power(e);
}

// Vectors of GCC and Clang: lane for lane the same IEEE operations on every target.
typedef double Wide __attribute__((vector_size(16)));
typedef float Half __attribute__((vector_size(8)));
typedef std::uint64_t Bits __attribute__((vector_size(16)));
inline Wide load_wide(const double* from) {
  Wide v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

struct Range { double low = 0, high = 0, sum = 0; };  // low <= 0 <= high; the sum of magnitudes, in ascending order
void extend(Range& r, const double* x, std::size_t n, bool with_sum) {
  std::size_t i = 0;
  if (n >= 8) {
    Wide low[4], high[4];
    for (int j = 0; j < 4; ++j) low[j] = Wide{} + r.low, high[j] = Wide{} + r.high;
    for (; i + 8 <= n; i += 8)
      for (int j = 0; j < 4; ++j) {
        const Wide v = load_wide(x + i + 2 * static_cast<std::size_t>(j));
        low[j] = v < low[j] ? v : low[j];
        high[j] = v > high[j] ? v : high[j];
      }
    for (int j = 0; j < 8; ++j) {
      r.low = std::min(r.low, low[j / 2][j % 2]);
      r.high = std::max(r.high, high[j / 2][j % 2]);
    }
  }
  for (; i < n; ++i) {
    r.low = std::min(r.low, x[i]);
    r.high = std::max(r.high, x[i]);
  }
  if (!with_sum) return;
  double sum = r.sum;
  for (i = 0; i < n; ++i) sum += magnitude(x[i]);
  r.sum = sum;
}

double to_f32(double scale) { return static_cast<double>(static_cast<float>(scale)); }

// Zero point of an affine type: the code of 0, so that zeros stay zeros.
std::uint64_t zero_point(const Range& r, double scale, double levels) {
  return static_cast<std::uint64_t>(std::clamp(round_wide(-r.low / scale), 0.0, levels));
}

// Scale (and zero point) of the range shrunk to `part` of itself.
GroupScale scale_of(DType dtype, const Range& r, double part) {
  GroupScale g;
  const DTypeInfo& type = info(dtype);
  const SmallFloat& f = type.codec.small_float;
  if (type.is_signed) {
    const double top = type.is_float ? static_cast<double>(decode_small_float(f.max_code, f))
                                     : type.codec.integer.high;
    g.scale = to_f32(std::max(r.high, -r.low) * part / top);
  } else {
    const double levels = type.codec.integer.high;
    g.scale = to_f32((r.high - r.low) * part / levels);
    g.zero = zero_point({r.low * part, r.high * part, 0}, g.scale, levels);
  }
  return g;
}

// The squared errors of kLanes shrunken scales side by side, each summed over the values in ascending order.
constexpr int kLanes = 4;
struct Trial {
  GroupScale scale[kLanes];
  Wide step[kLanes / 2], inverse[kLanes / 2], low[kLanes / 2], high[kLanes / 2], error[kLanes / 2];
};

// The nearest code's value of q, lane by lane; `low` and `high` bound integers.
struct NearestInteger {
  Wide operator()(Wide q, Wide low, Wide high) const {
    q = (q + 0x1.8p52) - 0x1.8p52;
    q = q < low ? low : q;
    return q > high ? high : q;
  }
};
// Of a small float, ties to an even code: q through f32, as codes are made from it. Adding 2^52
// steps of its exponent rounds (encode_floats says why).
struct NearestFloat {
  double top, most, least, grid;  // largest value, powers of two below it and of normal values

  explicit NearestFloat(const SmallFloat& f)
      : top(static_cast<double>(decode_small_float(f.max_code, f))),
        most(std::bit_cast<double>(std::bit_cast<std::uint64_t>(top) & kExponent)),
        least(std::bit_cast<double>(static_cast<std::uint64_t>(1024 - f.bias) << 52)),
        grid(std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 52 - f.mantissa_bits) << 52)) {}

  Wide operator()(Wide q, Wide, Wide) const {
    Bits b;
    q = __builtin_convertvector(__builtin_convertvector(q, Half), Wide);
    std::memcpy(&b, &q, sizeof b);
    const Bits sign = b & kSign;
    Bits e = b & kExponent;
    b &= ~kSign;
    Wide v, p;
    std::memcpy(&v, &b, sizeof v);
    std::memcpy(&p, &e, sizeof p);
    v = v < top ? v : Wide{} + top;
    p = p > most ? Wide{} + most : p;
    p = (p > least ? p : Wide{} + least) * grid;
    v = (v + p) - p;
    std::memcpy(&b, &v, sizeof b);
    b |= sign;
    std::memcpy(&v, &b, sizeof v);
    return v;
  }
};
template <class Nearest>
void add_errors(Trial& t, const double* x, std::size_t n, const Nearest& nearest) {
  Trial local = t;  // in registers
  for (std::size_t i = 0; i < n; ++i)
    for (int j = 0; j < kLanes / 2; ++j) {
      const Wide q = nearest(x[i] * local.inverse[j], local.low[j], local.high[j]);
      const Wide d = q * local.step[j] - x[i];
      local.error[j] += d * d;
    }
  for (int j = 0; j < kLanes / 2; ++j) t.error[j] = local.error[j];
}

// The values of a group, however many, flushed: `get` returns `count` of them from `first` on, up to kChunk, in `room` where they are not in memory so.
constexpr std::size_t kChunk = 512;
struct Source {
  DType dtype;
  const void* values;
  std::size_t count;
  const double* (*get)(const Source& from, std::size_t first, std::size_t count, double* room);
  // f(values, count) until it is false.
  template <class F>
  void each(F&& f) const {
    double room[kChunk];
    for (std::size_t i = 0; i < count; i += kChunk) {
      const std::size_t some = std::min(kChunk, count - i);
      if (!f(get(*this, i, some, room), some)) return;
    }
  }
};

GroupScale search(DType dtype, const Range& r, const Source& source) {
  const DTypeInfo& type = info(dtype);
  const int steps = type.bits == 2 ? 48 : 24;
  const IntegerCodes& c = type.codec.integer;
  const NearestFloat nearest(type.codec.small_float);
  GroupScale best;
  double least = -1, part = 1;
  for (int first = 0; first < steps; first += kLanes) {
    Trial t{};
    for (int j = 0; j < kLanes; ++j, part *= kShrink) {
      const GroupScale g = t.scale[j] = scale_of(dtype, r, part);
      t.step[j / 2][j % 2] = g.scale;
      t.inverse[j / 2][j % 2] = 1 / g.scale;
      t.low[j / 2][j % 2] = c.low - static_cast<double>(g.zero);
      t.high[j / 2][j % 2] = c.high - static_cast<double>(g.zero);
    }
    // Errors only grow: once all lanes have as much as the least there is, none of them can win.
    bool open = true;
    source.each([&](const double* x, std::size_t n) {
      for (std::size_t i = 0; i < n && open; i += 32) {
        const std::size_t some = std::min<std::size_t>(32, n - i);
        if (type.is_float) add_errors(t, x + i, some, nearest);
        else add_errors(t, x + i, some, NearestInteger());
        open = least < 0;
        for (int j = 0; j < kLanes; ++j) open |= t.error[j / 2][j % 2] < least;
      }
      return open;
    });
    for (int j = 0; j < kLanes && open; ++j) {
      const double error = t.error[j / 2][j % 2];
      if (least < 0 || error < least) { least = error; best = t.scale[j]; }
    }
  }
  return best;
}

GroupScale choose(const Source& source) {
  const DType dtype = source.dtype;
  const DTypeInfo& type = info(dtype);
  if (!type.scaled) return {1, 0};
  Range r;
  const bool by_mean = type.scale == ScaleRule::mean;
  source.each([&](const double* x, std::size_t n) { return extend(r, x, n, by_mean), true; });
  const double peak = std::max(r.high, -r.low);
  if (peak == 0) return {0, 0};
  GroupScale g;
  switch (type.scale) {
    case ScaleRule::power_of_two: {
      const double limit = power_of_two_limit(type);
      if (type.is_signed) {
        g.scale = power_of_two_scale(peak, limit);
      } else {
        g.scale = power_of_two_scale(r.high * 0.5 - r.low * 0.5, limit * 0.5);
        g.zero = zero_point(r, g.scale, limit);
      }
      break;
    }
    case ScaleRule::least_error: g = search(dtype, r, source); break;
    case ScaleRule::mean: g.scale = to_f32(r.sum / static_cast<double>(source.count)); break;
    default: g = scale_of(dtype, r, 1); break;
  }
  return g.scale < kTiniestScale && type.arith != ArithClass::real ? GroupScale{0, 0} : g;
}

// out[i] = code_of(x[i]): loops without branches, which compilers turn into vectors.
template <class Code>
inline void each(std::span<const double> x, std::uint64_t* __restrict out, Code&& code_of) {
  const double* __restrict from = x.data();
  for (std::size_t i = 0, n = x.size(); i < n; ++i) out[i] = code_of(from[i]);
}

// Codes of encode_small_float(x / scale), with what is beyond the largest finite value brought back to it: a weight too large for f16
// saturates, since an infinity would poison every sum it enters.
//
// With v = min(|x / scale|, largest) and p the power of two below it, not less than the least normal
// one, the codes around v are p * 2^-M apart. c = p * 2^(52 - M) is a power of two whose last bit
// counts exactly those steps, and v < 2p <= c * 2^-M * 2 leaves v + c in its binade: so the addition
// rounds v to nearest, ties to the even code, and the bits above those of c are the significand as
// kept: with its leading bit where p is of v itself, without where v is subnormal. A carry steps the
// exponent field, which is what the sum does. The exponent of c is that of p and 52 - M.
void encode_floats(std::span<const double> x, double scale, const SmallFloat& f,
                   std::uint64_t* out) {
  const int mantissa = f.mantissa_bits, sign_shift = 64 - f.bits();
  const auto power = [](int e) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + e) << 52);
  };
  const double top = static_cast<double>(decode_small_float(f.max_code, f));
  const double most = std::bit_cast<double>(std::bit_cast<std::uint64_t>(top) & kExponent);
  const double least = power(1 - f.bias), grid = power(52 - mantissa);
  const auto first = static_cast<std::uint64_t>(1024 - f.bias + 52 - mantissa);
  const std::uint64_t sign_bit = std::uint64_t{1} << (f.bits() - 1);
  each(x, out, [=](double value) {
    const std::uint64_t b = std::bit_cast<std::uint64_t>(value / scale);
    double v = std::bit_cast<double>(b & ~kSign), p = std::bit_cast<double>(b & kExponent);
    v = v < top ? v : top;
    p = p < most ? p : most;
    p = p > least ? p : least;
    const double c = p * grid;
    const auto bits_of_c = std::bit_cast<std::uint64_t>(c);
    const std::uint64_t kept = std::bit_cast<std::uint64_t>(v + c) - bits_of_c;
    return (((bits_of_c >> 52) - first) << mantissa) + kept + (b >> sign_shift & sign_bit);
  });
}

// Codes of clamp(rne(x / scale) + zero, low, high) + bias. The bounds are integers, so clamping may come before rounding; and 1.5 * 2^52
// plus a number below 2^51 is that number to nearest even, in two's complement in the last bits. Bits above those of a code are not 0.
void encode_integers(std::span<const double> x, const GroupScale& g, const IntegerCodes& c, std::uint64_t* out) {
  const double scale = g.scale, low = c.low - static_cast<double>(g.zero), high = c.high - static_cast<double>(g.zero);
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

template <class T>
void flush(DType dtype, std::span<const T> values, double* out) {
  const double floor = flush_floor(dtype);
  const T* from = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i) {
    const double x = static_cast<double>(from[i]);
    out[i] = magnitude(x) < floor ? 0.0 : x;
  }
}

GroupScale choose_scale(DType dtype, std::span<const double> flushed) {
  return choose({dtype, flushed.data(), flushed.size(), [](const Source& s, std::size_t first, std::size_t, double*) { return static_cast<const double*>(s.values) + first; }});
}

template <class T>
GroupScale choose_tensor_scale(DType dtype, std::span<const T> values) {
  return choose({dtype, values.data(), values.size(), [](const Source& s, std::size_t first, std::size_t count, double* room) -> const double* {
                   flush<T>(s.dtype, {static_cast<const T*>(s.values) + first, count}, room);
                   return room;
                 }});
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
template GroupScale choose_tensor_scale(DType, std::span<const float>);
template GroupScale choose_tensor_scale(DType, std::span<const double>);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint8_t*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint16_t*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint32_t*);
template void encode_group(DType, std::span<const double>, const GroupScale&, std::uint64_t*);

}  // namespace loom
