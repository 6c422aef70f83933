#include "train/spec.h"

#include <algorithm>

#include "base/files/source.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, "training spec: " + std::move(what)); }

constexpr std::string_view kDataNames[] = {"caller", "tokens", "table", "arrays", "text"};
constexpr std::string_view kOptimizerNames[] = {"sgd", "adamw", "rmsprop", "lion"};

Result<ScheduleKind> parse_enum(std::string_view text, ScheduleKind) { return parse_schedule_kind(text); }
Result<Loss> parse_enum(std::string_view text, Loss) { return parse_loss(text); }
Result<DataKind> parse_enum(std::string_view text, DataKind) {
  const auto found = std::find(std::begin(kDataNames), std::end(kDataNames), text);
  if (found != std::end(kDataNames)) return static_cast<DataKind>(found - std::begin(kDataNames));
  return bad("unknown data type \"" + std::string(text) + "\": one of tokens, table, arrays, text, caller");
}
Result<OptimizerKind> parse_enum(std::string_view text, OptimizerKind) {
  const auto found = std::find(std::begin(kOptimizerNames), std::end(kOptimizerNames), text);
  if (found != std::end(kOptimizerNames)) return static_cast<OptimizerKind>(found - std::begin(kOptimizerNames));
  return bad("unknown optimizer \"" + std::string(text) + "\": one of sgd, adamw, rmsprop, lion");
}
std::string_view enum_name(ScheduleKind v) { return name(v); }
std::string_view enum_name(Loss v) { return kLossNames[static_cast<std::size_t>(v)]; }
std::string_view enum_name(DataKind v) { return kDataNames[static_cast<std::size_t>(v)]; }
std::string_view enum_name(OptimizerKind v) { return kOptimizerNames[static_cast<std::size_t>(v)]; }

// The keys of each object, once for reading and writing. A kind comes first: what follows depends on it.
template <class V>
void fields(V& v, OptimizerSpec& o) {
  v("type", o.kind);
  // Checkpoints compare what is written: a key that came later is written only where it is used.
  const bool sgd = o.kind == OptimizerKind::sgd, rmsprop = o.kind == OptimizerKind::rmsprop;
  if (sgd || rmsprop) v("momentum", o.momentum);
  if (sgd) v.later("nesterov", o.nesterov, false);
  if (rmsprop) {
    v("alpha", o.alpha);
    v("centered", o.centered);
  }
  if (!sgd && !rmsprop) {
    if (o.kind == OptimizerKind::lion) v.standard(o.beta2, 0.99);
    v("beta1", o.beta1);
    v("beta2", o.beta2);
  }
  if (o.kind == OptimizerKind::adamw || rmsprop) v("eps", o.eps);
  v("weight_decay", o.weight_decay);
  v("clip_norm", o.clip_norm);
}

template <class V>
void fields(V& v, Schedule& s) {
  v("type", s.kind);
  v("rate", s.rate);
  v("warmup", s.warmup);
  using K = ScheduleKind;
  const bool restarts = s.kind == K::cosine_restarts;
  if ((has_end(s.kind) && s.kind != K::one_cycle) || restarts) v("floor", s.floor);
  if (has_end(s.kind)) v("steps", s.steps);
  if (s.kind == K::step || restarts) v("every", s.every);
  if (restarts) v("multiplier", s.multiplier);
  if (s.kind == K::multi_step) v("milestones", s.milestones);
  if (s.kind == K::step || s.kind == K::multi_step || s.kind == K::exponential) v("factor", s.factor);
  if (s.kind == K::one_cycle) {
    v("share", s.share);
    v("div", s.div);
    v("final_div", s.final_div);
  }
  if (s.kind == K::polynomial) v("power", s.power);
}

template <class V>
void fields(V& v, DataSpec& d) {
  v("type", d.kind);
  if (d.kind == DataKind::caller) return;
  v("file", d.file);
  if (d.kind == DataKind::tokens) {
    v("dtype", d.dtype);
    v("length", d.length);
    v("document_end", d.document_end);
  } else if (d.kind == DataKind::text) {
    v("length", d.length);
  } else if (d.kind == DataKind::arrays) {
    v("targets_file", d.targets_file);
  } else {
    v("header", d.header);
    v("separator", d.separator);
    v("targets", d.targets);
    v("class", d.class_column);
  }
}

template <class V>
void fields(V& v, ValidationSpec& s) {
  v("share", s.share);
  v("every", s.every);
  v("patience", s.patience);
}

template <class V>
void fields(V& v, QuantizeSpec& q) {
  v("dtype", q.dtype);
  v("keep", q.keep);
  v("after", q.after);
}

