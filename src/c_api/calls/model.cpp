// Language models.
#include "base/message.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "llm/config/architecture.h"
#include "llm/import/entity_model.h"

using namespace loom;
using namespace loom::c_api;

namespace {

Status save(SharedNetwork& shared, const Destination& to) {
  LOOM_ASSIGN(const auto lock, shared.hold_alone());
  LOOM_ASSIGN(const EntitySections sections, sections_of(shared));
  return save_network(to, shared.network, sections);
}

loom_handle new_model(Model model) {
  return add(std::make_shared<ModelObject>(std::make_shared<SharedNetwork>(std::move(model))));
}

Json info_json(Model& model) {
  const ModelConfig& c = model.config;
  Json json = Json::object(), eos = Json::array(), sampling = Json::object();
  for (const std::int32_t id : c.eos) eos.push(id);
  const SamplerOptions s = recommended_sampling(c);
  sampling.set("temperature", s.temperature);
  sampling.set("top_k", s.top_k);
  sampling.set("top_p", s.top_p);
  sampling.set("min_p", s.min_p);
  sampling.set("repetition_penalty", s.repetition_penalty);
  json.set("name", model.name);
  json.set("architecture", c.architecture ? Json(c.architecture->name) : Json());
  json.set("vocab_size", c.vocab_size);
  json.set("max_positions", c.max_positions);
  json.set("bos", optional_id(c.bos));
  json.set("eos", std::move(eos));
  json.set("sampling", std::move(sampling));
  json.set("parameters", model.network.parameter_count());
  return json;
}

// What info_json writes. Sizes that the network says, too, must be its own.
Result<ModelConfig> config_of(ModelCreate& o, Network& network,
                              const std::optional<Tokenizer>& tokenizer) {
  ModelConfig c;
  const auto is_its_own = [](const char* key, const std::optional<std::int64_t>& given,
                             std::int64_t own) {
    if (!given || *given == own) return Status();
    return Status(Code::invalid_argument,
                  message("options: \"", key, "\" is ", *given, ", the network's is ", own));
  };
  LOOM_TRY(is_its_own("vocab_size", o.vocab_size, network.input().ids));
  LOOM_TRY(is_its_own("parameters", o.parameters, network.parameter_count()));
  if (!o.architecture.empty()) {
    c.architecture = find_architecture(o.architecture);
    if (!c.architecture)
      return Status(Code::invalid_argument,
                    message("options: ", unknown_architecture(o.architecture)));
  }
  c.max_positions = o.max_positions;
  const auto its = [](TokenIds& given, const std::optional<std::int32_t>& id) {
    if (!given.given && id) given.ids.push_back(*id);
    return std::move(given.ids);
  };
  const std::vector<std::int32_t> bos = its(o.bos, tokenizer ? tokenizer->bos() : std::nullopt);
  if (!bos.empty()) c.bos = bos[0];
  c.eos = its(o.eos, tokenizer ? tokenizer->eos() : std::nullopt);
  static_cast<SamplingAdvice&>(c) = o.sampling;
  return c;
}

}  // namespace

extern "C" {

int32_t loom_model_load(const char* name, size_t name_size, const char* format, size_t format_size,
                        loom_model* model, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(model));
    LOOM_ASSIGN(const std::string n, path_argument(name, name_size, "name"));
    LOOM_ASSIGN(const std::optional<WeightFormat> f, format_argument(format, format_size));
    LOOM_ASSIGN(Model m, load_model(n, f, GgufBlocks::keep));
    *model = new_model(std::move(m));
    return {};
  });
}

int32_t loom_model_load_bytes(loom_bytes bytes, const char* format, size_t format_size,
                              loom_model* model, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(model));
    LOOM_ASSIGN(const auto b, get<Bytes>(bytes));
    LOOM_ASSIGN(const std::optional<WeightFormat> f, format_argument(format, format_size));
    LOOM_ASSIGN(Model m, load_model(b->source(), f, GgufBlocks::keep));
    *model = new_model(std::move(m));
    return {};
  });
}

int32_t loom_model_create(loom_network network, loom_tokenizer tokenizer, const char* options,
                          size_t options_size, loom_model* model, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(model));
    LOOM_ASSIGN(const auto n, get<NetworkObject>(network));
    std::optional<Tokenizer> t;
    if (tokenizer != 0) {
      LOOM_ASSIGN(const auto object, get<TokenizerObject>(tokenizer));
      t = object->tokenizer;
    }
    ModelCreate o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const auto lock, n->shared->hold_alone());
    LOOM_ASSIGN(ModelConfig config, config_of(o, n->shared->network, t));
    LOOM_ASSIGN(Network copy, copy_network(n->shared->network));
    Result<Tokenizer> its = t ? Result<Tokenizer>(std::move(*t))
                              : Status(Code::not_found, "the model was made without a tokenizer");
    LOOM_ASSIGN(Model m,
                make_model(std::move(o.name), std::move(copy), std::move(its), std::move(config)));
    *model = new_model(std::move(m));
    return {};
  });
}

int32_t loom_model_check(const char* name, size_t name_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const std::string n, path_argument(name, name_size, "name"));
    return check_model(n);
  });
}

int32_t loom_model_save(loom_model model, const char* path, size_t path_size, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    LOOM_ASSIGN(const std::string p, path_argument(path, path_size, "path"));
    return save(*m->shared, p);
  });
}

int32_t loom_model_save_bytes(loom_model model, loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    std::vector<std::byte> file;
    LOOM_TRY(save(*m->shared, &file));
    *bytes = new_bytes(std::move(file));
    return {};
  });
}

int32_t loom_model_export_bytes(loom_model model, const char* name, size_t name_size,
                                const char* options, size_t options_size, loom_bytes* bytes,
                                loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    LOOM_ASSIGN(const std::string_view n, text_argument(name, name_size, "name"));
    ConvertOptions o;
    LOOM_TRY(read_options(options, options_size, o));
    LOOM_ASSIGN(const auto lock, m->shared->hold_alone());
    if (m->shared->adapter)
      return Status(Code::unsupported,
                    "the model runs with an adapter, which other formats do not have: add it to "
                    "the weights first");
    LOOM_ASSIGN(std::vector<std::byte> file, export_bytes(m->model(), std::string(n), o));
    *bytes = new_bytes(std::move(file));
    return {};
  });
}

int32_t loom_model_info(loom_model model, loom_bytes* info, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(info));
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    LOOM_ASSIGN(const auto lock, m->shared->hold_alone());
    *info = new_json(info_json(m->model()));
    return {};
  });
}

int32_t loom_model_network(loom_model model, loom_network* network, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(network));
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    *network = add(std::make_shared<NetworkObject>(m->shared));
    return {};
  });
}

int32_t loom_model_tokenizer(loom_model model, loom_tokenizer* tokenizer, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(tokenizer));
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    LOOM_TRY(m->model().tokenizer.status());
    *tokenizer = add(std::make_shared<TokenizerObject>(*m->model().tokenizer));
    return {};
  });
}

}  // extern "C"
