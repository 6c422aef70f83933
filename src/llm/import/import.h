// Fills a network with the tensors of a model file by the names that HuggingFace or llama.cpp gave
// them.
#pragma once

#include <span>

#include "formats/gguf/gguf.h"
#include "formats/tensor_file.h"
#include "grid/network.h"
#include "llm/config/architecture.h"
#include "llm/config/config.h"

namespace loom {

enum class Naming : std::uint8_t { hf, gguf };

// How model files know a parameter of a decoder_topology; `name` is null where they do not.
struct NamedPlace {
  const TensorName* name = nullptr;
  std::int64_t block = -1;  // -1: outside of blocks
  std::string spelled(Naming naming) const;
};
NamedPlace place_of(const ModelConfig& config, std::string_view path, std::string_view role);

// Whether two tensors have one shape and the same values.
Result<bool> same_values(const TensorInfo& a, const TensorInfo& b);

// Who looks at matrices as they are packed, one after the other: what `store` became of, whose
// values `read` brings once more, for several threads at once.
class PackWatch {
 public:
  // Before the first: what there is of a tokenizer. An error ends the import.
  virtual Status begins(const std::string& model, const Status& tokenizer) = 0;
  virtual Status packed(WeightStore& store, const PackedMatrix::ReadRows& read,
                        ThreadPool& team) = 0;

 protected:
  ~PackWatch() = default;
};

// The network of `config` with the values of `tensors` (sorted by name, as the readers give them).
// Every tensor is accounted for: one that is missing, has another shape, or belongs nowhere is an
// error that names it, with both shapes. `where` stands before messages. `format`: of the matrices.
// Each is packed as it is read, as Network::pack leaves it. With GgufBlocks::keep matrices in
// blocks (q4_0, q8_0, q4_k, q6_k) stay what they are, and the format is that of the others.
// `watch`, unless null, sees the matrices that are packed, which ternary codes are not.
Result<Network> import_network(const ModelConfig& config, std::span<const TensorInfo> tensors,
                               Naming naming, std::string_view where,
                               const WeightFormat& format = {},
                               GgufBlocks blocks = GgufBlocks::decode, PackWatch* watch = nullptr);

// What import_network would say before it reads a value.
Status check_import(const ModelConfig& config, std::span<const TensorInfo> tensors, Naming naming,
                    std::string_view where);

}  // namespace loom
