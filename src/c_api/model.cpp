// Language models.
#include "c_api/call.h"
#include "llm/config/architecture.h"
#include "llm/import/entity_model.h"

using namespace loom;
using namespace loom::c_api;

namespace {

loom_handle new_model(Model model) { return add(std::make_shared<ModelObject>(std::make_shared<SharedNetwork>(std::move(model)))); }

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

// "bos" and "eos": an id, a list of them, or null for none; absent: what the tokenizer says.
Result<std::vector<std::int32_t>> ids_option(const Json& options, std::string_view key, const std::optional<std::int32_t>& fallback) {
  std::vector<std::int32_t> ids;
  const Json* given = options.find(key);
  if (!given && fallback) ids.push_back(*fallback);
  if (!given || given->is_null()) return ids;
  const Json::Array one{*given};
  for (const Json& id : given->is_array() ? given->as_array() : one) {
    if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() > INT32_MAX)
      return Status(Code::invalid_argument, "options: \"" + std::string(key) + "\" must be an id, a list of ids, or null");
    ids.push_back(static_cast<std::int32_t>(id.as_integer()));
  }
  return ids;
}

// What info_json writes. Sizes that the network says, too, must be its own.
Result<ModelConfig> config_of(const Options& o, Network& network, const std::optional<Tokenizer>& tokenizer) {
  ModelConfig c;
  const auto is_its_own = [&](std::string_view key, std::int64_t own) -> Status {
    LOOM_ASSIGN(const std::int64_t given, o.integer(key, own, INT64_MIN, INT64_MAX));
    if (given == own) return {};
    return Status(Code::invalid_argument, "options: \"" + std::string(key) + "\" is " + std::to_string(given) + ", the network's is " + std::to_string(own));
  };
  LOOM_TRY(is_its_own("vocab_size", network.input().ids));
  LOOM_TRY(is_its_own("parameters", network.parameter_count()));
  if (const Json* name = o.json().find("architecture"); name && !name->is_null()) {
    LOOM_ASSIGN(const std::string architecture, o.string("architecture", ""));
    c.architecture = find_architecture(architecture);
    if (!c.architecture) return Status(Code::invalid_argument, "options: " + unknown_architecture(architecture));
  }
  if (!o.json().find("max_positions")) return Status(Code::invalid_argument, "options: \"max_positions\" is missing: how many positions the network was trained for");
  LOOM_ASSIGN(c.max_positions, o.integer("max_positions", 0, 1, INT32_MAX));
  LOOM_ASSIGN(const std::vector<std::int32_t> bos, ids_option(o.json(), "bos", tokenizer ? tokenizer->bos() : std::nullopt));
  if (bos.size() > 1) return Status(Code::invalid_argument, "options: \"bos\" must be one id");
  if (!bos.empty()) c.bos = bos[0];
  LOOM_ASSIGN(c.eos, ids_option(o.json(), "eos", tokenizer ? tokenizer->eos() : std::nullopt));
  if (const Json* sampling = o.json().find("sampling"); sampling && !sampling->is_null()) {
    LOOM_ASSIGN(const Options s, Options::of(*sampling, {"temperature", "top_k", "top_p", "min_p", "repetition_penalty"}));
    const auto number = [&](std::string_view key, std::optional<double>* to) -> Status {
      if (!s.json().find(key)) return {};
      LOOM_ASSIGN(*to, s.number(key, 0));
      return {};
    };
    LOOM_TRY(number("temperature", &c.temperature));
    LOOM_TRY(number("top_p", &c.top_p));
    LOOM_TRY(number("min_p", &c.min_p));
    LOOM_TRY(number("repetition_penalty", &c.repetition_penalty));
    if (s.json().find("top_k")) {
      LOOM_ASSIGN(c.top_k, s.integer("top_k", 0, 0, INT64_MAX));
    }
  }
  return c;
}

}  // namespace

extern "C" {

int32_t loom_model_load(const char* name, size_t name_size, const char* format, size_t format_size, loom_model* model, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(model));
    LOOM_ASSIGN(const std::string n, path_argument(name, name_size, "name"));
    LOOM_ASSIGN(const std::optional<WeightFormat> f, format_argument(format, format_size));
    LOOM_ASSIGN(Model m, load_model(n, f));
    *model = new_model(std::move(m));
    return {};
  });
}

int32_t loom_model_load_bytes(loom_bytes bytes, const char* format, size_t format_size, loom_model* model, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(model));
    LOOM_ASSIGN(const auto b, get<Bytes>(bytes));
    LOOM_ASSIGN(const std::optional<WeightFormat> f, format_argument(format, format_size));
    LOOM_ASSIGN(Model m, load_model(b->source(), f));
    *model = new_model(std::move(m));
    return {};
  });
}

int32_t loom_model_create(loom_network network, loom_tokenizer tokenizer, const char* options, size_t options_size, loom_model* model, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(model));
    LOOM_ASSIGN(const auto n, get<NetworkObject>(network));
    std::optional<Tokenizer> t;
    if (tokenizer != 0) {
      LOOM_ASSIGN(const auto object, get<TokenizerObject>(tokenizer));
      t = object->tokenizer;
    }
    LOOM_ASSIGN(const Options o, Options::parse(options, options_size, {"name", "architecture", "vocab_size", "max_positions", "bos", "eos", "sampling", "parameters"}));
    LOOM_ASSIGN(std::string name, o.string("name", "(made)"));
    LOOM_ASSIGN(const auto lock, n->shared->hold_alone());
    LOOM_ASSIGN(ModelConfig config, config_of(o, n->shared->network, t));
    LOOM_ASSIGN(Network copy, copy_network(n->shared->network));
    Result<Tokenizer> its = t ? Result<Tokenizer>(std::move(*t)) : Status(Code::not_found, "the model was made without a tokenizer");
    LOOM_ASSIGN(Model m, make_model(std::move(name), std::move(copy), std::move(its), std::move(config)));
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
    LOOM_ASSIGN(const auto lock, m->shared->hold_alone());
    return save_model(p, m->model());
  });
}

int32_t loom_model_save_bytes(loom_model model, loom_bytes* bytes, loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(bytes));
    LOOM_ASSIGN(const auto m, get<ModelObject>(model));
    LOOM_ASSIGN(const auto lock, m->shared->hold_alone());
    std::vector<std::byte> file;
    LOOM_TRY(save_model(&file, m->model()));
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
