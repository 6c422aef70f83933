// A file or folder seen from outside: what it is and which tensors it holds, without their values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/entity.h"
#include "formats/gguf/gguf.h"
#include "formats/safetensors/safetensors.h"
#include "formats/sniff.h"

namespace loom::cli {

// A row of a table of tensors, whatever the file.
struct TensorRow {
  std::string name, type;  // "bf16", "packed i4"
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0, elements = 0;
  std::string sha256;  // where the file says it; else made by whoever needs it
};

struct ModelFile {
  std::string path;   // the file or folder
  std::string title;  // what a status line calls it: the last parts of the path
  FileKind kind = FileKind::safetensors;
  std::vector<TensorRow> rows;
  std::vector<TensorInfo>
      tensors;        // of the rows, where their values can be read one by one: not of .entity
  Metadata metadata;  // of safetensors
  std::optional<Gguf> gguf;
  std::optional<Entity> entity;

  std::uint64_t bytes() const;  // of all tensors
  std::uint64_t elements() const;
  // How most of the bytes are stored: "bf16".
  std::string main_type() const;
};

// `name`: a path, or a model in the HuggingFace cache.
Result<ModelFile> open_model_file(const std::string& name);

std::string title_of(const std::string& path);

}  // namespace loom::cli
