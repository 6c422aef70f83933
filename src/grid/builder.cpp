#include "grid/builder.h"

#include <algorithm>
#include <optional>

#include "base/escape.h"
#include "base/fields/field_reader.h"

namespace loom {
namespace {

using Dims = std::vector<std::int64_t>;

using Words = std::initializer_list<std::string_view>;

Status refusal(Code code, Words words) {
  std::string text;
  for (const std::string_view word : words) text += word;
  return Status(code, std::move(text));
}
Status bad(Words words) { return refusal(Code::invalid_argument, words); }
Status cannot(Words words) { return refusal(Code::unsupported, words); }

void put(Json& object, std::string_view key, std::int64_t value) {
  object.set(std::string(key), value);
}
void put_text(Json& object, std::string_view key, std::string_view value) {
  object.set(std::string(key), value);
}
void put_json(Json& object, std::string_view key, Json value) {
  object.set(std::string(key), std::move(value));
}

// The builder's names and ours.
constexpr char kTypes[] =
    "DENSE=dense MHA=attention ATTENTION=attention MULTIHEADATTENTION=attention "
    "SWIGLU=swiglu RMSNORM=rms_norm LAYERNORM=layer_norm RNN=rnn LSTM=lstm CNN1=conv1d "
    "CNN2=conv2d CNN3=conv3d CONVTRANSPOSED1D=conv_transpose1d "
    "CONVTRANSPOSED2D=conv_transpose2d CONVTRANSPOSED3D=conv_transpose3d "
    "EMBEDDING=embedding KMEANS=kmeans SOFTMAX=softmax PARALLEL=parallel "
    "SEQUENTIAL=sequential RESIDUAL=residual META=metacognition "
    "METACOGNITION=metacognition ";
constexpr char kActivations[] =
    "RELU=relu SILU=silu GELU=gelu TANH=tanh SIGMOID=sigmoid LEAKYRELU=leaky_relu "
    "RELU2=relu2 6=relu2 LEAKY_RELU=leaky_relu LINEAR=linear ";
constexpr char kDTypes[] =
    "FLOAT64=f64 FP64=f64 F64=f64 FLOAT32=f32 FP32=f32 F32=f32 FLOAT16=f16 FP16=f16 "
    "F16=f16 BFLOAT16=bf16 BF16=bf16 FP8E4M3=fp8e4m3 FP8=fp8e4m3 FP8E5M2=fp8e5m2 INT64=i64 "
    "I64=i64 INT32=i32 I32=i32 INT16=i16 I16=i16 INT8=i8 I8=i8 UINT64=u64 U64=u64 "
    "UINT32=u32 U32=u32 UINT16=u16 U16=u16 UINT8=u8 U8=u8 INT4=i4 UINT4=u4 FP4=fp4 F4=fp4 "
    "INT2=i2 UINT2=u2 TERNARY=ternary BINARY=binary ";

// Without regard to case, as the builder reads names.
Result<std::string> translated(std::string_view names, std::string_view key,
                               const std::string& given) {
  std::string upper;
  for (const char c : given) upper += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  std::vector<std::string_view> known;
  for (std::size_t end; !names.empty(); names.remove_prefix(end + 1)) {
    end = names.find(' ');
    const std::size_t middle = names.find('=');
    known.push_back(names.substr(0, middle));
    if (known.back() == upper) return std::string(names.substr(middle + 1, end - middle - 1));
  }
  return bad({"unknown ", key, " ", quoted(given), nearest(upper, known)});
}

bool is_integer(std::string_view dtype) {
  return dtype == "ternary" || dtype == "binary" || dtype[0] == 'i' || dtype[0] == 'u';
}

struct Layer {
  std::string type, activation, dtype, combine_mode = "concat", output_mode = "probabilities";
  std::int64_t z = 0, y = 0, x = 0, l = 0, input_height = 0, input_width = 0, input_depth = 0,
               output_height = 0, output_width = 0, output_depth = 0, input_channels = 0,
               filters = 0, kernel_size = 0, stride = 1, padding = 0, output_padding = 0,
               num_heads = 1, num_kv_heads = 0, head_dim = 0, d_model = 0, seq_length = 0,
               vocab_size = 0, embedding_dim = 0, num_clusters = 0, target_z = 0, target_y = 0,
               target_x = 0, target_l = 0, tile_size = 0, softmax_type = 0, softmax_rows = 0,
               softmax_cols = 0;
  double temperature = 1, entmax_alpha = 1.5, kmeans_temperature = 1, rope_freq_base = 10000;
  bool is_remote_link = false, use_tiling = false, is_disabled = false;
  Dims hierarchy_levels;

