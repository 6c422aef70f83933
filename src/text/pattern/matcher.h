// Finds a pattern or a literal text. Immutable, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/pattern/pattern.h"
#include "text/pipeline/step.h"

namespace loom::text {

class Matcher {
 public:
  static Result<Matcher> compile(const Step& step);
  static Result<Matcher> compile_pattern(std::string_view expression);

  void find_all(std::string_view text, std::vector<Span>& matches, Pattern::Scratch& scratch) const;
  // `text` with every match replaced.
  std::string replace(std::string_view text, std::string_view replacement) const;

 private:
  std::string literal_;
  Pattern pattern_;
  bool is_pattern_ = false;
};

}  // namespace loom::text
