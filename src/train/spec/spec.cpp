#include "train/spec/spec.h"

#include <algorithm>

#include "base/fields/field_checker.h"
#include "base/fields/old_names.h"
#include "base/files/source.h"
#include "base/message.h"
#include "train/spec/spec_fields.h"

namespace loom {
namespace {

Status bad(std::string what) {
  return Status(Code::invalid_argument, message("training spec: ", std::move(what)));
}

Result<ScheduleKind> parse_enum(std::string_view text, ScheduleKind) {
  return parse_schedule_kind(text);
}
Result<Loss> parse_enum(std::string_view text, Loss) { return parse_loss(text); }
Result<MethodKind> parse_enum(std::string_view text, MethodKind) { return parse_method(text); }
Result<TargetMode> parse_enum(std::string_view text, TargetMode) { return parse_target_mode(text); }
Result<Feedback> parse_enum(std::string_view text, Feedback) { return parse_feedback(text); }
Result<DataKind> parse_enum(std::string_view text, DataKind) {
  const auto found = std::find(std::begin(kDataNames), std::end(kDataNames), text);
  if (found != std::end(kDataNames)) return static_cast<DataKind>(found - std::begin(kDataNames));
  return bad(
      message("unknown data type \"", text, "\": one of tokens, table, arrays, text, caller"));
}
Result<OptimizerKind> parse_enum(std::string_view text, OptimizerKind) {
  const auto found = std::find(std::begin(kOptimizerNames), std::end(kOptimizerNames), text);
  if (found != std::end(kOptimizerNames))
    return static_cast<OptimizerKind>(found - std::begin(kOptimizerNames));
  return bad(message("unknown optimizer \"", text, "\": one of sgd, adamw, adam, rmsprop, lion"));
}

class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  // Inlined, so that no call makes a Field: ranges are checked afterwards (TrainingSpec::check).
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view key, T& value, const Field& field) {
    take(key, value, field.only.key ? &field.only : nullptr);
  }

  void take(std::string_view key, std::int64_t& value, const When* only) {
    read(key, value, only, [&] { return json_.get_integer(key, value); });
  }
  void take(std::string_view key, double& value, const When* only) {
    read(key, value, only, [&] { return json_.get_number(key, value); });
  }
  void take(std::string_view key, bool& value, const When* only) {
    read(key, value, only, [&] { return json_.get_bool(key, value); });
  }
  void take(std::string_view key, std::string& value, const When* only) {
    read(key, value, only, [&] { return json_.get_string(key, value); });
  }
  void take(std::string_view key, Json& value, const When* only) {
    read(key, value, only,
         [&]() -> Result<Json> { return json_.find(key) ? *json_.find(key) : value; });
  }
  void take(std::string_view key, std::vector<std::string>& value, const When* only) {
    read(key, value, only, [&]() -> Result<std::vector<std::string>> {
      const Json* list = json_.find(key);
      if (!list) return value;
      std::vector<std::string> texts;
      const bool strings =
          list->is_array() && std::all_of(list->as_array().begin(), list->as_array().end(),
                                          [](const Json& j) { return j.is_string(); });
      if (!strings)
        return Status(Code::invalid_argument, message("\"", key, "\": expected a list of strings"));
      for (const Json& j : list->as_array()) texts.push_back(j.as_string());
      return texts;
    });
  }
  void take(std::string_view key, std::vector<std::int64_t>& value, const When* only) {
    read(key, value, only, [&]() -> Result<std::vector<std::int64_t>> {
      const Json* list = json_.find(key);
      if (!list) return value;
      std::vector<std::int64_t> numbers;
      const bool integers =
          list->is_array() && std::all_of(list->as_array().begin(), list->as_array().end(),
                                          [](const Json& j) { return j.is_integer(); });
      if (!integers)
        return Status(Code::invalid_argument,
                      message("\"", key, "\": expected a list of integers"));
      for (const Json& j : list->as_array()) numbers.push_back(j.as_integer());
      return numbers;
    });
  }
  void take(std::string_view key, std::vector<HeadSpec>& value, const When* only) {
    read(key, value, only, [&]() -> Result<std::vector<HeadSpec>> {
      const Json* list = json_.find(key);
      if (!list) return value;
      if (!list->is_array())
        return Status(Code::invalid_argument, message("\"", key, "\": expected a list of objects"));
      std::vector<HeadSpec> heads;
      for (const Json& j : list->as_array()) {
        Reader inner(j, std::string(key) + " " + std::to_string(heads.size()) + ": ");
        LOOM_TRY(inner.read_all(heads.emplace_back()));
      }
      return heads;
    });
  }
  // Its type alone may stand there.
  void take(std::string_view key, MethodSpec& value, const When* only) {
    const Json* given = json_.find(key);
    if (given && given->is_string())
      return read(key, value.kind, only, [&] { return parse_method(given->as_string()); });
    take<MethodSpec>(key, value, only);
  }
  template <class T>
  void take(std::string_view key, T& value, const When* only) {
    if constexpr (std::is_enum_v<T>) {
      read(key, value, only, [&]() -> Result<T> {
        LOOM_ASSIGN(const std::string text, json_.get_string(key, name(value)));
        return parse_enum(text, value);
      });
    } else {
      known_.push_back(key);
      const Json* object = json_.find(key);
      if (!object || !status_.ok()) return;
      status_ = read_object(*object, key, value);
    }
  }