template <class V>
void fields(V& v, HeadSpec& h) {
  v("name", h.name);
  v("columns", h.columns);
  v("loss", h.loss);
  v.later("delta", h.delta, 1.0);
  v("weight", h.weight);
}

template <class V>
void fields(V& v, AdapterSpec& a) {
  v.standard(a.rank, std::int64_t{8});
  v("rank", a.rank);
  v("alpha", a.alpha);
  v("targets", a.targets);
}

template <class V>
void fields(V& v, TrainingSpec& t) {
  v("network", t.network);
  v("network_file", t.network_file);
  v("base", t.base);
  v("base_dtype", t.base_dtype);
  v("data", t.data);
  v("loss", t.loss);
  v.later("delta", t.delta, 1.0);
  v("heads", t.heads);
  v.optional("lora", t.lora, t.lora.rank > 0);
  v.later("checkpoint", t.checkpoint, false);
  v("optimizer", t.optimizer);
  v("schedule", t.schedule);
  v("steps", t.steps);
  v("epochs", t.epochs);
  v("batch", t.batch);
  v("micro_batches", t.micro_batches);
  v("seed", t.seed);
  v("shuffle", t.shuffle);
  v.later("shift", t.shift, std::int64_t{0});
  v.later("fp8", t.fp8, false);
  v.optional("quantize", t.quantize, !t.quantize.dtype.empty() || !t.quantize.keep.empty() || t.quantize.after > 0);
  v.optional("validation", t.validation, t.validation.share > 0);
  v("checkpoint_every", t.checkpoint_every);
  v("log_every", t.log_every);
}

class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  void operator()(std::string_view key, std::int64_t& value) { read(key, value, [&] { return json_.get_integer(key, value); }); }
  void operator()(std::string_view key, double& value) { read(key, value, [&] { return json_.get_number(key, value); }); }
  void operator()(std::string_view key, bool& value) { read(key, value, [&] { return json_.get_bool(key, value); }); }
  void operator()(std::string_view key, std::string& value) { read(key, value, [&] { return json_.get_string(key, value); }); }
  void operator()(std::string_view key, Json& value) {
    read(key, value, [&]() -> Result<Json> { return json_.find(key) ? *json_.find(key) : value; });
  }
  void operator()(std::string_view key, std::vector<std::string>& value) {
    read(key, value, [&]() -> Result<std::vector<std::string>> {
      const Json* list = json_.find(key);
      if (!list) return value;
      std::vector<std::string> texts;
      const bool strings = list->is_array() && std::all_of(list->as_array().begin(), list->as_array().end(), [](const Json& j) { return j.is_string(); });
      if (!strings) return Status(Code::invalid_argument, "\"" + std::string(key) + "\": expected a list of strings");
      for (const Json& j : list->as_array()) texts.push_back(j.as_string());
      return texts;
    });
  }
  void operator()(std::string_view key, std::vector<std::int64_t>& value) {
    read(key, value, [&]() -> Result<std::vector<std::int64_t>> {
      const Json* list = json_.find(key);
      if (!list) return value;
      std::vector<std::int64_t> numbers;
      const bool integers = list->is_array() && std::all_of(list->as_array().begin(), list->as_array().end(), [](const Json& j) { return j.is_integer(); });
      if (!integers) return Status(Code::invalid_argument, "\"" + std::string(key) + "\": expected a list of integers");
      for (const Json& j : list->as_array()) numbers.push_back(j.as_integer());
      return numbers;
    });
  }
  void operator()(std::string_view key, std::vector<HeadSpec>& value) {
    read(key, value, [&]() -> Result<std::vector<HeadSpec>> {
      const Json* list = json_.find(key);
      if (!list) return value;
      if (!list->is_array()) return Status(Code::invalid_argument, "\"" + std::string(key) + "\": expected a list of objects");
      std::vector<HeadSpec> heads;
      for (const Json& j : list->as_array()) {
        Reader inner(j, std::string(key) + " " + std::to_string(heads.size()) + ": ");
        LOOM_TRY(inner.read_all(heads.emplace_back()));
      }
      return heads;
    });
  }
  template <class T>
  void operator()(std::string_view key, T& value) {
    if constexpr (std::is_enum_v<T>) {
      read(key, value, [&]() -> Result<T> {
        LOOM_ASSIGN(const std::string text, json_.get_string(key, enum_name(value)));
        return parse_enum(text, value);
      });
    } else {
      known_.push_back(key);
      const Json* object = json_.find(key);
      if (!object || !status_.ok()) return;
      Reader inner(*object, where_ + std::string(key) + ": ");
      status_ = inner.read_all(value);
    }
  }

  template <class T>
  void later(std::string_view key, T& value, T) { (*this)(key, value); }
  template <class T>
  void optional(std::string_view key, T& value, bool) { (*this)(key, value); }
  // The default of what is read next, where it depends on the kind.
  template <class T>
  void standard(T& value, T of_this_kind) { value = of_this_kind; }

  // Every key must be one that a field asked for.
  template <class T>
  Status read_all(T& value) {
    if (!json_.is_object()) return bad(where_ + "expected an object");
    fields(*this, value);
    LOOM_TRY(status_);
    for (const auto& [key, member] : json_.as_object()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      std::string list;
      for (std::string_view k : known_) list += (list.empty() ? "" : ", ") + std::string(k);
      return bad(where_ + "unknown key \"" + key + "\": known are " + list);
    }
    return {};
  }
  void know(std::string_view key) { known_.push_back(key); }

 private:
  template <class T, class F>
  void read(std::string_view key, T& value, F get) {
    known_.push_back(key);
    if (!status_.ok()) return;
    auto result = get();
    if (!result.ok()) status_ = bad(where_ + result.status().message());
    else value = std::move(*result);
  }
  const Json& json_;
  std::string where_;
  std::vector<std::string_view> known_;
  Status status_;
};

