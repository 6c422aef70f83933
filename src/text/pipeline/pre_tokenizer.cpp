#include "text/pipeline/pre_tokenizer.h"

#include <algorithm>

#include "text/bpe/byte_level.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace loom::text {

Result<PreTokenizer> PreTokenizer::build(std::vector<Step> steps) {
  PreTokenizer p;
  for (const Step& step : steps) {
    Matcher& matcher = p.matchers_.emplace_back();
    switch (step.kind) {
      case StepKind::split:
      case StepKind::character: {
        LOOM_ASSIGN(matcher, Matcher::compile(step));
        break;
      }
      case StepKind::byte_level:
        if (step.has(Step::kRegex)) {
          LOOM_ASSIGN(matcher, Matcher::compile_pattern(kGpt2Pattern));
        }
        break;
      case StepKind::metaspace: {
        LOOM_ASSIGN(matcher, Matcher::compile(step));
        break;
      }
      case StepKind::digits:
      case StepKind::whitespace:
      case StepKind::whitespace_split:
      case StepKind::punctuation:
      case StepKind::bert: break;
      default:
        return Status(Code::corrupt, "step " + std::to_string(static_cast<int>(step.kind)) +
                                         " is no pre-tokenizer");
    }
  }
  p.steps_ = std::move(steps);
  return p;
}

namespace {

using Parts = std::vector<std::pair<Span, bool>>;  // the whole of a text, in order; true: a match

// Appends the words that a behavior makes of the parts.
void apply_behavior(const Parts& parts, SplitBehavior behavior, std::vector<Span>& out) {
  const std::size_t first = out.size();
  bool previous = false;
  switch (behavior) {
    case SplitBehavior::removed:
      for (const auto& [span, match] : parts)
        if (!match) out.push_back(span);
      break;
    case SplitBehavior::isolated:
      for (const auto& [span, match] : parts) out.push_back(span);
      break;
    case SplitBehavior::contiguous:
      for (const auto& [span, match] : parts) {
        if (match == previous && out.size() > first) out.back().end = span.end;
        else out.push_back(span);
        previous = match;
      }
      break;
    case SplitBehavior::merged_with_previous:
      for (const auto& [span, match] : parts) {
        if (match && !previous && out.size() > first) out.back().end = span.end;
        else out.push_back(span);
        previous = match;
      }
      break;
    case SplitBehavior::merged_with_next:
      // The mirror image, from the right.
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (part->second && !previous && out.size() > first) out.back().begin = part->first.begin;
        else out.push_back(part->first);
        previous = part->second;
      }
      std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }
  std::erase_if(out, [](const Span& s) { return s.begin == s.end; });
}

// Parts from matches; those lie in `word`, counted from its beginning.
void parts_of(Span word, const std::vector<Span>& matches, bool invert, Parts& parts) {
  parts.clear();
  std::size_t at = word.begin;
  for (const Span& m : matches) {
    if (word.begin + m.begin != at) parts.push_back({{at, word.begin + m.begin}, invert});
    parts.push_back({{word.begin + m.begin, word.begin + m.end}, !invert});
    at = word.begin + m.end;
  }
  if (at != word.end) parts.push_back({{at, word.end}, invert});
}

// Splits every word at the characters that the test picks.
template <class Test>
void split_at(Words& words, SplitBehavior behavior, Test test) {
  words.other_spans.clear();
  std::vector<Span> made;
  for (const Span& word : words.spans) {
    words.parts.clear();
    std::size_t open = word.begin;
    for (std::size_t at = word.begin; at < word.end;) {
      const std::size_t begin = at;
      if (!test(utf8_next(words.text, at))) continue;
      if (open < begin) words.parts.push_back({{open, begin}, false});
      words.parts.push_back({{begin, at}, true});
      open = at;
    }
    if (open < word.end) words.parts.push_back({{open, word.end}, false});
    made.clear();
    apply_behavior(words.parts, behavior, made);
    words.other_spans.insert(words.other_spans.end(), made.begin(), made.end());
  }
  words.spans.swap(words.other_spans);
}

