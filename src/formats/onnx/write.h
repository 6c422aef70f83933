// ONNX models as files: the plain data of onnx.h as a ModelProto. Tensors' bytes come from their
// sources piece by piece, so a model is never held a second time. The same model has the same
// bytes.
#pragma once

#include "base/files/source.h"
#include "base/status.h"
#include "formats/onnx/onnx.h"

namespace loom::onnx {

// The key of metadata under which the section "inputs" of a network stands.
inline constexpr std::string_view kInputsMetadata = "loom-inputs";

// A message holds less than this (protobuf's own limit).
inline constexpr std::uint64_t kMaxModelBytes = (std::uint64_t{1} << 31) - 1;

struct WriteOptions {
  // Tensors of 1 KiB and more go into a second file, the name of the first with ".data" behind it.
  // Where all do not fit into one message, they do so by themselves.
  bool external = false;
};

// Writes to a path, or to memory. The path has the old content or the new; a second file is in its
// place before the first. Errors: unsupported, by name: subgraphs, functions, references, tensors
// without bytes, external data into memory, and a message of 2 GiB or more; what sources and files
// say.
Status write_model(const Model& model, const Destination& to, const WriteOptions& options = {});

}  // namespace loom::onnx
