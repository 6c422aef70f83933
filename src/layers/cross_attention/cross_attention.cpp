// Multi-head attention of one sequence to another (Vaswani et al., arXiv 1706.03762,
// section 3.2.3), or to itself, with a mask of keys.
#include <algorithm>

#include "layers/layer.h"

namespace loom {
namespace {

struct CrossAttentionConfig : LayerConfig {
  std::int64_t heads = 1, head_dim = 0;
  bool qkv_bias = false, out_bias = false;
  template <class V>
  void fields(V& v) {
    v.about(
        "Multi-head attention of the steps of one operand [steps, features] to those of a second, "
        "[steps, features] (arXiv 1706.03762), without positions: every step sees all of them but "
        "those that a third operand, [steps], masks by a value other than 0, as `True` does in "
        "PyTorch's `key_padding_mask`. A step that sees none gets what the output adds alone, "
        "`o_bias` or 0. Operands come by `merge` or `combine`: `operands`. Parameters: `q`, `k`, "
        "`v`, `o`.");
    v("heads", heads, {.doc = "heads", .min = 1, .max = 65536});
    v("head_dim", head_dim, {.doc = "values per head; 0: width / heads", .min = 0, .max = 65536});
    v("qkv_bias", qkv_bias, {.doc = "adds learned vectors to queries, keys and values"});
    v("out_bias", out_bias, {.doc = "adds a learned vector to the output"});
  }
};

class CrossAttention : public LayerWith<CrossAttentionConfig> {
 public:
  std::string_view name() const override { return "cross_attention"; }
  bool takes_operands() const override { return true; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const CrossAttentionConfig& c = of(config);
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    if (in.parts.size() < 2 || in.parts.size() > 3)
      return bad(
          "expects two operands, [steps, features] that attend and [steps, features] that "
          "are attended to, and a mask [steps] as a third where there is one, got " +
          in.to_string() + ": bring them by \"merge\": \"operands\"");
    for (std::size_t i = 0; i < 2; ++i)
      if (in.parts[i].dims.size() != 2 || in.parts[i].axis == Axis::channels)
        return bad("operand " + std::to_string(i) + " must be [steps, features], got " +
                   in.parts[i].to_string());
    const Geometry s = sizes(c, in);
    if (in.parts.size() == 3 && (in.parts[2].dims.size() > 1 || in.parts[2].width != s.keys))
      return bad("the mask has a value for each of the " + std::to_string(s.keys) +
                 " steps attended to, got " + in.parts[2].to_string());
    if (c.head_dim == 0 && s.width % c.heads != 0)
      return bad("width " + std::to_string(s.width) + " is not divisible by " +
                 std::to_string(c.heads) + " heads: set \"head_dim\"");
    if (s.inner() > INT32_MAX / std::max(s.queries, s.keys) ||
        s.queries > INT32_MAX / s.keys / s.heads)
      return bad("holds more than 2^31-1 values of heads and steps");
    return LayerPlan{out_of(in), params(c, s)};
  }

  Result<View> forward(const LayerConfig& config, Visit& v, View x, View) const override {
    const CrossAttentionConfig& c = of(config);
    const Geometry s = sizes(c, v.in());
    Emit& e = v.emit;
    const View own = e.reshape(Emit::slice(x, 0, s.queries * s.width), s.width),
               memory = e.reshape(Emit::slice(x, s.queries * s.width, s.keys * s.memory), s.memory);
    v.keep("own", own);
    v.keep("memory", memory);
    const auto project = [&](const char* role, View from) {
      return v.linear(role, from, c.qkv_bias ? std::string(role) + "_bias" : "");
    };
    const View q = e.scale(project("q", own), s.scale()), k = project("k", memory),
               value = project("v", memory);
    const View q_row = e.reshape(q, s.queries * s.inner()),
               k_row = e.reshape(k, s.keys * s.inner()),
               v_row = e.reshape(value, s.keys * s.inner());
    View scores = e.value_matmul(
        q_row, k_row,
        s.product(s.queries, s.keys, s.head_dim, s.of_steps(false), s.of_steps(true)));
    View keep;
    if (v.in().parts.size() == 3) {
      const View mask = Emit::slice(x, x.cols - s.keys, s.keys);
      keep = e.unary(mask, Unary::logical_not);
      // Far below every score, and without one where the score is what nobody may see.
      const View low = e.scale(e.unary(keep, Unary::logical_not), -1e30);
      scores = s.over_keys(e, s.over_keys(e, scores, keep, Binary::mul), low, Binary::add);
      v.keep("keep", keep);
    }
    const View shares = e.softmax(scores, Simplex::softmax, s.keys, 2);
    const View seen = keep.valid() ? s.over_keys(e, shares, keep, Binary::mul) : shares;
    const View by_head = e.value_matmul(
        seen, v_row,
        s.product(s.queries, s.head_dim, s.keys, s.of_scores(false), s.of_steps(false)));
    const View y = e.reshape(s.to_steps(e, by_head, s.queries), s.inner());
    v.keep("q", q_row);
    v.keep("k", k_row);
    v.keep("v", v_row);
    v.keep("shares", shares);
    v.keep("seen", seen);
    v.keep("y", y);
    const View out = v.linear("o", y, c.out_bias ? "o_bias" : "");
    return e.reshape(out, s.queries * s.width);
  }