// Runs of \w, and runs of what is neither \w nor white space.
void split_words(Words& words) {
  words.other_spans.clear();
  const auto kind = [](char32_t c) {
    return (attributes(c) & kWord) != 0 ? 1 : is_whitespace(c) ? 0 : 2;
  };
  for (const Span& word : words.spans) {
    int last = 0;
    for (std::size_t at = word.begin; at < word.end;) {
      const std::size_t begin = at;
      const int k = kind(utf8_next(words.text, at));
      if (k != 0 && k == last) words.other_spans.back().end = at;
      else if (k != 0) words.other_spans.push_back({begin, at});
      last = k;
    }
  }
  words.spans.swap(words.other_spans);
}

// Rewrites every word by append(word, out).
template <class Append>
void rewrite(Words& words, Append append) {
  words.other_storage.clear();
  for (Span& word : words.spans) {
    const std::size_t begin = words.other_storage.size();
    append(words.text.substr(word.begin, word.end - word.begin), words.other_storage);
    word = {begin, words.other_storage.size()};
  }
  words.storage.swap(words.other_storage);
  words.text = words.storage;
}

}  // namespace

void PreTokenizer::split(const Step& step, const Matcher& matcher, Words& words) const {
  words.other_spans.clear();
  std::vector<Span> made;
  for (const Span& word : words.spans) {
    words.matches.clear();
    matcher.find_all(words.text.substr(word.begin, word.end - word.begin), words.matches,
                     words.pattern);
    parts_of(word, words.matches, step.has(Step::kInvert), words.parts);
    made.clear();
    apply_behavior(words.parts, step.behavior, made);
    words.other_spans.insert(words.other_spans.end(), made.begin(), made.end());
  }
  words.spans.swap(words.other_spans);
}

void PreTokenizer::apply(std::string_view text, bool at_start, Words& words) const {
  words.text = text;
  words.spans.clear();
  if (text.empty()) return;
  words.spans.push_back({0, text.size()});
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    // Whether the first word still holds the beginning of the input.
    at_start = at_start && !words.spans.empty() && words.spans[0].begin == 0;
    switch (step.kind) {
      case StepKind::byte_level:
        if (step.has(Step::kAddSpace)) {
          rewrite(words, [](std::string_view word, std::string& out) {
            if (word[0] != ' ') out.push_back(' ');
            out.append(word);
          });
        }
        if (step.has(Step::kRegex)) split(step, matchers_[i], words);
        rewrite(words,
                [](std::string_view word, std::string& out) { append_byte_characters(out, word); });
        break;
      case StepKind::metaspace: {
        bool first = at_start;
        rewrite(words, [&](std::string_view word, std::string& out) {
          const bool prepend = step.has(Step::kAddSpace) && (!step.has(Step::kFirstOnly) || first);
          if (prepend && word[0] != ' ' && !word.starts_with(step.text)) out.append(step.text);
          for (const char c : word) {
            if (c == ' ') out.append(step.text);
            else out.push_back(c);
          }
          first = false;
        });
        if (step.has(Step::kSplit)) split(step, matchers_[i], words);
        break;
      }
      case StepKind::digits:
        split_at(words,
                 step.has(Step::kIndividual) ? SplitBehavior::isolated : SplitBehavior::contiguous,
                 [](char32_t c) {
                   return c < 0x80 ? c >= '0' && c <= '9' : (attributes(c) & kNumeric) != 0;
                 });
        break;
      case StepKind::whitespace: split_words(words); break;
      case StepKind::whitespace_split:
        split_at(words, SplitBehavior::removed, is_whitespace);
        break;
      case StepKind::punctuation:
        split_at(words, step.behavior,
                 [](char32_t c) { return (attributes(c) & kPunctuation) != 0; });
        break;
      case StepKind::bert:
        split_at(words, SplitBehavior::removed, is_whitespace);
        split_at(words, SplitBehavior::isolated,
                 [](char32_t c) { return (attributes(c) & kPunctuation) != 0; });
        break;
      default: split(step, matchers_[i], words);
    }
  }
}

}  // namespace loom::text
