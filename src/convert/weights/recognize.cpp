#include "convert/weights/recognize.h"

#include <algorithm>

namespace loom {
namespace {

bool has_word(std::string_view path, std::initializer_list<std::string_view> words) {
  std::string lower;
  for (const char c : path.substr(path.rfind('.') + 1))
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view w : words)
    if (lower.find(w) != std::string::npos) return true;
  return false;
}

std::int64_t dim(const TensorInfo* t, std::size_t i) {
  return t && i < t->shape.size() ? t->shape[i] : 0;
}

bool only(const WeightModule& m, std::initializer_list<std::string_view> roles) {
  for (const auto& p : m.parts)
    if (!is_bookkeeping(p.role) && std::find(roles.begin(), roles.end(), p.role) == roles.end())
      return false;
  return true;
}

bool is_vector(const TensorInfo* t, std::int64_t n) {
  return !t || (t->shape.size() == 1 && t->shape[0] == n);
}

FoundLayer refuse(FoundLayer layer, std::string why) {
  layer.types.clear();
  layer.refused = std::move(why);
  return layer;
}

FoundLayer recurrent(FoundLayer layer) {
  const WeightModule& m = *layer.module;
  const TensorInfo *ih = m.find("weight_ih_l0"), *hh = m.find("weight_hh_l0");
  const std::int64_t hidden = dim(hh, 1), gates = hidden > 0 ? dim(hh, 0) / hidden : 0;
  if (!ih || !hh || ih->shape.size() != 2 || hh->shape.size() != 2 ||
      dim(hh, 0) != gates * hidden || dim(ih, 0) != dim(hh, 0) ||
      (gates != 1 && gates != 3 && gates != 4))
    return refuse(layer, "weight_ih_l0 and weight_hh_l0 are of no LSTM, GRU or RNN");
  for (const auto& p : m.parts)
    if (!p.role.starts_with("weight_ih_l") && !p.role.starts_with("weight_hh_l") &&
        !p.role.starts_with("bias_ih_l") && !p.role.starts_with("bias_hh_l"))
      return refuse(layer, "a recurrent layer has no " + quoted(p.role) + " here" +
                               (p.role.starts_with("weight_hr") ? ": proj_size must be 0" : ""));
  layer.types = {gates == 4 ? "lstm" : gates == 3 ? "gru" : "rnn"};
  std::int64_t count = 1;
  while (m.has("weight_ih_l" + std::to_string(count))) ++count;
  const bool both = m.has("weight_ih_l0_reverse");
  layer.cell.set("hidden", hidden);
  if (count > 1) layer.cell.set("num_layers", count);
  if (both) layer.cell.set("bidirectional", true);
  if (!m.has("bias_ih_l0")) layer.cell.set("bias", false);
  layer.in = dim(ih, 1);
  layer.out = hidden * (both ? 2 : 1);
  layer.layout = MatrixLayout::out_in;
  layer.certain.push_back("gates: rows of weight_hh_l0 are " + std::to_string(gates) +
                          " times its columns");
  return layer;
}

FoundLayer attention(FoundLayer layer) {
  const WeightModule& m = *layer.module;
  const TensorInfo* packed = m.find("in_proj_weight");
  const TensorInfo *q = m.find("q.weight"), *k = m.find("k.weight"), *v = m.find("v.weight"),
                   *o = m.find("o.weight");
  const std::int64_t width = dim(o, 0), inner = dim(o, 1), keys = packed ? inner : dim(k, 0);
  bool fits = o && o->shape.size() == 2 && inner > 0 && keys > 0;
  if (packed)
    fits = fits && packed->shape.size() == 2 && dim(packed, 0) == 3 * inner &&
           dim(packed, 1) == width && inner == width;
  else
    fits = fits && dim(q, 0) == inner && dim(v, 0) == keys && dim(q, 1) == width &&
           dim(k, 1) == width && dim(v, 1) == width;
  const bool bias = m.has("in_proj_bias") || m.has("q.bias");
  if (!fits ||
      !only(m, {"in_proj_weight", "in_proj_bias", "q.weight", "k.weight", "v.weight", "o.weight",
                "q.bias", "k.bias", "v.bias", "o.bias", "q_norm.weight", "k_norm.weight"}) ||
      (!packed && (m.has("k.bias") != bias || m.has("v.bias") != bias)))
    return refuse(layer,
                  "projections of an attention whose sizes or tensors do not go together: queries, "
                  "keys and values of one input, with biases in all three or none");
  layer.types = {"attention"};
  layer.in = layer.out = width;
  layer.layout = MatrixLayout::out_in;
  if (bias) layer.cell.set("qkv_bias", true);
  if (m.has("o.bias")) layer.cell.set("out_bias", true);
  if (packed) {
    layer.cell.set("rope", false);
    layer.certain.push_back("in_proj_weight: torch.nn.MultiheadAttention, without positions");
  }
  if (const TensorInfo* norm = m.find("q_norm.weight"); norm && norm->shape.size() == 1) {
    layer.cell.set("qk_norm", true);
    if (inner % std::max<std::int64_t>(dim(norm, 0), 1) == 0)
      layer.cell.set("heads", inner / dim(norm, 0));
  }
  return layer;
}

FoundLayer swiglu(FoundLayer layer) {
  const WeightModule& m = *layer.module;
  const TensorInfo *gate = m.find("gate.weight"), *up = m.find("up.weight"),
                   *down = m.find("down.weight");
  const bool bias = m.has("gate.bias");
  if (gate->shape.size() != 2 || gate->shape != up->shape || dim(down, 0) != dim(gate, 1) ||
      dim(down, 1) != dim(gate, 0) || m.has("up.bias") != bias || m.has("down.bias") != bias ||
      !only(m, {"gate.weight", "up.weight", "down.weight", "gate.bias", "up.bias", "down.bias"}))
    return refuse(layer,
                  "gate, up and down do not go together: [hidden, in] twice, [in, hidden], "
                  "with biases in all three or none");
  layer.types = {"swiglu"};
  layer.in = layer.out = dim(gate, 1);
  layer.layout = MatrixLayout::out_in;
  layer.cell.set("hidden", dim(gate, 0));
  if (bias) layer.cell.set("bias", true);
  return layer;
}

FoundLayer batch_norm(FoundLayer layer) {
  const WeightModule& m = *layer.module;
  const TensorInfo *mean = m.find("running_mean"), *var = m.find("running_var");
  const std::int64_t n = dim(mean, 0);
  if (!mean || !var || mean->shape.size() != 1 || !is_vector(var, n) ||
      !is_vector(m.find("weight"), n) || !is_vector(m.find("bias"), n) ||
      m.has("weight") != m.has("bias") ||
      !only(m, {"weight", "bias", "running_mean", "running_var"}))
    return refuse(layer, "running statistics whose sizes do not go together");
  layer.types = {"batch_norm"};
  layer.in = layer.out = n;
  if (!m.has("weight")) layer.cell.set("affine", false);
  layer.assumed.push_back("momentum 0.1, which only training uses");
  return layer;
}

FoundLayer vector_of(FoundLayer layer, const TensorInfo& weight, const TensorInfo* bias) {
  const std::string& path = layer.module->path;
  layer.in = layer.out = weight.shape[0];
  if (!is_vector(bias, weight.shape[0])) return refuse(layer, "weight and bias differ in size");
  if (has_word(path, {"rms"})) layer.types = {"rms_norm"};
  else if (has_word(path, {"groupnorm", "group_norm", "gn"})) layer.types = {"group_norm"};
  else if (has_word(path, {"layernorm", "layer_norm", "ln"})) layer.types = {"layer_norm"};
  else if (bias) layer.types = {"layer_norm", "group_norm", "instance_norm"};
  else layer.types = {"rms_norm", "layer_norm", "binary"};
  if (bias && layer.types[0] == "rms_norm") return refuse(layer, "an RMS norm has no bias");
  if (!bias && layer.types[0] == "group_norm") return refuse(layer, "a group norm has a bias");
  return layer;
}

FoundLayer matrix(FoundLayer layer, const TensorInfo& weight, const TensorInfo* bias) {
  const std::int64_t rows = weight.shape[0], cols = weight.shape[1], n = dim(bias, 0);
  if (!bias) {
    const std::string& path = layer.module->path;
    if (has_word(path, {"wpe", "pos"})) layer.types = {"positions"};
    else if (has_word(path, {"emb", "wte"})) layer.types = {"embedding"};
    else if (has_word(path, {"proj", "linear", "fc", "dense", "head"})) layer.types = {"dense"};
    else layer.types = {"dense", "embedding"};
    return layer;
  }
  if (bias->shape.size() != 1)
    return refuse(layer, bias->shape == weight.shape
                             ? "a norm over several dimensions, which no layer here is"
                             : "a matrix with a bias of " + shape_text(bias->shape));
  if (n != rows && n != cols)
    return refuse(layer, "a bias of " + std::to_string(n) + " values goes with no side of " +
                             shape_text(weight.shape));
  layer.types = {"dense"};
  if (rows != cols) {
    layer.layout = n == rows ? MatrixLayout::out_in : MatrixLayout::in_out;
    layer.certain.push_back(n == rows ? "[out, in]: the bias has as many values as rows"
                                      : "[in, out]: the bias has as many values as columns");
  }
  return layer;
}

FoundLayer convolution(FoundLayer layer, const TensorInfo& weight, const TensorInfo* bias) {
  const std::int64_t first = weight.shape[0], second = weight.shape[1], n = dim(bias, 0);
  layer.space = static_cast<int>(weight.shape.size()) - 2;
  if (bias && bias->shape.size() != 1)
    return refuse(layer, bias->shape == weight.shape
                             ? "a norm over several dimensions, which no layer here is"
                             : "a convolution with a bias of " + shape_text(bias->shape));
  const std::string conv = "conv" + std::to_string(layer.space) + "d",
                    transposed = "conv_transpose" + std::to_string(layer.space) + "d";
  if (bias && n != first && n % std::max<std::int64_t>(second, 1) != 0)
    return refuse(layer, "a bias of " + std::to_string(n) + " values goes with no convolution of " +
                             shape_text(weight.shape));
  if (bias && n == first && n != second) {
    layer.types = {conv};
    layer.layout = MatrixLayout::out_in;
    layer.assumed.push_back("no transposed convolution in groups, whose shapes can be the same");
  } else if (bias && n != first) {
    layer.types = {transposed};
  } else if (has_word(layer.module->path, {"transpose", "deconv", "convt"})) {
    layer.types = {transposed};
  } else if (has_word(layer.module->path, {"conv"})) {
    layer.types = {conv};
  } else {
    layer.types = {conv, transposed};
  }
  return layer;
}

}  // namespace

