// safetensors, one file or the shards of a folder; read and write. Format: 8 bytes little-endian
// header length, a JSON object {name: {dtype, shape, data_offsets}}, then the data without holes
// (docs/reference/formats.md). Immutable after opening; any thread may read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/tensor_file.h"

namespace loom {

// Pairs of the "__metadata__" object.
using Metadata = std::vector<std::pair<std::string, std::string>>;

class Safetensors {
 public:
  static constexpr std::uint64_t kMaxHeader =
      100'000'000;  // bytes, as the reference implementation

  // All or nothing: every tensor is checked against the file before the first is given out.
  static Result<Safetensors> open(SourcePtr source);
  // The same of safetensors or a PyTorch file (formats/torch/torch.h), whichever it is.
  static Result<Safetensors> open_weights(SourcePtr source);
  // model.safetensors, or every shard of model.safetensors.index.json: each promised tensor must
  // lie in the shard promised for it. Where neither is there, pytorch_model.bin or its shards.
  static Result<Safetensors> open_folder(const std::string& folder,
                                         MapMode mode = MapMode::map_if_possible);
  // The header length that the first 8 bytes state, checked against kMaxHeader and the size of the
  // source.
  static Result<std::uint64_t> header_size(const ByteSource& source);

  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // sorted by name
  const TensorInfo* find(std::string_view name) const;                 // nullptr where absent
  const Metadata& metadata() const {
    return metadata_;
  }  // sorted by key; of a folder: its first shard's

 private:
  static Result<Safetensors> open_shards(const std::string& folder, std::string_view index,
                                         MapMode mode);

  std::vector<TensorInfo> tensors_;
  Metadata metadata_;
};

// Writes `path` atomically, streaming the stored bytes of each tensor from its source. The bytes
// depend on the set of tensors and metadata alone, not on their order: tensors lie by falling
// alignment, then name, as the reference implementation writes them, so every tensor is aligned to
// its element. Errors: unsupported for a type safetensors does not have (the q* blocks),
// invalid_argument for a name twice or a shape that contradicts the size.
Status write_safetensors(const std::string& path, std::span<const TensorInfo> tensors,
                         const Metadata& metadata = {});
// The same into memory.
Status write_safetensors(std::vector<std::byte>* bytes, std::span<const TensorInfo> tensors,
                         const Metadata& metadata = {});

}  // namespace loom
