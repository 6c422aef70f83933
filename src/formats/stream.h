// The stored bytes of a tensor from its source into a file, in parts of about 1 MiB.
#pragma once

#include "formats/tensor_file.h"

namespace loom {

// Parts are whole blocks.
Status stream_tensor(const TensorInfo& tensor, ByteSink& to);

}  // namespace loom