  // The default of what is read next, where it depends on the kind.
  template <class T>
  void standard(T& value, T of_this_kind) {
    value = of_this_kind;
  }

  // Every key must be one that a field asked for.
  template <class T>
  Status read_all(T& value) {
    if (!json_.is_object()) return bad(message(where_, "expected an object"));
    fields(*this, value);
    LOOM_TRY(status_);
    for (const auto& [key, member] : json_.as_object()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      std::string list;
      for (std::string_view k : known_) list += (list.empty() ? "" : ", ") + std::string(k);
      return bad(
          message(where_, "unknown key \"", key, "\": known are ", list, nearest(key, known_)));
    }
    return {};
  }
  void know(std::string_view key) { known_.push_back(key); }

 private:
  // A call for each type of object, which is smaller than its code in each place.
  template <class T>
  [[gnu::noinline]] Status read_object(const Json& object, std::string_view key, T& value) {
    Reader inner(object, where_ + std::string(key) + ": ");
    return inner.read_all(value);
  }
  template <class T, class F>
  void read(std::string_view key, T& value, const When* only, F get) {
    known_.push_back(key);
    if (!status_.ok()) return;
    auto result = get();
    if (!result.ok()) status_ = bad(where_ + result.status().message());
    else if (!only || only->holds) value = std::move(*result);
    else if (!same(*result, value)) status_ = bad(where_ + not_applicable(key, *only).message());
  }
  template <class T>
  static bool same(const T& a, const T& b) {
    if constexpr (std::is_arithmetic_v<T>) return a == b;
    else return false;
  }
  const Json& json_;
  std::string where_;
  std::vector<std::string_view> known_;
  Status status_;
};

class Writer {
 public:
  explicit Writer(Json& json) : json_(json) {}
  // Inlined, so that no call makes a Field of which nothing is used.
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view key, T& value, const Field& field) {
    if (field.written) put(key, value);
  }
  template <class T>
  void standard(T&, T) {}

 private:
  template <class T>
  void put(std::string_view key, std::vector<T>& value) {
    Json list = Json::array();
    for (T& item : value) {
      if constexpr (std::is_same_v<T, HeadSpec>) {
        Json object = Json::object();
        Writer inner(object);
        fields(inner, item);
        list.push(std::move(object));
      } else {
        list.push(item);
      }
    }
    if (!value.empty()) json_.set(std::string(key), std::move(list));
  }
  void put(std::string_view key, std::string& value) {
    if (!value.empty()) json_.set(std::string(key), value);
  }
  void put(std::string_view key, Json& value) {
    if (!value.is_null()) json_.set(std::string(key), value);
  }
  template <class T>
  void put(std::string_view key, T& value) {
    if constexpr (std::is_enum_v<T>) json_.set(std::string(key), name(value));
    else if constexpr (std::is_arithmetic_v<T>) json_.set(std::string(key), Json(value));
    else {
      Json object = Json::object();
      Writer inner(object);
      fields(inner, value);
      json_.set(std::string(key), std::move(object));
    }
  }

  Json& json_;
};

// Of a table.
Status check_table(const DataSpec& data) {
  if (data.separator.size() != 1 || data.separator == "\"" || data.separator == "\n" ||
      data.separator == "\r")
    return bad("data: \"separator\" must be one character");
  if (data.targets.empty() == data.class_column.empty())
    return bad("data: give either \"targets\" or \"class\"");
  return {};
}

Status check_class_weights(const TrainingSpec& spec) {
  const Json& weights = spec.class_weights;
  if (weights.is_null()) return {};
  if (!spec.heads.empty() || !takes_classes(spec.loss))
    return bad(std::string("\"class_weights\" go with the loss \"cross_entropy\"") +
               (spec.heads.empty() ? "" : ", not with \"heads\": give samples weights"));
  if (weights.is_string() && weights.as_string() == "balanced") return {};
  const auto good = [](const Json& w) {
    return w.is_number() && w.as_number() >= 0 && w.as_number() <= 0x1p40;
  };
  const auto above = [](const Json& w) { return w.as_number() > 0; };
  if (!weights.is_array() || !std::ranges::all_of(weights.as_array(), good) ||
      std::ranges::none_of(weights.as_array(), above))
    return bad(
        "\"class_weights\": expected \"balanced\", or a list with a number in 0..2^40 for "
        "each class, one of them above 0");
  return {};
}

