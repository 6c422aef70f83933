#include "bridge/stream_network.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include "bridge/compare.h"

namespace loom::bridge {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kMaxSize = 1 << 24;
constexpr std::size_t kMaxLayers = 1024;

std::int64_t product(const Dims& dims) {
  std::int64_t n = 1;
  for (const std::int64_t dim : dims) {
    if (n > kMaxSize / std::max<std::int64_t>(dim, 1))
      refuse(413, "too_large", "a layer has more than " + std::to_string(kMaxSize) + " numbers");
    n *= dim;
  }
  return n;
}

std::string text_of_dims(const Dims& dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

// One layer of the request, whose values are used, or refused by name.
class Layer {
 public:
  Layer(const Json& json, std::size_t index, const std::string& bedrock)
      : json_(json), where_("layers[" + std::to_string(index) + "]") {
    if (!json.is_object()) refuse(400, "invalid_argument", where_ + ": must be an object");
    kind = json.find("kind") ? text_of(json, "kind", where_) : bedrock;
    where_ += " (" + kind.substr(0, 20) + ")";
    if (json.find("index") &&
        whole_of(json, "index", 0, kMaxSize, where_) != static_cast<std::int64_t>(index))
      refuse(400, "invalid_argument", where_ + ".index: indices count from 0");
  }
  [[noreturn]] void wrong(const std::string& why) const {
    refuse(400, "invalid_argument", where_ + ": " + why);
  }
  std::int64_t size(const char* key) const { return whole_of(json_, key, 1, kMaxSize, where_); }
  std::int64_t size_or(const char* key, std::int64_t absent, std::int64_t min = 0) const {
    const Json* value = json_.find(key);
    return value && !value->is_null() ? whole_of(json_, key, min, kMaxSize, where_) : absent;
  }
  bool flag(const char* key, bool absent) const {
    const Json* value = json_.find(key);
    if (!value) return absent;
    if (!value->is_bool()) wrong(std::string(key) + ": must be true or false");
    return value->as_bool();
  }
  double eps(double absent) const {
    const Json* value = json_.find("eps");
    if (!value) return absent;
    if (!value->is_number() || !(value->as_number() >= 1e-8 && value->as_number() <= 1))
      wrong("eps: must be a number of 1e-8 to 1");
    return value->as_number();
  }
  double number(const char* key, double absent) const {
    const Json* value = json_.find(key);
    if (value && !value->is_number()) wrong(std::string(key) + ": must be a number");
    return value ? value->as_number() : absent;
  }
  bool has(const char* key) const {
    const Json* value = json_.find(key);
    return value && !value->is_null() && !(value->is_array() && value->as_array().empty());
  }
  std::vector<float> weights(const char* key, std::int64_t count) const {
    const Json::Array& list = array_of(json_, key, where_).as_array();
    if (static_cast<std::int64_t>(list.size()) != count)
      wrong(std::string(key) + ": has " + std::to_string(list.size()) + " numbers, expects " +
            std::to_string(count));
    std::vector<float> values;
    values.reserve(list.size());
    for (const Json& one : list) {
      const double value = one.is_number() ? one.as_number() : NAN;
      values.push_back(static_cast<float>(value));
      if (!std::isfinite(values.back()))
        wrong(std::string(key) + ": must be numbers that are finite in f32");
    }
    return values;
  }
  std::string activation() const {
    if (!json_.find("activation")) return "linear";
    std::string name = text_of(json_, "activation", where_);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    static constexpr std::pair<const char*, const char*> kNames[] = {{"", "linear"},
                                                                     {"none", "linear"},
                                                                     {"identity", "linear"},
                                                                     {"linear", "linear"},
                                                                     {"relu", "relu"},
                                                                     {"silu", "silu"},
                                                                     {"swish", "silu"},
                                                                     {"gelu", "gelu_tanh"},
                                                                     {"gelu_tanh", "gelu_tanh"},
                                                                     {"gelu_erf", "gelu_erf"},
                                                                     {"tanh", "tanh"},
                                                                     {"sigmoid", "sigmoid"},
                                                                     {"logistic", "sigmoid"},
                                                                     {"leaky_relu", "leaky_relu"},
                                                                     {"leakyrelu", "leaky_relu"},
                                                                     {"relu2", "relu2"}};
    for (const auto& [given, ours] : kNames)
      if (name == given) return ours;
    wrong("activation: '" + name.substr(0, 40) +
          "' is not known: linear, relu, silu, gelu, tanh, sigmoid, leaky_relu, relu2 are");
  }
  void only(std::initializer_list<std::string_view> keys) const {
    std::vector<std::string_view> all(keys);
    for (const auto& [key, value] : json_.as_object())
      if (key != "kind" && key != "index" && std::find(all.begin(), all.end(), key) == all.end())
        wrong("'" + key.substr(0, 40) + "' is no key of this kind");
  }

  std::string kind;

 private:
  const Json& json_;
  std::string where_;
};

// The network while it is written: a row of cells, each of which takes what the one before made.
class Chain {
 public:
  Chain(const std::vector<Layer>& layers, const Json& payload);
  void add(const Layer& layer);
  StreamedNetwork made();

 private:
  struct Fill {
    std::int64_t cell;
    std::string role;
    std::vector<float> values;
  };
  std::int64_t cell(Json json);
  void fill(const char* role, std::vector<float> values) {
    weights_ += static_cast<std::int64_t>(values.size());
    fills_.push_back({last(), role, std::move(values)});
  }
  std::int64_t last() const { return static_cast<std::int64_t>(cells_.as_array().size()) - 1; }
  void takes(const Layer& layer, const Dims& dims);
  void rows(const Layer& layer, std::int64_t width);
  void dense(const Layer& layer);
  void conv(const Layer& layer);
  void attention(const Layer& layer);
  void recurrent(const Layer& layer, bool lstm);
  void norm(const Layer& layer, bool rms);
  void embedding(const Layer& layer);
  void swiglu(const Layer& layer);
  void residual(const Layer& layer);

  Json input_ = Json::object(), cells_ = Json::array();
  Dims dims_;                 // of what the last cell makes
  std::int64_t before_ = -1;  // the cell that the last layer took its input from, and its numbers
  std::int64_t before_count_ = 0;
  std::int64_t second_ = -1, second_count_ = 0;  // of a first residual: what it adds
  bool ids_first_ = false;
  std::vector<Fill> fills_;
  std::int64_t weights_ = 0;
};

Json dims_json(const Dims& dims) {
  Json list = Json::array();
  for (const std::int64_t dim : dims) list.push(dim);
  return list;
}

Json at_of(std::int64_t index) { return dims_json({0, 0, 0, index}); }

Json link_to(std::int64_t index) {
  Json link = Json::object();
  link.set("read", at_of(index));
  return link;
}

Json layer_json(const char* type) {
  Json json = Json::object();
  json.set("type", type);
  return json;
}

// Steps of a sample, which norms and embeddings have from the payload.
std::int64_t steps_of(const Json& payload, const Layer& layer) {
  return layer.size_or("seq_len",
                       payload.find("seq_len") ? whole_of(payload, "seq_len", 1, kMaxSize) : 1, 1);
}

Dims space_of(const Layer& layer) {
  if (layer.kind == "cnn1") return {layer.size("input_length")};
  if (layer.kind == "cnn2") return {layer.size("input_height"), layer.size("input_width")};
  return {layer.size("input_depth"), layer.size("input_height"), layer.size("input_width")};
}

// What a sample of the first layer is.
Dims first_dims(const Layer& layer, const Json& payload) {
  const std::string& kind = layer.kind;
  if (kind == "dense") return {layer.size("input_dim")};
  if (kind == "mha") return {layer.size("seq_len"), layer.size("d_model")};
  if (kind == "lstm" || kind == "rnn") return {layer.size("seq_len"), layer.size("input_size")};
  if (kind == "embedding") return {steps_of(payload, layer)};
  if (kind.starts_with("cnn")) {
    Dims dims = space_of(layer);
    dims.insert(dims.begin(), layer.size("in_channels"));
    return dims;
  }
  return {steps_of(payload, layer), layer.size(kind == "swiglu" ? "input_dim" : "dim")};
}

Json part_json(const char* name, const Dims& dims, std::int64_t ids) {
  Json part = Json::object();
  part.set("name", name);
  if (ids > 0) part.set("ids", ids);
  part.set("dims", dims_json(dims));
  return part;
}

Chain::Chain(const std::vector<Layer>& layers, const Json& payload) {
  dims_ = first_dims(layers[0], payload);
  const auto table = std::find_if(layers.begin(), layers.end(),
                                  [](const Layer& one) { return one.kind == "embedding"; });
  ids_first_ = table == layers.begin();
  if (ids_first_) {
    input_.set("ids", table->size("vocab_size"));
    input_.set("dims", dims_json(dims_));
    return;
  }
  Json parts = Json::array();
  if (table != layers.end()) {
    const Dims steps{steps_of(payload, *table)};
    parts.push(part_json("x", dims_, 0));
    parts.push(part_json("ids", steps, table->size("vocab_size")));
    second_count_ = steps[0];
  } else if (layers[0].kind == "residual") {
    parts.push(part_json("x", dims_, 0));
    parts.push(part_json("skip", dims_, 0));
    second_count_ = product(dims_);
  } else {
    input_.set("dims", dims_json(dims_));
    cell([&] {
      Json json = layer_json("reshape");
      json.set("dims", dims_json(dims_));
      return json;
    }());
    return;
  }
  input_.set("parts", std::move(parts));
  cell(Json::object());  // hands the whole input on, for both parts
  Json other = layer_json("part");
  other.set("of", table != layers.end() ? "ids" : "skip");
  second_ = cell(std::move(other));
  Json x = layer_json("part");
  x.set("of", "x");
  Json links = Json::array();
  links.push(link_to(0));
  x.set("links", std::move(links));
  cell(std::move(x));
}

std::int64_t Chain::cell(Json json) {
  json.set("at", at_of(last() + 1));
  cells_.push(std::move(json));
  return last();
}

// The input in these dimensions.
void Chain::takes(const Layer& layer, const Dims& dims) {
  if (product(dims) != product(dims_))
    layer.wrong("takes " + text_of_dims(dims) + " numbers, the layer before it makes " +
                text_of_dims(dims_));
  before_ = last();
  before_count_ = product(dims_);
  if (dims == dims_) return;
  Json json = layer_json("reshape");
  json.set("dims", dims_json(dims));
  cell(std::move(json));
  dims_ = dims;
}

void Chain::rows(const Layer& layer, std::int64_t width) {
  const std::int64_t all = product(dims_);
  if (all % width != 0)
    layer.wrong("takes rows of " + std::to_string(width) + " numbers, the layer before it makes " +
                std::to_string(all));
  takes(layer, {all / width, width});
}

void Chain::dense(const Layer& layer) {
  layer.only({"input_dim", "output_dim", "activation", "weights", "bias"});
  const std::int64_t in = layer.size("input_dim"), out = layer.size("output_dim");
  rows(layer, in);
  if (dims_[0] == 1) takes(layer, {in});
  const bool bias = layer.has("bias");
  Json json = layer_json("dense");
  json.set("out", out);
  json.set("bias", bias);
  json.set("activation", layer.activation());
  cell(std::move(json));
  fill("weight", layer.weights("weights", product({out, in})));
  if (bias) fill("bias", layer.weights("bias", out));
  dims_.back() = out;
}

void Chain::conv(const Layer& layer) {
  layer.only({"in_channels", "filters", "kernel_size", "stride", "padding", "activation", "weights",
              "bias", "input_length", "input_height", "input_width", "input_depth"});
  const Dims space = space_of(layer);
  const std::int64_t channels = layer.size("in_channels"), filters = layer.size("filters"),
                     kernel = layer.size("kernel_size"), stride = layer.size_or("stride", 1, 1),
                     padding = layer.size_or("padding", 0);
  Dims dims = space, made{filters}, shape{filters, channels};
  dims.insert(dims.begin(), channels);
  takes(layer, dims);
  for (const std::int64_t n : space) {
    if (n + 2 * padding < kernel) layer.wrong("kernel_size: is larger than the padded input");
    made.push_back((n + 2 * padding - kernel) / stride + 1);
    shape.push_back(kernel);
  }
  const bool bias = layer.has("bias");
  Json json = layer_json(space.size() == 1 ? "conv1d" : space.size() == 2 ? "conv2d" : "conv3d");
  json.set("filters", filters);
  json.set("kernel", kernel);
  json.set("stride", stride);
  json.set("padding", padding);
  json.set("bias", bias);
  json.set("activation", layer.activation());
  cell(std::move(json));
  fill("weight", layer.weights("weights", product(shape)));
  if (bias) fill("bias", layer.weights("bias", filters));
  dims_ = made;
}

void Chain::attention(const Layer& layer) {
  layer.only({"d_model", "num_heads", "num_kv_heads", "head_dim", "seq_len", "causal", "rope",
              "rope_theta", "q_weights", "q_bias", "k_weights", "k_bias", "v_weights", "v_bias",
              "o_weights", "o_bias"});
  const std::int64_t width = layer.size("d_model"), steps = layer.size("seq_len"),
                     heads = layer.size("num_heads");
  std::int64_t groups = layer.size_or("num_kv_heads", 0), each = layer.size_or("head_dim", 0);
  if (groups == 0) groups = heads;
  if (each == 0) each = width / heads;
  if (heads % groups != 0 || each < 1) layer.wrong("num_kv_heads must divide num_heads");
  takes(layer, {steps, width});
  const bool qkv = layer.has("q_bias") || layer.has("k_bias") || layer.has("v_bias");
  Json json = layer_json("attention");
  json.set("heads", heads);
  json.set("kv_heads", groups);
  json.set("head_dim", each);
  json.set("causal", layer.flag("causal", true));
  json.set("rope", layer.flag("rope", true));
  if (layer.flag("rope", true)) json.set("rope_theta", layer.number("rope_theta", 10000));
  json.set("qkv_bias", qkv);
  json.set("out_bias", layer.has("o_bias"));
  cell(std::move(json));
  const std::int64_t q = heads * each, kv = groups * each;
  fill("q", layer.weights("q_weights", product({q, width})));
  fill("k", layer.weights("k_weights", product({kv, width})));
  fill("v", layer.weights("v_weights", product({kv, width})));
  fill("o", layer.weights("o_weights", product({width, q})));
  const auto bias = [&](const char* role, std::int64_t count) {
    return layer.has(role) ? layer.weights(role, count)
                           : std::vector<float>(static_cast<std::size_t>(count));
  };
  if (qkv) {
    fill("q_bias", bias("q_bias", q));
    fill("k_bias", bias("k_bias", kv));
    fill("v_bias", bias("v_bias", kv));
  }
  if (layer.has("o_bias")) fill("o_bias", bias("o_bias", width));
}

// Each list holds [W_ih | W_hh | b] of one gate.
void Chain::recurrent(const Layer& layer, bool lstm) {
  std::vector<const char*> keys{"weights"};
  if (lstm) {
    layer.only({"input_size", "hidden_size", "seq_len", "i_weights", "f_weights", "g_weights",
                "o_weights"});
    keys = {"i_weights", "f_weights", "g_weights", "o_weights"};
  } else {
    layer.only({"input_size", "hidden_size", "seq_len", "weights"});
  }
  const std::int64_t in = layer.size("input_size"), hidden = layer.size("hidden_size"),
                     steps = layer.size("seq_len");
  takes(layer, {steps, in});
  Json json = layer_json(lstm ? "lstm" : "rnn");
  json.set("hidden", hidden);
  cell(std::move(json));
  std::vector<float> ih, hh, bias;
  for (const char* key : keys) {
    const std::vector<float> gate = layer.weights(key, product({hidden, in + hidden + 1}));
    const auto first = gate.begin() + hidden * in, second = first + hidden * hidden;
    ih.insert(ih.end(), gate.begin(), first);
    hh.insert(hh.end(), first, second);
    bias.insert(bias.end(), second, gate.end());
  }
  fill("weight_ih_l0", std::move(ih));
  fill("weight_hh_l0", std::move(hh));
  fill("bias_ih_l0", std::move(bias));
  dims_ = {steps, hidden};
}

void Chain::norm(const Layer& layer, bool rms) {
  layer.only({"dim", "seq_len", "eps", "weights"});
  const std::int64_t dim = layer.size("dim");
  rows(layer, dim);
  Json json = layer_json(rms ? "rms_norm" : "layer_norm");
  json.set("eps", layer.eps(rms ? 1e-6 : 1e-5));
  cell(std::move(json));
  std::vector<float> values = layer.weights("weights", rms ? dim : 2 * dim);
  if (!rms) {
    fill("bias", {values.begin() + dim, values.end()});
    values.resize(static_cast<std::size_t>(dim));
  }
  fill("gain", std::move(values));
}

void Chain::embedding(const Layer& layer) {
  layer.only({"vocab_size", "embedding_dim", "seq_len", "weights"});
  const std::int64_t out = layer.size("embedding_dim");
  Json json = layer_json("embedding");
  json.set("out", out);
  if (ids_first_ && last() < 0) {
    cell(std::move(json));
    dims_ = {dims_[0], out};
  } else {
    if (second_ < 0) layer.wrong("there are no ids that it could take");
    Json links = Json::array();
    links.push(link_to(second_));
    json.set("links", std::move(links));
    cell(std::move(json));
    dims_ = {second_count_, out};
  }
  before_ = -1;
  fill("weight", layer.weights("weights", product({layer.size("vocab_size"), out})));
}

void Chain::swiglu(const Layer& layer) {
  layer.only({"input_dim", "intermediate_dim", "seq_len", "weights"});
  const std::int64_t dim = layer.size("input_dim"), hidden = layer.size("intermediate_dim");
  rows(layer, dim);
  Json json = layer_json("swiglu");
  json.set("hidden", hidden);
  json.set("bias", true);
  cell(std::move(json));
  const std::int64_t matrix = product({dim, hidden});
  const std::vector<float> all = layer.weights("weights", 3 * matrix + 2 * hidden + dim);
  auto at = all.begin();
  const auto next = [&](std::int64_t n) {
    const auto from = at;
    at += n;
    return std::vector<float>(from, at);
  };
  for (const char* role : {"gate", "up", "down"}) fill(role, next(matrix));
  fill("gate_bias", next(hidden));
  fill("up_bias", next(hidden));
  fill("down_bias", next(dim));
}

// Adds what the layer before it took; as the first layer, the second half of a sample.
void Chain::residual(const Layer& layer) {
  layer.only({"dim", "seq_len"});
  const bool first = before_ < 0 && second_ >= 0 && !ids_first_;
  const std::int64_t other = first ? second_ : before_;
  const std::int64_t count = first ? second_count_ : before_count_;
  rows(layer, layer.size("dim"));
  if (other < 0 || count != product(dims_))
    layer.wrong("adds " + std::to_string(other < 0 ? 0 : count) + " numbers to " +
                std::to_string(product(dims_)));
  const std::int64_t x = last();
  const auto reshape = [&](std::initializer_list<std::int64_t> from, bool sum) {
    Json json = layer_json("reshape"), links = Json::array();
    json.set("dims", dims_json(dims_));
    for (const std::int64_t one : from) links.push(link_to(one));
    json.set("links", std::move(links));
    if (sum) json.set("merge", "add");
    return cell(std::move(json));
  };
  const std::int64_t skip = reshape({other}, false);
  reshape({x, skip}, true);
}

void Chain::add(const Layer& layer) {
  const std::string& kind = layer.kind;
  if (kind == "dense") return dense(layer);
  if (kind == "cnn1" || kind == "cnn2" || kind == "cnn3") return conv(layer);
  if (kind == "mha") return attention(layer);
  if (kind == "lstm" || kind == "rnn") return recurrent(layer, kind == "lstm");
  if (kind == "layernorm" || kind == "rmsnorm") return norm(layer, kind == "rmsnorm");
  if (kind == "embedding") return embedding(layer);
  if (kind == "swiglu") return swiglu(layer);
  if (kind == "residual") return residual(layer);
  layer.wrong(
      "kind: is not known; the kinds are dense, cnn1, cnn2, cnn3, mha, lstm, rnn, "
      "layernorm, embedding, rmsnorm, swiglu, residual");
}

StreamedNetwork Chain::made() {
  Json topology = Json::object();
  topology.set("format", "loom-topology");
  topology.set("version", 3);
  topology.set("layers_per_cell", last() + 1);
  topology.set("input", std::move(input_));
  // An empty cell stands for itself where it is not listed.
  Json cells = Json::array();
  for (Json& one : cells_.as_array())
    if (one.find("type")) cells.push(std::move(one));
  topology.set("cells", std::move(cells));
  StreamedNetwork out;
  out.weights = weights_;
  or_refuse([&] {
    out.network = Network::create(topology.dump());
    for (const Fill& f : fills_)
      out.network.set("0.0.0." + std::to_string(f.cell), f.role, std::span<const float>(f.values));
  });
  return out;
}

}  // namespace

bool is_bedrock(std::string_view name) {
  return std::find(std::begin(kBedrocks), std::end(kBedrocks), name) != std::end(kBedrocks);
}

StreamedNetwork network_of_stream(const std::string& bedrock, const Json& payload) {
  const Json::Array& list = array_of(payload, "layers").as_array();
  if (list.empty() || list.size() > kMaxLayers)
    refuse(400, "invalid_argument",
           "layers: has " + std::to_string(list.size()) + " entries, 1 to 1024 are allowed");
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < list.size(); ++i) layers.emplace_back(list[i], i, bedrock);
  Chain chain(layers, payload);
  for (const Layer& layer : layers) chain.add(layer);
  StreamedNetwork out = chain.made();
  out.layers = static_cast<std::int64_t>(layers.size());
  return out;
}

