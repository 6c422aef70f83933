// Made by tools/generate from the field lists in src: edit those.
// Layers in the field's terms: what makes a network's topology, to be included beside loom.hpp.
//
//   namespace layers = loom::layers;
//   loom::Network network(layers::sequential({layers::input(784),
//                                             layers::dense({.out = 128, .activation = "relu"}),
//                                             layers::dense({.out = 10})}), 1);
//
// Settings have the names, the defaults and the order of docs/reference/layers.md, which says what
// each one is; widths follow from what arrives. Common to all are dtype, name, enabled, tie and
// fixed: layers::dense({.out = 10}).name("head"). The library refuses a wrong value by its name.
#ifndef LOOM_LAYERS_HPP
#define LOOM_LAYERS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "layer.hpp"

namespace loom {
inline namespace api {
namespace layers {

// A function of each value by itself.
struct Activation {
  std::string activation = "relu";
};
inline Layer activation(const Activation& s = {}) {
  const Activation usual{};
  return Layer("activation").set("activation", s.activation, usual.activation);
}

// Many classes, rare ones through narrow projections (arXiv 1609.04309):
// torch.nn.AdaptiveLogSoftmaxWithLoss. Parameters: head [cutoffs[0] + clusters, in], tail0_down [in
// / divide, in], tail0_up [classes, in / divide], ...
struct AdaptiveSoftmax {
  std::int64_t out = 0;
  Size cutoffs{};
  double divide = 4;
  bool bias = false;
  bool log = false;
};
inline Layer adaptive_softmax(const AdaptiveSoftmax& s) {
  const AdaptiveSoftmax usual{};
  return Layer("adaptive_softmax").set("out", s.out).set("cutoffs", s.cutoffs)
      .set("divide", s.divide, usual.divide).set("bias", s.bias, usual.bias)
      .set("log", s.log, usual.log);
}

// Multi-head attention (arXiv 1706.03762) over the steps of a row [steps, features], or over the
// rows of a sequence where a row is one position, with grouped keys, a sliding window and rotary
// positions. Parameters: q, k, v, o.
struct Attention {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;
  bool causal = true;
  bool qkv_bias = false;
  bool out_bias = false;
  bool qk_norm = false;
  double qk_norm_eps = 1e-6;
  bool rope = true;
  double rope_theta = 10000;
  std::string rope_scaling = "none";
  double rope_factor = 1;
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  double rope_original_positions = 8192;
  double out_std = 0;
  bool alibi = false;
  bool sub_norm = false;
  double sub_norm_eps = 1e-5;
  double dropout = 0;
  std::vector<std::string> takes{};
};
inline Layer attention(const Attention& s = {}) {
  const Attention usual{};
  return Layer("attention").set("heads", s.heads, usual.heads)
      .set("kv_heads", s.kv_heads, usual.kv_heads).set("head_dim", s.head_dim, usual.head_dim)
      .set("window", s.window, usual.window).set("causal", s.causal, usual.causal)
      .set("qkv_bias", s.qkv_bias, usual.qkv_bias).set("out_bias", s.out_bias, usual.out_bias)
      .set("qk_norm", s.qk_norm, usual.qk_norm)
      .set("qk_norm_eps", s.qk_norm_eps, usual.qk_norm_eps).set("rope", s.rope, usual.rope)
      .set("rope_theta", s.rope_theta, usual.rope_theta)
      .set("rope_scaling", s.rope_scaling, usual.rope_scaling)
      .set("rope_factor", s.rope_factor, usual.rope_factor)
      .set("rope_low_freq_factor", s.rope_low_freq_factor, usual.rope_low_freq_factor)
      .set("rope_high_freq_factor", s.rope_high_freq_factor, usual.rope_high_freq_factor)
      .set("rope_original_positions", s.rope_original_positions, usual.rope_original_positions)
      .set("out_std", s.out_std, usual.out_std).set("alibi", s.alibi, usual.alibi)
      .set("sub_norm", s.sub_norm, usual.sub_norm)
      .set("sub_norm_eps", s.sub_norm_eps, usual.sub_norm_eps)
      .set("dropout", s.dropout, usual.dropout).set("takes", s.takes, usual.takes);
}

// The mean of each window of [channels, length], [channels, height, width] or [channels, depth,
// height, width].
struct AvgPool1d {
  Size kernel = 2;
  Size stride = 0;
  Size padding = 0;
  Size dilation = 1;
  bool ceil_mode = false;
  bool global = false;
  bool count_include_pad = true;
};
inline Layer avg_pool1d(const AvgPool1d& s = {}) {
  const AvgPool1d usual{};
  return Layer("avg_pool1d").set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("ceil_mode", s.ceil_mode, usual.ceil_mode)
      .set("global", s.global, usual.global)
      .set("count_include_pad", s.count_include_pad, usual.count_include_pad);
}

// The mean of each window of [channels, length], [channels, height, width] or [channels, depth,
// height, width].
using AvgPool2d = AvgPool1d;
inline Layer avg_pool2d(const AvgPool2d& s = {}) {
  const AvgPool2d usual{};
  return Layer("avg_pool2d").set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("ceil_mode", s.ceil_mode, usual.ceil_mode)
      .set("global", s.global, usual.global)
      .set("count_include_pad", s.count_include_pad, usual.count_include_pad);
}

// The mean of each window of [channels, length], [channels, height, width] or [channels, depth,
// height, width].
using AvgPool3d = AvgPool1d;
inline Layer avg_pool3d(const AvgPool3d& s = {}) {
  const AvgPool3d usual{};
  return Layer("avg_pool3d").set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("ceil_mode", s.ceil_mode, usual.ceil_mode)
      .set("global", s.global, usual.global)
      .set("count_include_pad", s.count_include_pad, usual.count_include_pad);
}

// Channels of [channels, space...] normalized by the batch's statistics while training, by running
// ones otherwise (arXiv 1502.03167); without dimensions each value is a channel. Training takes the
// statistics of the micro-batch's rows, and each update moves running_mean and running_var (of a
// sample, as PyTorch has it) towards those of the last micro-batch.
struct BatchNorm {
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = true;
};
inline Layer batch_norm(const BatchNorm& s = {}) {
  const BatchNorm usual{};
  return Layer("batch_norm").set("eps", s.eps, usual.eps)
      .set("momentum", s.momentum, usual.momentum).set("affine", s.affine, usual.affine);
}

// The product of two operands that arrive side by side, NumPy's matmul for two dimensions or more.
struct BatchedMatmul {
  Sizes shapes{};
};
inline Layer batched_matmul(const BatchedMatmul& s = {}) {
  const BatchedMatmul usual{};
  return Layer("batched_matmul").set("shapes", s.shapes, usual.shapes);
}

// Two operands that arrive side by side, spread as NumPy does; or one, and a learned one, the
// parameter value.
struct Binary {
  std::string op{};
  Size constant{};
  bool constant_first = false;
  Sizes shapes{};
};
inline Layer binary(const Binary& s) {
  const Binary usual{};
  return Layer("binary").set("op", s.op).set("constant", s.constant, usual.constant)
      .set("constant_first", s.constant_first, usual.constant_first)
      .set("shapes", s.shapes, usual.shapes);
}

// Convolution over [channels, length], [channels, height, width] or [channels, depth, height,
// width]. Parameters: weight [filters, channels / groups x kernel], PyTorch's order, bias.
struct Conv1d {
  std::int64_t filters = 0;
  Size kernel = 3;
  Size stride = 1;
  Size padding = 0;
  Size dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  std::string activation = "linear";
};
inline Layer conv1d(const Conv1d& s) {
  const Conv1d usual{};
  return Layer("conv1d").set("filters", s.filters).set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("groups", s.groups, usual.groups)
      .set("bias", s.bias, usual.bias).set("activation", s.activation, usual.activation);
}

// Convolution over [channels, length], [channels, height, width] or [channels, depth, height,
// width]. Parameters: weight [filters, channels / groups x kernel], PyTorch's order, bias.
using Conv2d = Conv1d;
inline Layer conv2d(const Conv2d& s) {
  const Conv2d usual{};
  return Layer("conv2d").set("filters", s.filters).set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("groups", s.groups, usual.groups)
      .set("bias", s.bias, usual.bias).set("activation", s.activation, usual.activation);
}

// Convolution over [channels, length], [channels, height, width] or [channels, depth, height,
// width]. Parameters: weight [filters, channels / groups x kernel], PyTorch's order, bias.
using Conv3d = Conv1d;
inline Layer conv3d(const Conv3d& s) {
  const Conv3d usual{};
  return Layer("conv3d").set("filters", s.filters).set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("groups", s.groups, usual.groups)
      .set("bias", s.bias, usual.bias).set("activation", s.activation, usual.activation);
}

// Transposed convolution over [channels, length], [channels, height, width] or [channels, depth,
// height, width]. Parameters: weight [filters x kernel, channels], with groups [groups x filters /
// groups x kernel, channels / groups], bias.
struct ConvTranspose1d {
  std::int64_t filters = 0;
  Size kernel = 3;
  Size stride = 1;
  Size padding = 0;
  Size dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  std::string activation = "linear";
  Size output_padding = 0;
};
inline Layer conv_transpose1d(const ConvTranspose1d& s) {
  const ConvTranspose1d usual{};
  return Layer("conv_transpose1d").set("filters", s.filters).set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("groups", s.groups, usual.groups)
      .set("bias", s.bias, usual.bias).set("activation", s.activation, usual.activation)
      .set("output_padding", s.output_padding, usual.output_padding);
}

// Transposed convolution over [channels, length], [channels, height, width] or [channels, depth,
// height, width]. Parameters: weight [filters x kernel, channels], with groups [groups x filters /
// groups x kernel, channels / groups], bias.
using ConvTranspose2d = ConvTranspose1d;
inline Layer conv_transpose2d(const ConvTranspose2d& s) {
  const ConvTranspose2d usual{};
  return Layer("conv_transpose2d").set("filters", s.filters).set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("groups", s.groups, usual.groups)
      .set("bias", s.bias, usual.bias).set("activation", s.activation, usual.activation)
      .set("output_padding", s.output_padding, usual.output_padding);
}

// Transposed convolution over [channels, length], [channels, height, width] or [channels, depth,
// height, width]. Parameters: weight [filters x kernel, channels], with groups [groups x filters /
// groups x kernel, channels / groups], bias.
using ConvTranspose3d = ConvTranspose1d;
inline Layer conv_transpose3d(const ConvTranspose3d& s) {
  const ConvTranspose3d usual{};
  return Layer("conv_transpose3d").set("filters", s.filters).set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("groups", s.groups, usual.groups)
      .set("bias", s.bias, usual.bias).set("activation", s.activation, usual.activation)
      .set("output_padding", s.output_padding, usual.output_padding);
}

// Multi-head attention of the steps of one operand [steps, features] to those of a second, [steps,
// features] (arXiv 1706.03762), without positions. Every step sees all of them, except those that a
// third operand, [steps], masks by a value other than 0, as True does in PyTorch's
// key_padding_mask. The result of a step that sees none is o_bias, or 0 without it. Operands come
// by merge or combine: operands. Parameters: q, k, v, o.
struct CrossAttention {
  std::int64_t heads = 1;
  std::int64_t head_dim = 0;
  bool qkv_bias = false;
  bool out_bias = false;
  double dropout = 0;
  std::vector<std::string> takes{};
};
inline Layer cross_attention(const CrossAttention& s = {}) {
  const CrossAttention usual{};
  return Layer("cross_attention").set("heads", s.heads, usual.heads)
      .set("head_dim", s.head_dim, usual.head_dim).set("qkv_bias", s.qkv_bias, usual.qkv_bias)
      .set("out_bias", s.out_bias, usual.out_bias).set("dropout", s.dropout, usual.dropout)
      .set("takes", s.takes, usual.takes);
}

// A layer that the program registered, in its own language (docs/guide/own-layers.md): on the CPU
// alone. Its parameters are what its plan says, in f32 or f64 whatever the cell's dtype is.
struct Custom {
  std::string layer{};
  std::int64_t version = 1;
  Json config{};
};
inline Layer custom(const Custom& s) {
  const Custom usual{};
  return Layer("custom").set("layer", s.layer).set("version", s.version, usual.version)
      .set("config", s.config, usual.config);
}

// activation(W x + b): torch.nn.Linear(in, out) and an activation. Parameters: weight [out, in],
// bias.
struct Dense {
  std::int64_t out = 0;
  bool bias = true;
  std::string activation = "linear";
};
inline Layer dense(const Dense& s) {
  const Dense usual{};
  return Layer("dense").set("out", s.out).set("bias", s.bias, usual.bias)
      .set("activation", s.activation, usual.activation);
}

// While training, values are 0 with a probability and the others grow by 1 / (1 - rate); a function
// of the training's seed, the step and micro-batch, the layer's path and the value's place.
struct Dropout {
  double rate = 0.5;
};
inline Layer dropout(const Dropout& s = {}) {
  const Dropout usual{};
  return Layer("dropout").set("rate", s.rate, usual.rate);
}

// A row of out values per id, [steps, out] for a row of several; the input's ids say how many there
// are. Parameter: weight [ids, out].
struct Embedding {
  std::int64_t out = 0;
  double std = 0.02;
};
inline Layer embedding(const Embedding& s) {
  const Embedding usual{};
  return Layer("embedding").set("out", s.out).set("std", s.std, usual.std);
}

// Forgets the dimensions of a row.
inline Layer flatten() {
  return Layer("flatten");
}

// Single nodes and edges, as evolution makes them (docs/reference/evolution.md). Values of the row
// are the nodes 0, 1, ...; a node behind them is its activation of the sum of its bias and, edge by
// edge in their order, of weight times the value that the edge comes from. The last out nodes are
// the output. Parameters: weight [1, edges], bias [1, nodes].
struct Genome {
  std::int64_t out = 0;
  std::vector<std::string> activations{};
  Size edges{};
  std::int64_t ticks = 0;
};
inline Layer genome(const Genome& s) {
  const Genome usual{};
  return Layer("genome").set("out", s.out).set("activations", s.activations)
      .set("edges", s.edges, usual.edges).set("ticks", s.ticks, usual.ticks);
}

// Each of groups of channels normalized by itself (arXiv 1803.08494).
struct GroupNorm {
  std::int64_t groups = 1;
  double eps = 1e-5;
  bool affine = true;
};
inline Layer group_norm(const GroupNorm& s = {}) {
  const GroupNorm usual{};
  return Layer("group_norm").set("groups", s.groups, usual.groups).set("eps", s.eps, usual.eps)
      .set("affine", s.affine, usual.affine);
}

// Gated recurrent units over [steps, features]. Without linear_before_reset weight_hh and bias_hh
// have r and z, weight_hn [hidden, hidden] and bias_hn the rest.
struct Gru {
  std::int64_t hidden = 0;
  std::int64_t num_layers = 1;
  bool bias = true;
  bool bidirectional = false;
  std::string output = "all";
  bool stateful = false;
  bool linear_before_reset = true;
  std::vector<std::string> takes{};
  bool return_state = false;
};
inline Layer gru(const Gru& s) {
  const Gru usual{};
  return Layer("gru").set("hidden", s.hidden).set("num_layers", s.num_layers, usual.num_layers)
      .set("bias", s.bias, usual.bias).set("bidirectional", s.bidirectional, usual.bidirectional)
      .set("output", s.output, usual.output).set("stateful", s.stateful, usual.stateful)
      .set("linear_before_reset", s.linear_before_reset, usual.linear_before_reset)
      .set("takes", s.takes, usual.takes).set("return_state", s.return_state, usual.return_state);
}

// Values by their places in the row.
struct IndexSelect {
  Size dims{};
  Size runs{};
  double fill = 0;
};
inline Layer index_select(const IndexSelect& s) {
  const IndexSelect usual{};
  return Layer("index_select").set("dims", s.dims, usual.dims).set("runs", s.runs)
      .set("fill", s.fill, usual.fill);
}

// Each channel normalized by itself (arXiv 1607.08022).
struct InstanceNorm {
  double eps = 1e-5;
  bool affine = false;
};
inline Layer instance_norm(const InstanceNorm& s = {}) {
  const InstanceNorm usual{};
  return Layer("instance_norm").set("eps", s.eps, usual.eps).set("affine", s.affine, usual.affine);
}

// Soft membership of learned centers: softmax(-distance^2 / (2 temperature^2)). A row too far from
// all centers for squares in its type belongs to all alike. Parameter: centers [clusters, in].
struct Kmeans {
  std::int64_t clusters = 0;
  double temperature = 1;
  std::string output = "probabilities";
};
inline Layer kmeans(const Kmeans& s) {
  const Kmeans usual{};
  return Layer("kmeans").set("clusters", s.clusters)
      .set("temperature", s.temperature, usual.temperature).set("output", s.output, usual.output);
}

// Mean 0 and variance 1 over the row, times a gain, plus a bias (arXiv 1607.06450).
struct LayerNorm {
  double eps = 1e-5;
};
inline Layer layer_norm(const LayerNorm& s = {}) {
  const LayerNorm usual{};
  return Layer("layer_norm").set("eps", s.eps, usual.eps);
}

// Logarithms of a softmax.
inline Layer log_softmax() {
  return Layer("log_softmax");
}

// Long short-term memory over [steps, features].
struct Lstm {
  std::int64_t hidden = 0;
  std::int64_t num_layers = 1;
  bool bias = true;
  bool bidirectional = false;
  std::string output = "all";
  bool stateful = false;
  std::vector<std::string> takes{};
  bool return_state = false;
};
inline Layer lstm(const Lstm& s) {
  const Lstm usual{};
  return Layer("lstm").set("hidden", s.hidden).set("num_layers", s.num_layers, usual.num_layers)
      .set("bias", s.bias, usual.bias).set("bidirectional", s.bidirectional, usual.bidirectional)
      .set("output", s.output, usual.output).set("stateful", s.stateful, usual.stateful)
      .set("takes", s.takes, usual.takes).set("return_state", s.return_state, usual.return_state);
}

// The largest value of each window of [channels, length], [channels, height, width] or [channels,
// depth, height, width].
struct MaxPool1d {
  Size kernel = 2;
  Size stride = 0;
  Size padding = 0;
  Size dilation = 1;
  bool ceil_mode = false;
  bool global = false;
};
inline Layer max_pool1d(const MaxPool1d& s = {}) {
  const MaxPool1d usual{};
  return Layer("max_pool1d").set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("ceil_mode", s.ceil_mode, usual.ceil_mode)
      .set("global", s.global, usual.global);
}

// The largest value of each window of [channels, length], [channels, height, width] or [channels,
// depth, height, width].
using MaxPool2d = MaxPool1d;
inline Layer max_pool2d(const MaxPool2d& s = {}) {
  const MaxPool2d usual{};
  return Layer("max_pool2d").set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("ceil_mode", s.ceil_mode, usual.ceil_mode)
      .set("global", s.global, usual.global);
}

// The largest value of each window of [channels, length], [channels, height, width] or [channels,
// depth, height, width].
using MaxPool3d = MaxPool1d;
inline Layer max_pool3d(const MaxPool3d& s = {}) {
  const MaxPool3d usual{};
  return Layer("max_pool3d").set("kernel", s.kernel, usual.kernel)
      .set("stride", s.stride, usual.stride).set("padding", s.padding, usual.padding)
      .set("dilation", s.dilation, usual.dilation).set("ceil_mode", s.ceil_mode, usual.ceil_mode)
      .set("global", s.global, usual.global);
}

// Wraps one layer (layers has one; those that acts appended stand behind it) and computes the same.
// A session watches the layer's output and changes the layer by rules, between passes; every act is
// in the session's trace.
struct Metacognition {
  Json rules{};
  std::int64_t every = 1;
  double gate = 1;
  bool frozen = false;
};
inline Layer metacognition(std::vector<Layer> layers, const Metacognition& s = {}) {
  const Metacognition usual{};
  return Layer("metacognition").inside(std::move(layers)).set("rules", s.rules, usual.rules)
      .set("every", s.every, usual.every).set("gate", s.gate, usual.gate)
      .set("frozen", s.frozen, usual.frozen);
}

// A weighted sum of softmaxes (arXiv 1711.03953): the sum over k of prior_k softmax(weight
// tanh(latent_k x)).
struct MixtureOfSoftmaxes {
  std::int64_t out = 0;
  std::int64_t mixtures = 0;
  std::int64_t hidden = 0;
  bool bias = true;
  bool log = false;
};
inline Layer mixture_of_softmaxes(const MixtureOfSoftmaxes& s) {
  const MixtureOfSoftmaxes usual{};
  return Layer("mixture_of_softmaxes").set("out", s.out).set("mixtures", s.mixtures)
      .set("hidden", s.hidden, usual.hidden).set("bias", s.bias, usual.bias)
      .set("log", s.log, usual.log);
}

// Its layers are branches side by side. With top_k a row goes only to the branches of its k largest
// scores (the first of equal ones), and the softmax is over these. A branch runs on the rows that
// go to it: layers that see other rows (attention, batch_norm, dropout, gumbel noise, stateful) are
// refused in it. Parameters: gate [branches, width], gate_bias, stitch1 ...
struct Parallel {
  std::string input = "broadcast";
  std::string combine = "concat";
  bool stitch = false;
  double temperature = 1;
  std::int64_t top_k = 0;
  Size grid{};
  Size places{};
};
inline Layer parallel(std::vector<Layer> layers, const Parallel& s = {}) {
  const Parallel usual{};
  return Layer("parallel").inside(std::move(layers)).set("input", s.input, usual.input)
      .set("combine", s.combine, usual.combine).set("stitch", s.stitch, usual.stitch)
      .set("temperature", s.temperature, usual.temperature).set("top_k", s.top_k, usual.top_k)
      .set("grid", s.grid, usual.grid).set("places", s.places, usual.places);
}

// One of several operands of a row: of names a part of the network's input, or index counts.
struct Part {
  std::string of{};
  std::int64_t index = -1;
};
inline Layer part(const Part& s = {}) {
  const Part usual{};
  return Layer("part").set("of", s.of, usual.of).set("index", s.index, usual.index);
}

// Dimensions in another order: numpy.transpose.
struct Permute {
  Size dims{};
  Size order{};
};
inline Layer permute(const Permute& s) {
  const Permute usual{};
  return Layer("permute").set("dims", s.dims, usual.dims).set("order", s.order);
}

// One vector from the steps of a row [steps, features]: their mean, maximum or sum, or the last of
// them.
struct PoolSteps {
  std::string op = "mean";
  std::vector<std::string> takes{};
};
inline Layer pool_steps(const PoolSteps& s = {}) {
  const PoolSteps usual{};
  return Layer("pool_steps").set("op", s.op, usual.op).set("takes", s.takes, usual.takes);
}

// Adds a vector per position to the steps of a row [steps, features], or to rows that are positions
// of sequences, as language models have them. Parameter of those learned: weight [count, features].
struct Positions {
  std::string kind = "learned";
  std::int64_t count = 0;
  double std = 0.02;
};
inline Layer positions(const Positions& s = {}) {
  const Positions usual{};
  return Layer("positions").set("kind", s.kind, usual.kind).set("count", s.count, usual.count)
      .set("std", s.std, usual.std);
}

// A sum, a mean, a maximum, ... over dimensions of the row.
struct Reduce {
  std::string op{};
  Size dims{};
  Size axes{};
  bool keepdims = true;
};
inline Layer reduce(const Reduce& s) {
  const Reduce usual{};
  return Layer("reduce").set("op", s.op).set("dims", s.dims, usual.dims)
      .set("axes", s.axes, usual.axes).set("keepdims", s.keepdims, usual.keepdims);
}

// The same values, counted in the same order, with other dimensions.
struct Reshape {
  Size dims{};
};
inline Layer reshape(const Reshape& s) {
  return Layer("reshape").set("dims", s.dims);
}

// The row divided by the root of its mean square, times a gain (arXiv 1910.07467).
using RmsNorm = LayerNorm;
inline Layer rms_norm(const RmsNorm& s = {}) {
  const RmsNorm usual{};
  return Layer("rms_norm").set("eps", s.eps, usual.eps);
}

// Elman's network over [steps, features]; a row without dimensions is one step, and where rows are
// positions of a sequence (behind single ids), the next step of that. Names, layouts and gate
// orders (LSTM: i f g o; GRU: r z n) of recurrent layers are PyTorch's: weight_ih_l0 [gates x
// hidden, features], weight_hh_l0 [gates x hidden, hidden], bias_ih_l0, bias_hh_l0, then
// ..._l0_reverse, ..._l1. Behind the length of a row outputs are 0 and states stay; the reverse
// direction begins at its last step.
struct Rnn {
  std::int64_t hidden = 0;
  std::int64_t num_layers = 1;
  bool bias = true;
  bool bidirectional = false;
  std::string output = "all";
  bool stateful = false;
  std::string activation = "tanh";
  std::vector<std::string> takes{};
  bool return_state = false;
};
inline Layer rnn(const Rnn& s) {
  const Rnn usual{};
  return Layer("rnn").set("hidden", s.hidden).set("num_layers", s.num_layers, usual.num_layers)
      .set("bias", s.bias, usual.bias).set("bidirectional", s.bidirectional, usual.bidirectional)
      .set("output", s.output, usual.output).set("stateful", s.stateful, usual.stateful)
      .set("activation", s.activation, usual.activation).set("takes", s.takes, usual.takes)
      .set("return_state", s.return_state, usual.return_state);
}

// numpy.where of three operands that arrive side by side.
using Select = BatchedMatmul;
inline Layer select(const Select& s = {}) {
  const Select usual{};
  return Layer("select").set("shapes", s.shapes, usual.shapes);
}

// Distributions over the last dimension, or as the kind says.
struct Softmax {
  std::string kind = "standard";
  bool log = false;
  double temperature = 1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Size levels{};
  Size mask{};
  double alpha = 1.5;
  bool hard = false;
};
inline Layer softmax(const Softmax& s = {}) {
  const Softmax usual{};
  return Layer("softmax").set("kind", s.kind, usual.kind).set("log", s.log, usual.log)
      .set("temperature", s.temperature, usual.temperature).set("rows", s.rows, usual.rows)
      .set("cols", s.cols, usual.cols).set("levels", s.levels, usual.levels)
      .set("mask", s.mask, usual.mask).set("alpha", s.alpha, usual.alpha)
      .set("hard", s.hard, usual.hard);
}

// (x - mean) * scale by columns; the two are set, not learned.
struct Standardize {
  bool missing = false;
};
inline Layer standardize(const Standardize& s = {}) {
  const Standardize usual{};
  return Layer("standardize").set("missing", s.missing, usual.missing);
}

// down(silu(gate(x)) * up(x)), the feed-forward part of Llama (arXiv 2002.05202). Parameters: gate
// and up [hidden, in], down [in, hidden].
struct Swiglu {
  std::int64_t hidden = 0;
  bool bias = false;
  double out_std = 0;
  std::string activation = "silu";
  bool sub_norm = false;
  double sub_norm_eps = 1e-5;
};
inline Layer swiglu(const Swiglu& s) {
  const Swiglu usual{};
  return Layer("swiglu").set("hidden", s.hidden).set("bias", s.bias, usual.bias)
      .set("out_std", s.out_std, usual.out_std).set("activation", s.activation, usual.activation)
      .set("sub_norm", s.sub_norm, usual.sub_norm)
      .set("sub_norm_eps", s.sub_norm_eps, usual.sub_norm_eps);
}

// One layer applied to every part of the row: a part is a row to it.
struct TimeDistributed {
  std::int64_t count = 0;
};
inline Layer time_distributed(std::vector<Layer> layers, const TimeDistributed& s = {}) {
  const TimeDistributed usual{};
  return Layer("time_distributed").inside(std::move(layers)).set("count", s.count, usual.count);
}

// A function of single values, with up to two parameters.
struct Unary {
  std::string op{};
  double a = 0;
  double b = 0;
};
inline Layer unary(const Unary& s) {
  const Unary usual{};
  return Layer("unary").set("op", s.op).set("a", s.a, usual.a).set("b", s.b, usual.b);
}

}  // namespace layers
}  // namespace api
}  // namespace loom

#endif
