#include "llm/import/found.h"

#include "base/files/paths.h"
#include "base/message.h"
#include "formats/safetensors/safetensors.h"
#include "llm/embedded_model.h"
#include "llm/import/locate.h"

namespace loom {
namespace {

constexpr std::uint64_t kMaxJson = std::uint64_t{16} << 20;

Result<Json> read_json(const std::string& folder, const std::string& name) {
  LOOM_ASSIGN(const std::string text, read_text_within(folder, name, kMaxJson));
  auto json = Json::parse(text);
  if (!json.ok()) return json.status().at(folder + "/" + name);
  return json;
}

}  // namespace

// config.json and, where it is there, generation_config.json.
Result<ModelConfig> read_config(const std::string& folder) {
  LOOM_ASSIGN(const bool there, anything_at(folder + "/config.json"));
  if (!there)
    return Status(Code::not_found,
                  message(folder, ": holds no config.json: expected a HuggingFace folder"));
  LOOM_ASSIGN(const Json json, read_json(folder, "config.json"));
  auto config = config_from_hf(json);
  if (!config.ok()) return config.status().at(folder);
  const std::string generation = "generation_config.json";
  LOOM_ASSIGN(const bool generates, anything_at(folder + "/" + generation));
  if (generates) {
    LOOM_ASSIGN(const Json g, read_json(folder, generation));
    LOOM_TRY(add_generation_config(g, &*config).at(folder + "/" + generation));
  }
  return config;
}

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// not_found means that the model has none: of one that is there and cannot be opened, it is io.
Result<Tokenizer> tokenizer_of_folder(const std::string& folder) {
  LOOM_ASSIGN(const bool there, anything_at(folder + "/tokenizer.json"));
  if (there) {
    auto tokenizer = Tokenizer::load(folder);
    if (!tokenizer.ok() && tokenizer.status().code() == Code::not_found)
      return Status(Code::io, tokenizer.status().message());
    return tokenizer;
  }
  const std::string none = folder + ": holds no tokenizer.json";
  LOOM_ASSIGN(const bool other, anything_at(folder + "/tokenizer.model"));
  if (!other) return Status(Code::not_found, none);
  return Status(Code::unsupported,
                message(none, ", and its tokenizer.model is not read: save it with transformers"));
}

Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name) {
  auto config = config_from_gguf(file);
  if (!config.ok()) return config.status().at(name);
  return config;
}

// Only .entity files run from their mapping. Of others, pages once read would stay in memory beside
// the weights made from them.
Result<Opened> open_model(const std::string& path) {
  LOOM_ASSIGN(SourcePtr source, open_source(path, MapMode::read));
  LOOM_ASSIGN(const FileKind kind, sniff(*source));
  if (kind == FileKind::entity) {
    LOOM_ASSIGN(source, open_source(path));
  }
  return Opened{std::move(source), kind};
}
Status no_model(const std::string& path, FileKind kind) {
  return Status(Code::unsupported,
                message(path, ": is ", name(kind),
                        ", expected a HuggingFace folder, safetensors, PyTorch, GGUF or .entity"));
}

// What a file holds, into `found`, whose name is set.
Status take_file(Opened file, FoundModel& found) {
  if (file.kind == FileKind::entity) {
    found.entity = std::move(file.source);
  } else if (file.kind == FileKind::gguf) {
    LOOM_ASSIGN(found.gguf, Gguf::open(std::move(file.source)));
    LOOM_ASSIGN(found.config, gguf_config(*found.gguf, found.name));
    found.tensors = found.gguf->tensors();
    found.naming = Naming::gguf;
  } else if (file.kind == FileKind::safetensors || file.kind == FileKind::torch) {
    found.folder = parent(found.name);
    LOOM_ASSIGN(found.config, read_config(found.folder));
    LOOM_ASSIGN(const Safetensors weights, Safetensors::open_weights(std::move(file.source)));
    found.tensors = weights.tensors();
  } else {
    return no_model(found.name, file.kind);
  }
  return {};
}

Result<FoundModel> find_model(const std::string& model) {
  FoundModel found;
  if (model == kEmbeddedModel) {
    LOOM_ASSIGN(found.entity, embedded_source());
    return found;
  }
  LOOM_ASSIGN(found.name, locate_model(model));
  LOOM_ASSIGN(const bool folder, is_folder(found.name));
  if (folder) {
    found.folder = found.name;
    LOOM_ASSIGN(found.config, read_config(found.folder));
    LOOM_ASSIGN(const Safetensors weights, Safetensors::open_folder(found.folder, MapMode::read));
    found.tensors = weights.tensors();
    return found;
  }
  LOOM_ASSIGN(Opened file, open_model(found.name));
  LOOM_TRY(take_file(std::move(file), found));
  return found;
}

}  // namespace loom
