#include "evolve/spec.h"

#include <algorithm>
#include <cmath>

#include "base/fields/field_reader.h"

namespace loom::evolve {
namespace {

constexpr std::string_view kActivationNames[kGeneActivations] = {
    "linear", "sigmoid", "steep_sigmoid", "tanh", "relu", "gaussian", "sin", "abs"};

// Of each task but `table` and `host`.
struct Builtin {
  std::int64_t inputs, outputs;
  double goal;
  std::int64_t episode_steps;
};
Builtin builtin(Task task) {
  switch (task) {
    case Task::xor_gate: return {2, 1, 3.9, 0};
    case Task::cart_pole: return {4, 1, 1, 500};
    case Task::double_pole: return {6, 1, 1, 100000};
    default: return {};
  }
}

Status invalid(std::string text) { return {Code::invalid_argument, std::move(text)}; }

// A width that the task or the data has.
Status take_width(std::string key, std::int64_t& width, std::int64_t of_task) {
  if (width != 0 && width != of_task)
    return invalid(key + ": " + std::to_string(width) + "; the task has " +
                   std::to_string(of_task));
  width = of_task;
  return {};
}

Status read_table(const Json* data, EvolutionSpec& spec) {
  if ((data != nullptr) != (spec.task == "table"))
    return invalid(data ? "\"data\" needs \"task\": \"table\""
                        : "\"task\": \"table\" needs \"data\": {\"x\": [[...]], \"y\": [[...]]}");
  if (!data) return {};
  const Json* x = data->find("x");
  const Json* y = data->find("y");
  if (!x || !y || data->as_object().size() != 2)
    return invalid("data: must be {\"x\": [[...]], \"y\": [[...]]}");
  std::int64_t y_rows = 0, inputs = 0, outputs = 0;
  LOOM_ASSIGN(spec.table.x, matrix_from_json(*x, "x", &spec.table.rows, &inputs));
  LOOM_ASSIGN(spec.table.y, matrix_from_json(*y, "y", &y_rows, &outputs));
  if (y_rows != spec.table.rows)
    return invalid("data: " + std::to_string(spec.table.rows) + " rows of x and " +
                   std::to_string(y_rows) + " of y");
  LOOM_TRY(take_width("inputs", spec.inputs, inputs));
  LOOM_TRY(take_width("outputs", spec.outputs, outputs));
  return {};
}

Status finish_table(const EvolutionSpec& spec) {
  const Table& t = spec.table;
  const auto count = [&](std::int64_t width) { return static_cast<std::size_t>(t.rows * width); };
  if (t.rows < 1 || t.x.size() != count(spec.inputs) || t.y.size() != count(spec.outputs))
    return invalid("task table: needs rows of inputs and outputs");
  const auto wild = [](float v) { return !(std::abs(v) <= 1e28f); };
  if (std::ranges::any_of(t.x, wild) || std::ranges::any_of(t.y, wild))
    return invalid("data: values must be within +-1e28");
  return {};
}

Status finish_task(EvolutionSpec& spec) {
  constexpr std::string_view kTasks[] = {"xor", "cart_pole", "double_pole", "table", "host"};
  spec.kind = static_cast<Task>(std::ranges::find(kTasks, spec.task) - kTasks);
  const bool control = spec.kind == Task::cart_pole || spec.kind == Task::double_pole;
  if (spec.episode_steps != 0 && !control)
    return invalid("episode_steps: only tasks cart_pole and double_pole have episodes");
  if (spec.kind == Task::table) return finish_table(spec);
  if (spec.kind == Task::host) {
    if (spec.inputs < 1 || spec.outputs < 1)
      return invalid("task host: needs inputs and outputs of at least 1");
    return {};
  }
  const Builtin own = builtin(spec.kind);
  LOOM_TRY(take_width("inputs", spec.inputs, own.inputs));
  LOOM_TRY(take_width("outputs", spec.outputs, own.outputs));
  if (!spec.goal) spec.goal = own.goal;
  if (spec.episode_steps == 0) spec.episode_steps = own.episode_steps;
  return {};
}

}  // namespace

std::string_view name(GeneActivation activation) {
  return kActivationNames[static_cast<std::size_t>(activation)];
}

Result<GeneActivation> activation_named(std::string_view text) {
  for (int i = 0; i < kGeneActivations; ++i)
    if (kActivationNames[i] == text) return static_cast<GeneActivation>(i);
  return invalid("activation \"" + std::string(text) +
                 "\"; known are linear, sigmoid, steep_sigmoid, tanh, relu, gaussian, sin, abs");
}

namespace {

Status prepare(EvolutionSpec& spec) {
  LOOM_TRY(finish_task(spec));
  const auto output = activation_named(spec.output_activation);
  if (!output.ok()) return output.status().at("output_activation");
  spec.output_kind = *output;
  if (spec.activations.empty()) return invalid("activations: must be at least one");
  spec.activation_kinds.clear();
  for (const std::string& text : spec.activations) {
    const auto kind = activation_named(text);
    if (!kind.ok()) return kind.status().at("activations");
    spec.activation_kinds.push_back(*kind);
  }
  if (spec.inputs * spec.outputs > (1 << 20))
    return Status(Code::out_of_range, "inputs * outputs: more than 1048576 edges to begin with");
  return {};
}

class Writer {
 public:
  template <class T>
  void operator()(std::string_view key, const T& value, const Field&) {
    if constexpr (std::is_same_v<T, std::vector<std::string>>)
      json.set(key, Json(Json::Array(value.begin(), value.end())));
    else if constexpr (std::is_same_v<T, std::optional<double>>) {
      if (value) json.set(key, *value);
    } else json.set(key, Json(value));
  }
  Json json = Json::object();
};

}  // namespace

Result<std::vector<float>> matrix_from_json(const Json& json, std::string_view key,
                                            std::int64_t* rows, std::int64_t* cols) {
  const auto wrong = [&](std::string text) {
    return invalid("data." + std::string(key) + ": " + std::move(text));
  };
  if (!json.is_array() || json.as_array().empty()) return wrong("must be a list of rows");
  std::vector<float> values;
  *rows = static_cast<std::int64_t>(json.as_array().size());
  for (const Json& row : json.as_array()) {
    if (!row.is_array() || row.as_array().empty()) return wrong("a row must be a list of numbers");
    const auto width = static_cast<std::int64_t>(row.as_array().size());
    if (&row == &json.as_array()[0]) *cols = width;
    if (width != *cols)
      return wrong("rows of " + std::to_string(*cols) + " and of " + std::to_string(width) +
                   " values");
    for (const Json& value : row.as_array()) {
      if (!value.is_number()) return wrong("a row must be a list of numbers");
      values.push_back(static_cast<float>(value.as_number()));
    }
  }
  return values;
}

Json matrix_json(const std::vector<float>& values, std::int64_t rows) {
  Json list = Json::array();
  const std::size_t width = values.size() / static_cast<std::size_t>(rows);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
    list.push(Json(Json::Array(values.begin() + static_cast<std::ptrdiff_t>(r * width),
                               values.begin() + static_cast<std::ptrdiff_t>((r + 1) * width))));
  return list;
}
Result<EvolutionSpec> spec_from_json(const Json& json) {
  if (!json.is_object()) return invalid("an evolution spec must be an object");
  EvolutionSpec spec;
  FieldReader reader(json);
  fields(reader, spec);
  LOOM_TRY(reader.finish("an evolution spec has", {"data"}));
  LOOM_TRY(read_table(json.find("data"), spec));
  LOOM_TRY(prepare(spec));
  return spec;
}

Json settings_json(const EvolutionSpec& spec) {
  Writer writer;
  fields(writer, const_cast<EvolutionSpec&>(spec));  // the writer only reads
  return std::move(writer.json);
}

Json to_json(const EvolutionSpec& spec) {
  Json json = settings_json(spec);
  if (spec.kind == Task::table) {
    Json data = Json::object();
    data.set("x", matrix_json(spec.table.x, spec.table.rows));
    data.set("y", matrix_json(spec.table.y, spec.table.rows));
    json.set("data", std::move(data));
  }
  return json;
}

}  // namespace loom::evolve
