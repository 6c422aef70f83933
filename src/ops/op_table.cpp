// One row per op: operands with their roles, attributes, registers. Planner, verifier, dead-code removal, printing, saving and hashing work from these rows alone.
#include "base/words.h"
#include "ops/program.h"

namespace loom {
namespace {

std::vector<OpInfo> make_table() {
  std::vector<OpInfo> t(kOpCount);
  // Operands: what is read -> what is written; ~ what is modified, ? what may be left out. Then the names of integer and real attributes and of registers.
  const auto row = [&t](Op op, std::string_view name, std::string_view operands, std::string_view ints = {}, std::string_view reals = {}, std::string_view registers = {}) {
    OpInfo& info = t[static_cast<std::size_t>(op)];
    info = {op, name, {}, words(ints), words(reals), words(registers)};
    Role role = Role::read;
    for (std::string_view word : words(operands)) {
      if (word == "->") {
        role = Role::write;
        continue;
      }
      const bool modified = word.starts_with('~'), optional = word.ends_with('?');
      word = word.substr(modified, word.size() - modified - optional);
      info.operands.push_back({word, modified ? Role::modify : role, optional});
    }
  };
  // Movement. Rows of all operands agree unless said otherwise.
  row(Op::fill, "fill", "-> y", "", "value");
  row(Op::copy, "copy", "x -> y");
  row(Op::add, "add", "a b -> y");
  row(Op::scale, "scale", "x -> y", "", "factor");
  row(Op::convert, "convert", "x -> y");
  row(Op::gather, "gather", "w ids -> y");
  row(Op::gather_rows, "gather_rows", "x index -> y");
  row(Op::scatter_rows, "scatter_rows", "x index -> y");
  // Products: y = bias + x W^T; gx = gy W; gw (+)= gy^T x; gb (+)= column sums of gy.
  row(Op::matmul, "matmul", "w x bias? -> y");
  row(Op::matmul_t, "matmul_t", "w gy -> gx");
  row(Op::outer_add, "outer_add", "gy x -> ~gw", "accumulate");
  row(Op::col_sum, "col_sum", "gy -> ~gb", "accumulate");
  row(Op::gather_add, "gather_add", "gy ids -> ~gw", "accumulate");
  // Elementwise.
  row(Op::activation, "activation", "x -> y", "kind");
  row(Op::activation_back, "activation_back", "x gy -> gx", "kind");
  row(Op::silu_mul, "silu_mul", "gate up -> y");
  row(Op::silu_mul_back, "silu_mul_back", "gate up gy -> ggate gup");
  // Norms over groups of `group` consecutive columns; gain and bias have `group` elements.
  row(Op::rms_norm, "rms_norm", "x gain -> y", "group", "eps");
  row(Op::rms_norm_back, "rms_norm_back", "x gain gy -> gx", "group", "eps");
  row(Op::rms_norm_gain, "rms_norm_gain", "x gy -> ~gg", "group accumulate", "eps");
  row(Op::layer_norm, "layer_norm", "x gain bias -> y", "group", "eps");
  row(Op::layer_norm_back, "layer_norm_back", "x gain gy -> gx", "group", "eps");
  row(Op::layer_norm_gain, "layer_norm_gain", "x gy -> ~gg", "group accumulate", "eps");
  // Attention. q is [R, heads*head_dim], k and v [R, kv_heads*head_dim]; window 0 is unlimited.
  row(Op::rope, "rope", "x pos table -> y", "head_dim inverse");
  row(Op::kv_append, "kv_append", "k v seq pos -> ~kv", "kv_heads head_dim");
  row(Op::attention, "attention", "q kv seq pos -> y", "heads kv_heads head_dim window", "scale");
  row(Op::attention_rows, "attention_rows", "q k v pos -> y stats", "heads kv_heads head_dim window causal", "scale");
  row(Op::attention_back, "attention_back", "q k v pos y stats gy -> gq gk gv", "heads kv_heads head_dim window causal", "scale");
  // Losses: per row, then summed; gradients are those of the sum over rows. A target below 0 leaves its row out.
  row(Op::cross_entropy, "cross_entropy", "logits target -> loss");
  row(Op::cross_entropy_back, "cross_entropy_back", "logits target -> glogits");
  row(Op::mse, "mse", "y target -> loss");
  row(Op::mse_back, "mse_back", "y target -> gy");
  row(Op::sum_rows, "sum_rows", "x -> total");
  // Learning. Gradients are of the loss sum; optimizers multiply by `scale` (1/N and the clip factor) first.
  row(Op::grad_merge, "grad_merge", "g -> ~levels ~total", "micro_batches", "", "micro");
  row(Op::sum_squares, "sum_squares", "g -> ~total", "accumulate");
  row(Op::clip_scale, "clip_scale", "total? -> scale", "", "max_norm", "inv_n");
  row(Op::sgd, "sgd", "g scale -> ~w ~velocity?", "", "momentum weight_decay", "lr");
  row(Op::adamw, "adamw", "g scale -> ~w ~m ~v", "", "beta1 beta2 eps weight_decay", "lr correction1 correction2");
  // Activations of the integer and bf16 classes.
  row(Op::quantize, "quantize", "x -> y");
  row(Op::split_bf16, "split_bf16", "x -> y");
  // Places. Values count row-major over all of an operand, so that rows may be cut in other ways; windows: window.h.
  const std::string_view counted =
      "channels in_d in_h in_w kernel_d kernel_h kernel_w stride_d stride_h stride_w pad_d pad_h pad_w pad_end_d pad_end_h pad_end_w dilation_d dilation_h dilation_w out_d out_h out_w count_pad";
  const std::string_view window = counted.substr(0, counted.rfind(' '));
  row(Op::reorder, "reorder", "x -> y", "d0 d1 d2 d3 d4 order");
  row(Op::unfold, "unfold", "x -> y", window);
  row(Op::fold, "fold", "x -> y", window);
  row(Op::max_pool, "max_pool", "x -> y", window);
  row(Op::max_pool_back, "max_pool_back", "x gy -> gx", window);
  row(Op::avg_pool, "avg_pool", "x -> y", counted);
  row(Op::avg_pool_back, "avg_pool_back", "gy -> gx", counted);
  // Products of groups: output n of N belongs to group n * groups / N and meets that group's K columns of x. Weights are decoded.
  row(Op::group_matmul, "group_matmul", "w x bias? -> y", "groups");
  row(Op::group_matmul_t, "group_matmul_t", "w gy -> gx", "groups");
  row(Op::group_outer_add, "group_outer_add", "gy x -> ~gw", "groups accumulate");
  row(Op::mul, "mul", "a b -> y");
  // y = x * gain[c] + bias[c], where c is the column divided by `inner`.
  row(Op::channel_affine, "channel_affine", "x gain? bias? -> y", "inner");
  // Of whole graphs (tensor_ops.h). Steps count values of an operand's row from one to the next in each dimension; an operand of one row serves all rows.
  const std::string_view pairs = "kind d0 d1 d2 d3 d4 a0 a1 a2 a3 a4 b0 b1 b2 b3 b4";
  row(Op::unary, "unary", "x -> y", "kind", "a b");
  row(Op::unary_back, "unary_back", "x gy -> gx", "kind", "a b");
  row(Op::binary, "binary", "a b -> y", pairs);
  row(Op::binary_back, "binary_back", "a b gy -> ga gb", pairs);
  row(Op::reduce, "reduce", "x -> y", "kind n");
  row(Op::reduce_back, "reduce_back", "x y gy -> gx", "kind n");
  row(Op::pick, "pick", "x places -> y", "", "fill");
  row(Op::pick_back, "pick_back", "gy uses -> gx");
  row(Op::select, "select", "c a b -> y");
  row(Op::value_matmul, "value_matmul", "a b -> y", "outer inner m n k a_outer a_inner a_m a_k b_outer b_inner b_k b_n");
  // More losses, as mse. bce is on logits, its targets are in 0..1.
  row(Op::mae, "mae", "y target -> loss");
  row(Op::mae_back, "mae_back", "y target -> gy");
  row(Op::huber, "huber", "y target -> loss", "", "delta");
  row(Op::huber_back, "huber_back", "y target -> gy", "", "delta");
  row(Op::bce, "bce", "y target -> loss");
  row(Op::bce_back, "bce_back", "y target -> gy");
  // More optimizers: g and scale as above, `modify` operands are moments.
  row(Op::sgd_nesterov, "sgd_nesterov", "g scale -> ~w ~velocity", "", "momentum weight_decay", "lr");
  row(Op::rmsprop, "rmsprop", "g scale -> ~w ~v ~mean? ~velocity?", "", "alpha eps momentum weight_decay", "lr");
  row(Op::lion, "lion", "g scale -> ~w ~m", "", "beta1 beta2 weight_decay", "lr");
  // y = (x - mean) * scale by columns. missing: a value that is not a number becomes 0, and so does its slope.
  row(Op::standardize, "standardize", "x mean scale -> y", "missing");
  row(Op::standardize_back, "standardize_back", "x scale gy -> gx", "missing");
  // Recurrent cells of H units: x and s are the gates' sums of the input and of the state before, [R, 4H] (i f g o) or [R, 3H] (r z n).
  row(Op::lstm_cell, "lstm_cell", "x s c -> h next");
  row(Op::lstm_cell_back, "lstm_cell_back", "x s c next gh gnext? -> gz gc");
  row(Op::gru_cell, "gru_cell", "x s h -> next");
  row(Op::gru_cell_back, "gru_cell_back", "x s h gnext -> gx gs gh");
  // A row per sequence that survives runs: y = state[seq[r]], 0 where pos[r] is 0; state[seq[r]] = x[r], the last of several rows of a sequence.
  row(Op::state_read, "state_read", "state seq pos -> y");
  row(Op::state_write, "state_write", "x seq -> ~state");
  // Statistics of C channels of `inner` columns over all rows: y is [1, 3C] (means, variances, those of a sample) and [1, 4C] (sums of g, of g x, their means).
  row(Op::channel_moments, "channel_moments", "x -> y", "inner");
  row(Op::channel_sums, "channel_sums", "g x -> y", "inner");
  row(Op::fold_norm, "fold_norm", "mean variance gain? bias? -> scale shift", "", "eps");
  row(Op::moving_average, "moving_average", "value -> ~w", "", "momentum");
  // Noise: seed and stream of base/random.h, and the number of the run. y = 0 where 24 bits are below `drop`, else x * factor.
  row(Op::dropout, "dropout", "x -> y", "seed seed_high stream stream_high drop", "factor", "run");
  // Distributions over groups of columns (softmax.h); gradients from the result. y = x + noise of Gumbel's distribution.
  row(Op::softmax, "softmax", "x -> y", "kind group", "alpha");
  row(Op::softmax_back, "softmax_back", "y gy -> gx", "kind group", "alpha");
  // Squared distances to the rows of w [N,K], which are decoded; g is their gradient [R,N].
  row(Op::distances, "distances", "w x -> y");
  row(Op::distances_back, "distances_back", "w x g -> gx");
  row(Op::distances_weight, "distances_weight", "w x g -> ~gw", "accumulate");
  row(Op::gumbel, "gumbel", "x -> y", "seed seed_high stream stream_high", "", "run");
  // Routing. y = x where x is one of the k largest of its row (of equals the first ones, NaN above all), else -infinity. route_rows: the rows whose
  // share is not 0, ascending, and how many they are, which is measured. y[index[r]] += x[r] * scale[r], in which no row comes twice.
  row(Op::top_k, "top_k", "x -> y", "k");
  row(Op::route_rows, "route_rows", "share -> places", "", "", "count");
  row(Op::scatter_add, "scatter_add", "x scale? index -> ~y");
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
