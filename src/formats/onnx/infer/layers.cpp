// Products, reductions, normalizations, recurrent layers, attention and losses.
#include <algorithm>
#include <map>

#include "formats/onnx/infer/rule.h"

namespace loom::onnx {
namespace {

// NumPy's matmul: vectors get a dimension of 1 that goes away again.
Result<Dims> matmul_dims(Dims a, Dims b) {
  const std::string text = message(shape_text(a), " and ", shape_text(b));
  if (a.empty() || b.empty()) return wrong("shapes ", text, ": scalars do not multiply");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) return wrong("shapes ", text, " do not multiply");
  const std::int64_t m = a[a.size() - 2], n = b.back();
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  LOOM_ASSIGN(Dims out, broadcast(a, b));
  if (!row) out.push_back(m);
  if (!column) out.push_back(n);
  return out;
}

Status matmul(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(Dims out, matmul_dims(call.dims(0), call.dims(1)));
  call.set(0, call.x().type, std::move(out));
  return {};
}
Status matmul_integer(Call& call) {
  LOOM_TRY(matmul(call));
  call.out[0].type = Type::i32;
  return {};
}
Status qlinear_matmul(Call& call) {
  LOOM_TRY(call.need(8));
  LOOM_ASSIGN(Dims out, matmul_dims(call.dims(0), call.dims(3)));
  call.set(0, call.x(7).type, std::move(out));
  return {};
}

Status gemm(Call& call) {
  LOOM_TRY(call.need(2));
  if (call.rank(0) != 2 || call.rank(1) != 2) {
    return wrong("shapes ", call.dims(0), " and ", call.dims(1), ", expected matrices");
  }
  LOOM_ASSIGN(const std::int64_t ta, call.node.get_int("transA", 0));
  LOOM_ASSIGN(const std::int64_t tb, call.node.get_int("transB", 0));
  const Dims &a = call.dims(0), &b = call.dims(1);
  const std::int64_t m = a[ta ? 1 : 0], k = a[ta ? 0 : 1], n = b[tb ? 0 : 1];
  if (b[tb ? 1 : 0] != k) return wrong("shapes ", a, " and ", b, " do not multiply");
  if (call.has(2)) {
    LOOM_ASSIGN(const Dims sum, broadcast(call.dims(2), {m, n}));
    if (sum != Dims{m, n}) return wrong("C ", call.dims(2), " does not broadcast to ", sum);
  }
  call.set(0, call.x().type, {m, n});
  return {};
}

// What the terms of an equation say of its letters.
struct Letters {
  std::map<char, std::int64_t> lengths;
  std::map<char, int> counts;
  Dims ellipsis;
};

// Reads the term of input i.
Status read_term(const Call& call, std::size_t i, const std::string& term,
                 const std::string& equation, Letters& known) {
  const std::size_t dots = term.find("...");
  const std::size_t letters = term.size() - (dots == term.npos ? 0 : 3);
  const auto misfit = [&] {
    return wrong("equation ", quoted(equation), " for input ", i, " ", call.dims(i));
  };
  if (letters > call.rank(i) || (dots == term.npos && letters != call.rank(i))) return misfit();
  const std::size_t more = call.rank(i) - letters;
  std::size_t d = 0;
  for (std::size_t c = 0; c < term.size(); ++c) {
    if (c == dots) {
      const auto from = call.dims(i).begin() + static_cast<std::ptrdiff_t>(d);
      LOOM_ASSIGN(known.ellipsis,
                  broadcast(known.ellipsis, Dims(from, from + static_cast<std::ptrdiff_t>(more))));
      d += more;
      c += 2;
      continue;
    }
    // The rule that maps it counts on names, not on what else a byte may be.
    if (!((term[c] >= 'a' && term[c] <= 'z') || (term[c] >= 'A' && term[c] <= 'Z')))
      return misfit();
    const std::int64_t length = call.dims(i)[d++];
    auto [entry, is_new] = known.lengths.emplace(term[c], length);
    if (!is_new && entry->second == 1) entry->second = length;
    if (entry->second != length && length != 1) return misfit();
    ++known.counts[term[c]];
  }
  return {};
}

// Without an arrow the letters that stand once, in order.
std::string implied_output(const Letters& known) {
  std::string right = "...";
  for (const auto& [letter, count] : known.counts) {
    if (count == 1) right += letter;
  }
  return right;
}

// "bij,bjk->bik"
Status einsum(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(std::string equation, call.node.get_string("equation", ""));
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  Letters known;
  std::size_t at = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    LOOM_TRY(call.need(i + 1));
    const std::size_t comma = std::min(left.find(',', at), left.size());
    const std::size_t from = std::min(at, left.size());
    at = comma + 1;
    LOOM_TRY(read_term(call, i, left.substr(from, comma - from), equation, known));
  }
  if (at <= left.size())
    return wrong("equation ", quoted(equation), " for ", call.in.size(), " inputs");
  const std::string right =
      arrow != equation.npos ? equation.substr(arrow + 2) : implied_output(known);
  Dims out;
  for (std::size_t c = 0; c < right.size(); ++c) {
    if (right.substr(c).starts_with("...")) {
      out.insert(out.end(), known.ellipsis.begin(), known.ellipsis.end());
      c += 2;
    } else if (const auto found = known.lengths.find(right[c]); found != known.lengths.end()) {
      out.push_back(found->second);
    } else {
      return wrong("equation ", quoted(equation), " has output ", quoted(right.substr(c, 1)),
                   " of no input");
    }
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}

// The dimensions left when `axes` go, or become 1.
Result<Dims> reduced(const Call& call, const Dims& axes, bool keep) {
  LOOM_ASSIGN(const auto gone, axes_of(axes, call.rank()));
  Dims out;
  for (std::size_t i = 0; i < call.rank(); ++i) {
    if (!std::binary_search(gone.begin(), gone.end(), i)) out.push_back(call.dims()[i]);
    else if (keep) out.push_back(1);
  }
  return out;
}

Result<Dims> reduce_axes(const Call& call) {
  LOOM_ASSIGN(Dims axes, call.ints_or(1, "axes"));
  LOOM_ASSIGN(const std::int64_t noop, call.node.get_int("noop_with_empty_axes", 0));
  if (axes.empty() && noop == 0) {
    for (std::size_t i = 0; i < call.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}
Status reduce(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const std::int64_t keep, call.node.get_int("keepdims", 1));
  LOOM_ASSIGN(const Dims axes, reduce_axes(call));
  LOOM_ASSIGN(Dims out, reduced(call, axes, keep != 0));
  call.set(0, call.x().type, std::move(out));
  return {};
}
// All elements of integers: the sizes that ReduceProd, ReduceMax and their like make of shapes.
template <class F>
Result<bool> fold_reduce(Call& call, F f) {
  const Cells& cells = *call.cells[0];
  if (is_float(call.x().type) || call.out[0].dims.size() > call.rank() ||
      product(call.out[0].dims) != 1 || cells.empty())
    return false;
  std::int64_t sum = cells[0].i;
  for (std::size_t i = 1; i < cells.size(); ++i)
    sum = f(static_cast<std::uint64_t>(sum), static_cast<std::uint64_t>(cells[i].i));
  call.out[0].cells = std::make_shared<const Cells>(1, Cell{.i = wrap_to(call.x().type, sum)});
  return true;
}
using U = std::uint64_t;
std::int64_t s(U value) { return static_cast<std::int64_t>(value); }
Result<bool> fold_reduce_sum(Call& c) {
  return fold_reduce(c, [](U a, U b) { return s(a + b); });
}
Result<bool> fold_reduce_prod(Call& c) {
  return fold_reduce(c, [](U a, U b) { return s(a * b); });
}
Result<bool> fold_reduce_max(Call& c) {
  return fold_reduce(c, [](U a, U b) { return std::max(s(a), s(b)); });
}
Result<bool> fold_reduce_min(Call& c) {
  return fold_reduce(c, [](U a, U b) { return std::min(s(a), s(b)); });
}

Status arg(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_ASSIGN(const std::int64_t axis, call.node.get_int("axis", 0));
  LOOM_ASSIGN(const std::int64_t keep, call.node.get_int("keepdims", 1));
  LOOM_ASSIGN(Dims out, reduced(call, {axis}, keep != 0));
  call.set(0, Type::i64, std::move(out));
  return {};
}

// Gain, bias, mean and variance have one number per channel; a vector is one channel. Further
// outputs are the statistics, in training.
Status batch_normalization(Call& call) {
  LOOM_TRY(call.need(5));
  LOOM_TRY(same_as_input(call));
  LOOM_ASSIGN(const std::int64_t spatial, call.node.get_int("spatial", 1));
  if (call.rank() < 1) return wrong("input ", call.dims(), ", expected [batch, channels, ...]");
  for (std::size_t i = 1; i < 5 && spatial != 0; ++i)
    LOOM_TRY(call.shaped(i, {call.rank() == 1 ? 1 : call.dims()[1]}, "of the channels"));
  for (std::size_t i = 1; i < call.out.size(); ++i) call.set(i, call.x(3).type, call.dims(3));
  return {};
}

Status instance_normalization(Call& call) {
  LOOM_TRY(call.need(3));
  if (call.rank() < 3)
    return wrong("input ", call.dims(),
                 ", expected [batch, channels, ...] with dimensions of space");
  LOOM_TRY(call.shaped(1, {call.dims()[1]}, "scale"));
  LOOM_TRY(call.shaped(2, {call.dims()[1]}, "bias"));
  return same_as_input(call);
}

// Scale and bias are per channel; before opset 21 per group.
Status group_normalization(Call& call) {
  LOOM_TRY(call.need(3));
  LOOM_ASSIGN(const std::int64_t groups, call.node.get_int("num_groups", 0));
  if (call.rank() < 2) return wrong("input ", call.dims(), ", expected [batch, channels, ...]");
  const std::int64_t channels = call.dims()[1];
  if (groups < 1 || channels % groups != 0)
    return wrong("num_groups ", groups, " does not divide the ", channels, " channels of ",
                 call.dims());
  LOOM_TRY(call.shaped(1, {call.dims(1) == Dims{groups} ? groups : channels}, "scale"));
  LOOM_TRY(call.shaped(2, call.dims(1), "bias"));
  return same_as_input(call);
}

// By the mean of squares over the dimensions from the axis on.
Status rms_normalization(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const std::int64_t axis, call.node.get_int("axis", -1));
  LOOM_TRY(axis_of(axis, call.rank()).status());
  LOOM_TRY(call.spreads(1, call.dims(), "scale"));
  return same_as_input(call);
}

Status layer_normalization(Call& call) {
  LOOM_TRY(same_as_input(call));
  LOOM_ASSIGN(const std::int64_t given, call.node.get_int("axis", -1));
  LOOM_ASSIGN(const std::size_t axis, axis_of(given, call.rank()));
  LOOM_TRY(call.spreads(1, call.dims(), "scale"));
  LOOM_TRY(call.spreads(2, call.dims(), "bias"));
  LOOM_ASSIGN(const std::int64_t stash, call.node.get_int("stash_type", 1));
  if (stash < 1 || stash >= kTypeCount) return wrong("stash_type is ", stash);
  Dims statistics = call.dims();
  std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(axis), statistics.end(), 1);
  call.set(1, static_cast<Type>(stash), statistics);
  call.set(2, static_cast<Type>(stash), statistics);
  return {};
}

