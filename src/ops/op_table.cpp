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
