// A file or folder seen from outside: what it is and which tensors it holds, without their values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files/source.h"
#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "formats/gguf/gguf.h"
#include "formats/safetensors/safetensors.h"
#include "formats/sniff.h"

namespace loom {

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
  bool folder = false;
  bool by_path = true;  // false: from a source, whose name `path` is
  std::vector<TensorRow> rows;
  std::vector<TensorInfo>
      tensors;        // of the rows, where their values can be read one by one: not of .entity
  Metadata metadata;  // of safetensors
  SourcePtr source;   // of a file
  std::optional<Gguf> gguf;
  std::optional<Entity> entity;

  std::uint64_t bytes() const;  // of all tensors
  std::uint64_t elements() const;
  // How most of the bytes are stored: "bf16".
  std::string main_type() const;
};

// `name`: a path, a model in the HuggingFace cache, or "embedded".
Result<ModelFile> open_model_file(const std::string& name);
// A file that is no path: bytes in memory, or a read callback. Not of ONNX.
Result<ModelFile> open_model_source(SourcePtr source);

struct DescribeOptions {
  bool tensors = false;  // a list of all tensors
  bool model = false;    // whether it runs, its topology and its tokenizer
};
// The facts of a file as JSON (loom_file_info). Texts of the file that are no UTF-8 are escaped.
// Errors: of a topology or an ONNX graph that is none.
Result<Json> describe(const ModelFile& file, const DescribeOptions& options);
// SHA-256 of the bytes of a tensor, in hex. Errors: not_found; unsupported for ONNX.
Result<std::string> hash_tensor(const ModelFile& file, std::string_view tensor);

std::string title_of(const std::string& path);

}  // namespace loom
