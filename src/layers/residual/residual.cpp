// Residual: y = x + skip, where skip is the input of the layer before it in a Sequential: [A,
// residual] gives A(x) + x.
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct ResidualConfig : LayerConfig {
  template <class V>
  void fields(V& v) {
    v.about(
        "Adds the input of the layer before it in the same `sequential`: [A, residual] computes "
        "A(x) + x.");
  }
};

class Residual : public LayerWith<ResidualConfig> {
 public:
  std::string_view name() const override { return "residual"; }
  Works works() const override { return Works::on_values; }

  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape* skip,
                         ChildPlanner&) const override {
    if (!skip)
      return Status(Code::invalid_argument,
                    "a residual needs a layer before it in the same sequential");
    if (skip->ids > 0 || skip->width != in.width || skip->dims != in.dims || !axes_agree(*skip, in))
      return Status(Code::invalid_argument, message("cannot add a skip of ", skip->to_string(),
                                                    " to an input of ", in.to_string()));
    Shape out = in;
    if (out.axis == Axis::none) out.axis = skip->axis;
    return LayerPlan{std::move(out), {}};
  }
  Result<View> forward(const LayerConfig&, LayerContext& v, View x, View skip) const override {
    return v.emit.add(skip, x);
  }
  Result<View> backward(const LayerConfig&, LayerContext&, View gy, View* gskip) const override {
    *gskip = gy;
    return gy;
  }
};

}  // namespace

void register_residual(LayerList& layers) {
  static const Residual type;
  layers.push_back(&type);
}

}  // namespace loom
