// How the scale of a group is chosen: the rules of quantize.h.
#include <algorithm>
#include <bit>
#include <cstring>

#include "numeric/codec.h"
#include "numeric/packed/quantize.h"

namespace loom {
namespace {

// A scale this small belongs to a mean over almost nothing.
constexpr double kTiniestScale = 0x1p-120;
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

// Vectors of GCC and Clang: lane for lane the same IEEE operations on every target.
typedef double Wide __attribute__((vector_size(16)));
typedef float Half __attribute__((vector_size(8)));
typedef std::uint64_t Bits __attribute__((vector_size(16)));
inline Wide load_wide(const double* from) {
  Wide v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

struct Range {
  double low = 0, high = 0, sum = 0;
};  // low <= 0 <= high; the sum of magnitudes, in ascending order
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

// The squared errors of kLanes shrunken scales side by side, each summed over the values in
// ascending order.
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
  double top, max, min, grid;  // largest value, powers of two below it and of normal values

  explicit NearestFloat(const SmallFloat& f)
      : top(static_cast<double>(decode_small_float(f.max_code, f))),
        max(std::bit_cast<double>(std::bit_cast<std::uint64_t>(top) & kExponent)),
        min(std::bit_cast<double>(static_cast<std::uint64_t>(1024 - f.bias) << 52)),
        grid(std::bit_cast<double>(static_cast<std::uint64_t>(1075 - f.mantissa_bits) << 52)) {}

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
    p = p > max ? Wide{} + max : p;
    p = (p > min ? p : Wide{} + min) * grid;
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

// The values of a group, however many, flushed: `get` returns `count` of them from `first` on, up
// to kChunk, in `room` where they are not in memory so.
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
  double min = -1, part = 1;
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
        open = min < 0;
        for (int j = 0; j < kLanes; ++j) open |= t.error[j / 2][j % 2] < min;
      }
      return open;
    });
    for (int j = 0; j < kLanes && open; ++j) {
      const double error = t.error[j / 2][j % 2];
      if (min < 0 || error < min) {
        min = error;
        best = t.scale[j];
      }
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
    case ScaleRule::min_error: g = search(dtype, r, source); break;
    case ScaleRule::mean: g.scale = to_f32(r.sum / static_cast<double>(source.count)); break;
    default: g = scale_of(dtype, r, 1); break;
  }
  return g.scale < kTiniestScale && type.arith != ArithClass::real ? GroupScale{0, 0} : g;
}

}  // namespace

GroupScale choose_scale(DType dtype, std::span<const double> flushed) {
  return choose({dtype, flushed.data(), flushed.size(),
                 [](const Source& s, std::size_t first, std::size_t, double*) {
                   return static_cast<const double*>(s.values) + first;
                 }});
}

template <class T>
GroupScale choose_tensor_scale(DType dtype, std::span<const T> values) {
  return choose(
      {dtype, values.data(), values.size(),
       [](const Source& s, std::size_t first, std::size_t count, double* room) -> const double* {
         flush<T>(s.dtype, {static_cast<const T*>(s.values) + first, count}, room);
         return room;
       }});
}

template GroupScale choose_tensor_scale(DType, std::span<const float>);
template GroupScale choose_tensor_scale(DType, std::span<const double>);

}  // namespace loom
