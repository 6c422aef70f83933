// Dropout (Srivastava et al. 2014), as everybody has it now: while learning, values are 0 with a
// probability and the others grow by as much; otherwise nothing happens. Which ones is a function
// of the training's seed, the step, the layer's path and the value's place.
#include "layers/layer.h"

namespace loom {
namespace {

struct DropoutConfig : LayerConfig {
  double rate = 0.5;
  template <class V>
  void fields(V& v) {
    v.about(
        "While training, values are 0 with a probability and the others grow by 1 / (1 - rate); "
        "a function of the training's `seed`, the step and micro-batch, the layer's path and "
        "the value's place.");
    v("rate", rate, {.doc = "probability of a 0 while training", .min = 0, .below = 1});
  }
};

class Dropout : public LayerWith<DropoutConfig> {
 public:
  std::string_view name() const override { return "dropout"; }
  Works works() const override { return Works::on_values; }
  std::string_view row_dependence(const LayerConfig&, const Shape&) const override {
    return "draws its noise by a row's place";
  }

  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(expect_values(in));
    return LayerPlan{in, {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    return masked(of(config), v, x);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    return masked(of(config), v, gy);
  }

 private:
  static View masked(const DropoutConfig& c, LayerContext& v, View x) {
    return v.learning && c.rate > 0 ? v.emit.dropout(x, v.noise("mask"), c.rate) : x;
  }
};

}  // namespace

void register_dropout(LayerList& layers) {
  static const Dropout type;
  layers.push_back(&type);
}

}  // namespace loom
