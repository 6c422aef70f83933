// Dropout (Srivastava et al. 2014), as everybody has it now: while learning, values are 0 with a probability and the others grow by as
// much; otherwise nothing happens. Which ones is a function of the training's seed, the step, the layer's path and the value's place.
#include "layers/layer.h"

namespace loom {
namespace {

struct DropoutConfig : LayerConfig {
  double rate = 0.5;
  template <class V>
  void fields(V& v) { v("rate", rate, "probability of a 0 while learning"); }
};

class Dropout : public LayerWith<DropoutConfig> {
 public:
  std::string_view name() const override { return "dropout"; }
  std::string_view crosses_rows(const LayerConfig&) const override { return "draws its noise by a row's place"; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*, ChildPlanner&) const override {
    if (in.ids > 0) return Status(Code::invalid_argument, "expects real values, got " + in.to_string());
    const double rate = of(config).rate;
    if (!(rate >= 0 && rate < 1)) return Status(Code::invalid_argument, "\"rate\" must be in [0, 1), got " + format_double(rate));
    return LayerPlan{in, {}};
  }
  Result<View> forward(const LayerConfig& config, Visit& v, View x, View) const override { return masked(of(config), v, x); }
  Result<View> backward(const LayerConfig& config, Visit& v, View gy, View*) const override { return masked(of(config), v, gy); }

 private:
  static View masked(const DropoutConfig& c, Visit& v, View x) {
    return v.learning && c.rate > 0 ? v.emit.dropout(x, v.noise("mask"), c.rate) : x;
  }
};

}  // namespace

void register_dropout(LayerList& layers) {
  static const Dropout type;
  layers.push_back(&type);
}

}  // namespace loom
