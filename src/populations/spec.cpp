#include "populations/spec.h"

#include <algorithm>
#include <cmath>

#include "base/fields/field_reader.h"

namespace loom::populations {
namespace {

Status invalid(std::string text) { return {Code::invalid_argument, std::move(text)}; }

// A class of a table: a whole number from 0 on.
bool is_class(float v) { return v >= 0 && v < 0x1p24f && v == std::floor(v); }

Status read_table(const Json* data, SearchSpec& spec, std::int64_t& inputs) {
  if ((data != nullptr) != (spec.task == "table"))
    return invalid(data ? "\"data\" needs \"task\": \"table\""
                        : "\"task\": \"table\" needs \"data\": {\"x\": [[...]], \"y\": [[...]]}");
  if (!data) return {};
  const Json *x = data->find("x"), *y = data->find("y");
  if (!x || !y || data->as_object().size() != 2)
    return invalid("data: must be {\"x\": [[...]], \"y\": [[...]]}");
  std::int64_t y_rows = 0;
  LOOM_ASSIGN(spec.table.x, evolve::matrix_from_json(*x, "x", &spec.table.rows, &inputs));
  LOOM_ASSIGN(spec.table.y, evolve::matrix_from_json(*y, "y", &y_rows, &spec.outputs));
  if (y_rows != spec.table.rows)
    return invalid("data: " + std::to_string(spec.table.rows) + " rows of x and " +
                   std::to_string(y_rows) + " of y");
  if (spec.table.rows < 2) return invalid("data: needs 2 rows, one of them held out");
  const auto wild = [](float v) { return !(std::abs(v) <= 1e28f); };
  if (std::ranges::any_of(spec.table.x, wild) || std::ranges::any_of(spec.table.y, wild))
    return invalid("data: values must be within +-1e28");
  const bool classes = spec.train.loss == "cross_entropy";
  if (classes && (spec.outputs != 1 || !std::ranges::all_of(spec.table.y, is_class)))
    return invalid("data.y: of cross_entropy a row is one class, a whole number from 0 on");
  if (!classes && spec.score == "accuracy" && spec.outputs < 2)
    return invalid("score: accuracy of mse needs a column of y for each class");
  return {};
}

Status check(const SearchSpec& spec) {
  LOOM_TRY(breed::check_rates(spec.rates).at("rates"));
  if (spec.task == "host" && spec.train.steps > 0)
    return invalid("train: steps: task host: the caller trains");
  return {};
}

class Writer {
 public:
  template <class T>
  void operator()(std::string_view key, const T& value, const Field& field) {
    if (!field.only.holds) return;
    if constexpr (std::is_same_v<T, std::vector<std::string>>)
      json.set(key, Json(Json::Array(value.begin(), value.end())));
    else if constexpr (std::is_same_v<T, std::optional<double>> ||
                       std::is_same_v<T, std::optional<std::int64_t>>) {
      if (value) json.set(key, *value);
    } else if constexpr (std::is_constructible_v<Json, T>) {
      json.set(key, Json(value));
    } else {
      Writer inner;
      fields(inner, const_cast<T&>(value));  // the writer only reads
      json.set(key, std::move(inner.json));
    }
  }
  Json json = Json::object();
};

}  // namespace

evolve::SelectionRules SearchSpec::rules() const {
  return {population,       static_cast<std::uint64_t>(seed),
          mutate_only,      interspecies,
          survival,         elites,
          elite_size,       stagnation,
          protected_species};
}

Result<SearchSpec> search_spec(const Json& json) {
  if (!json.is_object()) return invalid("an evolution spec must be an object");
  SearchSpec spec;
  FieldReader reader(json);
  fields(reader, spec);
  LOOM_TRY(reader.finish("an evolution spec of networks has", {"network", "data", "costs"}));
  LOOM_TRY(check(spec));
  if (const Json* network = json.find("network")) {
    if (!network->is_object()) return invalid("network: must be a topology");
    spec.network = *network;
  }
  if (const Json* costs = json.find("costs")) {
    LOOM_ASSIGN(spec.costs, costs_from_json(*costs));
  }
  std::int64_t inputs = 0;
  LOOM_TRY(read_table(json.find("data"), spec, inputs));
  return spec;
}

Json settings_json(const SearchSpec& spec) {
  Writer writer;
  fields(writer, const_cast<SearchSpec&>(spec));  // the writer only reads
  if (spec.costs) writer.json.set("costs", to_json(*spec.costs));
  return std::move(writer.json);
}

Json to_json(const SearchSpec& spec) {
  Json json = settings_json(spec);
  if (!spec.network.is_null()) json.set("network", spec.network);
  if (spec.task == "table") {
    Json data = Json::object();
    data.set("x", evolve::matrix_json(spec.table.x, spec.table.rows));
    data.set("y", evolve::matrix_json(spec.table.y, spec.table.rows));
    json.set("data", std::move(data));
  }
  return json;
}

}  // namespace loom::populations