Json answer_of_stream(const std::string& bedrock, const Json& payload, const std::string& path,
                      const Json* inputs, const Json* native) {
  const StreamedNetwork streamed = network_of_stream(bedrock, payload);
  Json json = Json::object();
  json.set("status", "ok");
  json.set("entity_path", path);
  json.set("layer_count", streamed.layers);
  json.set("weight_bytes", 4 * streamed.weights);
  if (inputs && !inputs->is_null()) {
    Rows out = outputs_of(streamed.network, inputs_of(*inputs));
    const std::int64_t rows = out.shape[0];
    std::int64_t width = static_cast<std::int64_t>(out.values.size()) / rows;
    if (const std::int64_t wanted = cli::integer_in(payload, "output_dim", width); wanted < width) {
      if (wanted < 1) refuse(400, "invalid_argument", "output_dim: must be 1 or more");
      std::vector<double> cut;
      for (std::int64_t r = 0; r < rows; ++r)
        cut.insert(cut.end(), out.values.begin() + r * width,
                   out.values.begin() + r * width + wanted);
      out.values = std::move(cut);
      width = wanted;
    }
    out.shape = {rows, width};
    json.set("output_dim", width);
    json.set("sample_count", rows);
    json.set("outputs", lists_of(out));
    if (native && !native->is_null()) {
      const Distance d = distance_of(inputs_of(*native).values, out.values);
      if (!d.comparable) refuse(400, "invalid_argument", "native_outputs: has another shape");
      json.set("max_abs_diff", std::isfinite(d.max) ? Json(d.max) : Json());
      json.set("mean_abs_diff", std::isfinite(d.mean) ? Json(d.mean) : Json());
      json.set("exact_match", d.exact);
    }
  }
  or_refuse([&] { streamed.network.save(path); });  // what cannot run leaves no file
  return json;
}

}  // namespace loom::bridge
