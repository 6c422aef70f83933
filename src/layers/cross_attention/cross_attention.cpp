// Multi-head attention of one sequence to another (Vaswani et al., arXiv 1706.03762,
// section 3.2.3), or to itself, with a mask of keys.
#include <algorithm>

#include "base/message.h"
#include "layers/attention/scores.h"

namespace loom {
namespace {

struct CrossAttentionConfig : LayerConfig {
  std::int64_t heads = 1, head_dim = 0;
  bool qkv_bias = false, out_bias = false;
  double dropout = 0;
  Names takes;
  bool step = false;  // by_step: the first operand is one position
  template <class V>
  void fields(V& v) {
    v.about(
        "Multi-head attention of the steps of one operand [steps, features] to those of a second, "
        "[steps, features] (arXiv 1706.03762), without positions. Every step sees all of them, "
        "except those that a third operand, [steps], masks by a value other than 0, as `True` does "
        "in PyTorch's `key_padding_mask`. The result of a step that sees none is `o_bias`, or 0 "
        "without it. Operands come by `merge` or `combine`: `operands`. Parameters: `q`, `k`, "
        "`v`, `o`.");
    v("heads", heads, {.doc = "heads", .min = 1, .max = 65536});
    v("head_dim", head_dim, {.doc = "values per head; 0: width / heads", .min = 0, .max = 65536});
    v("qkv_bias", qkv_bias, {.doc = "adds learned vectors to queries, keys and values"});
    v("out_bias", out_bias, {.doc = "adds a learned vector to the output"});
    v("dropout", dropout,
      {.doc = "of the weights of keys while training, as the layer `dropout`",
       .min = 0,
       .below = 1,
       .written = dropout > 0});
    v("takes", takes,
      {.doc = "operands behind the second, in their order: `mask`, or `lengths`, steps that are "
              "attended to, an input of one id; none: a third is a `mask`",
       .written = !takes.empty()});
  }
};

class CrossAttention : public LayerWith<CrossAttentionConfig> {
 public:
  std::string_view name() const override { return "cross_attention"; }
  bool takes_operands() const override { return true; }
  std::string_view row_dependence(const LayerConfig& config, const Shape&) const override {
    return of(config).dropout > 0 ? "draws its noise by a row's place" : "";
  }

  // A step attends as all do; what it attends to is there as a whole.
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape& in,
                            std::int64_t steps) const override {
    for (std::size_t i = 1; i < in.parts.size(); ++i)
      if (has_positions(in.parts[i])) return LayerType::by_step(config, in, steps);
    return changed(config, [](CrossAttentionConfig& c) { c.step = true; });
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const CrossAttentionConfig& c = of(config);
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    if (in.parts.size() < 2 || (c.takes.empty() && in.parts.size() > 3))
      return bad(
          message("expects two operands, [steps, features] that attend and [steps, features] that "
                  "are attended to, and a mask [steps] as a third where there is one, got ",
                  in.to_string(), ": bring them by \"merge\": \"operands\""));
    const Names takes = takes_of(c, in);
    LOOM_TRY(check_takes(takes, kKeyOperands, in, 2));
    for (std::size_t i = 0; i < 2; ++i)
      if (!(c.step && i == 0) &&
          (in.parts[i].dims.size() != 2 || in.parts[i].axis == Axis::channels))
        return bad(
            message("operand ", i, " must be [steps, features], got ", in.parts[i].to_string()));
    const Geometry s = sizes(c, in);
    LOOM_TRY(check_keys(takes, in, 2, s.keys));
    if (c.head_dim == 0 && s.width % c.heads != 0)
      return bad(
          message("width ", s.width, " is not divisible by ", c.heads, " heads: set \"head_dim\""));
    LOOM_TRY(s.check());
    return LayerPlan{out_of(in), params(c, s)};
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const CrossAttentionConfig& c = of(config);
    const Geometry s = sizes(c, v.in());
    ProgramBuilder& e = v.emit;
    const View own = e.reshape(ProgramBuilder::slice(x, 0, s.queries * s.width), s.width),
               memory = e.reshape(ProgramBuilder::slice(x, s.queries * s.width, s.keys * s.memory),
                                  s.memory);
    v.save("own", own);
    v.save("memory", memory);
    const auto project = [&](const char* role, View from) {
      return v.linear(role, from, c.qkv_bias ? std::string(role) + "_bias" : "");
    };
    const View q = e.scale(project("q", own), s.scale()), k = project("k", memory),
               value = project("v", memory);
    const View q_row = e.reshape(q, s.queries * s.inner()),
               k_row = e.reshape(k, s.keys * s.inner()),
               v_row = e.reshape(value, s.keys * s.inner());
    const View y =
        e.reshape(s.forward(v, q_row, k_row, v_row, takes_of(c, v.in()), x, 2), s.inner());
    v.save("y", y);
    const View out = v.linear("o", y, c.out_bias ? "o_bias" : "");
    return e.reshape(out, s.queries * s.width);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const CrossAttentionConfig& c = of(config);
    const Geometry s = sizes(c, v.in());
    ProgramBuilder& e = v.emit;
    const View g =
        v.linear_back("o", v.saved("y"), e.reshape(gy, s.width), c.out_bias ? "o_bias" : "");
    const AttentionGradients grads = s.backward(v, e.reshape(g, s.queries * s.inner()));
    const auto back = [&](const char* role, View from, View by_head, std::int64_t steps) {
      const View rows = e.reshape(s.to_steps(e, by_head, steps, s.heads), s.inner());
      return v.linear_back(role, from, role[0] == 'q' ? e.scale(rows, s.scale()) : rows,
                           c.qkv_bias ? std::string(role) + "_bias" : "");
    };
    const View own = back("q", v.saved("own"), grads.q, s.queries);
    const View memory = e.add(back("k", v.saved("memory"), grads.k, s.keys),
                              back("v", v.saved("memory"), grads.v, s.keys));
    return joined_gradients(
        e, v.in(), {e.reshape(own, s.queries * s.width), e.reshape(memory, s.keys * s.memory)});
  }

 private:
  struct Geometry : Scores {
    std::int64_t width, memory;
  };
  static Names takes_of(const CrossAttentionConfig& c, const Shape& in) {
    return c.takes.empty() && in.parts.size() == 3 ? Names{"mask"} : c.takes;
  }
  static Geometry sizes(const CrossAttentionConfig& c, const Shape& in) {
    const Shape &own = in.parts[0], &memory = in.parts[1];
    const std::int64_t queries = c.step ? 1 : own.dims[0], width = own.width / queries;
    const std::int64_t head_dim =
        c.head_dim > 0 ? c.head_dim : std::max<std::int64_t>(1, width / c.heads);
    return {{queries, memory.dims[0], c.heads, c.heads, head_dim, false, 0, c.dropout},
            width,
            memory.dims[1]};
  }
  static Shape out_of(const Shape& in) {
    Shape out = in.parts[0];
    if (out.axis != Axis::positions) out.axis = Axis::steps;
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
