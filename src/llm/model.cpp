#include "llm/model.h"

#include "base/files/paths.h"
#include "formats/safetensors/safetensors.h"
#include "formats/sniff.h"
#include "llm/embedded_model.h"
#include "llm/generate/generate.h"
#include "llm/import/entity_model.h"
#include "llm/import/import.h"
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

// config.json and, where it is there, generation_config.json.
Result<ModelConfig> read_config(const std::string& folder) {
  LOOM_ASSIGN(const bool there, anything_at(folder + "/config.json"));
  if (!there)
    return Status(Code::not_found,
                  folder + ": holds no config.json: expected a HuggingFace folder");
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
                none + ", and its tokenizer.model is not read: save it with transformers");
}

Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name) {
  auto config = config_from_gguf(file);
  if (!config.ok()) return config.status().at(name);
  return config;
}

// A model's file, and what it is.
struct Opened {
  SourcePtr source;
  FileKind kind;
};
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
                path + ": is " + std::string(name(kind)) +
                    ", expected a HuggingFace folder, safetensors, GGUF or .entity");
}

// Everything of a model but its values.
struct Found {
  std::string name;
  SourcePtr entity;  // of an .entity file; the rest is then inside it
  ModelConfig config;
  std::vector<TensorInfo> tensors;
  Naming naming = Naming::hf;
  std::string folder;        // with the tokenizer
  std::optional<Gguf> gguf;  // with the tokenizer
};

// What a file holds, into `found`, whose name is set.
Status take_file(Opened file, Found& found) {
  if (file.kind == FileKind::entity) {
    found.entity = std::move(file.source);
  } else if (file.kind == FileKind::gguf) {
    LOOM_ASSIGN(found.gguf, Gguf::open(std::move(file.source)));
    LOOM_ASSIGN(found.config, gguf_config(*found.gguf, found.name));
    found.tensors = found.gguf->tensors();
    found.naming = Naming::gguf;
  } else if (file.kind == FileKind::safetensors) {
    found.folder = parent(found.name);
    LOOM_ASSIGN(found.config, read_config(found.folder));
    LOOM_ASSIGN(const Safetensors weights, Safetensors::open(std::move(file.source)));
    found.tensors = weights.tensors();
  } else {
    return no_model(found.name, file.kind);
  }
  return {};
}

Result<Found> find_model(const std::string& model) {
  Found found;
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

Result<Model> load_found(Found found, const std::optional<WeightFormat>& format) {
  if (found.entity) {
    LOOM_ASSIGN(Model loaded, model_from_entity(std::move(found.entity)));
    if (format) LOOM_TRY(loaded.network.pack(*format).at(loaded.name));
    return loaded;
  }
  LOOM_ASSIGN(Network network, import_network(found.config, found.tensors, found.naming, found.name,
                                              format.value_or(WeightFormat{})));
  return Model{found.name, std::move(found.config), std::move(network),
               found.gguf ? tokenizer_from_gguf(*found.gguf) : tokenizer_of_folder(found.folder)};
}

}  // namespace

Result<Model> load_model(const std::string& model, const std::optional<WeightFormat>& format) {
  LOOM_ASSIGN(Found found, find_model(model));
  return load_found(std::move(found), format);
}

Result<Model> load_model(SourcePtr source, const std::optional<WeightFormat>& format) {
  Found found;
  found.name = source->name();
  LOOM_ASSIGN(const FileKind kind, sniff(*source));
  if (kind == FileKind::safetensors)
    return Status(
        Code::unsupported,
        found.name +
            ": is safetensors, which needs its config.json and tokenizer.json: load the folder");
  LOOM_TRY(take_file({std::move(source), kind}, found));
  return load_found(std::move(found), format);
}

Result<Model> make_model(std::string name, Network network, Result<Tokenizer> tokenizer,
                         ModelConfig config) {
  const std::int64_t vocab = config.vocab_size = network.input().ids,
                     width = network.output().width;
  if (vocab == 0)
    return Status(Code::unsupported,
                  "the network does not read token ids: it is no language model");
  if (!network.input().dims.empty())
    return Status(Code::unsupported, "the network reads " + network.input().to_string() +
                                         ": a language model reads one id per row");
  if (width != vocab)
    return Status(Code::unsupported, "the network gives " + std::to_string(width) +
                                         " values for a vocabulary of " + std::to_string(vocab));
  if (config.max_positions < 1 || config.max_positions > INT32_MAX)
    return Status(Code::invalid_argument, "\"max_positions\" must be in 1..2^31-1, got " +
                                              std::to_string(config.max_positions));
  if (tokenizer.ok() && tokenizer->vocab_size() > static_cast<std::size_t>(vocab))
    return Status(Code::invalid_argument,
                  "the tokenizer has ids below " + std::to_string(tokenizer->vocab_size()) +
                      ", the network reads those below " + std::to_string(vocab));
  std::vector<std::int32_t> special = config.eos;
  if (config.bos) special.push_back(*config.bos);
  for (const std::int32_t id : special)
    if (id < 0 || id >= vocab)
      return Status(Code::invalid_argument, "\"bos\" and \"eos\" must be in 0.." +
                                                std::to_string(vocab - 1) + ", got " +
                                                std::to_string(id));
  LOOM_TRY(Sampler::create(recommended_sampling(config)).status());
  return Model{std::move(name), std::move(config), std::move(network), std::move(tokenizer)};
}

Status check_model(const std::string& model) {
  LOOM_ASSIGN(const Found found, find_model(model));
  return found.entity ? check_entity_model(found.entity)
                      : check_import(found.config, found.tensors, found.naming, found.name);
}

Result<ModelConfig> load_config(const std::string& model) {
  if (model == kEmbeddedModel) {
    LOOM_ASSIGN(SourcePtr source, embedded_source());
    return config_from_entity(std::move(source));
  }
  LOOM_ASSIGN(const std::string path, locate_model(model));
  LOOM_ASSIGN(const bool folder, is_folder(path));
  if (folder) return read_config(path);
  LOOM_ASSIGN(Opened file, open_model(path));
  if (file.kind == FileKind::safetensors) return read_config(parent(path));
  if (file.kind == FileKind::entity) return config_from_entity(std::move(file.source));
  if (file.kind != FileKind::gguf) return no_model(path, file.kind);
  LOOM_ASSIGN(const Gguf gguf, Gguf::open(std::move(file.source)));
  return gguf_config(gguf, path);
}

Result<Tokenizer> load_tokenizer(const std::string& model) {
  if (model == kEmbeddedModel) {
    LOOM_ASSIGN(SourcePtr source, embedded_source());
    return tokenizer_from_entity(std::move(source));
  }
  LOOM_ASSIGN(const std::string path, locate_model(model));
  LOOM_ASSIGN(const bool folder, is_folder(path));
  if (folder) return tokenizer_of_folder(path);
  LOOM_ASSIGN(Opened file, open_model(path));
  if (file.kind == FileKind::json) return Tokenizer::load(path);
  if (file.kind == FileKind::safetensors) return tokenizer_of_folder(parent(path));
  if (file.kind == FileKind::entity) return tokenizer_from_entity(std::move(file.source));
  if (file.kind != FileKind::gguf) return no_model(path, file.kind);
  LOOM_ASSIGN(const Gguf gguf, Gguf::open(std::move(file.source)));
  return tokenizer_from_gguf(gguf);
}

}  // namespace loom
