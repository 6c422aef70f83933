// Tensors of a file by the modules that they belong to, as PyTorch names them: "layers.0.weight" is
// the weight of the module "layers.0".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/tensor_file.h"

namespace loom {

struct WeightModule {
  struct Part {
    std::string role;  // what follows the path: "weight", "q_proj.weight"; "" of a bare parameter
    const TensorInfo* tensor;
  };
  std::string path;  // "" of what lies at the root
  std::vector<Part> parts;
  std::string kind;  // "attention", "swiglu": several modules that are one layer; else ""

  const TensorInfo* find(std::string_view role) const;  // nullptr where absent
  bool has(std::string_view role) const { return find(role) != nullptr; }
};

// Numbers in names count as numbers: "layers.10" comes after "layers.9".
bool natural_less(std::string_view a, std::string_view b);

enum class NameOrder : std::uint8_t { before, after, unknown };
// Which of two modules comes first by a number where their names differ, "0" and "2" or "fc1" and
// "fc2".
NameOrder name_order(std::string_view a, std::string_view b);

struct StrippedNames {
  std::vector<std::string> names;     // of the tensors, in their order
  std::vector<std::string> prefixes;  // that were taken away
};
// Names without the prefixes of wrappers: "module." (DataParallel), "_orig_mod." (torch.compile,
// also inside), "base_model.model." (PEFT), "model." and "transformer." (HuggingFace). A prefix
// goes where all names have it, those of HuggingFace also where others are heads. `given`: these
// and no others. Errors: invalid_argument for a given one that no name has, or two names that
// become one.
Result<StrippedNames> strip_prefixes(std::span<const TensorInfo> tensors,
                                     const std::vector<std::string>* given);

// In the natural order of their paths; `join`: those that are one layer become one (kind). Errors:
// unsupported for adapters, whose tensors are not those of a network.
Result<std::vector<WeightModule>> modules_of(std::span<const TensorInfo> tensors,
                                             const std::vector<std::string>& names, bool join);

}  // namespace loom