class Writer {
 public:
  explicit Writer(Json& json) : json_(json) {}
  template <class T>
  void later(std::string_view key, T& value, T otherwise) {
    if (value != otherwise) (*this)(key, value);
  }
  template <class T>
  void optional(std::string_view key, T& value, bool used) {
    if (used) (*this)(key, value);
  }
  template <class T>
  void standard(T&, T) {}
  template <class T>
  void operator()(std::string_view key, std::vector<T>& value) {
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
  void operator()(std::string_view key, std::string& value) {
    if (!value.empty()) json_.set(std::string(key), value);
  }
  void operator()(std::string_view key, Json& value) {
    if (!value.is_null()) json_.set(std::string(key), value);
  }
  template <class T>
  void operator()(std::string_view key, T& value) {
    if constexpr (std::is_enum_v<T>) json_.set(std::string(key), enum_name(value));
    else if constexpr (std::is_arithmetic_v<T>) json_.set(std::string(key), Json(value));
    else {
      Json object = Json::object();
      Writer inner(object);
      fields(inner, value);
      json_.set(std::string(key), std::move(object));
    }
  }

 private:
  Json& json_;
};

Status at_least(std::string_view key, std::int64_t value, std::int64_t least, std::int64_t most = INT32_MAX) {
  if (value >= least && value <= most) return {};
  return bad("\"" + std::string(key) + "\" must be in " + std::to_string(least) + ".." + std::to_string(most) + ", got " + std::to_string(value));
}

Status in_range(std::string_view key, double value, double least, double below) {
  if (value >= least && value < below) return {};
  return bad("\"" + std::string(key) + "\" must be at least " + format_double(least) + " and below " + format_double(below));
}

}  // namespace

