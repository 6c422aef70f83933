#include "text/pipeline/normalizer.h"

#include "text/bpe/byte_level.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace loom::text {

Result<Normalizer> Normalizer::build(std::vector<Step> steps) {
  Normalizer n;
  for (const Step& step : steps) {
    if (step.kind > StepKind::map_bytes)
      return Status(Code::corrupt,
                    "step " + std::to_string(static_cast<int>(step.kind)) + " is no normalizer");
    if (step.kind == StepKind::replace) {
      LOOM_ASSIGN(n.matchers_.emplace_back(), Matcher::compile(step));
    }
  }
  n.steps_ = std::move(steps);
  return n;
}

namespace {

std::string lowercase(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) append_lower(points, utf8_next(text, at));
  std::string out;
  for (const char32_t c : points) utf8_append(out, c);
  return out;
}

std::string strip_accents(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if ((attributes(utf8_next(text, at)) & kStrippedAccent) == 0)
      out.append(text.substr(begin, at - begin));
  }
  return out;
}

std::string strip(std::string_view text, bool start, bool stop) {
  std::size_t first = 0, last = 0;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (is_whitespace(utf8_next(text, at))) continue;
    if (!any) first = begin;
    any = true;
    last = at;
  }
  if (!any) return start || stop ? std::string() : std::string(text);
  if (!start) first = 0;
  if (!stop) last = text.size();
  return std::string(text.substr(first, last - first));
}

}  // namespace

std::string Normalizer::apply(std::string_view text) const {
  std::string out(text);
  std::size_t matcher = 0;
  for (const Step& step : steps_) {
    switch (step.kind) {
      case StepKind::nfc: out = normalize_unicode(out, NormalForm::nfc); break;
      case StepKind::nfd: out = normalize_unicode(out, NormalForm::nfd); break;
      case StepKind::nfkc: out = normalize_unicode(out, NormalForm::nfkc); break;
      case StepKind::nfkd: out = normalize_unicode(out, NormalForm::nfkd); break;
      case StepKind::lowercase: out = lowercase(out); break;
      case StepKind::strip_accents: out = strip_accents(out); break;
      case StepKind::strip: out = strip(out, step.has(Step::kStart), step.has(Step::kStop)); break;
      case StepKind::prepend:
        if (!out.empty()) out.insert(0, step.text);
        break;
      case StepKind::replace: out = matchers_[matcher++].replace(out, step.replacement); break;
      default: {
        std::string mapped;
        append_byte_characters(mapped, out);
        out = std::move(mapped);
      }
    }
  }
  return out;
}

}  // namespace loom::text
