// SwiGLU (Shazeer, arXiv 2002.05202): y = W_d (silu(W_g x + b_g) * (W_u x + b_u)) + b_d; or with
// another activation, and with an RMSNorm before W_d (BitNet b1.58).
#include "layers/pull.h"

namespace loom {
namespace {

struct SwigluConfig : LayerConfig {
  std::int64_t hidden = 0;
  bool bias = false;
  double out_std = 0, sub_norm_eps = 1e-5;
  bool sub_norm = false;
  Activation activation = Activation::silu;
  template <class V>
  void fields(V& v) {
    v.about(
        "down(silu(gate(x)) * up(x)), the feed-forward part of Llama (arXiv 2002.05202). "
        "Parameters: `gate` and `up` [hidden, in], `down` [in, hidden].");
    v("hidden", hidden, {.doc = "width between the projections", .min = 1, .required = true});
    v("bias", bias, {.doc = "adds learned vectors to all three projections"});
    v("out_std", out_std,
      {.doc = "standard deviation of the initial down projection; 0: "
              "1/sqrt(hidden)",
       .min = 0});
    // Not written where they change nothing: a network of before has the topology it had.
    v("activation", activation, {.doc = "of the gate", .written = activation != Activation::silu});
    v("sub_norm", sub_norm,
      {.doc = "RMSNorm before the down projection (BitNet b1.58)", .written = sub_norm});
    v("sub_norm_eps", sub_norm_eps,
      {.doc = "its eps",
       .min = 1e-8,
       .max = 1,
       .only = {"sub_norm", sub_norm},
       .written = sub_norm});
  }
};

class Swiglu : public LayerWith<SwigluConfig> {
 public:
  std::string_view name() const override { return "swiglu"; }
  Works works() const override { return Works::on_last; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const SwigluConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    const double in_std = 1 / __builtin_sqrt(static_cast<double>(in.width)),
                 out_std =
                     c.out_std > 0 ? c.out_std : 1 / __builtin_sqrt(static_cast<double>(c.hidden));
    LayerPlan plan{in,
                   {ParamSpec::product("gate", c.hidden, in.width, in_std),
                    ParamSpec::product("up", c.hidden, in.width, in_std),
                    ParamSpec::product("down", in.width, c.hidden, out_std)}};
    if (c.sub_norm) plan.params.push_back({"sub_norm", 1, c.hidden, Init::ones, 0, false});
    if (c.bias) {
      plan.params.push_back({"gate_bias", 1, c.hidden, Init::zeros, 0, false});
      plan.params.push_back({"up_bias", 1, c.hidden, Init::zeros, 0, false});
      plan.params.push_back({"down_bias", 1, in.width, Init::zeros, 0, false});
    }
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const SwigluConfig& c = of(config);
    const bool bias = c.bias;
    const View gate = v.linear("gate", x, bias ? "gate_bias" : "");
    const View up = v.linear("up", x, bias ? "up_bias" : "");
    View h;
    if (c.activation == Activation::silu) {
      h = v.emit.silu_mul(gate, up);
    } else {
      const View opened = v.emit.activation(gate, c.activation);
      v.save("opened", opened);
      h = v.emit.mul(opened, up);
    }
    if (c.sub_norm) {
      v.save("product", h);
      h = v.emit.rms_norm(h, v.weight("sub_norm"), h.cols, c.sub_norm_eps);
    }
    v.save("x", x);
    v.save("gate", gate);
    v.save("up", up);
    v.save("h", h);
    return v.linear("down", h, bias ? "down_bias" : "");
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const SwigluConfig& c = of(config);
    const bool bias = c.bias;
    View gh = v.linear_back("down", v.saved("h"), gy, bias ? "down_bias" : "");
    if (c.sub_norm) {
      const View product = v.saved("product");
      const auto gg = v.gradient("sub_norm");
      v.emit.rms_norm_gain(product, gh, gg.to, product.cols, c.sub_norm_eps, gg.accumulate);
      gh = v.pulls.on ? gain_pull(v.emit, gh, v.weight("sub_norm"), 1)
                      : v.emit.rms_norm_back(product, v.weight("sub_norm"), gh, product.cols,
                                             c.sub_norm_eps);
    }
    View ggate, gup;
    if (v.pulls.on) {
      ggate = v.emit.mul(gh, v.saved("up"));
      gup = v.emit.mul(gh, v.emit.activation(v.saved("gate"), c.activation));
    } else if (c.activation == Activation::silu) {
      const auto back = v.emit.silu_mul_back(v.saved("gate"), v.saved("up"), gh);
      ggate = back.first;
      gup = back.second;
    } else {
      ggate = v.emit.activation_back(v.saved("gate"), v.emit.mul(gh, v.saved("up")), c.activation);
      gup = v.emit.mul(gh, v.saved("opened"));
    }
    const View through_gate = v.linear_back("gate", v.saved("x"), ggate, bias ? "gate_bias" : "");
    return v.emit.add(through_gate, v.linear_back("up", v.saved("x"), gup, bias ? "up_bias" : ""));
  }
};

}  // namespace

void register_swiglu(LayerList& layers) {
  static const Swiglu type;
  layers.push_back(&type);
}

}  // namespace loom