Status check_streams(const TrainingSpec& spec) {
  if (spec.streams == 0) return {};
  if (spec.batch != spec.streams)
    return bad(message("a step takes a window of each of ", spec.streams,
                       " \"streams\", \"batch\" says ", spec.batch,
                       ": leave it out, or give the same"));
  if (spec.shuffle)
    return bad(
        "\"streams\" are learned in the order of the data: leave \"shuffle\" out, or give "
        "false");
  if (spec.random_translate > 0)
    return bad("\"random_translate\" moves images, which are no \"streams\"");
  if (spec.step_mesh.ticks > 0)
    return bad(
        "\"streams\" continue the states of recurrent layers, a \"step_mesh\" begins each row at "
        "0");
  return {};
}

Status check_ticks(const TicksSpec& mesh) {
  const TicksSpec none;
  if (mesh.ticks > 0 || (mesh.answers == none.answers && mesh.truncate == 0)) return {};
  return bad("step_mesh: \"ticks\" says how many a row has, and is missing");
}

Status check_quantize(const TrainingSpec& spec) {
  const QuantizeSpec& quantize = spec.quantize;
  if (!quantize.dtype.empty()) {
    auto format = parse_weight_format(quantize.dtype);
    if (!format.ok()) return bad(message("quantize: ", format.status().message()));
    if (format->dtype == DType::f32 || format->arith() == ArithClass::real)
      return bad(message("quantize: a cell learns in ", quantize.dtype,
                         " as it is: give it as the cell's \"dtype\""));
    if (spec.lora.rank > 0)
      return bad(
          "\"quantize\" is of the network's weights, which stay as they are beside \"lora\"");
    if (spec.steps > 0 && quantize.after >= spec.steps)
      return bad("quantize: \"after\" must be below \"steps\"");
    if (spec.fp8 && format->dtype != DType::fp8e4m3)
      return bad(message("\"fp8\" needs weights of the dtype fp8e4m3, \"quantize\" says ",
                         quantize.dtype));
  } else if (spec.fp8 && spec.lora.rank > 0) {
    return bad("\"fp8\" is of the network's weights, which stay as they are beside \"lora\"");
  } else if (!spec.fp8 && (quantize.after > 0 || !quantize.keep.empty())) {
    return bad("quantize: give a \"dtype\"");
  }
  return {};
}

Status check_method(const TrainingSpec& spec) {
  const MethodKind kind = spec.method.kind;
  if (kind == MethodKind::back_propagation) return {};
  const bool targets = kind == MethodKind::target_propagation;
  const char* const other = spec.fp8                               ? "fp8"
                            : spec.lora.rank > 0                   ? "lora"
                            : spec.streams > 0                     ? "streams"
                            : spec.step_mesh.ticks > 0 && !targets ? "step_mesh"
                                                                   : nullptr;
  if (other)
    return bad(message("\"", other, "\" learns by back_propagation",
                       (other == std::string_view("step_mesh") ? " or target_propagation" : ""),
                       ", \"method\" says ", name(kind)));
  if (spec.step_mesh.ticks > 0 && targets && spec.method.mode == TargetMode::layer_wise)
    return bad(
        "\"step_mesh\" learns by target_propagation with \"mode\": chain_rule, which "
        "takes every cell; layer_wise has formulas for chains alone");
  if (spec.checkpoint && kind == MethodKind::mono_forward)
    return bad(
        "\"checkpoint\" saves the memory of activations that wait for backward, and mono_forward "
        "keeps none: leave it out");
  return {};
}

}  // namespace

std::vector<double> TrainingSpec::weights_of_classes() const {
  std::vector<double> list;
  if (class_weights.is_array())
    for (const Json& w : class_weights.as_array()) list.push_back(w.as_number());
  return list;
}

