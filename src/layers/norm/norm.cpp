// RMSNorm and LayerNorm over a whole row.
#include "layers/pull.h"

namespace loom {
namespace {

struct NormConfig : LayerConfig {
  double eps = 1e-5;
  template <class V>
  void fields(V& v) {
    if (centered)
      v.about("Mean 0 and variance 1 over the row, times a gain, plus a bias (arXiv 1607.06450).");
    else
      v.about("The row divided by the root of its mean square, times a gain (arXiv 1910.07467).");
    v("eps", eps,
      {.doc = "added to the mean square or variance before the root", .min = 1e-12, .max = 1});
  }
  bool centered = false;
};

template <bool Centered>
class Norm : public LayerWith<NormConfig> {
 public:
  std::string_view name() const override { return Centered ? "layer_norm" : "rms_norm"; }
  Works works() const override { return Works::on_last; }

  void prepare(NormConfig& config) const override { config.centered = Centered; }

  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(expect_values(in));
    LayerPlan plan{in, {{"gain", 1, in.width, Init::ones, 0, false}}};
    if (Centered) plan.params.push_back({"bias", 1, in.width, Init::zeros, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const double eps = LayerWith<NormConfig>::of(config).eps;
    v.save("x", x);
    if constexpr (Centered)
      return v.emit.layer_norm(x, v.weight("gain"), v.weight("bias"), x.cols, eps);
    else return v.emit.rms_norm(x, v.weight("gain"), x.cols, eps);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const double eps = LayerWith<NormConfig>::of(config).eps;
    const View x = v.saved("x");
    const auto gg = v.gradient("gain");
    if constexpr (Centered) {
      v.emit.layer_norm_gain(x, gy, gg.to, x.cols, eps, gg.accumulate);
      const auto gb = v.gradient("bias");
      v.emit.bias_grad(gy, gb.to, gb.accumulate);
      if (v.pulls.on) return gain_pull(v.emit, gy, v.weight("gain"), 1);
      return v.emit.layer_norm_back(x, v.weight("gain"), gy, x.cols, eps);
    } else {
      v.emit.rms_norm_gain(x, gy, gg.to, x.cols, eps, gg.accumulate);
      if (v.pulls.on) return gain_pull(v.emit, gy, v.weight("gain"), 1);
      return v.emit.rms_norm_back(x, v.weight("gain"), gy, x.cols, eps);
    }
  }
};

}  // namespace

void register_norm(LayerList& layers) {
  static const Norm<false> rms_norm;
  layers.push_back(&rms_norm);
  static const Norm<true> layer_norm;
  layers.push_back(&layer_norm);
}

}  // namespace loom
