#include "text/pipeline/decoder.h"

#include <algorithm>

#include "text/bpe/bpe.h"
#include "text/bpe/byte_level.h"

namespace loom::text {
namespace {

// One character that is replaced wherever it stands: no need to wait for the end of the piece.
bool is_single_character(const Step& step) {
  return !step.has(Step::kRegex) && !step.text.empty() &&
         utf8_step(step.text, 0).size == step.text.size();
}

std::string replace_character(std::string_view text, std::string_view character,
                              std::string_view by) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(character, at)) != std::string_view::npos;
       at = found + character.size())
    out.append(text.substr(at, found - at)).append(by);
  return out.append(text.substr(at));
}

}  // namespace

Result<Decoder> Decoder::build(std::vector<Step> steps) {
  Decoder d;
  for (const Step& step : steps) {
    if (step.kind < StepKind::decode_byte_level || step.kind > StepKind::decode_join)
      return Status(Code::corrupt,
                    "step " + std::to_string(static_cast<int>(step.kind)) + " is no decoder");
    Matcher& matcher = d.matchers_.emplace_back();
    if (step.kind == StepKind::decode_replace) {
      LOOM_ASSIGN(matcher, Matcher::compile(step));
    }
    if ((step.kind == StepKind::decode_strip || step.kind == StepKind::decode_metaspace ||
         step.kind == StepKind::decode_suffix) &&
        step.text.empty())
      return Status(Code::invalid_argument, "decoder: an empty text to search for");
  }
  d.steps_ = std::move(steps);
  return d;
}

// Whether a step looks at a piece as a whole: it waits for the piece's end.
static bool takes_whole_pieces(const Step& step) {
  return step.kind == StepKind::decode_byte_level || step.kind == StepKind::decode_byte_fallback ||
         (step.kind == StepKind::decode_replace && !is_single_character(step)) ||
         (step.kind == StepKind::decode_strip && step.stop > 0);
}

void Decoder::feed(Run& run, std::size_t i, std::string_view text, bool end,
                   std::string& out) const {
  if (i == steps_.size()) {
    out.append(text);
    return;
  }
  const Step& step = steps_[i];
  State& s = run[i];
  const bool begins = !s.open;
  s.open = !end;
  std::string joined;
  if (takes_whole_pieces(step)) {
    if (!end) {
      s.held.append(text);
      return;
    }
    if (!s.held.empty()) {
      joined.swap(s.held);
      text = joined.append(text);
    }
  }
  switch (step.kind) {
    case StepKind::decode_byte_level: {
      const auto bytes = bytes_of_characters(text);
      std::string valid;
      s.utf8.push(bytes ? std::string_view(*bytes) : text, valid);
      if (!valid.empty()) feed(run, i + 1, valid, false, out);
      return;
    }
    case StepKind::decode_byte_fallback: feed_bytes(run, i, text, out); return;
    case StepKind::decode_metaspace: {
      const std::string spaced =
          replace_character(text, step.text, s.first && step.has(Step::kAddSpace) ? "" : " ");
      if (end) s.first = false;
      feed(run, i + 1, spaced, end, out);
      return;
    }
    case StepKind::decode_fuse: feed(run, i + 1, text, false, out); return;
    case StepKind::decode_strip:
      if (begins) s.cut = 0;
      strip(run, i, text, end, out);
      return;
    case StepKind::decode_replace:
      feed(run, i + 1,
           is_single_character(step) ? replace_character(text, step.text, step.replacement)
                                     : matchers_[i].replace(text, step.replacement),
           end, out);
      return;
    case StepKind::decode_suffix: feed_suffix(run, i, text, begins, out); return;
    default:
      if (begins && !s.first) feed(run, i + 1, " ", false, out);
      s.first = false;
      feed(run, i + 1, text, end, out);
  }
}

void Decoder::feed_bytes(Run& run, std::size_t i, std::string_view text, std::string& out) const {
  if (const auto byte = parse_byte_token(text)) {
    run[i].bytes.push_back(static_cast<char>(*byte));
  } else {
    flush_bytes(run, i, out);
    feed(run, i + 1, text, true, out);
  }
}

// The suffix becomes a space, and nothing in the last token: so a token waits for the next.
void Decoder::feed_suffix(Run& run, std::size_t i, std::string_view text, bool begins,
                          std::string& out) const {
  State& s = run[i];
  if (begins && !s.first) {
    std::string token;
    token.swap(s.held);
    feed(run, i + 1, replace_character(token, steps_[i].text, " "), true, out);
  }
  s.first = false;
  s.held.append(text);
}

// A run of byte tokens is text if it is valid as a whole; otherwise every byte is a replacement
// character.
void Decoder::flush_bytes(Run& run, std::size_t i, std::string& out) const {
  std::string bytes;
  bytes.swap(run[i].bytes);
  if (bytes.empty()) return;
  if (utf8_valid(bytes)) return feed(run, i + 1, bytes, true, out);
  for (std::size_t n = 0; n < bytes.size(); ++n) feed(run, i + 1, "\xEF\xBF\xBD", true, out);
}

void Decoder::strip(Run& run, std::size_t i, std::string_view text, bool end,
                    std::string& out) const {
  const Step& step = steps_[i];
  State& s = run[i];
  while (s.cut < step.start && text.starts_with(step.text)) {
    text.remove_prefix(step.text.size());
    ++s.cut;
  }
  if (!text.empty()) s.cut = step.start;  // another character: the start is over
  for (std::uint32_t n = 0; n < step.stop && text.ends_with(step.text); ++n)
    text.remove_suffix(step.text.size());
  feed(run, i + 1, text, end, out);
}

void Decoder::finish(Run& run, std::string& out) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    State& s = run[i];
    switch (steps_[i].kind) {
      case StepKind::decode_byte_level: {
        std::string rest;
        s.utf8.finish(rest);
        feed(run, i + 1, rest, true, out);
        break;
      }
      case StepKind::decode_byte_fallback: flush_bytes(run, i, out); break;
      case StepKind::decode_fuse: feed(run, i + 1, "", true, out); break;
      case StepKind::decode_suffix:
        if (!s.first) feed(run, i + 1, replace_character(s.held, steps_[i].text, ""), true, out);
        break;
      default: break;
    }
  }
}

}  // namespace loom::text