  // Sizes are not negative; those that a layer needs it asks for (Translation::want).
  template <class V>
  void fields(V& v) {
    v("type", type, {});
    v("activation", activation, {});
    v("dtype", dtype, {});
    v("combine_mode", combine_mode, {});
    v("output_mode", output_mode, {.one_of = "probabilities, features"});
    const std::pair<const char*, std::int64_t*> sizes[] = {{"z", &z},
                                                           {"y", &y},
                                                           {"x", &x},
                                                           {"l", &l},
                                                           {"input_height", &input_height},
                                                           {"input_width", &input_width},
                                                           {"input_depth", &input_depth},
                                                           {"output_height", &output_height},
                                                           {"output_width", &output_width},
                                                           {"output_depth", &output_depth},
                                                           {"input_channels", &input_channels},
                                                           {"filters", &filters},
                                                           {"kernel_size", &kernel_size},
                                                           {"stride", &stride},
                                                           {"padding", &padding},
                                                           {"output_padding", &output_padding},
                                                           {"num_heads", &num_heads},
                                                           {"num_kv_heads", &num_kv_heads},
                                                           {"head_dim", &head_dim},
                                                           {"d_model", &d_model},
                                                           {"seq_length", &seq_length},
                                                           {"vocab_size", &vocab_size},
                                                           {"embedding_dim", &embedding_dim},
                                                           {"num_clusters", &num_clusters},
                                                           {"target_z", &target_z},
                                                           {"target_y", &target_y},
                                                           {"target_x", &target_x},
                                                           {"target_l", &target_l},
                                                           {"tile_size", &tile_size},
                                                           {"softmax_type", &softmax_type},
                                                           {"softmax_rows", &softmax_rows},
                                                           {"softmax_cols", &softmax_cols}};
    for (const auto& [key, value] : sizes) v(key, *value, {.min = 0, .max = 0x1p31});
    v("temperature", temperature, {});
    v("entmax_alpha", entmax_alpha, {});
    v("kmeans_temperature", kmeans_temperature, {});
    v("rope_freq_base", rope_freq_base, {});
    v("is_remote_link", is_remote_link, {});
    v("use_tiling", use_tiling, {});  // of the builder's speed alone, as tile_size
    v("is_disabled", is_disabled, {});
    v("hierarchy_levels", hierarchy_levels, {.min = 1});
  }
};

std::int64_t product(const Dims& dims) {
  std::int64_t all = 1;
  for (const std::int64_t d : dims) all = d > 0 && all > (std::int64_t{1} << 40) / d ? 0 : all * d;
  return all;
}
std::string text(const Dims& dims) {
  std::string out = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + std::to_string(dims[i]);
  return out + "]";
}
Json json_of(const Dims& dims) { return Json(Json::Array(dims.begin(), dims.end())); }

Json object(std::string_view type) {
  Json out = Json::object();
  put_text(out, "type", type);
  return out;
}

// Goes through the layers as the builder's network runs them, with the dimensions that arrive.
class Translation {
 public:
  // `saved`: of a network that was saved, takes its layers.
  explicit Translation(std::vector<SavedLayer>* saved = nullptr) : saved_(saved) {}
  Result<Json> run(const Json& json);