Status TrainingSpec::check() const {
  LOOM_TRY(at_least("steps", steps, 0, std::int64_t{1} << 40));
  LOOM_TRY(at_least("epochs", epochs, 0));
  LOOM_TRY(at_least("batch", batch, 1));
  LOOM_TRY(at_least("micro_batches", micro_batches, 1, 1 << 20));
  LOOM_TRY(at_least("seed", seed, 0, INT64_MAX));
  LOOM_TRY(at_least("shift", shift, 0, 1 << 20));
  LOOM_TRY(at_least("checkpoint_every", checkpoint_every, 0));
  LOOM_TRY(at_least("log_every", log_every, 0));
  if ((steps > 0) == (epochs > 0)) return bad("give either \"steps\" or \"epochs\"");
  if (batch % micro_batches != 0) return bad("a batch of " + std::to_string(batch) + " does not divide into " + std::to_string(micro_batches) + " micro_batches");
  if (!network.is_null() + !network_file.empty() + !base.empty() > 1) return bad("give one of \"network\", \"network_file\" and \"base\"");
  if (base.empty() && !base_dtype.empty()) return bad("\"base_dtype\" is of a \"base\"");
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string where = "heads " + std::to_string(i) + ": ";
    LOOM_TRY(at_least(where + "columns", heads[i].columns, 1));
    LOOM_TRY(in_range(where + "weight", heads[i].weight, 0, 1e6));
    LOOM_TRY(in_range(where + "delta", heads[i].delta, 1e-6, 1e12));
  }
  if (!heads.empty() && (data.kind == DataKind::tokens || data.kind == DataKind::text)) return bad("\"heads\" learn values and classes of rows, not tokens");
  if (!heads.empty() && data.kind == DataKind::table && data.targets.empty()) return bad("data: with \"heads\" give \"targets\", the columns of all heads");
  if (!heads.empty() && loss != Loss::mse) return bad("give either \"loss\" or \"heads\"");
  if (!heads.empty() && validation.share > 0) return bad("\"validation\" judges one loss, not \"heads\"");
  LOOM_TRY(at_least("lora: rank", lora.rank, 0, 65536));
  LOOM_TRY(in_range("lora: alpha", lora.alpha, 1e-6, 1e6));
  if (lora.rank == 0 && !lora.targets.empty()) return bad("lora: \"rank\" must be at least 1");
  LOOM_TRY(at_least("quantize: after", quantize.after, 0, std::int64_t{1} << 40));
  if (!quantize.dtype.empty()) {
    auto format = parse_weight_format(quantize.dtype);
    if (!format.ok()) return bad("quantize: " + format.status().message());
    if (format->dtype == DType::f32 || format->arith() == ArithClass::real) return bad("quantize: a cell learns in " + quantize.dtype + " as it is: give it as the cell's \"dtype\"");
    if (lora.rank > 0) return bad("\"quantize\" is of the network's weights, which stay as they are beside \"lora\"");
    if (steps > 0 && quantize.after >= steps) return bad("quantize: \"after\" must be below \"steps\"");
    if (fp8 && format->dtype != DType::fp8e4m3) return bad("\"fp8\" needs weights of the dtype fp8e4m3, \"quantize\" says " + quantize.dtype);
  } else if (fp8 && lora.rank > 0) {
    return bad("\"fp8\" is of the network's weights, which stay as they are beside \"lora\"");
  } else if (!fp8 && (quantize.after > 0 || !quantize.keep.empty())) {
    return bad("quantize: give a \"dtype\"");
  }
  LOOM_TRY(in_range("validation: share", validation.share, 0, 1));
  LOOM_TRY(at_least("validation: every", validation.every, 0));
  LOOM_TRY(at_least("validation: patience", validation.patience, 0));
  const OptimizerSpec& o = optimizer;
  LOOM_TRY(in_range("momentum", o.momentum, 0, 1));
  LOOM_TRY(in_range("beta1", o.beta1, 0, 1));
  LOOM_TRY(in_range("beta2", o.beta2, 0, 1));
  LOOM_TRY(in_range("eps", o.eps, 1e-8, 1));
  LOOM_TRY(in_range("weight_decay", o.weight_decay, 0, 1e6));
  LOOM_TRY(in_range("clip_norm", o.clip_norm, 0, 1e30));
  LOOM_TRY(in_range("alpha", o.alpha, 0, 1));
  LOOM_TRY(in_range("delta", delta, 1e-6, 1e12));
  if (o.nesterov && o.momentum == 0) return bad("optimizer: \"nesterov\" needs a \"momentum\" above 0");
  if (data.kind == DataKind::arrays && data.targets_file.empty()) return bad("data: arrays need a \"targets_file\"");
  if (data.kind == DataKind::tokens || data.kind == DataKind::text) {
    LOOM_TRY(at_least("data: length", data.length, 1));
    LOOM_TRY(at_least("data: document_end", data.document_end, -1));
    if (data.dtype != "u16" && data.dtype != "u32") return bad("data: dtype \"" + data.dtype + "\": one of u16, u32");
    if (loss != Loss::cross_entropy) return bad("tokens are learned with the loss \"cross_entropy\"");
  }
  if (data.kind == DataKind::table) {
    if (data.separator.size() != 1 || data.separator == "\"" || data.separator == "\n" || data.separator == "\r") return bad("data: \"separator\" must be one character");
    if (data.targets.empty() == data.class_column.empty()) return bad("data: give either \"targets\" or \"class\"");
    if (heads.empty() && data.class_column.empty() == takes_classes(loss)) return bad("data: \"class\" goes with the loss \"cross_entropy\", \"targets\" with the others");
  }
  return {};
}

Json TrainingSpec::to_json() const {
  Json json = Json::object();
  json.set("format", "loom-training");
  json.set("version", 1);
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
  if (version != 1) return Status(Code::unsupported, "training spec: version " + std::to_string(version) + ", this library reads version 1");
  TrainingSpec spec;
  Reader reader(json, "");
  reader.know("format");
  reader.know("version");
  reader.know("name");
  LOOM_TRY(reader.read_all(spec));
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
  return spec;
}

Result<Network> create_network(const TrainingSpec& spec, const std::string& folder) {
  Json topology = spec.network;
  if (!spec.network_file.empty()) {
    const std::string path = folder.empty() || spec.network_file[0] == '/' ? spec.network_file : folder + "/" + spec.network_file;
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
