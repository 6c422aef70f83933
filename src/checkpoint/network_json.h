// A network with its weights as JSON: the sections and tensors of an .entity file, one by one
// (docs/reference/entity.md).
#pragma once

#include <string>
#include <vector>

#include "checkpoint/entity.h"

namespace loom {

// Text of more bytes than this is neither written nor read.
inline constexpr std::uint64_t kMaxNetworkJson = std::uint64_t{1} << 30;

// {"format": "loom-network", "version": 1, "topology": ..., "sections": {name: base64},
// "tensors": {name: {"type", "shape", "data": base64}}}. Equal networks make equal bytes, and
// reading and writing again does, too. Errors: of save_network; out_of_range for one that is too
// large.
Result<std::string> network_to_json(Network& network, const EntitySections& extra = {});

// Whether an object says that it is one.
bool is_network_json(const Json& json);
// The .entity file with the same content. A tensor of f32 or f64 may have "values", an array of
// numbers, in place of "data". Errors: invalid_argument for unknown keys and what does not go
// together, unsupported for another version; what the content itself is, load_network says.
Result<std::vector<std::byte>> entity_of_json(const Json& json);

}  // namespace loom
