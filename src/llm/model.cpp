#include "llm/model.h"

#include "base/message.h"
#include "base/threads/thread_pool.h"
#include "llm/embedded_model.h"
#include "llm/generate/generate.h"
#include "llm/import/entity_model.h"
#include "llm/import/found.h"
#include "llm/import/import.h"
#include "llm/import/locate.h"

namespace loom {
namespace {

Result<Model> load_found(FoundModel found, const std::optional<WeightFormat>& format,
                         GgufBlocks blocks, PackWatch* watch = nullptr) {
  if (found.entity) {
    LOOM_ASSIGN(Model loaded, model_from_entity(std::move(found.entity)));
    if (format && !watch) {
      ThreadPool team;
      LOOM_TRY(loaded.network.pack(*format, &team).at(loaded.name));
    }
    return loaded;
  }
  Result<Tokenizer> tokenizer =
      found.gguf ? tokenizer_from_gguf(*found.gguf) : tokenizer_of_folder(found.folder);
  if (watch) LOOM_TRY(watch->begins(found.name, tokenizer.status()));
  LOOM_ASSIGN(Network network, import_network(found.config, found.tensors, found.naming, found.name,
                                              format.value_or(WeightFormat{}),
                                              format ? GgufBlocks::decode : blocks, watch));
  return Model{found.name, std::move(found.config), std::move(network), std::move(tokenizer)};
}

}  // namespace

Result<Model> load_model(const std::string& model, const std::optional<WeightFormat>& format,
                         GgufBlocks blocks, PackWatch* watch) {
  LOOM_ASSIGN(FoundModel found, find_model(model));
  return load_found(std::move(found), format, blocks, watch);
}

Result<Model> load_model(SourcePtr source, const std::optional<WeightFormat>& format,
                         GgufBlocks blocks) {
  FoundModel found;
  found.name = source->name();
  LOOM_ASSIGN(const FileKind kind, sniff(*source));
  if (kind == FileKind::safetensors || kind == FileKind::torch)
    return Status(
        Code::unsupported,
        message(
            found.name,
            ": is safetensors, which needs its config.json and tokenizer.json: load the folder"));
  LOOM_TRY(take_file({std::move(source), kind}, found));
  return load_found(std::move(found), format, blocks);
}

Result<Model> make_model(std::string name, Network network, Result<Tokenizer> tokenizer,
                         ModelConfig config) {
  const std::int64_t vocab = config.vocab_size = network.input().ids,
                     width = network.output().width;
  if (vocab == 0)
    return Status(Code::unsupported,
                  "the network does not read token ids: it is no language model");
  if (!network.input().dims.empty())
    return Status(Code::unsupported, message("the network reads ", network.input().to_string(),
                                             ": a language model reads one id per row"));
  if (width != vocab)
    return Status(Code::unsupported,
                  message("the network gives ", width, " values for a vocabulary of ", vocab));
  if (config.max_positions < 1 || config.max_positions > INT32_MAX)
    return Status(Code::invalid_argument,
                  message("\"max_positions\" must be in 1..2^31-1, got ", config.max_positions));
  if (tokenizer.ok() && tokenizer->vocab_size() > static_cast<std::size_t>(vocab))
    return Status(Code::invalid_argument,
                  message("the tokenizer has ids below ", tokenizer->vocab_size(),
                          ", the network reads those below ", vocab));
  std::vector<std::int32_t> special = config.eos;
  if (config.bos) special.push_back(*config.bos);
  for (const std::int32_t id : special)
    if (id < 0 || id >= vocab)
      return Status(Code::invalid_argument,
                    message("\"bos\" and \"eos\" must be in 0..", vocab - 1, ", got ", id));
  LOOM_TRY(Sampler::create(recommended_sampling(config)).status());
  return Model{std::move(name), std::move(config), std::move(network), std::move(tokenizer)};
}

Status check_model(const std::string& model) {
  LOOM_ASSIGN(const FoundModel found, find_model(model));
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
  if (file.kind == FileKind::safetensors || file.kind == FileKind::torch)
    return read_config(parent(path));
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
  if (file.kind == FileKind::safetensors || file.kind == FileKind::torch)
    return tokenizer_of_folder(parent(path));
  if (file.kind == FileKind::entity) return tokenizer_from_entity(std::move(file.source));
  if (file.kind != FileKind::gguf) return no_model(path, file.kind);
  LOOM_ASSIGN(const Gguf gguf, Gguf::open(std::move(file.source)));
  return tokenizer_from_gguf(gguf);
}

}  // namespace loom
