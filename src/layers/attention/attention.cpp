// Multi-head attention (Vaswani et al., arXiv 1706.03762) with grouped key/value heads, rotary
// positions, sliding window, q/k norm, biases.
#include "base/message.h"
#include "layers/attention/scores.h"
#include "layers/pull.h"

namespace loom {
namespace {

struct AttentionConfig : LayerConfig {
  std::int64_t heads = 1, kv_heads = 0, head_dim = 0, window = 0;
  bool causal = true, qkv_bias = false, out_bias = false, qk_norm = false, rope = true;
  bool sub_norm = false, alibi = false;
  double dropout = 0;
  Names takes;
  double sub_norm_eps = 1e-5, qk_norm_eps = 1e-6, rope_theta = 10000.0, rope_factor = 1.0,
         rope_low_freq_factor = 1.0, rope_high_freq_factor = 4.0, rope_original_positions = 8192,
         out_std = 0;
  std::string rope_scaling = "none";
  bool step = false;  // by_step: what it takes besides is of steps that are not here
  template <class V>
  void rope_fields(V& v) {
    v("rope", rope, {.doc = "rotary positions"});
    const When rotates{"rope", rope};
    v("rope_theta", rope_theta, {.doc = "base of the rotary frequencies", .only = rotates});
    v("rope_scaling", rope_scaling,
      {.doc = "how frequencies are scaled to longer sequences",
       .one_of = "none, linear, llama3",
       .only = rotates});
    const When llama3{"rope_scaling", rope_scaling, "llama3"};
    v("rope_factor", rope_factor,
      {.doc = "how many times as long they are",
       .only = {"rope_scaling", rope_scaling, "linear, llama3"}});
    v("rope_low_freq_factor", rope_low_freq_factor,
      {.doc = "frequencies below are scaled", .only = llama3});
    v("rope_high_freq_factor", rope_high_freq_factor,
      {.doc = "frequencies above are not scaled", .only = llama3});
    v("rope_original_positions", rope_original_positions,
      {.doc = "positions the model was first trained on", .only = llama3});
  }
  template <class V>
  void fields(V& v) {
    v.about(
        "Multi-head attention (arXiv 1706.03762) over the steps of a row [steps, features], or "
        "over the rows of a sequence where a row is one position, with grouped keys, a sliding "
        "window and rotary positions. Parameters: `q`, `k`, `v`, `o`.");
    v("heads", heads, {.doc = "query heads", .min = 1, .max = 65536});
    v("kv_heads", kv_heads, {.doc = "key/value heads; 0: as many as heads", .min = 0});
    v("head_dim", head_dim, {.doc = "values per head; 0: width / heads", .min = 0, .max = 65536});
    v("window", window, {.doc = "positions a query sees, its own included; 0: all", .min = 0});
    v("causal", causal,
      {.doc = "a query sees no later position; where positions are rows, sessions of "
              "one that is false run whole sequences, without a cache"});
    v("qkv_bias", qkv_bias, {.doc = "adds learned vectors to queries, keys and values"});
    v("out_bias", out_bias, {.doc = "adds a learned vector to the output"});
    v("qk_norm", qk_norm, {.doc = "RMSNorm of every query and key head before rotation"});
    v("qk_norm_eps", qk_norm_eps, {.doc = "its eps; without `qk_norm` it does nothing"});
    rope_fields(v);
    v("out_std", out_std,
      {.doc = "standard deviation of the initial output projection; 0: "
              "1/sqrt(its inputs)",
       .min = 0});
    // Not written where they change nothing: a network of before has the topology it had.
    v("alibi", alibi,
      {.doc = "ALiBi (arXiv 2108.12409): a score falls by its head's slope, 2^(-8h/heads), with "
              "every position between query and key; positions need no end. Without `rope`",
       .written = alibi});
    v("sub_norm", sub_norm,
      {.doc = "RMSNorm before the output projection (BitNet b1.58)", .written = sub_norm});
    v("sub_norm_eps", sub_norm_eps,
      {.doc = "its eps",
       .min = 1e-8,
       .max = 1,
       .only = {"sub_norm", sub_norm},
       .written = sub_norm});
    v("dropout", dropout,
      {.doc = "of the weights of keys while training, as the layer `dropout`; of steps in a row",
       .min = 0,
       .below = 1,
       .written = dropout > 0});
    v("takes", takes,
      {.doc = "operands behind the first, in their order: `lengths`, steps of a row, an input of "
              "one id: keys behind them are not seen, outputs are 0; `mask` [steps] hides keys "
              "by a value other than 0, as PyTorch's `key_padding_mask`",
       .written = !takes.empty()});
  }
};

// The configuration with its defaults filled in for an input width.
struct Dims {
  std::int64_t heads, kv_heads, head_dim;
};
Dims dims(const AttentionConfig& c, std::int64_t width) {
  return {c.heads, c.kv_heads > 0 ? c.kv_heads : c.heads,
          c.head_dim > 0 ? c.head_dim : width / c.heads};
}

Result<RopeSpec> rope_spec(const AttentionConfig& c) {
  RopeSpec s{c.rope_theta,           RopeScaling::none,       c.rope_factor,
             c.rope_low_freq_factor, c.rope_high_freq_factor, c.rope_original_positions};
  if (c.rope_scaling == "linear") s.scaling = RopeScaling::linear;
  else if (c.rope_scaling == "llama3") s.scaling = RopeScaling::llama3;
  return RopeSpec::from_reals(s.to_reals());
}

class Attention : public LayerWith<AttentionConfig> {
 public:
  std::string_view name() const override { return "attention"; }
  Works works() const override { return Works::on_steps; }
  bool takes_operands() const override { return true; }
  std::string_view row_dependence(const LayerConfig& config, const Shape& in) const override {
    return !in_row(first_operand(in)) ? "attends to other rows"
           : of(config).dropout > 0   ? "draws its noise by a row's place"
                                      : "";
  }
  // `lengths` are of rows that are there as a whole: every step that a decoder takes counts.
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape& in,
                            std::int64_t steps) const override {
    const AttentionConfig& c = of(*config);
    const bool later = first_operand(in).axis != Axis::positions || place_of(c.takes, "mask") > 0;
    if (later) return LayerType::by_step(config, in, steps);
    if (!c.causal)
      return Status(Code::unsupported,
                    "sees later steps, which a decoder has not taken yet: set \"causal\"");
    return changed(config, [](AttentionConfig& changes) { changes.step = true; });
  }
  std::string_view needs_all_rows(const LayerConfig&, const Shape& in) const override {
    return in_row(first_operand(in)) ? "" : "attends to rows, and would see those of one window";
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& row, const Shape*,
                         ChildPlanner&) const override {
    const AttentionConfig& c = of(config);
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    LOOM_TRY(check_takes(c.takes, kKeyOperands, row));
    const Shape& in = first_operand(row);
    LOOM_TRY(expect_values(in));
    if (in.dims.size() > 2 || in.axis == Axis::channels)
      return bad(message("expects rows of [steps, features], or of one position, got ",
                         in.to_string(), ": put a reshape or a permute before it"));
    const std::int64_t width = in.dims.empty() ? in.width : in.dims.back();
    if (c.head_dim == 0 && width % c.heads != 0)
      return bad(
          message("width ", width, " is not divisible by ", c.heads, " heads: set \"head_dim\""));
    const Dims d = dims(c, width);
    if (d.kv_heads > d.heads || d.heads % d.kv_heads != 0)
      return bad(message(d.heads, " heads cannot share ", d.kv_heads, " kv_heads"));
    if (!c.takes.empty() && d.head_dim == 65536)
      return bad("\"head_dim\" is at most 65535 with \"takes\"");
    if (d.head_dim < 1 || d.head_dim > 65536)
      return bad(message("\"head_dim\" must be in 1..65536, got ", d.head_dim));
    if (c.alibi && c.rope)
      return bad(
          "\"alibi\" and \"rope\" both give positions: with \"alibi\" set \"rope\" to false");
    if (c.rope && d.head_dim % 2 != 0)
      return bad(message("rotary positions need an even head_dim, got ", d.head_dim));
    if (c.rope) LOOM_TRY(rope_spec(c).status());
    if (!in_row(in) && !c.step && (c.dropout > 0 || !c.takes.empty()))
      return bad(message(c.dropout > 0 ? "\"dropout\"" : "\"takes\"",
                         " is of rows of [steps, features], and rows are single positions here"));
    if (in_row(in)) LOOM_TRY(check_keys(c.takes, row, 1, in.dims[0]));
    if (in_row(in) && (place_of(c.takes, "mask") > 0 || c.dropout > 0))
      LOOM_TRY(scores(c, d, in.dims[0]).check());
    const std::int64_t q = d.heads * d.head_dim, kv = d.kv_heads * d.head_dim;
    const double std = 1 / __builtin_sqrt(static_cast<double>(width));
    const double out_std = c.out_std > 0 ? c.out_std : 1 / __builtin_sqrt(static_cast<double>(q));
    LayerPlan plan{
        in,
        {ParamSpec::product("q", q, width, std), ParamSpec::product("k", kv, width, std),
         ParamSpec::product("v", kv, width, std), ParamSpec::product("o", width, q, out_std)}};
    if (in_row(in)) plan.out.axis = Axis::steps;
    plan.out.name.clear();
    if (c.qkv_bias) {
      plan.params.push_back({"q_bias", 1, q, Init::zeros, 0, false});
      plan.params.push_back({"k_bias", 1, kv, Init::zeros, 0, false});
      plan.params.push_back({"v_bias", 1, kv, Init::zeros, 0, false});
    }
    if (c.out_bias) plan.params.push_back({"o_bias", 1, width, Init::zeros, 0, false});
    if (c.sub_norm) plan.params.push_back({"sub_norm", 1, q, Init::ones, 0, false});
    if (c.qk_norm) {
      plan.params.push_back({"q_norm", 1, d.head_dim, Init::ones, 0, false});
      plan.params.push_back({"k_norm", 1, d.head_dim, Init::ones, 0, false});
    }
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View row, View) const override {
    const AttentionConfig& c = of(config);
    const Shape& in = first_operand(v.in());
    const std::int64_t steps = in_row(in) ? in.dims[0] : 1;
    View x = operand(v.in(), row, 0);
    x = v.emit.reshape(x, x.cols / steps);
    const Dims d = dims(c, x.cols);
    const AttentionShape shape = attention_shape(c, d, v);
    LOOM_ASSIGN(const Positions places, positions_of(v, x));
    if (v.pulls.on) LOOM_TRY(check_pull(c, d, in, steps));
    v.save("x", x);
    const View q = project(c, v, "q", x, d.head_dim, places),
               k = project(c, v, "k", x, d.head_dim, places);
    const View value = v.linear("v", x, c.qkv_bias ? "v_bias" : "");
    v.save("value", value);
    View y;
    if (hides_keys(c, v)) {
      const View lengths = operand(v.in(), row, place_of(c.takes, "lengths"));
      y = Hidden(v.emit, d).forward(v, q, k, value, lengths, places.positions, shape);
    } else if (in_row(in) && by_scores(c, v)) {
      const auto in_rows = [&](View all) { return v.emit.reshape(all, all.cols * steps); };
      y = scores(c, d, steps)
              .forward(v, in_rows(v.emit.scale(q, shape.scale)), in_rows(k), in_rows(value),
                       c.takes, row, 1);
      y = v.emit.reshape(y, q.cols);
    } else if (v.training || in_row(in)) {
      const auto out = v.emit.attention_rows(q, k, value, places.positions, shape);
      v.save("stats", out.stats);
      y = out.y;
    } else {
      if (!c.causal)
        return Status(
            Code::unsupported,
            "attention that is not causal runs on whole sequences: use a session without a cache");
      const ArithClass arith = v.emit.product_class_of(v.weight("v"));
      const bool packed = (arith == ArithClass::integer || arith == ArithClass::bfloat) &&
                          d.head_dim <= kMaxQ15HeadDim;
      const ValueType type = packed ? ValueType::q15 : v.type;
      const View kv = v.state("kv", type, {v.sequences * v.max_positions},
                              kv_columns(type, d.kv_heads, d.head_dim));
      v.emit.kv_append(k, value, v.sequence_ids(), places.positions, kv, shape);
      y = v.emit.attention(q, kv, v.sequence_ids(), places.positions, shape);
    }
    v.save("y", y);
    if (c.sub_norm) {
      y = v.emit.rms_norm(y, v.weight("sub_norm"), y.cols, c.sub_norm_eps);
      v.save("normed", y);
    }
    View out = v.linear("o", y, c.out_bias ? "o_bias" : "");
    out = v.emit.reshape(out, out.cols * steps);
    const std::size_t lengths = c.step ? 0 : place_of(c.takes, "lengths");
    if (lengths == 0) return out;
    const View wide = spread_steps(v.emit, seen_steps(v.emit, operand(v.in(), row, lengths), steps),
                                   out.cols / steps);
    v.save("wide", wide);
    return only_seen(v.emit, wide, out);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const AttentionConfig& c = of(config);
    const View x = v.saved("x"), y = v.saved("y");
    const Dims d = dims(c, x.cols);
    const Shape& in = first_operand(v.in());
    const std::int64_t steps = in_row(in) ? in.dims[0] : 1;
    LOOM_ASSIGN(const Positions places, positions_of(v, x));
    if (place_of(c.takes, "lengths") > 0) gy = only_seen(v.emit, v.saved("wide"), gy);
    gy = v.emit.reshape(gy, gy.cols / steps);
    View g = v.linear_back("o", c.sub_norm ? v.saved("normed") : y, gy, c.out_bias ? "o_bias" : "");
    if (c.sub_norm) {
      const auto gg = v.gradient("sub_norm");
      v.emit.rms_norm_gain(y, g, gg.to, y.cols, c.sub_norm_eps, gg.accumulate);
      g = v.pulls.on ? gain_pull(v.emit, g, v.weight("sub_norm"), 1)
                     : v.emit.rms_norm_back(y, v.weight("sub_norm"), g, y.cols, c.sub_norm_eps);
    }
    const AttentionGradients grads = attended_back(c, v, g, places, d, steps);
    const View gq = project_back(c, v, "q", grads.q, x, d.head_dim, places),
               gk = project_back(c, v, "k", grads.k, x, d.head_dim, places);
    const View gx =
        v.emit.add(v.emit.add(gq, gk), v.linear_back("v", x, grads.v, c.qkv_bias ? "v_bias" : ""));
    return joined_gradients(v.emit, v.in(), {v.emit.reshape(gx, gx.cols * steps)});
  }