// X [steps, batch, width], W [directions, gates * hidden, width]; with layout 1 the batch comes
// first.
Status recurrent(Call& call) {
  LOOM_TRY(call.need(3));
  const Dims &x = call.dims(), &w = call.dims(1), &r = call.dims(2);
  LOOM_ASSIGN(const std::int64_t layout, call.node.get_int("layout", 0));
  if (x.size() != 3 || w.size() != 3 || r.size() != 3 || w[2] != x[2] || r[0] != w[0] ||
      r[1] != w[1]) {
    return wrong("input ", x, ", weights ", w, " and ", r);
  }
  LOOM_ASSIGN(const std::int64_t hidden, call.node.get_int("hidden_size", r[2]));
  LOOM_ASSIGN(const std::string direction, call.node.get_string("direction", "forward"));
  const bool is_lstm = call.node.op == "LSTM";
  const std::int64_t gates = is_lstm ? 4 : call.node.op == "GRU" ? 3 : 1;
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return wrong("direction is ", quoted(direction),
                 ", expected forward, reverse or bidirectional");
  if (hidden != r[2] || w[1] != gates * hidden || w[0] != (direction == "bidirectional" ? 2 : 1)) {
    return wrong("hidden_size ", hidden, ", direction ", quoted(direction), ", weights ", w,
                 " and ", r);
  }
  const std::int64_t steps = x[layout ? 1 : 0], batch = x[layout ? 0 : 1], directions = w[0];
  call.set(
      0, call.x().type,
      layout ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden});
  const Dims state = layout ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  LOOM_TRY(call.shaped(3, {directions, 2 * gates * hidden}, "B"));
  LOOM_TRY(call.shaped(4, {batch}, "sequence_lens"));
  LOOM_TRY(call.shaped(5, state, "initial_h"));
  call.set(1, call.x().type, state);
  if (!is_lstm) return {};
  LOOM_TRY(call.shaped(6, state, "initial_c"));
  LOOM_TRY(call.shaped(7, {directions, 3 * hidden}, "P"));
  call.set(2, call.x().type, state);
  return {};
}

