// Language models as .entity files: the network, its tokenizer, and a "generation" section with the
// keys of HuggingFace's generation_config.json and config.json (docs/reference/entity.md).
#include "llm/import/entity_model.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/message.h"
#include "checkpoint/entity.h"
#include "llm/config/architecture.h"

namespace loom {
namespace {

// Sections that become the parts of a Model, and "training", which is no part of a model.
constexpr std::string_view kRead[] = {"topology", "tokenizer", "generation", "training"};

Json generation_section(const ModelConfig& c) {
  Json json = Json::object(), eos = Json::array();
  for (const std::int32_t id : c.eos) eos.push(id);
  if (c.architecture) json.set("model_type", c.architecture->name);
  json.set("max_position_embeddings", c.max_positions);
  if (c.bos) json.set("bos_token_id", *c.bos);
  json.set("eos_token_id", std::move(eos));
  if (c.temperature) json.set("temperature", *c.temperature);
  if (c.top_k) json.set("top_k", *c.top_k);
  if (c.top_p) json.set("top_p", *c.top_p);
  if (c.min_p) json.set("min_p", *c.min_p);
  if (c.repetition_penalty) json.set("repetition_penalty", *c.repetition_penalty);
  return json;
}

// What the topology says is read from it; the rest of the configuration was spent when the network
// was made.
Result<ModelConfig> parse_generation(const Json& json, const Json& topology) {
  ModelConfig c;
  if (!json.is_object())
    return Status(Code::corrupt, "section 'generation': expected a JSON object");
  LOOM_ASSIGN(const std::string type, json.get_string("model_type", ""));
  c.architecture = find_architecture(type);
  LOOM_ASSIGN(c.max_positions, json.get_integer("max_position_embeddings", 0));
  if (c.max_positions < 1 || c.max_positions > INT32_MAX)
    return Status(
        Code::corrupt,
        message("section 'generation': \"max_position_embeddings\" must be in 1..2^31-1, got ",
                c.max_positions));
  const Json* input = topology.find("input");
  const Json* ids = input ? input->find("ids") : nullptr;
  if (!ids || !ids->is_integer() || ids->as_integer() < 1)
    return Status(Code::unsupported,
                  "the network does not read token ids: it is no language model");
  c.vocab_size = ids->as_integer();
  LOOM_ASSIGN(const std::int64_t bos, json.get_integer("bos_token_id", -1));
  if (bos >= c.vocab_size || bos < -1)
    return Status(Code::corrupt, message("section 'generation': \"bos_token_id\" is ", bos,
                                         ", the vocabulary has ", c.vocab_size));
  if (bos >= 0) c.bos = static_cast<std::int32_t>(bos);
  LOOM_TRY(add_generation_config(json, &c).at("section 'generation'"));
  return c;
}

Result<ModelConfig> config_of(const Entity& entity) {
  if (!entity.find_section("generation"))
    return Status(Code::unsupported,
                  message(entity.name(),
                          ": has no section 'generation': it is a network, not a language model"));
  LOOM_ASSIGN(const Json generation, entity.json("generation"));
  LOOM_ASSIGN(const Json topology, entity.json("topology"));
  auto config = parse_generation(generation, topology);
  if (!config.ok()) return config.status().at(entity.name());
  return config;
}

Result<Tokenizer> tokenizer_of(const Entity& entity) {
  if (!entity.find_section("tokenizer"))
    return Status(Code::not_found, message(entity.name(), ": has no section 'tokenizer'"));
  LOOM_ASSIGN(const EntityBytes section, entity.section("tokenizer"));
  return Tokenizer::deserialize(as_text(section.bytes));
}

Status check_output(const Entity& entity, const Network& network, const ModelConfig& config) {
  if (network.output().width == config.vocab_size) return {};
  return Status(Code::unsupported,
                message(entity.name(), ": the network gives ", network.output().width,
                        " values for a vocabulary of ", config.vocab_size));
}

}  // namespace

Status check_entity_model(SourcePtr source) {
  LOOM_ASSIGN(const Entity entity, Entity::open(std::move(source)));
  LOOM_ASSIGN(const ModelConfig config, config_of(entity));
  LOOM_ASSIGN(const Network network, plan_network(entity));
  return check_output(entity, network, config);
}

Result<Model> model_from_entity(SourcePtr source) {
  LOOM_ASSIGN(const Entity entity, Entity::open(std::move(source)));
  LOOM_ASSIGN(ModelConfig config, config_of(entity));
  LoadOptions options;
  options.masters = false;
  LOOM_ASSIGN(Network network, load_network(entity, options));
  LOOM_TRY(check_output(entity, network, config));
  Model model{entity.name(), std::move(config), std::move(network), tokenizer_of(entity)};
  for (const EntityEntry& e : entity.sections()) {
    if (std::find(std::begin(kRead), std::end(kRead), e.name) != std::end(kRead)) continue;
    LOOM_ASSIGN(model.sections[e.name], entity.text(e.name));
  }
  return model;
}

Result<ModelConfig> config_from_entity(SourcePtr source) {
  LOOM_ASSIGN(const Entity entity, Entity::open(std::move(source)));
  return config_of(entity);
}

Result<Tokenizer> tokenizer_from_entity(SourcePtr source) {
  LOOM_ASSIGN(const Entity entity, Entity::open(std::move(source)));
  return tokenizer_of(entity);
}

Status check_tokenizer(const std::string& model, const Status& tokenizer) {
  if (tokenizer.ok() || tokenizer.code() == Code::not_found) return {};
  return tokenizer.at(model + ": its tokenizer cannot be saved");
}

Result<EntitySections> model_sections(Model& model, const Json& provenance) {
  EntitySections sections;
  sections.bytes = model.sections;
  LOOM_TRY(check_tokenizer(model.name, model.tokenizer.status()));
  if (model.tokenizer.ok()) sections.bytes["tokenizer"] = model.tokenizer->serialize();
  sections.bytes["generation"] = generation_section(model.config).dump();
  if (!provenance.is_null()) sections.bytes["provenance"] = provenance.dump();
  return sections;
}

Status save_model(const Destination& to, Model& model, const Json& provenance) {
  LOOM_ASSIGN(const EntitySections sections, model_sections(model, provenance));
  return save_network(to, model.network, sections);
}

}  // namespace loom