 private:
  // Whether what is seen is more than the fused attention knows: behind its own position a query
  // sees none, whatever the length.
  static bool by_scores(const AttentionConfig& c, const LayerContext& v) {
    return place_of(c.takes, "mask") > 0 || (v.learning && (c.dropout > 0 || v.pulls.on));
  }
  // Whether a row's length hides keys from the fused attention. Behind its own position a causal
  // query sees none, whatever the length.
  static bool hides_keys(const AttentionConfig& c, const LayerContext& v) {
    return place_of(c.takes, "lengths") > 0 && !c.causal && !by_scores(c, v);
  }
  // Keys behind a length, far below every score by a value more in each head: 1 of a query, and 0
  // or far_below() of a key. A query within the length sees itself, others give nothing.
  class Hidden {
   public:
    Hidden(ProgramBuilder& emit, const Dims& dims) : e(emit), d(dims) {}
    View forward(LayerContext& v, View q, View k, View value, View lengths, View positions,
                 const AttentionShape& s) const {
      q = wider(q, d.heads, 1);
      k = keys(k, lengths, first_operand(v.in()).dims[0]);
      value = wider(value, d.kv_heads, 0);
      const Attended out = e.attention_rows(q, k, value, positions, shape(s));
      v.save("wide_q", q);
      v.save("wide_k", k);
      v.save("wide_v", value);
      v.save("wide_y", out.y);
      v.save("stats", out.stats);
      return narrow(out.y, d.heads);
    }
    AttentionGradients backward(LayerContext& v, View g, View positions,
                                const AttentionShape& s) const {
      const AttentionGradients wide =
          e.attention_back(v.saved("wide_q"), v.saved("wide_k"), v.saved("wide_v"), positions,
                           {v.saved("wide_y"), v.saved("stats")}, wider(g, d.heads, 0), shape(s));
      return {narrow(wide.q, d.heads), narrow(wide.k, d.kv_heads), narrow(wide.v, d.kv_heads)};
    }