// Q, K, V [batch, heads, length, head] or [batch, length, heads * head]; outputs Y, present key and
// value, scores (opset 23).
Status attention(Call& call) {
  LOOM_TRY(call.need(3));
  const Dims &q = call.dims(0), &k = call.dims(1), &v = call.dims(2);
  if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size()) {
    return wrong("Q ", q, ", K ", k, ", V ", v);
  }
  LOOM_ASSIGN(const std::int64_t q_attribute, call.node.get_int("q_num_heads", 0));
  LOOM_ASSIGN(const std::int64_t kv_attribute, call.node.get_int("kv_num_heads", 0));
  const bool flat = q.size() == 3;
  const std::int64_t q_heads = flat ? q_attribute : q[1], kv_heads = flat ? kv_attribute : k[1];
  if (q_heads < 1 || kv_heads < 1 ||
      (flat && (q[2] % q_heads != 0 || k[2] % kv_heads != 0 || v[2] % kv_heads != 0))) {
    return wrong("q_num_heads ", q_heads, ", kv_num_heads ", kv_heads, " for Q ", q, ", K ", k);
  }
  const std::int64_t batch = q[0], length = flat ? q[1] : q[2], key = flat ? k[2] / kv_heads : k[3],
                     value = flat ? v[2] / kv_heads : v[3];
  std::int64_t total = flat ? k[1] : k[2];
  if (call.has(4)) {
    if (call.rank(4) != 4) return wrong("past_key ", call.dims(4));
    total += call.dims(4)[2];
  }
  const Type type = call.x().type;
  call.set(0, type,
           flat ? Dims{batch, length, q_heads * value} : Dims{batch, q_heads, length, value});
  call.set(1, call.x(1).type, {batch, kv_heads, total, key});
  call.set(2, call.x(2).type, {batch, kv_heads, total, value});
  call.set(3, type, {batch, q_heads, length, total});
  return {};
}

