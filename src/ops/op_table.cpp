// One row per op: operands with their roles, attributes, registers. Planner, verifier, dead-code removal, printing, saving and hashing work from these rows alone.
#include "ops/program.h"

namespace loom {
namespace {

constexpr Role r = Role::read, w = Role::write, m = Role::modify;

std::vector<OpInfo> make_table() {
  std::vector<OpInfo> t(kOpCount);
  auto row = [&t](Op op, std::string_view name, std::vector<OperandInfo> operands, std::vector<std::string_view> ints = {},
                  std::vector<std::string_view> reals = {}, std::vector<std::string_view> registers = {}) {
    t[static_cast<std::size_t>(op)] = {op, name, std::move(operands), std::move(ints), std::move(reals), std::move(registers)};
  };
  // Movement. Rows of all operands agree unless said otherwise.
  row(Op::fill, "fill", {{"y", w, false}}, {}, {"value"});
  row(Op::copy, "copy", {{"x", r, false}, {"y", w, false}});
  row(Op::add, "add", {{"a", r, false}, {"b", r, false}, {"y", w, false}});
  row(Op::scale, "scale", {{"x", r, false}, {"y", w, false}}, {}, {"factor"});
  row(Op::convert, "convert", {{"x", r, false}, {"y", w, false}});
  row(Op::gather, "gather", {{"w", r, false}, {"ids", r, false}, {"y", w, false}});
  row(Op::gather_rows, "gather_rows", {{"x", r, false}, {"index", r, false}, {"y", w, false}});
  row(Op::scatter_rows, "scatter_rows", {{"x", r, false}, {"index", r, false}, {"y", w, false}});
  // Products: y = bias + x W^T; gx = gy W; gw (+)= gy^T x; gb (+)= column sums of gy.
  row(Op::matmul, "matmul", {{"w", r, false}, {"x", r, false}, {"bias", r, true}, {"y", w, false}});
  row(Op::matmul_t, "matmul_t", {{"w", r, false}, {"gy", r, false}, {"gx", w, false}});
  row(Op::outer_add, "outer_add", {{"gy", r, false}, {"x", r, false}, {"gw", m, false}}, {"accumulate"});
  row(Op::col_sum, "col_sum", {{"gy", r, false}, {"gb", m, false}}, {"accumulate"});
  row(Op::gather_add, "gather_add", {{"gy", r, false}, {"ids", r, false}, {"gw", m, false}}, {"accumulate"});
  // Elementwise.
  row(Op::activation, "activation", {{"x", r, false}, {"y", w, false}}, {"kind"});
  row(Op::activation_back, "activation_back", {{"x", r, false}, {"gy", r, false}, {"gx", w, false}}, {"kind"});
  row(Op::silu_mul, "silu_mul", {{"gate", r, false}, {"up", r, false}, {"y", w, false}});
  row(Op::silu_mul_back, "silu_mul_back", {{"gate", r, false}, {"up", r, false}, {"gy", r, false}, {"ggate", w, false}, {"gup", w, false}});
  // Norms over groups of `group` consecutive columns; gain and bias have `group` elements.
  row(Op::rms_norm, "rms_norm", {{"x", r, false}, {"gain", r, false}, {"y", w, false}}, {"group"}, {"eps"});
  row(Op::rms_norm_back, "rms_norm_back", {{"x", r, false}, {"gain", r, false}, {"gy", r, false}, {"gx", w, false}}, {"group"}, {"eps"});
  row(Op::rms_norm_gain, "rms_norm_gain", {{"x", r, false}, {"gy", r, false}, {"gg", m, false}}, {"group", "accumulate"}, {"eps"});
  row(Op::layer_norm, "layer_norm", {{"x", r, false}, {"gain", r, false}, {"bias", r, false}, {"y", w, false}}, {"group"}, {"eps"});
  row(Op::layer_norm_back, "layer_norm_back", {{"x", r, false}, {"gain", r, false}, {"gy", r, false}, {"gx", w, false}}, {"group"}, {"eps"});
  row(Op::layer_norm_gain, "layer_norm_gain", {{"x", r, false}, {"gy", r, false}, {"gg", m, false}}, {"group", "accumulate"}, {"eps"});
  // Attention. q is [R, heads*head_dim], k and v [R, kv_heads*head_dim]; window 0 is unlimited.
  row(Op::rope, "rope", {{"x", r, false}, {"pos", r, false}, {"table", r, false}, {"y", w, false}}, {"head_dim", "inverse"});
  row(Op::kv_append, "kv_append", {{"k", r, false}, {"v", r, false}, {"seq", r, false}, {"pos", r, false}, {"kv", m, false}}, {"kv_heads", "head_dim"});
  row(Op::attention, "attention", {{"q", r, false}, {"kv", r, false}, {"seq", r, false}, {"pos", r, false}, {"y", w, false}},
      {"heads", "kv_heads", "head_dim", "window"}, {"scale"});
  row(Op::attention_rows, "attention_rows", {{"q", r, false}, {"k", r, false}, {"v", r, false}, {"pos", r, false}, {"y", w, false}, {"stats", w, false}},
      {"heads", "kv_heads", "head_dim", "window", "causal"}, {"scale"});
  row(Op::attention_back, "attention_back",
      {{"q", r, false}, {"k", r, false}, {"v", r, false}, {"pos", r, false}, {"y", r, false}, {"stats", r, false}, {"gy", r, false}, {"gq", w, false}, {"gk", w, false}, {"gv", w, false}},
      {"heads", "kv_heads", "head_dim", "window", "causal"}, {"scale"});
  // Losses: per row, then summed; gradients are those of the sum over rows. A target below 0 leaves its row out.
  row(Op::cross_entropy, "cross_entropy", {{"logits", r, false}, {"target", r, false}, {"loss", w, false}});
  row(Op::cross_entropy_back, "cross_entropy_back", {{"logits", r, false}, {"target", r, false}, {"glogits", w, false}});
  row(Op::mse, "mse", {{"y", r, false}, {"target", r, false}, {"loss", w, false}});
  row(Op::mse_back, "mse_back", {{"y", r, false}, {"target", r, false}, {"gy", w, false}});
  row(Op::sum_rows, "sum_rows", {{"x", r, false}, {"total", w, false}});
  // Learning. Gradients are of the loss sum; optimizers multiply by `scale` (1/N and the clip factor) first.
  row(Op::grad_merge, "grad_merge", {{"g", r, false}, {"levels", m, false}, {"total", m, false}}, {"micro_batches"}, {}, {"micro"});
  row(Op::sum_squares, "sum_squares", {{"g", r, false}, {"total", m, false}}, {"accumulate"});
  row(Op::clip_scale, "clip_scale", {{"total", r, true}, {"scale", w, false}}, {}, {"max_norm"}, {"inv_n"});
  row(Op::sgd, "sgd", {{"g", r, false}, {"scale", r, false}, {"w", m, false}, {"velocity", m, true}}, {}, {"momentum", "weight_decay"}, {"lr"});
  row(Op::adamw, "adamw", {{"g", r, false}, {"scale", r, false}, {"w", m, false}, {"m", m, false}, {"v", m, false}}, {},
      {"beta1", "beta2", "eps", "weight_decay"}, {"lr", "correction1", "correction2"});
  // Activations of the integer and bf16 classes.
  row(Op::quantize, "quantize", {{"x", r, false}, {"y", w, false}});
  row(Op::split_bf16, "split_bf16", {{"x", r, false}, {"y", w, false}});
  // Places. Values count row-major over all of an operand, so that rows may be cut in other ways; windows: window.h.
  const std::vector<std::string_view> window = {"channels", "in_d", "in_h", "in_w", "kernel_d", "kernel_h", "kernel_w", "stride_d", "stride_h", "stride_w", "pad_d", "pad_h", "pad_w",
                                                "pad_end_d", "pad_end_h", "pad_end_w", "dilation_d", "dilation_h", "dilation_w", "out_d", "out_h", "out_w"};
  std::vector<std::string_view> counted = window;
  counted.push_back("count_pad");
  row(Op::reorder, "reorder", {{"x", r, false}, {"y", w, false}}, {"d0", "d1", "d2", "d3", "d4", "order"});
  row(Op::unfold, "unfold", {{"x", r, false}, {"y", w, false}}, window);
  row(Op::fold, "fold", {{"x", r, false}, {"y", w, false}}, window);
  row(Op::max_pool, "max_pool", {{"x", r, false}, {"y", w, false}}, window);
  row(Op::max_pool_back, "max_pool_back", {{"x", r, false}, {"gy", r, false}, {"gx", w, false}}, window);
  row(Op::avg_pool, "avg_pool", {{"x", r, false}, {"y", w, false}}, counted);
  row(Op::avg_pool_back, "avg_pool_back", {{"gy", r, false}, {"gx", w, false}}, counted);
  // Products of groups: output n of N belongs to group n * groups / N and meets that group's K columns of x. Weights are decoded.
  row(Op::group_matmul, "group_matmul", {{"w", r, false}, {"x", r, false}, {"bias", r, true}, {"y", w, false}}, {"groups"});
  row(Op::group_matmul_t, "group_matmul_t", {{"w", r, false}, {"gy", r, false}, {"gx", w, false}}, {"groups"});
  row(Op::group_outer_add, "group_outer_add", {{"gy", r, false}, {"x", r, false}, {"gw", m, false}}, {"groups", "accumulate"});
  row(Op::mul, "mul", {{"a", r, false}, {"b", r, false}, {"y", w, false}});
  // y = x * gain[c] + bias[c], where c is the column divided by `inner`.
  row(Op::channel_affine, "channel_affine", {{"x", r, false}, {"gain", r, true}, {"bias", r, true}, {"y", w, false}}, {"inner"});
  // Of whole graphs (tensor_ops.h). Steps count values of an operand's row from one to the next in each dimension; an operand of one row serves all rows.
  const std::vector<std::string_view> pairs = {"kind", "d0", "d1", "d2", "d3", "d4", "a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "b3", "b4"};
  row(Op::unary, "unary", {{"x", r, false}, {"y", w, false}}, {"kind"}, {"a", "b"});
  row(Op::unary_back, "unary_back", {{"x", r, false}, {"gy", r, false}, {"gx", w, false}}, {"kind"}, {"a", "b"});
  row(Op::binary, "binary", {{"a", r, false}, {"b", r, false}, {"y", w, false}}, pairs);
  row(Op::binary_back, "binary_back", {{"a", r, false}, {"b", r, false}, {"gy", r, false}, {"ga", w, false}, {"gb", w, false}}, pairs);
  row(Op::reduce, "reduce", {{"x", r, false}, {"y", w, false}}, {"kind", "n"});
  row(Op::reduce_back, "reduce_back", {{"x", r, false}, {"y", r, false}, {"gy", r, false}, {"gx", w, false}}, {"kind", "n"});
  row(Op::pick, "pick", {{"x", r, false}, {"places", r, false}, {"y", w, false}}, {}, {"fill"});
  row(Op::pick_back, "pick_back", {{"gy", r, false}, {"uses", r, false}, {"gx", w, false}});
  row(Op::select, "select", {{"c", r, false}, {"a", r, false}, {"b", r, false}, {"y", w, false}});
  row(Op::value_matmul, "value_matmul", {{"a", r, false}, {"b", r, false}, {"y", w, false}}, {"outer", "inner", "m", "n", "k", "a_outer", "a_inner", "a_m", "a_k", "b_outer", "b_inner", "b_k", "b_n"});
  // More losses, as mse. bce is on logits, its targets are in 0..1.
  row(Op::mae, "mae", {{"y", r, false}, {"target", r, false}, {"loss", w, false}});
  row(Op::mae_back, "mae_back", {{"y", r, false}, {"target", r, false}, {"gy", w, false}});
  row(Op::huber, "huber", {{"y", r, false}, {"target", r, false}, {"loss", w, false}}, {}, {"delta"});
  row(Op::huber_back, "huber_back", {{"y", r, false}, {"target", r, false}, {"gy", w, false}}, {}, {"delta"});
  row(Op::bce, "bce", {{"y", r, false}, {"target", r, false}, {"loss", w, false}});
  row(Op::bce_back, "bce_back", {{"y", r, false}, {"target", r, false}, {"gy", w, false}});
  // More optimizers: g and scale as above, `modify` operands are moments.
  row(Op::sgd_nesterov, "sgd_nesterov", {{"g", r, false}, {"scale", r, false}, {"w", m, false}, {"velocity", m, false}}, {}, {"momentum", "weight_decay"}, {"lr"});
  row(Op::rmsprop, "rmsprop", {{"g", r, false}, {"scale", r, false}, {"w", m, false}, {"v", m, false}, {"mean", m, true}, {"velocity", m, true}}, {},
      {"alpha", "eps", "momentum", "weight_decay"}, {"lr"});
  row(Op::lion, "lion", {{"g", r, false}, {"scale", r, false}, {"w", m, false}, {"m", m, false}}, {}, {"beta1", "beta2", "weight_decay"}, {"lr"});
  // y = (x - mean) * scale by columns. missing: a value that is not a number becomes 0, and so does its slope.
  row(Op::standardize, "standardize", {{"x", r, false}, {"mean", r, false}, {"scale", r, false}, {"y", w, false}}, {"missing"});
  row(Op::standardize_back, "standardize_back", {{"x", r, false}, {"scale", r, false}, {"gy", r, false}, {"gx", w, false}}, {"missing"});
  // Recurrent cells of H units: x and s are the gates' sums of the input and of the state before, [R, 4H] (i f g o) or [R, 3H] (r z n).
  row(Op::lstm_cell, "lstm_cell", {{"x", r, false}, {"s", r, false}, {"c", r, false}, {"h", w, false}, {"next", w, false}});
  row(Op::lstm_cell_back, "lstm_cell_back", {{"x", r, false}, {"s", r, false}, {"c", r, false}, {"next", r, false}, {"gh", r, false}, {"gnext", r, true}, {"gz", w, false}, {"gc", w, false}});
  row(Op::gru_cell, "gru_cell", {{"x", r, false}, {"s", r, false}, {"h", r, false}, {"next", w, false}});
  row(Op::gru_cell_back, "gru_cell_back", {{"x", r, false}, {"s", r, false}, {"h", r, false}, {"gnext", r, false}, {"gx", w, false}, {"gs", w, false}, {"gh", w, false}});
  // A row per sequence that survives runs: y = state[seq[r]], 0 where pos[r] is 0; state[seq[r]] = x[r], the last of several rows of a sequence.
  row(Op::state_read, "state_read", {{"state", r, false}, {"seq", r, false}, {"pos", r, false}, {"y", w, false}});
  row(Op::state_write, "state_write", {{"x", r, false}, {"seq", r, false}, {"state", m, false}});
  // Statistics of C channels of `inner` columns over all rows: y is [1, 3C] (means, variances, those of a sample) and [1, 4C] (sums of g, of g x, their means).
  row(Op::channel_moments, "channel_moments", {{"x", r, false}, {"y", w, false}}, {"inner"});
  row(Op::channel_sums, "channel_sums", {{"g", r, false}, {"x", r, false}, {"y", w, false}}, {"inner"});
  row(Op::fold_norm, "fold_norm", {{"mean", r, false}, {"variance", r, false}, {"gain", r, true}, {"bias", r, true}, {"scale", w, false}, {"shift", w, false}}, {}, {"eps"});
  row(Op::moving_average, "moving_average", {{"value", r, false}, {"w", m, false}}, {}, {"momentum"});
  // Noise: seed and stream of base/random.h, and the number of the run. y = 0 where 24 bits are below `drop`, else x * factor.
  row(Op::dropout, "dropout", {{"x", r, false}, {"y", w, false}}, {"seed", "seed_high", "stream", "stream_high", "drop"}, {"factor"}, {"run"});
  // Distributions over groups of columns (softmax.h); gradients from the result. y = x + noise of Gumbel's distribution.
  row(Op::softmax, "softmax", {{"x", r, false}, {"y", w, false}}, {"kind", "group"}, {"alpha"});
  row(Op::softmax_back, "softmax_back", {{"y", r, false}, {"gy", r, false}, {"gx", w, false}}, {"kind", "group"}, {"alpha"});
  // Squared distances to the rows of w [N,K], which are decoded; g is their gradient [R,N].
  row(Op::distances, "distances", {{"w", r, false}, {"x", r, false}, {"y", w, false}});
  row(Op::distances_back, "distances_back", {{"w", r, false}, {"x", r, false}, {"g", r, false}, {"gx", w, false}});
  row(Op::distances_weight, "distances_weight", {{"w", r, false}, {"x", r, false}, {"g", r, false}, {"gw", m, false}}, {"accumulate"});
  row(Op::gumbel, "gumbel", {{"x", r, false}, {"y", w, false}}, {"seed", "seed_high", "stream", "stream_high"}, {}, {"run"});
  // Routing. y = x where x is one of the k largest of its row (of equals the first ones, NaN above all), else -infinity. route_rows: the rows whose
  // share is not 0, ascending, and how many they are, which is measured. y[index[r]] += x[r] * scale[r], in which no row comes twice.
  row(Op::top_k, "top_k", {{"x", r, false}, {"y", w, false}}, {"k"});
  row(Op::route_rows, "route_rows", {{"share", r, false}, {"places", w, false}}, {}, {}, {"count"});
  row(Op::scatter_add, "scatter_add", {{"x", r, false}, {"scale", r, true}, {"index", r, false}, {"y", m, false}});
  return t;
}

}  // namespace

const OpInfo& info(Op op) {
  static const std::vector<OpInfo> table = make_table();
  return table[static_cast<std::size_t>(op)];
}

std::string_view name(ValueType type) {
  static constexpr std::string_view names[] = {"f32", "f64", "i32", "u32", "q15", "bf16x2"};
  return names[static_cast<std::size_t>(type)];
}
std::string_view name(BufferKind kind) {
  static constexpr std::string_view names[] = {"input", "output", "weight", "master", "constant", "temp", "grad", "state"};
  return names[static_cast<std::size_t>(kind)];
}
std::string_view name(Segment segment) {
  static constexpr std::string_view names[] = {"forward", "loss", "backward", "update"};
  return names[static_cast<std::size_t>(segment)];
}

}  // namespace loom
