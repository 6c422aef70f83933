// Rewrites text before it is split. Immutable, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/pattern/matcher.h"
#include "text/pipeline/step.h"

namespace loom::text {

class Normalizer {
 public:
  static Result<Normalizer> build(std::vector<Step> steps);
  bool empty() const { return steps_.empty(); }
  const std::vector<Step>& steps() const { return steps_; }
  // `text` is valid UTF-8 and not empty.
  std::string apply(std::string_view text) const;

 private:
  std::vector<Step> steps_;
  std::vector<Matcher> matchers_;  // of the replace steps, in order
};

}  // namespace loom::text