// The loss of [batch, classes, ...] against [batch, ...]; log probabilities as a second output.
Status loss(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const std::string reduction, call.node.get_string("reduction", "mean"));
  call.set(0, call.x().type, reduction == "none" ? call.dims(1) : Dims{});
  call.set(1, call.x().type, call.dims());
  return {};
}

// com.microsoft: token ids [batch, length] to rows of the table; a mask index; the sum before
// normalization.
Status embed_layer_normalization(Call& call) {
  LOOM_TRY(call.need(1));
  if (!call.has(2) || call.rank() != 2 || call.rank(2) != 2)
    return wrong("expects ids [batch, length] and a table [tokens, width]");
  const Dims rows{call.dims()[0], call.dims()[1], call.dims(2)[1]};
  LOOM_TRY(call.shaped(5, {rows[2]}, "gamma"));
  LOOM_TRY(call.shaped(6, {rows[2]}, "beta"));
  LOOM_TRY(call.shaped(7, call.dims(), "mask"));
  call.set(0, call.x(2).type, rows);
  call.set(1, Type::i32, {call.dims()[0]});
  call.set(2, call.x(2).type, rows);
  return {};
}

// com.microsoft: the normalized sum, mean and deviation, the sum itself.
Status skip_layer_normalization(Call& call) {
  LOOM_TRY(same_as_input(call));
  Dims statistics = call.dims();
  if (statistics.empty()) return wrong("expects rows");
  for (std::size_t i = 1; i < call.in.size(); ++i)
    LOOM_TRY(call.spreads(i, call.dims(), "of the rows"));
  statistics.back() = 1;
  call.set(1, Type::f32, statistics);
  call.set(2, Type::f32, statistics);
  call.set(3, call.x().type, call.dims());
  return {};
}

