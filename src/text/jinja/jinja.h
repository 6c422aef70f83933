// The part of Jinja that chat templates are written in, as transformers sets it up (trim_blocks,
// lstrip_blocks, break and continue, raise_exception, an immutable sandbox). What is not known is
// refused by name: a tag when the template is read, a filter, test or method when it is used.
// Work and memory are bounded. Nothing here reads a clock or a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "text/jinja/syntax.h"
#include "text/jinja/value.h"

namespace loom::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

// For one thread at a time.
class Template {
 public:
  static Result<Template> parse(std::string_view source);
  // Errors: invalid_argument where the template raises an exception or reads from a value that is
  // not there; unsupported, with the name; out_of_range where the template does too much.
  // The variable "strftime_now" is a date, YYYY-MM-DD, or is left out: then there is no such
  // function.
  Result<Text> render(Variables variables) const;
  // The names that it reads, its own among them.
  std::vector<std::string_view> names() const;

 private:
  explicit Template(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}
  std::vector<Node> nodes_;
};

}  // namespace loom::jinja