   private:
    AttentionShape shape(AttentionShape s) const {
      ++s.head_dim;
      return s;
    }
    // Every head with one value more: that of a column of x behind the heads, or `last`.
    View wider(View x, std::int64_t heads, double last) const {
      std::vector<double> runs;
      const bool column = x.cols > heads * d.head_dim;
      for (std::int64_t h = 0; h < heads; ++h) {
        const double at = static_cast<double>(h * d.head_dim);
        const double more = column ? static_cast<double>(heads * d.head_dim) : -1;
        runs.insert(runs.end(), {at, 1, static_cast<double>(d.head_dim), more, 0, 1});
      }
      return e.index_select(x, runs, heads * (d.head_dim + 1), last);
    }
    View narrow(View x, std::int64_t heads) const {
      std::vector<double> runs;
      for (std::int64_t h = 0; h < heads; ++h)
        runs.insert(runs.end(), {static_cast<double>(h * (d.head_dim + 1)), 1,
                                 static_cast<double>(d.head_dim)});
      return e.index_select(x, runs, heads * d.head_dim, 0);
    }
    View keys(View k, View lengths, std::int64_t steps) const {
      const View seen = seen_steps(e, lengths, steps);
      const View low = e.scale(e.unary(seen, Unary::logical_not), far_below(e.type(k)));
      return wider(joined(e, {k, e.reshape(low, 1)}), d.kv_heads, 0);
    }
    ProgramBuilder& e;
    const Dims& d;
  };
  static Scores scores(const AttentionConfig& c, const Dims& d, std::int64_t steps) {
    return {steps, steps, d.heads, d.kv_heads, d.head_dim, c.causal, c.window, c.dropout, c.alibi};
  }
  static Status check_pull(const AttentionConfig& c, const Dims& d, const Shape& in,
                           std::int64_t steps) {
    if (in_row(in)) return scores(c, d, steps).check();
    return Status(Code::unsupported,
                  "has a formula for targets by layers over the steps of a row, [steps, "
                  "features], and rows are single positions here");
  }
  static AttentionShape attention_shape(const AttentionConfig& c, const Dims& d, LayerContext& v) {
    return {d.heads,
            d.kv_heads,
            d.head_dim,
            c.window,
            c.causal,
            1 / __builtin_sqrt(static_cast<double>(d.head_dim)),
            c.alibi ? v.emit.alibi_slopes(d.heads, v.type) : View{}};
  }
  static bool in_row(const Shape& in) { return in.dims.size() == 2; }

