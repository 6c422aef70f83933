// The numbers of ggml's tensor types. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/tensor_file.h"

namespace loom {

// Nothing for what GGUF does not have, or this build does not read.
std::optional<std::uint32_t> ggml_number(StorageType type);

}  // namespace loom
