#include "train/data/rounding.h"

#include <algorithm>

#include "base/json/json.h"

namespace loom {

void Rounding::add(double v) {
  if (v != v) return;
  const double rounded = static_cast<double>(static_cast<float>(v));
  min_ = any_ ? std::min(min_, v) : v;
  max_ = any_ ? std::max(max_, v) : v;
  lost_ = std::max(lost_, v > rounded ? v - rounded : rounded - v);
  any_ = true;
}

std::string Rounding::merged() const {
  const double spread = max_ - min_;
  if (!(spread > 0) || !(lost_ > 1e-2 * spread)) return "";
  return "lies between " + format_double(min_) + " and " + format_double(max_) +
         ", and f32 rounds by up to " + format_double(lost_) + " there: take an offset off it";
}

}  // namespace loom