Status TrainingSpec::check() const {
  FieldChecker checker("training spec: ");
  fields(checker, const_cast<TrainingSpec&>(*this));  // a checker changes nothing
  LOOM_TRY(checker.status());
  if ((steps > 0) == (epochs > 0)) return bad("give either \"steps\" or \"epochs\"");
  if (batch % micro_batches != 0)
    return bad(
        message("a batch of ", batch, " does not divide into ", micro_batches, " micro_batches"));
  LOOM_TRY(check_streams(*this));
  LOOM_TRY(check_ticks(step_mesh));
  LOOM_TRY(check_method(*this));
  if (!network.is_null() + !network_file.empty() + !base.empty() > 1)
    return bad("give one of \"network\", \"network_file\" and \"base\"");
  if (base.empty() && !base_dtype.empty()) return bad("\"base_dtype\" is of a \"base\"");
  if (!heads.empty() && (data.kind == DataKind::tokens || data.kind == DataKind::text))
    return bad("\"heads\" learn values and classes of rows, not tokens");
  if (!heads.empty() && data.kind == DataKind::table && data.targets.empty())
    return bad("data: with \"heads\" give \"targets\", the columns of all heads");
  LOOM_TRY(check_class_weights(*this));
  if (!heads.empty() && loss_weight != 1)
    return bad("\"loss_weight\" is of one loss: \"heads\" have a \"weight\" each");
  if (!heads.empty() && loss != Loss::mse) return bad("give either \"loss\" or \"heads\"");
  if (ignore != kIgnoredClass && !takes_classes(loss) &&
      std::none_of(heads.begin(), heads.end(), [](auto& h) { return takes_classes(h.loss); }))
    return bad("\"ignore\" is a class: it goes with the loss \"cross_entropy\"");
  if (lora.rank == 0 && !lora.targets.empty()) return bad("lora: \"rank\" must be at least 1");
  LOOM_TRY(check_quantize(*this));
  if (optimizer.nesterov && optimizer.momentum == 0)
    return bad("optimizer: \"nesterov\" needs a \"momentum\" above 0");
  if ((data.kind == DataKind::tokens || data.kind == DataKind::text) && loss != Loss::cross_entropy)
    return bad("tokens are learned with the loss \"cross_entropy\"");
  if (data.kind == DataKind::table) {
    LOOM_TRY(check_table(data));
    if (heads.empty() && data.class_column.empty() == takes_classes(loss))
      return bad(
          "data: \"class\" goes with the loss \"cross_entropy\", \"targets\" with the others");
  }
  return {};
}

Json TrainingSpec::to_json() const {
  Json json = Json::object();
  json.set("format", "loom-training");
  json.set("version", 2);
  Writer writer(json);
  TrainingSpec copy = *this;  // one list of fields serves both directions
  fields(writer, copy);
  return json;
}

Result<TrainingSpec> parse_training_spec(const Json& json) {
  if (!json.is_object()) return bad("expected a JSON object");
  LOOM_ASSIGN(const std::string format, json.get_string("format", ""));
  if (format != "loom-training") return bad("\"format\" must be \"loom-training\"");
  LOOM_ASSIGN(const std::int64_t version, json.get_integer("version", 0));
  if (version < 1 || version > 2)
    return Status(Code::unsupported, message("training spec: version ", version,
                                             ", this library reads versions 1 and 2"));
  if (version == 1) return parse_training_spec(spec_by_present_names(json));
  TrainingSpec spec;
  Reader reader(json, "");
  reader.know("format");
  reader.know("version");
  reader.know("name");
  LOOM_TRY(reader.read_all(spec));
  // What a stream leaves to say is not asked for.
  if (spec.streams > 0 && !json.find("batch")) spec.batch = spec.streams;
  if (spec.streams > 0 && !json.find("shuffle")) spec.shuffle = false;
  LOOM_TRY(spec.check());
  return spec;
}

Result<TrainingSpec> parse_training_spec(std::string_view text) {
  LOOM_ASSIGN(const Json json, Json::parse(text));
  return parse_training_spec(json);
}

Result<DataSpec> parse_data_spec(const Json& json) {
  if (!json.is_object()) return bad("data: expected a JSON object");
  DataSpec spec;
  Reader reader(json, "data: ");
  LOOM_TRY(reader.read_all(spec));
  if (spec.kind == DataKind::table) LOOM_TRY(check_table(spec));
  return spec;
}

Result<Network> create_network(const TrainingSpec& spec, const std::string& folder) {
  Json topology = spec.network;
  if (!spec.network_file.empty()) {
    const std::string path = folder.empty() || spec.network_file[0] == '/'
                                 ? spec.network_file
                                 : folder + "/" + spec.network_file;
    LOOM_ASSIGN(const std::string text, read_text_file(path, std::uint64_t{64} << 20));
    auto json = Json::parse(text);
    if (!json.ok()) return json.status().at(path);
    topology = std::move(*json);
  }
  if (topology.is_null()) return bad("no network: give \"network\", \"network_file\" or \"base\"");
  LOOM_ASSIGN(Network network, Network::from_json(topology));
  LOOM_TRY(network.initialize(static_cast<std::uint64_t>(spec.seed)));
  return network;
}

}  // namespace loom
