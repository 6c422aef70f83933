// Dense: y = act(x W^T + b).
#include "layers/layer.h"

namespace loom {
namespace {

struct DenseConfig : LayerConfig {
  std::int64_t out = 0;
  bool bias = true;
  Activation activation = Activation::linear;
  template <class V>
  void fields(V& v) {
    v("out", out, "outputs per row");
    v("bias", bias, "adds a learned vector");
    v("activation", activation, "applied to the sum");
  }
};

class Dense : public LayerWith<DenseConfig> {
 public:
  std::string_view name() const override { return "dense"; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*, ChildPlanner&) const override {
    const DenseConfig& c = of(config);
    if (in.ids > 0) return Status(Code::invalid_argument, "expects real values, got " + in.to_string() + ": put an embedding first");
    if (c.out < 1) return Status(Code::invalid_argument, "\"out\" must be at least 1, got " + std::to_string(c.out));
    // Scaled normal of LeCun, doubled where half of the inputs will be cut off (He et al., arXiv 1502.01852).
    const double gain = c.activation == Activation::relu || c.activation == Activation::leaky_relu || c.activation == Activation::relu2 ? 2.0 : 1.0;
    LayerPlan plan{{c.out}, {ParamSpec::product("weight", c.out, in.width, __builtin_sqrt(gain / static_cast<double>(in.width)))}};
    if (c.bias) plan.params.push_back({"bias", 1, c.out, Init::zeros, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, Visit& v, View x, View) const override {
    const DenseConfig& c = of(config);
    const View z = v.linear("weight", x, c.bias ? "bias" : "");
    v.keep("x", x);
    v.keep("z", z);
    return v.emit.activation(z, c.activation);
  }

  Result<View> backward(const LayerConfig& config, Visit& v, View gy, View*) const override {
    const DenseConfig& c = of(config);
    const View gz = v.emit.activation_back(v.kept("z"), gy, c.activation);
    return v.linear_back("weight", v.kept("x"), gz, c.bias ? "bias" : "");
  }
};

}  // namespace

void register_dense(LayerList& layers) {
  static const Dense type;
  layers.push_back(&type);
}

}  // namespace loom
