#include "convert/model_file.h"

#include <map>

#include "base/message.h"
#include "llm/embedded_model.h"
#include "llm/import/locate.h"

namespace loom {
namespace {

Result<ModelFile> with_tensors(ModelFile file, std::vector<TensorInfo> tensors) {
  file.tensors = std::move(tensors);
  for (const TensorInfo& t : file.tensors)
    file.rows.push_back({t.name, std::string(name(t.type)), t.shape, t.size, t.elements(), ""});
  return file;
}

Result<ModelFile> with_source(ModelFile file, SourcePtr source) {
  LOOM_ASSIGN(file.kind, sniff(*source));
  file.source = source;
  if (file.kind == FileKind::safetensors || file.kind == FileKind::torch) {
    LOOM_ASSIGN(const Safetensors tensors, Safetensors::open_weights(std::move(source)));
    file.metadata = tensors.metadata();
    return with_tensors(std::move(file), tensors.tensors());
  }
  if (file.kind == FileKind::gguf) {
    LOOM_ASSIGN(file.gguf, Gguf::open(std::move(source)));
    std::vector<TensorInfo> tensors = file.gguf->tensors();
    return with_tensors(std::move(file), std::move(tensors));
  }
  if (file.kind == FileKind::entity) {
    LOOM_ASSIGN(file.entity, Entity::open(std::move(source)));
    for (const EntityEntry& e : file.entity->tensors())
      file.rows.push_back({e.name, to_string(e.type), e.shape, e.size,
                           element_count(e.shape).value_or(0), Sha256::hex(e.sha256)});
  }
  return file;
}

}  // namespace

std::uint64_t ModelFile::bytes() const {
  std::uint64_t sum = 0;
  for (const TensorRow& row : rows) sum += row.bytes;
  return sum;
}

std::uint64_t ModelFile::elements() const {
  std::uint64_t sum = 0;
  for (const TensorRow& row : rows) sum += row.elements;
  return sum;
}

std::string ModelFile::main_type() const {
  std::map<std::string, std::uint64_t> sums;
  for (const TensorRow& row : rows) sums[row.type] += row.bytes;
  std::string best;
  for (const auto& [type, bytes] : sums)
    if (best.empty() || bytes > sums[best]) best = type;
  return best;
}

std::string title_of(const std::string& path) {
  // Of a snapshot in the HuggingFace cache, the model's name; otherwise the last part.
  if (const std::size_t at = path.rfind("/models--"); at != std::string::npos) {
    std::string name = path.substr(at + 9, path.find('/', at + 1) - at - 9);
    if (const std::size_t dashes = name.find("--"); dashes != std::string::npos)
      name.replace(dashes, 2, "/");
    return name;
  }
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  return slash == std::string::npos || slash + 1 == trimmed.size() ? trimmed
                                                                   : trimmed.substr(slash + 1);
}

Result<ModelFile> open_model_file(const std::string& name) {
  ModelFile file;
  SourcePtr source;
  if (name == kEmbeddedModel) {
    LOOM_ASSIGN(source, embedded_source());
    file.path = name;
  } else {
    LOOM_ASSIGN(file.path, locate_model(name));
  }
  file.title = title_of(file.path);
  if (!source) {
    LOOM_ASSIGN(file.folder, is_folder(file.path));
  }
  if (file.folder) {
    LOOM_ASSIGN(const Safetensors tensors, Safetensors::open_folder(file.path));
    file.metadata = tensors.metadata();
    return with_tensors(std::move(file), tensors.tensors());
  }
  if (!source) {
    LOOM_ASSIGN(source, open_source(file.path));
  }
  return with_source(std::move(file), std::move(source));
}

Result<ModelFile> open_model_source(SourcePtr source) {
  ModelFile file;
  file.path = file.title = source->name();
  file.by_path = false;
  LOOM_ASSIGN(ModelFile opened, with_source(std::move(file), std::move(source)));
  if (opened.kind == FileKind::onnx)
    return Status(Code::unsupported,
                  message(opened.path, ": ONNX graphs are read by their path, and other files as ",
                          "safetensors, PyTorch, GGUF, .entity or JSON"));
  return opened;
}

}  // namespace loom