  // Where the rows of x stand in their sequences, and the positions there are.
  struct Positions {
    View positions;
    std::int64_t max;
  };
  static AttentionGradients attended_back(const AttentionConfig& c, LayerContext& v, View g,
                                          const Positions& places, const Dims& d,
                                          std::int64_t steps) {
    const AttentionShape shape = attention_shape(c, d, v);
    if (hides_keys(c, v)) return Hidden(v.emit, d).backward(v, g, places.positions, shape);
    if (!in_row(first_operand(v.in())) || !by_scores(c, v))
      return v.emit.attention_back(v.saved("q"), v.saved("k"), v.saved("value"), places.positions,
                                   {v.saved("y"), v.saved("stats")}, g, shape);
    const Scores s = scores(c, d, steps);
    const AttentionGradients by_head = s.backward(v, v.emit.reshape(g, g.cols * steps));
    const auto rows = [&](View one, std::int64_t heads) {
      return v.emit.reshape(s.to_steps(v.emit, one, steps, heads), one.cols / steps);
    };
    return {v.emit.scale(rows(by_head.q, d.heads), shape.scale), rows(by_head.k, d.kv_heads),
            rows(by_head.v, d.kv_heads)};
  }
  static Result<Positions> positions_of(LayerContext& v, View x) {
    const Shape& in = first_operand(v.in());
    if (in_row(in)) return Positions{v.emit.steps(v.emit.rows(x), in.dims[0]), in.dims[0]};
    const View positions = v.positions();
    if (v.emit.rows(positions) != v.emit.rows(x))
      return Status(Code::invalid_argument,
                    "attends to the network's rows, and parts of them arrive: give the parts "
                    "steps, [steps, features]");
    return Positions{positions, v.max_positions};
  }
  static View table(const AttentionConfig& c, LayerContext& v, std::int64_t head_dim,
                    const Positions& places) {
    return v.emit.rope_table(*rope_spec(c), places.max, head_dim, v.type);
  }

