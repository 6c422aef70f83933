// Events as datagrams of JSON: docs/guide/telemetry.md has their keys.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "support/json.h"

namespace loom::cli {

class Datagrams {
 public:
  static constexpr std::size_t kMaxLinks = 48, kMaxBranches = 32;
  // Layers of the blueprint, by their paths; without it datagrams tell of the events alone.
  void begin(const Json& blueprint);
  // The next one.
  Json of(const Json& event);

 private:
  void collect(const Json& layers);
  Json blueprint_;
  std::unordered_map<std::string, const Json*> layers_;
  std::int64_t number_ = 0, index_ = 0, pass_ = -1;
  std::string direction_;
};

}  // namespace loom::cli