 private:
  Result<Json> layer(const Json& json, bool nested, int depth);
  Result<Json> nested_layer(const Json& json, std::size_t index, int depth);
  Result<Json> without_saved_keys(const Json& json) const;
  Result<Json> own(const Layer& c, std::string_view type, const Json& json, int depth);
  Result<Json> vectors(const Layer& c, std::string_view type);
  Result<Json> convolution(const Layer& c, std::string_view type);
  Result<Json> sequence(const Layer& c, std::string_view type);
  Result<Json> softmax(const Layer& c, const Json& json);
  Result<Json> parallel(const Layer& c, const Json& json, int depth);
  Result<Json> sequential(const Json& json, int depth);
  Result<Json> metacognition(const Json& json, int depth);
  Status arrive(Dims wanted, std::string_view what);
  Status flatten();
  Json with_shape(Json layer);

  Dims dims_;                  // what arrives; empty before the first layer, which says it
  Json input_;                 // of the network
  std::optional<Json> shape_;  // the layer that has to stand before the one at hand
  std::vector<SavedLayer>* saved_;
  std::string path_;  // of the layer at hand
};

Status want(std::int64_t value, std::string_view key) {
  return value > 0 ? Status() : bad({key, " is missing, or 0"});
}

// The row as these dimensions. The first layer's are the network's input.
Status Translation::arrive(Dims wanted, std::string_view what) {
  if (dims_.empty()) {
    if (wanted.size() == 1) put(input_, "width", wanted[0]);
    else put_json(input_, "dims", json_of(wanted));
  } else if (dims_ != wanted) {
    if (product(dims_) != product(wanted))
      return bad({what, " makes rows of ", text(wanted), ", and ", text(dims_), " arrives"});
    if (wanted.size() == 1) {
      shape_ = object("flatten");
    } else {
      shape_ = object("reshape");
      put_json(*shape_, "dims", json_of(wanted));
    }
  }
  dims_ = std::move(wanted);
  return {};
}
Status Translation::flatten() {
  if (dims_.empty()) return bad({"the first layer does not say what arrives: give input_height"});
  return arrive({product(dims_)}, "this layer");
}

Json Translation::with_shape(Json layer) {
  if (!shape_) return layer;
  Json both = object("sequential"), list = Json::array();
  list.push(std::move(*shape_));
  if (const Json* dtype = layer.find("dtype")) put_json(both, "dtype", *dtype);
  list.push(std::move(layer));
  put_json(both, "layers", std::move(list));
  shape_.reset();
  return both;
}

// The numbers of softmax kinds by the names that a saved network has for them.
Result<Json> softmax_kind(const Json& name) {
  static constexpr char kKinds[] =
      "STANDARD=0 GRID=1 HIERARCHICAL=2 TEMPERATURE=3 GUMBEL=4 MASKED=5 SPARSE=6 ADAPTIVE=7 "
      "MIXTURE=8 ENTMAX=9 ";
  if (!name.is_string()) return name;
  LOOM_ASSIGN(const std::string number, translated(kKinds, "softmax_type", name.as_string()));
  if (number == "2" || number == "5")
    return cannot({"the softmax_type ", quoted(name.as_string()), ", whose ",
                   number == "2" ? "levels" : "mask", " a saved network does not have"});
  return Json(std::int64_t{number[0] - '0'});
}

// What the builder has of a layer: without what only a saved network has, and its lists.
Result<Json> Translation::without_saved_keys(const Json& json) const {
  Json plain = Json::object();
  for (const auto& [key, value] : json.as_object()) {
    if (key == "meta_observed_layer") continue;
    if (key == "meta_rules" && (value.is_null() || (value.is_array() && value.as_array().empty())))
      continue;
    if (key.starts_with("meta_"))
      return cannot({"the key \"", key,
                     "\" of the type METACOGNITION: that engine's rules have "
                     "other statistics and acts: write them as \"rules\" of the topology"});
    const bool of_saved = key == "weights" || key == "native" || key == "scale" ||
                          key == "gumbel_noise" || key == "query_dim";
    if (of_saved && !saved_)
      return cannot({"the key \"", key,
                     "\" is of a saved network: network_load (Network.load, loom "
                     "convert) reads its file, with the weights"});
    if (of_saved || key == "parallel_branches" || key == "sequential_layers" || key == "mask")
      continue;
    LOOM_ASSIGN(Json same,
                key == "softmax_type" && saved_ ? softmax_kind(value) : Result<Json>(value));
    plain.set(key, std::move(same));
  }
  return plain;
}

// What a saved network says twice.
Status check_saved_keys(const Layer& c, const Json& json) {
  LOOM_ASSIGN(const std::int64_t query, json.get_integer("query_dim", 0));
  const std::int64_t heads = std::max<std::int64_t>(c.num_heads, 1);
  const std::int64_t size = c.head_dim > 0 ? c.head_dim : c.d_model / heads;
  if (query != 0 && query != heads * size)
    return bad({"query_dim is ", std::to_string(query), ", and the heads have ",
                std::to_string(heads * size), " values"});
  LOOM_ASSIGN(const bool noise, json.get_bool("gumbel_noise", false));
  constexpr std::int64_t kGumbel = 4;
  if (noise && c.softmax_type != kGumbel)
    return cannot({"gumbel_noise of another softmax_type than Gumbel"});
  return {};
}

// One of a list inside of the layer at hand.
Result<Json> Translation::nested_layer(const Json& json, std::size_t index, int depth) {
  const std::string outer = path_;
  path_ += "/" + std::to_string(index);
  auto made = layer(json, true, depth);
  path_ = outer;
  return made;
}

Result<Json> Translation::layer(const Json& json, bool nested, int depth) {
  if (depth > 30) return bad({"layers nest deeper than 30"});
  if (!json.is_object()) return bad({"expected an object"});
  LOOM_ASSIGN(const Json plain, without_saved_keys(json));
  Layer c;
  FieldReader reader(plain);
  c.fields(reader);
  LOOM_TRY(reader.finish("a layer of the Go builder has",
                         {"parallel_branches", "sequential_layers", "mask"}));
  if (c.is_remote_link)
    return cannot(
        {"is_remote_link: in a cell that engine passes over it, in a container it does not "
         "say what size comes back; in a topology it is a link, {\"read\": [z, y, x, l]} or "
         "{\"run\": [z, y, x, l]}"});
  if (c.type.empty()) return bad({"\"type\" is missing"});
  LOOM_ASSIGN(const std::string type, translated(kTypes, "type", c.type));
  LOOM_ASSIGN(std::string dtype, translated(kDTypes, "dtype", c.dtype.empty() ? "F32" : c.dtype));
  LOOM_ASSIGN(
      const std::string activation,
      translated(kActivations, "activation", c.activation.empty() ? "LINEAR" : c.activation));
  const bool activates = type == "dense" || type.starts_with("conv");
  const std::string_view fixed = type == "rnn" ? "tanh" : type == "swiglu" ? "silu" : "linear";
  if (!activates && activation != "linear" && activation != fixed)
    return cannot({"the activation ", quoted(c.activation), " of ", type,
                   ", where the builder's "
                   "network has none of it"});
  auto out = own(c, type, json, depth);
  if (!out.ok()) return out.status().at(type);
  const bool empty = out->as_object().empty();  // a residual with nothing to add
  if (saved_) LOOM_TRY(check_saved_keys(c, json).at(type));
  if (saved_ && type != "sequential" && type != "parallel" && type != "metacognition")
    saved_->push_back({path_ + (shape_ ? "/1" : ""), type, dtype, &json});
  LOOM_ASSIGN(const bool native, json.get_bool("native", false));
  if (saved_ && native && is_integer(dtype)) dtype = "f32";
  if (activates) out->set("activation", activation);
  if (!empty && dtype != "f32") out->set("dtype", dtype);
  Json whole = with_shape(std::move(*out));
  if (c.is_disabled && nested) return cannot({"is_disabled of a nested layer"});
  if (c.is_disabled && !empty) whole.set("enabled", false);
  return whole;
}

Result<Json> Translation::own(const Layer& c, std::string_view type, const Json& json, int depth) {
  if (type == "dense" || type == "swiglu" || type.ends_with("norm")) return vectors(c, type);
  if (type == "rnn" || type == "lstm" || type == "attention") return sequence(c, type);
  if (type.starts_with("conv")) return convolution(c, type);
  if (type == "softmax") return softmax(c, json);
  if (type == "parallel") return parallel(c, json, depth);
  if (type == "sequential") return sequential(json, depth);
  if (type == "metacognition") return metacognition(json, depth);
  // At the grid's level nothing is handed around a layer: it passes on what arrives.
  if (type == "residual") return depth == 0 ? Json::object() : object(type);
  if (type == "embedding") {
    LOOM_TRY(want(c.vocab_size, "vocab_size"));
    LOOM_TRY(want(c.embedding_dim, "embedding_dim"));
    if (!dims_.empty()) return cannot({"an embedding that is not the first layer"});
    put(input_, "ids", c.vocab_size);
    if (c.seq_length > 1) {
      put_json(input_, "dims", json_of({c.seq_length}));
      dims_ = {c.seq_length};
    }
    dims_.push_back(c.embedding_dim);
    Json out = object(type);
    put(out, "out", c.embedding_dim);
    return out;
  }
  // KMeans: over the row as one vector.
  LOOM_TRY(want(c.num_clusters, "num_clusters"));
  if (dims_.empty()) {
    LOOM_TRY(want(c.input_height, "input_height"));
    LOOM_TRY(arrive({c.input_height}, type));
  }
  LOOM_TRY(flatten());
  if (c.input_height > 0) LOOM_TRY(arrive({c.input_height}, type));
  Json out = object(type);
  put(out, "clusters", c.num_clusters);
  put_json(out, "temperature", Json(c.kmeans_temperature));
  put_text(out, "output", c.output_mode);
  if (c.output_mode == "probabilities") dims_ = {c.num_clusters};
  return out;
}

// Layers of vectors of input_height values: the last dimension where it is that, else the row.
Result<Json> Translation::vectors(const Layer& c, std::string_view type) {
  LOOM_TRY(want(c.input_height, "input_height"));
  if (dims_.empty() || dims_.back() != c.input_height) LOOM_TRY(arrive({c.input_height}, type));
  Json out = object(type);
  if (type == "rms_norm") put_json(out, "eps", Json(1e-6));
  if (type.ends_with("norm")) return out;
  LOOM_TRY(want(c.output_height, "output_height"));
  put(out, type == "dense" ? "out" : "hidden", c.output_height);
  put_json(out, "bias", Json(type == "swiglu"));
  if (type == "dense") dims_.back() = c.output_height;
  return out;
}

Result<Json> Translation::convolution(const Layer& c, std::string_view type) {
  LOOM_TRY(want(c.input_channels, "input_channels"));
  LOOM_TRY(want(c.filters, "filters"));
  LOOM_TRY(want(c.kernel_size, "kernel_size"));
  LOOM_TRY(want(c.stride, "stride"));
  const bool transposed = type.starts_with("conv_transpose");
  const int space = type[type.size() - 2] - '0';
  const auto or_height = [](std::int64_t value, std::int64_t height) {
    return value > 0 ? value : height;
  };
  std::int64_t height = c.input_height, out_height = c.output_height;
  if (transposed && space == 1) {  // it has the width's fields
    height = or_height(c.input_width, c.input_height);
    out_height = or_height(c.output_width, c.output_height);
  }
  LOOM_TRY(want(height, "input_height"));
  Dims in{c.input_channels}, given;
  if (space == 3) in.push_back(or_height(c.input_depth, height));
  in.push_back(height);
  if (space >= 2) in.push_back(or_height(c.input_width, height));
  if (space == 3) given.push_back(c.output_depth);
  given.push_back(out_height);
  if (space >= 2) given.push_back(c.output_width);
  LOOM_TRY(arrive(in, type));
  Dims out{c.filters};
  for (std::size_t i = 1; i < in.size(); ++i) {
    const std::int64_t size =
        transposed ? (in[i] - 1) * c.stride - 2 * c.padding + c.kernel_size + c.output_padding
                   : (in[i] + 2 * c.padding - c.kernel_size) / c.stride + 1;
    if (size < 1 || (!transposed && in[i] + 2 * c.padding < c.kernel_size))
      return bad({"the kernel does not fit into ", text(in)});
    if (given[i - 1] > 0 && given[i - 1] != size)
      return bad({"its output has ", std::to_string(size),
                  " places by its input, kernel, stride "
                  "and padding, and the JSON says ",
                  std::to_string(given[i - 1])});
    out.push_back(size);
  }
  dims_ = std::move(out);
  Json layer = object(type);
  put(layer, "filters", c.filters);
  put(layer, "kernel", c.kernel_size);
  put(layer, "stride", c.stride);
  put(layer, "padding", c.padding);
  if (transposed) put(layer, "output_padding", c.output_padding);
  put_json(layer, "bias", Json(false));
  return layer;
}

// Layers over steps.
Result<Json> Translation::sequence(const Layer& c, std::string_view type) {
  const bool attention = type == "attention";
  const std::int64_t features = attention ? c.d_model : c.input_height;
  LOOM_TRY(want(features, attention ? "d_model" : "input_height"));
  const bool steps =
      dims_.size() == 2 && dims_[1] == features && (c.seq_length == 0 || dims_[0] == c.seq_length);
  if (c.seq_length > 1) LOOM_TRY(arrive({c.seq_length, features}, type));
  else if (!steps) LOOM_TRY(arrive({features}, type));
  Json out = object(type);
  if (attention) {
    LOOM_TRY(want(c.num_heads, "num_heads"));
    put(out, "heads", c.num_heads);
    put(out, "kv_heads", c.num_kv_heads);
    put(out, "head_dim", c.head_dim);
    put_json(out, "rope_theta", Json(c.rope_freq_base));
    put_json(out, "qkv_bias", Json(true));
    put_json(out, "out_bias", Json(true));
  } else {
    LOOM_TRY(want(c.output_height, "output_height"));
    put(out, "hidden", c.output_height);
    dims_.back() = c.output_height;
  }
  return out;
}

// All kinds but the grid's make one distribution of the whole row.
Result<Json> Translation::softmax(const Layer& c, const Json& json) {
  Json out = object("softmax");
  const std::int64_t kind = c.softmax_type;
  if (dims_.empty()) {
    const std::int64_t width =
        c.input_height > 0 ? c.input_height : c.softmax_rows * c.softmax_cols;
    LOOM_TRY(want(width, "input_height"));
    LOOM_TRY(arrive({width}, "softmax"));
  }
  LOOM_TRY(flatten());
  if (kind == 1 || kind == 2) {
    std::int64_t cols = c.softmax_cols;
    if (kind == 2 && !c.hierarchy_levels.empty()) cols = c.hierarchy_levels.back();
    LOOM_TRY(want(cols, kind == 1 ? "softmax_cols" : "hierarchy_levels"));
    if (dims_[0] % cols != 0)
      return bad({"rows of ", std::to_string(cols), " values do not divide ", text(dims_)});
    if (kind == 1 && c.softmax_rows > 0 && c.softmax_rows * cols != dims_[0])
      return bad({"softmax_rows x softmax_cols is not ", text(dims_)});
    put_text(out, "kind", "grid");
    put(out, "rows", dims_[0] / cols);
    put(out, "cols", cols);
  } else if (kind == 3) {
    put_text(out, "kind", "temperature");
    put_json(out, "temperature", Json(c.temperature));
  } else if (kind == 4) {
    put_text(out, "kind", "gumbel");
  } else if (kind == 5) {
    const Json* mask = json.find("mask");
    if (!mask || !mask->is_array()) return bad({"\"mask\": expected a list"});
    Json ours = Json::array();
    for (const Json& m : mask->as_array()) {
      if (!m.is_bool()) return bad({"\"mask\": expected a list of true and false"});
      ours.push(m.as_bool() ? 1 : 0);
    }
    put_text(out, "kind", "masked");
    put_json(out, "mask", std::move(ours));
  } else if (kind == 6 || (kind == 9 && c.entmax_alpha == 2)) {
    put_text(out, "kind", "sparsemax");
  } else if (kind == 9 && c.entmax_alpha != 1) {
    return cannot(
        {"softmax_type 9 with an entmax_alpha besides 1 and 2: the builder's is a mixture "
         "of softmax and sparsemax, entmax is another function"});
  } else if (kind > 9) {
    return bad({"softmax_type ", std::to_string(kind), ": there are 0 to 9"});
  }
  return out;
}

Result<Json> Translation::parallel(const Layer& c, const Json& json, int depth) {
  static constexpr char kCombines[] =
      "CONCAT=concat ADD=add AVG=avg GRID_SCATTER=concat FILTER=gated ";
  LOOM_ASSIGN(const std::string combine, translated(kCombines, "combine_mode", c.combine_mode));
  if (combine == "filter")
    return cannot({"combine_mode 'filter', whose gate the JSON does not have"});
  const Json* branches = json.find("parallel_branches");
  if (!branches || !branches->is_array() || branches->as_array().empty())
    return bad({"\"parallel_branches\": expected a list of layers"});
  if (dims_.empty())
    return cannot({"a parallel layer that is the first, which does not say what arrives"});
  const Dims arriving = dims_;
  std::optional<Dims> joined;
  Json list = Json::array();
  for (const Json& branch : branches->as_array()) {
    dims_ = arriving;
    auto one = nested_layer(branch, list.as_array().size(), depth + 1);
    if (!one.ok()) return one.status().at("branch " + std::to_string(list.as_array().size()));
    list.push(std::move(*one));
    if (!joined) {
      joined = dims_;
    } else if (combine != "concat") {
      if (*joined != dims_) return bad({"branches of ", text(*joined), " and ", text(dims_)});
    } else {
      if (joined->size() != dims_.size() ||
          !std::equal(joined->begin(), joined->end() - 1, dims_.begin()))
        return cannot({"branches of ", text(*joined), " and ", text(dims_), " side by side"});
      joined->back() += dims_.back();
    }
  }
  dims_ = *joined;
  Json out = object("parallel");
  put_text(out, "combine", combine);
  put_json(out, "layers", std::move(list));
  return out;
}

Result<Json> Translation::sequential(const Json& json, int depth) {
  const Json* layers = json.find("sequential_layers");
  if (!layers || !layers->is_array() || layers->as_array().empty())
    return bad({"\"sequential_layers\": expected a list of layers"});
  Json list = Json::array();
  for (const Json& one : layers->as_array()) {
    auto parsed = nested_layer(one, list.as_array().size(), depth + 1);
    if (!parsed.ok()) return parsed.status().at("layer " + std::to_string(list.as_array().size()));
    list.push(std::move(*parsed));
  }
  Json out = object("sequential");
  put_json(out, "layers", std::move(list));
  return out;
}

// Without rules it hands on what the layer in it gives, in that engine too.
Result<Json> Translation::metacognition(const Json& json, int depth) {
  const Json* observed = json.find("meta_observed_layer");
  if (!observed || !observed->is_object())
    return bad({"\"meta_observed_layer\": expected a layer"});
  auto parsed = nested_layer(*observed, 0, depth + 1);
  if (!parsed.ok()) return parsed.status().at("meta_observed_layer");
  Json list = Json::array();
  list.push(std::move(*parsed));
  Json out = object("metacognition");
  put_json(out, "layers", std::move(list));
  return out;
}

struct Grid {
  std::string id;
  std::int64_t depth = 1, rows = 1, cols = 1, layers_per_cell = 1;
  template <class V>
  void fields(V& v) {
    v("id", id, {});
    v("depth", depth, {.min = 1, .max = 4096});
    v("rows", rows, {.min = 1, .max = 4096});
    v("cols", cols, {.min = 1, .max = 4096});
    v("layers_per_cell", layers_per_cell, {.min = 1, .max = 4096});
  }
};

Result<Json> Translation::run(const Json& json) {
  Grid grid;
  FieldReader reader(json);
  grid.fields(reader);
  LOOM_TRY(reader.finish("a network of the Go builder has", {"layers"}));
  if (!json.find("layers")->is_array()) return bad({"\"layers\": expected a list"});
  const auto& layers = json.find("layers")->as_array();
  const std::int64_t sizes[] = {grid.depth, grid.rows, grid.cols, grid.layers_per_cell};
  const std::int64_t cells = product(Dims(std::begin(sizes), std::end(sizes)));
  if (cells != static_cast<std::int64_t>(layers.size()))
    return bad({"the grid has ", std::to_string(cells), " cells, and layers are ",
                std::to_string(layers.size()), ": the builder leaves the others without weights"});
  std::vector<const Json*> order(layers.size(), nullptr);
  std::vector<Dims> places(layers.size());
  static constexpr const char* kAxes[] = {"z", "y", "x", "l"};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string where = "layers[" + std::to_string(i) + "]";
    if (!layers[i].is_object()) return bad({where, ": expected an object"});
    std::int64_t index = 0;
    Dims at;
    for (int axis = 0; axis < 4; ++axis) {
      LOOM_ASSIGN(const std::int64_t k, layers[i].get_integer(kAxes[axis], 0));
      if (k < 0 || k >= sizes[axis])
        return bad({where, ": ", kAxes[axis], " is ", std::to_string(k), ", outside of the grid"});
      index = index * sizes[axis] + k;
      at.push_back(k);
    }
    if (order[static_cast<std::size_t>(index)]) return bad({where, ": its cell stands twice"});
    order[static_cast<std::size_t>(index)] = &layers[i];
    places[static_cast<std::size_t>(index)] = std::move(at);
  }
  input_ = Json::object();
  Json list = Json::array();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Dims before = dims_;
    path_.clear();
    for (const std::int64_t k : places[i]) path_ += (path_.empty() ? "" : ".") + std::to_string(k);
    auto cell = layer(*order[i], false, 0);
    if (!cell.ok()) return cell.status().at("cell " + text(places[i]));
    if (cell->find("enabled") && !before.empty()) dims_ = before;
    if (cell->as_object().empty()) continue;
    cell->set("at", json_of(places[i]));
    list.push(std::move(*cell));
  }
  if (input_.as_object().empty()) return bad({"no layer says what arrives"});
  Json out = Json::object();
  put_text(out, "format", "loom-topology");
  put(out, "version", std::int64_t{3});
  if (!grid.id.empty()) put_text(out, "name", grid.id);
  for (const auto& [key, value] : {std::pair{"depth", grid.depth},
                                   {"rows", grid.rows},
                                   {"cols", grid.cols},
                                   {"layers_per_cell", grid.layers_per_cell}})
    out.set(key, value);
  put_json(out, "input", std::move(input_));
  put_json(out, "cells", std::move(list));
  return out;
}

}  // namespace

bool is_builder_json(const Json& json) {
  return !json.find("format") && !json.find("cells") && json.find("layers");
}

Result<Json> topology_of_builder(const Json& json) {
  auto out = Translation().run(json);
  if (!out.ok()) return out.status().at("Go builder JSON");
  return out;
}

Result<Json> topology_of_saved(const Json& json, std::vector<SavedLayer>& layers) {
  auto out = Translation(&layers).run(json);
  if (!out.ok()) return out.status().at("Go network");
  return out;
}

}  // namespace loom
