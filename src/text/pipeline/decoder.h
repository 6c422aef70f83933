// Turns tokens back into text. The steps form a stream: what one step knows to be final goes to the
// next at once. So decoding all tokens and decoding them one by one are the same computation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pattern/matcher.h"
#include "text/pipeline/step.h"
#include "text/unicode/utf8.h"

namespace loom::text {

// Immutable, thread-safe; each run has its own Run.
class Decoder {
 public:
  static Result<Decoder> build(std::vector<Step> steps);
  const std::vector<Step>& steps() const { return steps_; }

  struct State {
    std::string held;       // input that waits for the end of its piece
    std::string bytes;      // byte_fallback: a run of byte tokens
    bool first = true;      // no piece has ended yet
    bool open = false;      // inside a piece
    std::uint32_t cut = 0;  // strip: characters cut from the start of this piece
    Utf8Stream utf8;
  };
  using Run = std::vector<State>;

  Run start() const { return Run(steps_.size()); }
  // Appends to `out` the text that is final now. `token` is valid UTF-8.
  void push(Run& run, std::string_view token, std::string& out) const {
    feed(run, 0, token, true, out);
  }
  // Appends the rest; the run is spent.
  void finish(Run& run, std::string& out) const;

 private:
  // Gives a fragment of a piece to step `i`; `end`: the piece ends with it.
  void feed(Run& run, std::size_t i, std::string_view text, bool end, std::string& out) const;
  void feed_bytes(Run& run, std::size_t i, std::string_view text, std::string& out) const;
  void feed_suffix(Run& run, std::size_t i, std::string_view text, bool begins,
                   std::string& out) const;
  void flush_bytes(Run& run, std::size_t i, std::string& out) const;
  void strip(Run& run, std::size_t i, std::string_view text, bool end, std::string& out) const;

  std::vector<Step> steps_;
  std::vector<Matcher> matchers_;  // one per step; unused where the step has no pattern
};

}  // namespace loom::text
