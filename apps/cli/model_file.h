// A file or folder seen from outside: what it is and which tensors it holds, without their values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/gguf.h"
#include "formats/safetensors.h"
#include "formats/sniff.h"

namespace loom::cli {

struct ModelFile {
  std::string path;   // the file or folder
  std::string title;  // what a status line calls it: the last parts of the path
  FileKind kind = FileKind::safetensors;
  std::vector<TensorInfo> tensors;  // sorted by name
  Metadata metadata;                // of safetensors
  std::optional<Gguf> gguf;

  std::uint64_t bytes() const;     // of all tensors
  std::uint64_t elements() const;
  // How most of the bytes are stored: "bf16".
  std::string main_type() const;
};

// `name`: a path, or a model in the HuggingFace cache.
Result<ModelFile> open_model_file(const std::string& name);

std::string title_of(const std::string& path);

}  // namespace loom::cli
