// Sequential: its layers one after another; a Residual among them adds the input of the layer
// before it.
#include "layers/layer.h"

namespace loom {
namespace {

struct SequentialConfig : LayerConfig {
  template <class V>
  void fields(V& v) {
    v.about("Its layers one after another.");
  }
};

class Sequential : public LayerWith<SequentialConfig> {
 public:
  std::string_view name() const override { return "sequential"; }
  bool is_container() const override { return true; }
  bool takes_operands() const override { return true; }
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape&, std::int64_t) const override {
    return config;
  }

  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner& children) const override {
    if (children.count() == 0)
      return Status(Code::invalid_argument, "\"layers\" is empty: a sequential needs at least one");
    Shape x = in, before;
    for (std::size_t i = 0; i < children.count(); ++i) {
      LOOM_ASSIGN(const Shape y, children.plan(i, x, i > 0 ? &before : nullptr));
      before = x;
      x = y;
    }
    return LayerPlan{x, {}};
  }

  Result<View> forward(const LayerConfig&, LayerContext& v, View x, View) const override {
    View before;
    for (std::size_t i = 0; i < v.child_count(); ++i) {
      LOOM_ASSIGN(const View y, v.child_forward(i, x, before));
      before = x;
      x = y;
    }
    return x;
  }

  Result<View> backward(const LayerConfig&, LayerContext& v, View gy, View*) const override {
    View pending;  // gradient of the skip, due at the input of the layer before the residual
    for (std::size_t i = v.child_count(); i-- > 0;) {
      View gskip;
      LOOM_ASSIGN(View gx, v.child_backward(i, gy, &gskip));
      if (pending.valid()) gx = gx.valid() ? v.emit.add(gx, pending) : pending;
      pending = gskip;
      gy = gx;
    }
    return gy;
  }
};

}  // namespace

void register_sequential(LayerList& layers) {
  static const Sequential type;
  layers.push_back(&type);
}

}  // namespace loom
