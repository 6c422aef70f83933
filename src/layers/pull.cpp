#include "layers/pull.h"

#include <algorithm>

namespace loom {
namespace {

constexpr double kMinPull = 0.01;  // sums of |w| up to it pull no target

constexpr std::string_view kPassing[] = {"activation", "dropout", "log_softmax", "softmax",
                                         "unary"};
constexpr std::string_view kByBackward[] = {"attention",
                                            "avg_pool1d",
                                            "avg_pool2d",
                                            "avg_pool3d",
                                            "batch_norm",
                                            "conv1d",
                                            "conv2d",
                                            "conv3d",
                                            "conv_transpose1d",
                                            "conv_transpose2d",
                                            "conv_transpose3d",
                                            "dense",
                                            "embedding",
                                            "flatten",
                                            "group_norm",
                                            "gru",
                                            "instance_norm",
                                            "layer_norm",
                                            "lstm",
                                            "max_pool1d",
                                            "max_pool2d",
                                            "max_pool3d",
                                            "positions",
                                            "reshape",
                                            "residual",
                                            "rms_norm",
                                            "rnn",
                                            "sequential",
                                            "swiglu",
                                            "time_distributed"};

}  // namespace

PullRule pull_rule(std::string_view type) {
  if (std::ranges::find(kPassing, type) != std::end(kPassing)) return PullRule::passes;
  return std::ranges::find(kByBackward, type) != std::end(kByBackward) ? PullRule::backward
                                                                       : PullRule::none;
}

View combined(ProgramBuilder& emit, View a, View b, Binary kind) {
  const std::int64_t step = b.cols == a.cols ? 1 : 0;
  return emit.binary(a, b, kind, {1, 1, 1, 1, a.cols}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, step},
                     emit.rows(a));
}

View filled_row(ProgramBuilder& emit, ValueType type, std::int64_t cols, double value) {
  const View row = emit.temp(type, Rows{}, cols);
  emit.fill(row, value);
  return row;
}

View pull_share(ProgramBuilder& emit, View sums) {
  const View limit = filled_row(emit, emit.type(sums), 1, kMinPull);
  return combined(emit, combined(emit, sums, limit, Binary::greater),
                  combined(emit, sums, limit, Binary::max), Binary::div);
}

View column_sums(ProgramBuilder& emit, View w, std::int64_t groups) {
  const std::int64_t rows = emit.rows(w).constant, cols = w.cols, of_group = rows / groups;
  // The rows of W as values.
  const View values = emit.unary(emit.gather(w, emit.steps({rows}, rows)), Unary::abs);
  if (groups == 1) {
    const View sums = emit.temp(emit.type(values), Rows{}, cols);
    emit.bias_grad(values, sums, Accumulate::no);
    return sums;
  }
  const View by_column =
      emit.transpose(values, {1, 1, 1, of_group, cols}, {0, 1, 2, 4, 3}, of_group * cols);
  return emit.reshape(emit.reduce(by_column, Reduce::sum, of_group), groups * cols);
}

View gain_pull(ProgramBuilder& emit, View gap, View gain, std::int64_t inner) {
  const View share = pull_share(emit, emit.unary(gain, Unary::abs));
  return emit.channel_affine(gap, emit.mul(gain, share), {}, inner);
}

View LayerContext::weight_back(std::string_view role, View gy, View x) {
  const View w = weight(role);
  if (!pulls.on) return emit.matmul_t(w, gy);
  const View sums = column_sums(emit, w), share = pull_share(emit, sums);
  const auto pull = [&](View v) { return emit.channel_affine(emit.matmul_t(w, v), share, {}, 1); };
  if (!pulls.absolute) return pull(gy);
  const View target = pull(emit.add(saved("given"), emit.scale(gy, -1)));
  const View pulled =
      combined(emit, sums, filled_row(emit, emit.type(sums), 1, kMinPull), Binary::greater);
  return emit.add(emit.channel_affine(x, pulled, {}, 1), emit.scale(target, -1));
}

// The slope of relu, tanh and sigmoid is one of their values; others are refused before.
View LayerContext::activation_back(View z, View gy, Activation kind) {
  if (!pulls.on) return emit.activation_back(z, gy, kind);
  if (!pulls.slope || kind == Activation::linear) return gy;
  const View y = emit.activation(z, kind);
  if (kind == Activation::relu)
    return emit.mul(gy, combined(emit, y, filled_row(emit, emit.type(y), 1, 0), Binary::greater));
  const View by = emit.mul(gy, y), twice = emit.mul(by, y);
  return emit.add(kind == Activation::tanh ? gy : by, emit.scale(twice, -1));
}

}  // namespace loom
