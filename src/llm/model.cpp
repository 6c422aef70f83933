#include "llm/model.h"

#include "base/source.h"
#include "formats/safetensors.h"
#include "formats/sniff.h"
#include "llm/import.h"
#include "llm/locate.h"

namespace loom {
namespace {

constexpr std::uint64_t kMaxJson = std::uint64_t{16} << 20;

Result<Json> read_json(const std::string& path) {
  LOOM_ASSIGN(const std::string text, read_text_file(path, kMaxJson));
  auto json = Json::parse(text);
  if (!json.ok()) return json.status().at(path);
  return json;
}

// config.json and, where it is there, generation_config.json.
Result<ModelConfig> read_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!is_file(path)) return Status(Code::not_found, folder + ": holds no config.json: expected a HuggingFace folder");
  LOOM_ASSIGN(const Json json, read_json(path));
  auto config = config_from_hf(json);
  if (!config.ok()) return config.status().at(folder);
  const std::string generation = folder + "/generation_config.json";
  if (is_file(generation)) {
    LOOM_ASSIGN(const Json g, read_json(generation));
    LOOM_TRY(add_generation_config(g, &*config).at(generation));
  }
  return config;
}

Result<Model> from_safetensors(const std::string& folder, const Safetensors& file, const std::string& name, ModelConfig config) {
  LOOM_ASSIGN(Network network, import_network(config, file.tensors(), Naming::hf, name));
  (void)folder;
  return Model{name, std::move(config), std::move(network)};
}

Result<Model> from_folder(const std::string& folder) {
  LOOM_ASSIGN(ModelConfig config, read_config(folder));
  LOOM_ASSIGN(const Safetensors file, Safetensors::open_folder(folder));
  return from_safetensors(folder, file, folder, std::move(config));
}

Result<Model> from_gguf(SourcePtr source) {
  const std::string name = source->name();
  LOOM_ASSIGN(const Gguf file, Gguf::open(std::move(source)));
  auto config = config_from_gguf(file);
  if (!config.ok()) return config.status().at(name);
  LOOM_ASSIGN(Network network, import_network(*config, file.tensors(), Naming::gguf, name));
  return Model{name, std::move(*config), std::move(network)};
}

}  // namespace

Result<Model> load_model(const std::string& model) {
  LOOM_ASSIGN(const std::string path, locate_model(model));
  if (is_folder(path)) return from_folder(path);
  LOOM_ASSIGN(SourcePtr source, open_source(path));
  LOOM_ASSIGN(const FileKind kind, sniff(*source));
  if (kind == FileKind::gguf) return from_gguf(std::move(source));
  if (kind != FileKind::safetensors) return Status(Code::unsupported, path + ": is " + std::string(name(kind)) + ", expected a folder, safetensors or GGUF");
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  LOOM_ASSIGN(ModelConfig config, read_config(folder));
  LOOM_ASSIGN(const Safetensors file, Safetensors::open(std::move(source)));
  return from_safetensors(folder, file, path, std::move(config));
}

}  // namespace loom
