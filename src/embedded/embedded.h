// The bytes of models/embedded.entity, in the read-only part of the program: nothing is unpacked, copied or freed. Immutable; any thread.
#pragma once

#include <cstddef>
#include <span>

namespace loom {

// At a multiple of 64 in memory, as packed matrices need it. Empty where the build has no model.
std::span<const std::byte> embedded_model();

}  // namespace loom
