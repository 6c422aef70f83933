// Two kinds of text that are part of the project, for tests that learn: its documents, and stories
// of its grammar.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "stories/stories.h"
#include "support/places.h"

namespace loom::test {

// More than 68,000 bytes of English about layers, specs, options and functions.
inline std::string documents() {
  std::string all;
  for (const char* name : {"layers", "training-spec", "options", "c-api"}) {
    std::ifstream file(source_dir() + "/docs/reference/" + name + ".md", std::ios::binary);
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

// Stories of seed 1, one per line, until they have this many bytes.
inline std::string tales(std::size_t bytes) {
  std::string all;
  for (std::uint64_t i = 0; all.size() < bytes; ++i) all += stories::generate(1, i) + "\n";
  return all;
}

}  // namespace loom::test
