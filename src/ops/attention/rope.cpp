#include "ops/attention/rope.h"

#include "base/math/exact_math.h"

namespace loom {
namespace {

constexpr double kPi = 3.14159265358979323846;

// One inverse frequency in precision T.
template <class T>
T inverse_frequency(const RopeSpec& s, std::int64_t i, std::int64_t head_dim) {
  const T exponent = static_cast<T>(2 * i) / static_cast<T>(head_dim);
  T f = T(1) / exact::pow(static_cast<T>(s.theta), exponent);
  if (s.scaling == RopeScaling::linear) return f / static_cast<T>(s.factor);
  if (s.scaling == RopeScaling::llama3) {
    const T wavelength = static_cast<T>(2 * kPi) / f;
    const T old = static_cast<T>(s.original_max_positions);
    const T low = static_cast<T>(s.original_max_positions / s.low_freq_factor),
            high = static_cast<T>(s.original_max_positions / s.high_freq_factor);
    const T scaled = f / static_cast<T>(s.factor);
    if (wavelength > low) return scaled;
    if (!(wavelength < high)) {
      const T smooth = (old / wavelength - static_cast<T>(s.low_freq_factor)) /
                       static_cast<T>(s.high_freq_factor - s.low_freq_factor);
      return (T(1) - smooth) * f / static_cast<T>(s.factor) + smooth * f;
    }
  }
  return f;
}

template <class T>
void fill(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim, std::int64_t stride,
          T* table) {
  const std::int64_t half = head_dim / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const T f = inverse_frequency<T>(spec, i, head_dim);
    for (std::int64_t p = 0; p < positions; ++p) {
      const T angle = static_cast<T>(p) * f;
      table[p * stride + i] = exact::cos(angle);
      table[p * stride + half + i] = exact::sin(angle);
    }
  }
}

}  // namespace

std::vector<double> RopeSpec::to_reals() const {
  return {theta,
          static_cast<double>(static_cast<int>(scaling)),
          factor,
          low_freq_factor,
          high_freq_factor,
          original_max_positions};
}

Result<RopeSpec> RopeSpec::from_reals(std::span<const double> r) {
  auto bad = [](const char* what) {
    return Status(Code::invalid_argument, std::string("rope: ") + what);
  };
  if (r.size() != 6) return bad("a rope constant has six numbers");
  RopeSpec s{r[0], RopeScaling::none, r[2], r[3], r[4], r[5]};
  if (!(r[0] >= 1 && r[0] <= 1e12)) return bad("theta must be in 1..1e12");
  if (r[1] != 0 && r[1] != 1 && r[1] != 2) return bad("unknown scaling kind");
  s.scaling = static_cast<RopeScaling>(static_cast<int>(r[1]));
  if (!(s.factor > 0 && s.factor <= 1e6)) return bad("factor must be in (0, 1e6]");
  if (s.scaling == RopeScaling::llama3 &&
      !(s.low_freq_factor > 0 && s.high_freq_factor > s.low_freq_factor &&
        s.high_freq_factor <= 1e6 && s.original_max_positions >= 1 &&
        s.original_max_positions <= 1e9))
    return bad(
        "llama3 scaling needs 0 < low_freq_factor < high_freq_factor and original_max_positions >= "
        "1");
  return s;
}

void fill_rope_table(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim,
                     std::int64_t stride, float* table) {
  fill(spec, positions, head_dim, stride, table);
}
void fill_rope_table(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim,
                     std::int64_t stride, double* table) {
  fill(spec, positions, head_dim, stride, table);
}

}  // namespace loom
