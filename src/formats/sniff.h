// What kind of file this is, from its first bytes. What is not a model is refused by name, with
// what to do about it.
#pragma once

#include <string_view>

#include "base/files/source.h"
#include "base/status.h"

namespace loom {

// onnx is a guess: protobuf has no magic number. torch is any zip archive but NumPy's.
enum class FileKind : std::uint8_t { safetensors, gguf, entity, json, npy, onnx, torch };

std::string_view name(FileKind kind);

// Errors: truncated for an empty or cut file; unsupported for a Git LFS pointer, an HTML page, a
// pickle, an archive, anything unknown; corrupt for a safetensors header longer than its limit. The
// reader of the kind checks everything behind the first bytes.
Result<FileKind> sniff(const ByteSource& source);

// The refusal of sniff, or of a file of another kind ("is JSON, expected safetensors").
Status expect_kind(const ByteSource& source, FileKind wanted);

}  // namespace loom