  Result<View> backward(const LayerConfig& config, Visit& v, View gy, View*) const override {
    const CrossAttentionConfig& c = of(config);
    const Geometry s = sizes(c, v.in());
    Emit& e = v.emit;
    const View g =
        v.linear_back("o", v.kept("y"), e.reshape(gy, s.width), c.out_bias ? "o_bias" : "");
    const View g_head = s.to_heads(e, e.reshape(g, s.queries * s.inner()), s.queries);
    View g_shares = e.value_matmul(
        g_head, v.kept("v"),
        s.product(s.queries, s.keys, s.head_dim, s.of_heads(s.queries, false), s.of_steps(true)));
    const bool masked = v.in().parts.size() == 3;
    if (masked) g_shares = s.over_keys(e, g_shares, v.kept("keep"), Binary::mul);
    const View g_scores = e.softmax_back(v.kept("shares"), g_shares, Simplex::softmax, s.keys, 2);
    const View gq = e.value_matmul(
                   g_scores, v.kept("k"),
                   s.product(s.queries, s.head_dim, s.keys, s.of_scores(false), s.of_steps(false))),
               gk = e.value_matmul(
                   g_scores, v.kept("q"),
                   s.product(s.keys, s.head_dim, s.queries, s.of_scores(true), s.of_steps(false))),
               gv = e.value_matmul(v.kept("seen"), g_head,
                                   s.product(s.keys, s.head_dim, s.queries, s.of_scores(true),
                                             s.of_heads(s.queries, false)));
    const auto back = [&](const char* role, View from, View by_head, std::int64_t steps) {
      const View rows = e.reshape(s.to_steps(e, by_head, steps), s.inner());
      return v.linear_back(role, from, role[0] == 'q' ? e.scale(rows, s.scale()) : rows,
                           c.qkv_bias ? std::string(role) + "_bias" : "");
    };
    const View own = back("q", v.kept("own"), gq, s.queries);
    const View memory =
        e.add(back("k", v.kept("memory"), gk, s.keys), back("v", v.kept("memory"), gv, s.keys));
    std::vector<View> gradients{e.reshape(own, s.queries * s.width),
                                e.reshape(memory, s.keys * s.memory)};
    if (masked) {  // which has none
      gradients.push_back(e.like(gradients[0], s.keys));
      e.fill(gradients[2], 0);
    }
    return joined(e, gradients);
  }

 private:
  using Steps = std::array<std::int64_t, 4>;  // of value_matmul: matrices, -, and two dimensions
  struct Geometry {
    std::int64_t queries, keys, width, memory, heads, head_dim;
    std::int64_t inner() const { return heads * head_dim; }
    double scale() const { return 1 / __builtin_sqrt(static_cast<double>(head_dim)); }
    // A matrix per head: m x k by k x n.
    MatmulShape product(std::int64_t m, std::int64_t n, std::int64_t k, Steps a, Steps b) const {
      return {heads, 1, m, n, k, a, b};
    }
    // Where the matrices lie: [steps, heads, head_dim], [heads, steps, head_dim] or [heads,
    // queries, keys]; `turned`: transposed.
    Steps of_steps(bool turned) const { return laid(head_dim, inner(), turned); }
    Steps of_heads(std::int64_t steps, bool turned) const {
      return laid(steps * head_dim, head_dim, turned);
    }
    Steps of_scores(bool turned) const { return laid(queries * keys, keys, turned); }
    static Steps laid(std::int64_t matrix, std::int64_t row, bool turned) {
      return turned ? Steps{matrix, 0, 1, row} : Steps{matrix, 0, row, 1};
    }
    View to_steps(Emit& e, View x, std::int64_t steps) const {
      return e.transpose(x, {1, 1, heads, steps, head_dim}, {0, 1, 3, 2, 4}, x.cols);
    }
    View to_heads(Emit& e, View x, std::int64_t steps) const {
      return e.transpose(x, {1, 1, steps, heads, head_dim}, {0, 1, 3, 2, 4}, x.cols);
    }
    // A value of every key meets the scores, or shares, of all heads and queries.
    View over_keys(Emit& e, View scores, View of_keys, Binary kind) const {
      return e.binary(scores, of_keys, kind, {1, 1, heads, queries, keys},
                      {0, 0, queries * keys, keys, 1}, {0, 0, 0, 0, 1}, e.rows(scores));
    }
  };
  static Geometry sizes(const CrossAttentionConfig& c, const Shape& in) {
    const Shape &own = in.parts[0], &memory = in.parts[1];
    const std::int64_t width = own.dims[1];
    return {own.dims[0], memory.dims[0],
            width,       memory.dims[1],
            c.heads,     c.head_dim > 0 ? c.head_dim : std::max<std::int64_t>(1, width / c.heads)};
  }
  static Shape out_of(const Shape& in) {
    Shape out = in.parts[0];
    out.axis = Axis::steps;
    out.name.clear();
    return out;
  }
  static std::vector<ParamSpec> params(const CrossAttentionConfig& c, const Geometry& s) {
    const auto std = [](std::int64_t n) { return 1 / __builtin_sqrt(static_cast<double>(n)); };
    std::vector<ParamSpec> list{ParamSpec::product("q", s.inner(), s.width, std(s.width)),
                                ParamSpec::product("k", s.inner(), s.memory, std(s.memory)),
                                ParamSpec::product("v", s.inner(), s.memory, std(s.memory)),
                                ParamSpec::product("o", s.width, s.inner(), std(s.inner()))};
    if (c.qkv_bias)
      for (const char* role : {"q_bias", "k_bias", "v_bias"})
        list.push_back({role, 1, s.inner(), Init::zeros, 0, false});
    if (c.out_bias) list.push_back({"o_bias", 1, s.width, Init::zeros, 0, false});
    return list;
  }
};

}  // namespace

void register_cross_attention(LayerList& layers) {
  static const CrossAttention type;
  layers.push_back(&type);
}

}  // namespace loom
