// What f32 makes of a column of numbers.
#pragma once

#include <string>

namespace loom {

class Rounding {
 public:
  void add(double v);  // NaN: a number that is missing
  // Why f32 makes numbers of the column the same, as 1e9 and 1e9 + 1; empty: it does not.
  std::string merged() const;

 private:
  bool any_ = false;
  double min_ = 0, max_ = 0, lost_ = 0;
};

}  // namespace loom