bool is_bookkeeping(std::string_view role) {
  return role == "num_batches_tracked" || role == "rotary_emb.inv_freq" || role == "inv_freq" ||
         role == "position_ids";
}

FoundLayer recognize(const WeightModule& module) {
  FoundLayer layer;
  layer.module = &module;
  for (const auto& p : module.parts)
    for (const std::int64_t d : p.tensor->shape)
      if (d < 1) return refuse(layer, "tensor " + quoted(p.tensor->name) + " is empty");
  if (module.kind == "attention") return attention(std::move(layer));
  if (module.kind == "swiglu") return swiglu(std::move(layer));
  if (module.has("weight_ih_l0")) return recurrent(std::move(layer));
  if (module.has("running_mean")) return batch_norm(std::move(layer));
  const TensorInfo *weight = module.find("weight"), *bias = module.find("bias");
  if (!weight || !only(module, {"weight", "bias"})) {
    std::string roles;
    for (const auto& p : module.parts) roles += (roles.empty() ? "" : ", ") + p.role;
    return refuse(std::move(layer), "no layer has tensors of these names: " + roles);
  }
  switch (weight->shape.size()) {
    case 1: return vector_of(std::move(layer), *weight, bias);
    case 2: return matrix(std::move(layer), *weight, bias);
    case 3:
    case 4:
    case 5: return convolution(std::move(layer), *weight, bias);
    default:
      return refuse(std::move(layer), "no layer has a weight of " + shape_text(weight->shape));
  }
}

}  // namespace loom
