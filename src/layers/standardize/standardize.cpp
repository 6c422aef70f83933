// y = (x - mean) * scale, column by column: what raw values become before a network learns from
// them, or what its answers are turned back with. Mean and scale are measured, not learned: they
// have no gradient, and lie in the file as other parameters do, so whoever runs the network gives
// it raw values.
#include "layers/layer.h"

namespace loom {
namespace {

struct StandardizeConfig : LayerConfig {
  bool missing = false;
  template <class V>
  void fields(V& v) {
    v.about("(x - `mean`) * `scale` by columns; the two are set, not learned.");
    v("missing", missing, {.doc = "a value that is not a number becomes 0, as the mean does"});
  }
};

class Standardize : public LayerWith<StandardizeConfig> {
 public:
  std::string_view name() const override { return "standardize"; }
  bool takes_missing(const LayerConfig& config) const override { return of(config).missing; }

  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(expect_values(in));
    return LayerPlan{in,
                     {{"mean", 1, in.width, Init::zeros, 0, false},
                      {"scale", 1, in.width, Init::ones, 0, false}}};
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    v.save("x", x);
    return v.emit.standardize(x, v.weight("mean"), v.weight("scale"), of(config).missing);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    return v.emit.standardize_back(v.saved("x"), v.weight("scale"), gy, of(config).missing);
  }
};

}  // namespace

void register_standardize(LayerList& layers) {
  static const Standardize standardize;
  layers.push_back(&standardize);
}

}  // namespace loom
