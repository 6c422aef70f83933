// Embedding: row id of a table.
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct EmbeddingConfig : LayerConfig {
  std::int64_t out = 0;
  double std = 0.02;
  template <class V>
  void fields(V& v) {
    v.about(
        "A row of `out` values per id, [steps, out] for a row of several; the input's ids say "
        "how many there are. Parameter: `weight` [ids, out].");
    v("out", out, {.doc = "values per id", .min = 1, .required = true});
    v("std", std, {.doc = "standard deviation of the initial table", .min = 0});
  }
};

class Embedding : public LayerWith<EmbeddingConfig> {
 public:
  std::string_view name() const override { return "embedding"; }
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape&, std::int64_t) const override {
    return config;
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const EmbeddingConfig& c = of(config);
    if (in.ids < 1)
      return Status(Code::invalid_argument, message("expects ids, got values ", in.to_string()));
    LayerPlan plan{{c.out}, {{"weight", in.ids, c.out, Init::normal, c.std}}};
    if (in.dims.empty()) return plan;
    if (in.count() > INT32_MAX / c.out)
      return Status(Code::invalid_argument, "gives more than 2^31-1 values");
    LOOM_ASSIGN(plan.out, Shape::of({in.count(), c.out}, Axis::steps));
    return plan;
  }

  Result<View> forward(const LayerConfig&, LayerContext& v, View x, View) const override {
    // Ids lie one below the other; those of a part of a row are values.
    if (v.emit.type(x) != ValueType::u32) x = v.emit.to_ids(v.emit.reshape(x, 1), v.in().ids);
    v.save("ids", x);
    const View y = v.emit.gather(v.weight("weight"), x);
    return v.emit.reshape(y, y.cols * v.in().count());
  }

  Result<View> backward(const LayerConfig&, LayerContext& v, View gy, View*) const override {
    const auto gw = v.gradient("weight");
    const std::int64_t steps = v.in().count();
    v.emit.embedding_grad(v.emit.reshape(gy, gy.cols / steps), v.saved("ids"), gw.to,
                          gw.accumulate);
    return View{};
  }
};

}  // namespace

void register_embedding(LayerList& layers) {
  static const Embedding type;
  layers.push_back(&type);
}

}  // namespace loom
