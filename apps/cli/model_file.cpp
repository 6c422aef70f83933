#include "model_file.h"

#include <array>

#include "llm/locate.h"

namespace loom::cli {

std::uint64_t ModelFile::bytes() const {
  std::uint64_t sum = 0;
  for (const TensorInfo& t : tensors) sum += t.size;
  return sum;
}

std::uint64_t ModelFile::elements() const {
  std::uint64_t sum = 0;
  for (const TensorInfo& t : tensors) sum += t.elements();
  return sum;
}

std::string ModelFile::main_type() const {
  std::array<std::uint64_t, kStorageTypeCount> sums{};
  for (const TensorInfo& t : tensors) sums[static_cast<std::size_t>(t.type)] += t.size;
  std::size_t best = 0;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i] > sums[best]) best = i;
  return std::string(name(static_cast<StorageType>(best)));
}

std::string title_of(const std::string& path) {
  // Of a snapshot in the HuggingFace cache, the model's name; otherwise the last part.
  if (const std::size_t at = path.rfind("/models--"); at != std::string::npos) {
    std::string name = path.substr(at + 9, path.find('/', at + 1) - at - 9);
    if (const std::size_t dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
    return name;
  }
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  return slash == std::string::npos || slash + 1 == trimmed.size() ? trimmed : trimmed.substr(slash + 1);
}

Result<ModelFile> open_model_file(const std::string& name) {
  ModelFile file;
  LOOM_ASSIGN(file.path, locate_model(name));
  file.title = title_of(file.path);
  if (is_folder(file.path)) {
    LOOM_ASSIGN(const Safetensors tensors, Safetensors::open_folder(file.path));
    file.tensors = tensors.tensors();
    file.metadata = tensors.metadata();
    return file;
  }
  LOOM_ASSIGN(SourcePtr source, open_source(file.path));
  LOOM_ASSIGN(file.kind, sniff(*source));
  if (file.kind == FileKind::safetensors) {
    LOOM_ASSIGN(const Safetensors tensors, Safetensors::open(std::move(source)));
    file.tensors = tensors.tensors();
    file.metadata = tensors.metadata();
  } else if (file.kind == FileKind::gguf) {
    LOOM_ASSIGN(file.gguf, Gguf::open(std::move(source)));
    file.tensors = file.gguf->tensors();
  }
  return file;
}

}  // namespace loom::cli
