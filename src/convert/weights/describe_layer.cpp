// The cell that a module becomes, and what is still to be asked about it.
#include <algorithm>

#include "base/message.h"
#include "convert/weights/recognize.h"

namespace loom {
namespace {

std::int64_t dim(const TensorInfo* t, std::size_t i) {
  return t && i < t->shape.size() ? t->shape[i] : 0;
}

class Describing {
 public:
  Describing(FoundLayer& layer, const WeightSettings& settings)
      : l_(layer),
        given_(settings.of(layer.module->path, layer.type)),
        pytorch_(settings.pytorch) {}

  void run() {
    const std::string& t = l_.type;
    if (t == "dense") dense();
    else if (t.starts_with("conv")) convolution(t.starts_with("conv_transpose"));
    else if (t == "embedding" || t == "positions") table(t == "positions");
    else if (t.ends_with("norm")) norm();
    else if (t == "binary") learned();
    else if (t == "attention") attention();
    else if (t == "swiglu")
      ask("activation", "the gate's function", {"silu", "gelu_tanh", "gelu_erf"});
    else recurrent();
    for (const auto& [key, value] : given_.as_object()) l_.cell.set(key, value);
  }

 private:
  const TensorInfo* find(std::string_view role) const { return l_.module->find(role); }

  void ask(const char* key, const char* text, std::vector<std::string> choices) {
    if (!given_.find(key)) l_.questions.push_back({key, text, std::move(choices)});
  }
  // Of what PyTorch has a default of.
  void ask(const char* key, const char* text, std::vector<std::string> choices, double absent) {
    if (!pytorch_ || given_.find(key)) return ask(key, text, std::move(choices));
    const auto whole = static_cast<std::int64_t>(absent);
    l_.cell.set(key, static_cast<double>(whole) == absent ? Json(whole) : Json(absent));
    l_.assumed.push_back(std::string(key) + " " + choices.front() + ", PyTorch's default");
  }
  void ask_activation() {
    ask("activation", "the function behind it is not in the file",
        {"linear", "relu", "gelu_erf", "gelu_tanh", "silu", "tanh", "sigmoid", "leaky_relu"});
  }

  void dense() {
    const TensorInfo* w = find("weight");
    const bool turned = l_.layout == MatrixLayout::in_out;
    l_.out = dim(w, turned ? 1 : 0);
    l_.in = dim(w, turned ? 0 : 1);
    if (l_.layout == MatrixLayout::unknown)
      l_.questions.push_back({"layout",
                              "no bias or neighbor tells whether " + shape_text(w->shape) +
                                  " is [out, in], as PyTorch has it, or [in, out]",
                              {"out_in", "in_out"}});
    l_.cell.set("out", l_.out);
    if (!find("bias")) l_.cell.set("bias", false);
    ask_activation();
  }

  void table(bool positions) {
    const TensorInfo* w = find("weight");
    l_.out = dim(w, 1);
    if (positions) {
      l_.in = l_.out;
      l_.cell.set("count", dim(w, 0));
    } else {
      l_.cell.set("out", l_.out);
    }
  }

  void convolution(bool transposed) {
    const TensorInfo *w = find("weight"), *b = find("bias");
    Json kernel = Json::array();
    for (std::size_t i = 2; i < w->shape.size(); ++i) kernel.push(w->shape[i]);
    l_.cell.set("kernel", std::move(kernel));
    if (!b) l_.cell.set("bias", false);
    ask("stride", "the step of the window", {"1", "2"}, 1);
    ask("padding", "zeros around the input", {"0", "1"}, 0);
    ask("dilation", "the step between taps", {"1", "2"}, 1);
    if (!transposed) {
      l_.out = dim(w, 0);
      l_.in = dim(w, 1);  // of a group
      l_.cell.set("filters", l_.out);
    } else {
      ask("output_padding", "values added at the ends", {"0", "1"}, 0);
      std::int64_t groups = b ? dim(b, 0) / dim(w, 1) : 1;
      const Json* said = given_.find("groups");
      if (said && said->is_integer()) groups = said->as_integer();
      else if (!b) ask("groups", "without a bias nothing tells the number of groups", {"1"});
      l_.in = dim(w, 0);
      l_.out = dim(w, 1) * groups;
      l_.cell.set("filters", l_.out);
      if (groups > 1) l_.cell.set("groups", groups);
    }
    ask_activation();
  }

  void norm() {
    const char* added = "what is added before the root is not in the file";
    if (l_.type == "rms_norm") ask("eps", added, {"1e-5", "1e-6", "1e-3"});
    else ask("eps", added, {"1e-5", "1e-6", "1e-3"}, 1e-5);
    if (l_.type == "group_norm") ask("groups", "the number of groups", {});
    if (l_.type == "instance_norm") l_.cell.set("affine", true);
    if (l_.type == "layer_norm" && !find("bias")) {
      Json fixed = Json::array();
      fixed.push("bias");
      l_.cell.set("fixed", std::move(fixed));
      l_.certain.push_back("without a bias: that is 0 and does not learn");
    }
    ask_activation();
  }

