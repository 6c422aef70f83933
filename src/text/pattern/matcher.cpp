#include "text/pattern/matcher.h"

namespace loom::text {

Result<Matcher> Matcher::compile_pattern(std::string_view expression) {
  Matcher m;
  m.is_pattern_ = true;
  LOOM_ASSIGN(m.pattern_, Pattern::compile(expression));
  return m;
}

Result<Matcher> Matcher::compile(const Step& step) {
  if (step.has(Step::kRegex)) return compile_pattern(step.text);
  if (step.text.empty()) return Status(Code::invalid_argument, "an empty text to search for");
  Matcher m;
  m.literal_ = step.text;
  return m;
}

void Matcher::find_all(std::string_view text, std::vector<Span>& matches,
                       Pattern::Scratch& scratch) const {
  if (is_pattern_) return pattern_.find_all(text, matches, scratch);
  for (std::size_t at = 0; (at = text.find(literal_, at)) != std::string_view::npos;
       at += literal_.size())
    matches.push_back({at, at + literal_.size()});
}

std::string Matcher::replace(std::string_view text, std::string_view replacement) const {
  Pattern::Scratch scratch;
  std::vector<Span> matches;
  find_all(text, matches, scratch);
  std::string out;
  std::size_t at = 0;
  for (const Span& m : matches) {
    out.append(text.substr(at, m.begin - at)).append(replacement);
    at = m.end;
  }
  return out.append(text.substr(at));
}

}  // namespace loom::text
