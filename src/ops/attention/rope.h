// Rotary position embedding (Su et al., arXiv 2104.09864): frequencies and their scaling kinds, and
// the table made from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace loom {

enum class RopeScaling : std::uint8_t {
  none = 0,
  linear = 1,  // frequencies divided by factor
  llama3 = 2,  // Llama 3.1: long wavelengths divided by factor, a smooth ramp between
               // (transformers' _compute_llama3_parameters)
};

struct RopeSpec {
  double theta = 10000.0;
  RopeScaling scaling = RopeScaling::none;
  double factor = 1.0;                   // linear, llama3
  double low_freq_factor = 1.0;          // llama3
  double high_freq_factor = 4.0;         // llama3
  double original_max_positions = 8192;  // llama3
  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;

  // The form a Program's constant carries.
  std::vector<double> to_reals() const;
  static Result<RopeSpec> from_reals(std::span<const double> reals);
};

// Row p holds cos(p * f_i) for i < head_dim/2, then sin(p * f_i). f32 follows transformers: inverse
// frequencies and angles rounded to f32.
void fill_rope_table(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim,
                     std::int64_t stride, float* table);
void fill_rope_table(const RopeSpec& spec, std::int64_t positions, std::int64_t head_dim,
                     std::int64_t stride, double* table);

}  // namespace loom