  void learned() {
    ask("op", "what the learned values do", {"prelu", "mul", "add"});
    ask("constant", "the shape of the learned values beside a row", {});
  }

  void recurrent() {
    ask("output", "the states of all steps, or the last one", {"all", "last"});
    if (l_.type == "rnn") ask("activation", "the function of the sum", {"tanh", "relu"});
  }

  void attention() {
    if (!l_.cell.find("heads")) ask("heads", "the number of query heads", {});
    ask("causal", "whether a step sees later ones", {"true", "false"});
    if (!l_.cell.find("rope")) {
      ask("rope", "whether queries and keys are rotated by their positions", {"true", "false"});
      if (const Json* rope = given_.find("rope"); rope && rope->is_bool() && rope->as_bool())
        ask("rope_theta", "the base of the rotary frequencies", {"10000", "500000", "1000000"});
    }
    if (l_.cell.find("qk_norm")) ask("qk_norm_eps", "the eps of q_norm and k_norm", {"1e-6"});
    const Json* heads = given_.find("heads") ? given_.find("heads") : l_.cell.find("heads");
    if (!heads || !heads->is_integer() || heads->as_integer() < 1) return;
    const std::int64_t inner = dim(find("o.weight"), 1), n = heads->as_integer();
    const std::int64_t keys = find("in_proj_weight") ? inner : dim(find("k.weight"), 0);
    if (inner % n != 0 || keys % (inner / n) != 0) return;  // the network refuses it by its sizes
    l_.cell.set("head_dim", inner / n);
    if (keys != inner) l_.cell.set("kv_heads", keys / (inner / n));
  }

  FoundLayer& l_;
  const Json given_;
  const bool pytorch_;
};

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& s : list) text += (text.empty() ? "" : ", ") + s;
  return text;
}

ParameterSource source(std::string role, const TensorInfo* tensor) {
  return {std::move(role), tensor};
}

void add_if(const WeightModule& m, std::string_view tensor, const char* role,
            std::vector<ParameterSource>& out) {
  if (const TensorInfo* t = m.find(tensor)) out.push_back(source(role, t));
}

void attention_sources(const WeightModule& m, std::vector<ParameterSource>& out) {
  constexpr const char *roles[] = {"q", "k", "v"}, *biases[] = {"q_bias", "k_bias", "v_bias"};
  for (int i = 0; i < 3; ++i) {
    if (const TensorInfo* w = m.find("in_proj_weight")) out.push_back({roles[i], w, i, 3});
    if (const TensorInfo* b = m.find("in_proj_bias")) out.push_back({biases[i], b, i, 3});
    add_if(m, std::string(roles[i]) + ".weight", roles[i], out);
    add_if(m, std::string(roles[i]) + ".bias", biases[i], out);
  }
  add_if(m, "o.weight", "o", out);
  add_if(m, "o.bias", "o_bias", out);
  add_if(m, "q_norm.weight", "q_norm", out);
  add_if(m, "k_norm.weight", "k_norm", out);
}

}  // namespace

Status describe_layer(FoundLayer& layer, const WeightSettings& settings) {
  const std::string wanted = settings.type_of(layer.module->path);
  if (wanted == "positions" && !layer.types.empty() && layer.types.back() == "embedding")
    layer.types.push_back(wanted);
  if (!wanted.empty() && !layer.types.empty()) {
    if (std::find(layer.types.begin(), layer.types.end(), wanted) == layer.types.end())
      return Status(Code::invalid_argument,
                    message("module ", quoted(layer.module->path), " is no ", wanted,
                            " by its tensors, but ", joined(layer.types)));
    layer.types = {wanted};
  }
  if (layer.types.empty()) return {};
  if (layer.types.size() > 1) {
    layer.questions.push_back({"type", "its shapes are those of several layers", layer.types});
    return {};
  }
  layer.type = layer.types[0];
  Describing(layer, settings).run();
  return {};
}

std::vector<ParameterSource> sources_of(const WeightModule& m, std::string_view type,
                                        MatrixLayout layout, std::int64_t groups) {
  std::vector<ParameterSource> out;
  if (type == "attention") {
    attention_sources(m, out);
    return out;
  }
  if (type == "swiglu") {
    for (const char* role : {"gate", "up", "down"}) {
      add_if(m, std::string(role) + ".weight", role, out);
      if (const TensorInfo* b = m.find(std::string(role) + ".bias"))
        out.push_back(source(std::string(role) + "_bias", b));
    }
    return out;
  }
  const bool norm = type.ends_with("norm");
  for (const auto& p : m.parts) {
    if (is_bookkeeping(p.role)) continue;
    std::string role = p.role;
    if (role == "weight" && norm) role = "gain";
    if (role == "weight" && type == "binary") role = "value";
    ParameterSource s = source(std::move(role), p.tensor);
    if (s.role == "weight" && type == "dense" && layout == MatrixLayout::in_out)
      s.arrange = ParameterSource::Arrange::transposed;
    if (s.role == "weight" && type.starts_with("conv_transpose"))
      s.arrange = ParameterSource::Arrange::conv_transposed;
    s.groups = groups;
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace loom
