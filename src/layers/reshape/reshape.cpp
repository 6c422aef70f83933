// Reshape and flatten: the same values, counted in the same order, arranged in other dimensions.
// They cost nothing.
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct ReshapeConfig : LayerConfig {
  std::vector<std::int64_t> dims;
  template <class V>
  void fields(V& v) {
    v.about("The same values, counted in the same order, with other dimensions.");
    v("dims", dims,
      {.doc = "the new dimensions of a row; one of them may be -1: what is left",
       .min = -1,
       .required = true});
  }
};

class Reshape : public LayerWith<ReshapeConfig> {
 public:
  std::string_view name() const override { return "reshape"; }
  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    LOOM_TRY(expect_values(in));
    std::vector<std::int64_t> dims = of(config).dims;
    std::int64_t known = 1, *open = nullptr;
    for (std::int64_t& d : dims) {
      if (d == -1 && !open) open = &d;
      else if (d < 1 || d > INT32_MAX / known)
        return bad("\"dims\": each must be at least 1, one may be -1");
      else known *= d;
    }
    if (open && in.width % known == 0) *open = in.width / known;
    const auto cannot = [&](const std::string& as) {
      return bad(message("cannot arrange ", in.to_string(), " as ", as));
    };
    if (open && *open == -1) return cannot("blocks of " + std::to_string(known));
    LOOM_ASSIGN(Shape out, Shape::of(dims));
    if (out.width != in.width) return cannot(out.to_string());
    return LayerPlan{std::move(out), {}};
  }
  Result<View> forward(const LayerConfig&, LayerContext&, View x, View) const override { return x; }
  Result<View> backward(const LayerConfig&, LayerContext&, View gy, View*) const override {
    return gy;
  }
};

struct FlattenConfig : LayerConfig {
  template <class V>
  void fields(V& v) {
    v.about("Forgets the dimensions of a row.");
  }
};

class Flatten : public LayerWith<FlattenConfig> {
 public:
  std::string_view name() const override { return "flatten"; }
  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(expect_values(in));
    return LayerPlan{{in.width}, {}};
  }
  Result<View> forward(const LayerConfig&, LayerContext&, View x, View) const override { return x; }
  Result<View> backward(const LayerConfig&, LayerContext&, View gy, View*) const override {
    return gy;
  }
};

}  // namespace

void register_reshape(LayerList& layers) {
  static const Reshape reshape;
  static const Flatten flatten;
  layers.push_back(&reshape);
  layers.push_back(&flatten);
}

}  // namespace loom
