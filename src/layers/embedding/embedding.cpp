// Embedding: row id of a table.
#include "layers/layer.h"

namespace loom {
namespace {

struct EmbeddingConfig : LayerConfig {
  std::int64_t out = 0;
  double std = 0.02;
  template <class V>
  void fields(V& v) {
    v.about("A row of `out` values per id; the input's ids say how many there are. Parameter: "
            "`weight` [ids, out].");
    v("out", out, {.doc = "values per id", .min = 1, .required = true});
    v("std", std, {.doc = "standard deviation of the initial table", .min = 0});
  }
};

class Embedding : public LayerWith<EmbeddingConfig> {
 public:
  std::string_view name() const override { return "embedding"; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*, ChildPlanner&) const override {
    const EmbeddingConfig& c = of(config);
    if (in.ids < 1) return Status(Code::invalid_argument, "expects ids, got rows of " + std::to_string(in.width) + " values");
    return LayerPlan{{c.out}, {{"weight", in.ids, c.out, Init::normal, c.std}}};
  }

  Result<View> forward(const LayerConfig&, Visit& v, View x, View) const override {
    v.keep("ids", x);
    return v.emit.gather(v.weight("weight"), x);
  }

  Result<View> backward(const LayerConfig&, Visit& v, View gy, View*) const override {
    const auto gw = v.gradient("weight");
    v.emit.gather_add(gy, v.kept("ids"), gw.to, gw.accumulate);
    return View{};
  }
};

}  // namespace

void register_embedding(LayerList& layers) {
  static const Embedding type;
  layers.push_back(&type);
}

}  // namespace loom
