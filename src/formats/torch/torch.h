// PyTorch files of torch.save (.pt, .pth, .bin since PyTorch 1.6): a zip archive of stored records
// with one pickle, which is read as data (docs/reference/formats.md). Nothing in a file is run.
#pragma once

#include "formats/safetensors/safetensors.h"

namespace loom {

struct TorchFile {
  std::vector<TensorInfo> tensors;  // sorted by name: the keys of nested dicts, joined with "."
  Metadata metadata;                // numbers and texts beside them, sorted
};

// Tensors that share a storage share its bytes; other strides are gathered while they are read.
// Errors: unsupported for other archives, names that torch.save does not write for tensors, big
// endian, tensors larger than their storage; corrupt and truncated for damage. Checksums are not
// compared, as PyTorch does not.
Result<TorchFile> open_torch(SourcePtr source);

}  // namespace loom
