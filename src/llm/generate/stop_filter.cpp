#include "llm/generate/stop_filter.h"

#include <algorithm>
#include <utility>

namespace loom {

StopFilter::StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, std::string());
}

std::string StopFilter::push(std::string_view text) {
  if (stopped_) return {};
  held_ += text;
  std::size_t found = std::string::npos, keep = 0;
  for (const std::string& stop : stops_) {
    found = std::min(found, held_.find(stop));
    // The longest end of the text that begins a stop string.
    for (std::size_t n = std::min(stop.size() - 1, held_.size()); n > keep; --n)
      if (held_.ends_with(std::string_view(stop).substr(0, n))) keep = n;
  }
  stopped_ = found != std::string::npos;
  std::string out = held_.substr(0, stopped_ ? found : held_.size() - keep);
  held_.erase(0, stopped_ ? held_.size() : out.size());
  return out;
}

std::string StopFilter::finish() { return std::exchange(held_, {}); }

}  // namespace loom
