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
    v.about(
        "activation(W x + b): `torch.nn.Linear(in, out)` and an activation. Parameters: "
        "`weight` [out, in], `bias`.");
    v("out", out, {.doc = "outputs per row", .min = 1, .required = true});
    v("bias", bias, {.doc = "adds a learned vector"});
    v("activation", activation, {.doc = "applied to the sum"});
  }
};

class Dense : public LayerWith<DenseConfig> {
 public:
  std::string_view name() const override { return "dense"; }
  Works works() const override { return Works::on_last; }
  std::int64_t width(const LayerConfig& config) const override { return of(config).out; }

  bool has_identity(const LayerConfig& config, const Shape& in) const override {
    return of(config).out == in.width;
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const DenseConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    LayerPlan plan{
        {c.out},
        {ParamSpec::product("weight", c.out, in.width, initial_std(in.width, c.activation))}};
    if (c.bias) plan.params.push_back({"bias", 1, c.out, Init::zeros, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const DenseConfig& c = of(config);
    const View z = v.linear("weight", x, c.bias ? "bias" : "");
    v.save("x", x);
    v.save("z", z);
    return v.emit.activation(z, c.activation);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const DenseConfig& c = of(config);
    const View gz = v.activation_back(v.saved("z"), gy, c.activation);
    return v.linear_back("weight", v.saved("x"), gz, c.bias ? "bias" : "", gy);
  }
};

}  // namespace

void register_dense(LayerList& layers) {
  static const Dense type;
  layers.push_back(&type);
}

}  // namespace loom
