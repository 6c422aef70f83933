// Watches a stream of text for stop strings. What could still become one is held back, so text
// behind a stop is never delivered, wherever the pieces of the stream begin and end. Not
// thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loom {

class StopFilter {
 public:
  // Empty strings are passed over.
  explicit StopFilter(std::vector<std::string> stops);

  // The text that is safe to deliver now. After a stop string: what stood before it, then nothing
  // more.
  std::string push(std::string_view text);
  // The end of the stream: what was held back.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace loom