// com.microsoft: [batch, length, width] with packed weights [width, 3 * hidden]; past and present
// [2, batch, heads, length, head].
Status packed_attention(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const std::int64_t heads, call.node.get_int("num_heads", 0));
  LOOM_ASSIGN(const Dims sizes, call.node.get_ints("qkv_hidden_sizes", {}));
  const Dims &x = call.dims(), &w = call.dims(1);
  if (x.size() != 3 || w.size() != 2 || w[0] != x[2] || heads < 1 ||
      (!sizes.empty() && sizes.size() != 3)) {
    return wrong("input ", x, ", weights ", w, ", ", heads, " heads");
  }
  const std::int64_t hidden = sizes.empty() ? w[1] / 3 : sizes[2];
  bool whole = w[1] % 3 == 0;
  if (!sizes.empty()) {
    std::int64_t left = w[1];
    for (const std::int64_t size : sizes) left = size < 1 || size > left ? -1 : left - size;
    whole = whole && left == 0;
  }
  if (!whole || hidden < 1 || hidden > w[1] || hidden % heads != 0) {
    return wrong("weights ", w, " for ", heads, " heads");
  }
  std::int64_t total = x[1];
  if (call.has(4)) {
    if (call.rank(4) != 5) return wrong("past ", call.dims(4));
    total += call.dims(4)[3];
  }
  LOOM_TRY(call.shaped(2, {w[1]}, "bias"));
  LOOM_TRY(call.spreads(5, {x[0], heads, x[1], total}, "attention_bias"));
  call.set(0, call.x().type, {x[0], x[1], hidden});
  call.set(1, call.x().type, {2, x[0], heads, total, hidden / heads});
  return {};
}

// src/onnx/rules/linear_attention.cpp has the shapes.
Status linear_attention(Call& call) {
  LOOM_TRY(call.need(3));
  LOOM_ASSIGN(const std::int64_t heads, call.node.get_int("q_num_heads", 0));
  LOOM_ASSIGN(const std::int64_t own, call.node.get_int("kv_num_heads", 0));
  LOOM_ASSIGN(const std::string rule, call.node.get_string("update_rule", "gated_delta"));
  const Dims &q = call.dims(), &k = call.dims(1), &v = call.dims(2);
  const bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && heads > 0 && own > 0 &&
                    heads % own == 0 && q[2] % heads == 0 && v[2] % own == 0;
  if (!fits || heads > kMaxDim || q[2] < heads || v[2] < own ||
      k != Dims{q[0], q[1], q[2] / heads * own} || v[0] != q[0] || v[1] != q[1]) {
    return wrong("query ", q, ", key ", k, ", value ", v, ", ", heads, " heads of queries, ", own,
                 " of keys and values");
  }
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
    return wrong("update_rule is ", quoted(rule));
  if (call.has(4) != rule.starts_with("gated") || call.has(5) != rule.ends_with("delta"))
    return wrong("update_rule ", quoted(rule), " for the inputs that are there");
  const std::int64_t width = q[2] / heads;
  LOOM_TRY(call.shaped(3, {q[0], own, width, v[2] / own}, "past_state"));
  if (call.has(4) && (call.rank(4) != 3 || call.dims(4)[2] != own))
    LOOM_TRY(call.shaped(4, {q[0], q[1], own * width}, "decay"));
  if (call.has(4)) LOOM_TRY(call.shaped(4, {q[0], q[1], call.dims(4)[2]}, "decay"));
  if (call.has(5) && (call.rank(5) != 3 || call.dims(5)[2] != 1))
    LOOM_TRY(call.shaped(5, {q[0], q[1], own}, "beta"));
  if (call.has(5)) LOOM_TRY(call.shaped(5, {q[0], q[1], call.dims(5)[2]}, "beta"));
  call.set(1, call.has(3) ? call.x(3).type : call.x().type, {q[0], own, width, v[2] / own});
  call.set(0, call.x().type, {q[0], q[1], heads * (v[2] / own)});
  return {};
}

constexpr RuleRow kRows[] = {
#define LOOM_SHAPE_layers(op, attributes, shape, fold, traits) \
  {op, shape, fold, attributes, traits},
#include "formats/onnx/operators.def"
};

}  // namespace

std::span<const RuleRow> layers_rules() { return kRows; }

}  // namespace loom::onnx
