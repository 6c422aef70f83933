// Language models for other programs: a GGUF file as llama.cpp takes it, a HuggingFace folder as
// transformers takes it. What import reads, written: a model that is written and read again
// computes the same bits, as long as no other type was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/encode.h"
#include "llm/model.h"

namespace loom {

struct ModelExportOptions {
  // Of the matrices: "f32", "f16", "bf16", and for GGUF "q8_0" and "q4_0" (whose output projection
  // is q8_0, and whose matrices without whole blocks are f16). "": as they are, where the target
  // has the type.
  std::string dtype;
  bool tokenizer = true;                      // false: it is left out
  std::uint64_t shard_bytes = 5'000'000'000;  // of a folder: a larger model.safetensors is cut
};

struct ExportedTensor {
  std::string name;  // in the target
  std::vector<std::int64_t> shape;
  std::string from, to;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  ErrorSum error;
};
struct ModelExport {
  std::vector<ExportedTensor> tensors;
  std::vector<std::string> notes;  // what the target has no place for
};

enum class ModelTarget : std::uint8_t { gguf, folder };

// Writes `model`, which load_model would take, to `out`: a file, or a folder that is not there yet
// or empty. The target appears when all of it is written. Values are streamed: of a folder or GGUF
// file no weight is held in memory. Errors: those of the readers; unsupported for a family or a
// setting that the target does not have, with those it has; invalid_argument for a type that needs
// a `dtype`, or a folder with something in it.
Result<ModelExport> export_model(const std::string& model, ModelTarget target,
                                 const std::string& out, const ModelExportOptions& options);
// The same of a model in memory.
Result<ModelExport> export_model(Model& model, ModelTarget target, const std::string& out,
                                 const ModelExportOptions& options);

// A file of it in memory: "gguf", or one of a folder, such as "model.safetensors" or "config.json".
// Errors: invalid_argument for a name that the folder does not have, with those it has.
Result<std::vector<std::byte>> export_model_bytes(Model& model, const std::string& name,
                                                  const ModelExportOptions& options);

}  // namespace loom
