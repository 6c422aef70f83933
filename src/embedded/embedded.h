// models/embedded.entity, in the read-only part of the program as bytes of gzip: a sixth smaller,
// and unpacked once, when first asked for (some 10 ms, 1.3 MB that stay). Any thread.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"

namespace loom {

// Whether this build has a model.
bool has_embedded_model();

// The file's bytes, at a multiple of 64 in memory, as packed matrices need it; they live as long as
// the program. Errors: not_found where the build has no model; out_of_memory, after which it can be
// asked for again.
Result<std::span<const std::byte>> embedded_model();

}  // namespace loom
