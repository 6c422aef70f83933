// What a caller says of a file of weights, where names and shapes do not
// (docs/reference/weights.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/status.h"

namespace loom {

struct WeightSettings {
  Json input, layers, topology;               // null: not given
  Json activation, heads, types, cells, map;  // objects, empty where not given
  bool sequential = false;
  std::string layout;  // of matrices: "out_in", "in_out"; "": as shapes tell
  std::vector<std::string> leave;
  std::optional<std::vector<std::string>> strip;

  // Errors: invalid_argument for unknown keys and values of other types.
  static Result<WeightSettings> parse(const Json& json);
  // What goes for a module that is a layer of this type, its own settings first. No "type".
  Json of(const std::string& path, const std::string& type) const;
  // "" where none is given.
  std::string type_of(const std::string& path) const;
  // The cells that are modules without tensors: those with a path that no module has.
  bool leaves(std::string_view tensor) const;
};

}  // namespace loom
