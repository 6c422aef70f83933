// SwiGLU (Shazeer, arXiv 2002.05202): y = W_d (silu(W_g x + b_g) * (W_u x + b_u)) + b_d.
#include "layers/layer.h"

namespace loom {
namespace {

struct SwigluConfig : LayerConfig {
  std::int64_t hidden = 0;
  bool bias = false;
  double out_std = 0;
  template <class V>
  void fields(V& v) {
    v("hidden", hidden, "width between the projections");
    v("bias", bias, "adds learned vectors to all three projections");
    v("out_std", out_std, "standard deviation of the initial down projection; 0: 1/sqrt(hidden)");
  }
};

class Swiglu : public LayerWith<SwigluConfig> {
 public:
  std::string_view name() const override { return "swiglu"; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*, ChildPlanner&) const override {
    const SwigluConfig& c = of(config);
    if (in.ids > 0) return Status(Code::invalid_argument, "expects real values, got " + in.to_string());
    if (c.hidden < 1) return Status(Code::invalid_argument, "\"hidden\" must be at least 1, got " + std::to_string(c.hidden));
    const double in_std = 1 / __builtin_sqrt(static_cast<double>(in.width)), out_std = c.out_std > 0 ? c.out_std : 1 / __builtin_sqrt(static_cast<double>(c.hidden));
    LayerPlan plan{in, {{"gate", c.hidden, in.width, Init::normal, in_std}, {"up", c.hidden, in.width, Init::normal, in_std}, {"down", in.width, c.hidden, Init::normal, out_std}}};
    if (c.bias) {
      plan.params.push_back({"gate_bias", 1, c.hidden, Init::zeros, 0, false});
      plan.params.push_back({"up_bias", 1, c.hidden, Init::zeros, 0, false});
      plan.params.push_back({"down_bias", 1, in.width, Init::zeros, 0, false});
    }
    return plan;
  }

  Result<View> forward(const LayerConfig& config, Visit& v, View x, View) const override {
    const bool bias = of(config).bias;
    const View gate = v.emit.matmul(v.weight("gate"), x, bias ? v.weight("gate_bias") : View{});
    const View up = v.emit.matmul(v.weight("up"), x, bias ? v.weight("up_bias") : View{});
    const View h = v.emit.silu_mul(gate, up);
    v.keep("x", x);
    v.keep("gate", gate);
    v.keep("up", up);
    v.keep("h", h);
    return v.emit.matmul(v.weight("down"), h, bias ? v.weight("down_bias") : View{});
  }

  Result<View> backward(const LayerConfig& config, Visit& v, View gy, View*) const override {
    const bool bias = of(config).bias;
    auto learn = [&](View g, View x, std::string_view role, std::string_view bias_role) {
      const auto gw = v.gradient(role);
      v.emit.outer_add(g, x, gw.to, gw.accumulate);
      if (!bias) return;
      const auto gb = v.gradient(bias_role);
      v.emit.col_sum(g, gb.to, gb.accumulate);
    };
    learn(gy, v.kept("h"), "down", "down_bias");
    const auto [ggate, gup] = v.emit.silu_mul_back(v.kept("gate"), v.kept("up"), v.emit.matmul_t(v.weight("down"), gy));
    learn(ggate, v.kept("x"), "gate", "gate_bias");
    learn(gup, v.kept("x"), "up", "up_bias");
    return v.emit.add(v.emit.matmul_t(v.weight("gate"), ggate), v.emit.matmul_t(v.weight("up"), gup));
  }
};

}  // namespace

void register_swiglu(LayerList& layers) {
  static const Swiglu type;
  layers.push_back(&type);
}

}  // namespace loom