  // Queries or keys: projection, norm, rotation.
  static View project(const AttentionConfig& c, LayerContext& v, const std::string& role, View x,
                      std::int64_t head_dim, const Positions& places) {
    View h = v.linear(role, x, c.qkv_bias ? role + "_bias" : "");
    v.save(role + "_raw", h);
    if (c.qk_norm) h = v.emit.rms_norm(h, v.weight(role + "_norm"), head_dim, c.qk_norm_eps);
    if (c.rope)
      h = v.emit.rope(h, places.positions, table(c, v, head_dim, places), head_dim, false);
    v.save(role, h);
    return h;
  }
  static View project_back(const AttentionConfig& c, LayerContext& v, const std::string& role,
                           View g, View x, std::int64_t head_dim, const Positions& places) {
    if (c.rope) g = v.emit.rope(g, places.positions, table(c, v, head_dim, places), head_dim, true);
    if (c.qk_norm) {
      const View raw = v.saved(role + "_raw");
      const auto gg = v.gradient(role + "_norm");
      v.emit.rms_norm_gain(raw, g, gg.to, head_dim, c.qk_norm_eps, gg.accumulate);
      const View gain = v.weight(role + "_norm");
      g = v.pulls.on
              ? v.emit.reshape(gain_pull(v.emit, v.emit.reshape(g, head_dim), gain, 1), g.cols)
              : v.emit.rms_norm_back(raw, gain, g, head_dim, c.qk_norm_eps);
    }
    return v.linear_back(role, x, g, c.qkv_bias ? role + "_bias" : "");
  }
};

}  // namespace

void register_attention(LayerList& layers) {
  static const Attention type;
  layers.push_back(&type);
}

}  // namespace loom
