// How ids are picked from rows of logits where a device goes on by itself: by the rules of
// src/llm/generate/sampler.h. The draw of position n is word n of the stream.
#pragma once

#include <cstdint>
#include <span>

namespace loom {

struct Draw {
  float temperature = 0;  // 0: the most probable; not subnormal
  std::int64_t top_k = 0;
  double top_p = 1, min_p = 0;
  std::uint64_t seed = 0, stream = 0;
  float penalty =
      1;  // of ids seen before: the history, the id that runs, and those picked after it
  std::span<const std::int32_t> history{};
};

}  // namespace loom
