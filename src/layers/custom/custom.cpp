// Custom: a layer that was registered by its host (ops/calls/custom_layer.h).
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct CustomConfig : LayerConfig {
  std::string layer;
  std::int64_t version = 1;
  AnyJson config;
  CustomLayerPtr registered;
  template <class V>
  void fields(V& v) {
    v.about(
        "A layer that the program registered, in its own language (`docs/guide/own-layers.md`): "
        "on the CPU alone. Its parameters are what its plan says, in f32 or f64 whatever the "
        "cell's `dtype` is.");
    v("layer", layer, {.doc = "the registered name, `acme.swirl`", .required = true});
    v("version", version, {.doc = "the author's version of it", .min = 1, .max = 0x7fffffff});
    v("config", config, {.doc = "what the layer itself reads: any JSON"});
  }
};

class Custom : public LayerWith<CustomConfig> {
 public:
  std::string_view name() const override { return "custom"; }
  bool on_cpu_alone() const override { return true; }

  Result<ConfigPtr> parse(const Json& cell) const override {
    auto config = std::make_shared<CustomConfig>();
    FieldReader reader(cell);
    config->fields(reader);
    LOOM_TRY(finish_layer(reader));
    LOOM_ASSIGN(config->registered,
                find_custom_layer(config->layer, static_cast<std::int32_t>(config->version)));
    return ConfigPtr(std::move(config));
  }
  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const CustomConfig& c = of(config);
    LOOM_TRY(expect_values(in));
    LOOM_ASSIGN(const CallPlan planned, plan_call(*c.registered, call_of(c, in)));
    LayerPlan plan;
    // A sequence stays one where its first dimension does.
    const bool keeps = planned.out.size() > 1 && planned.out.size() == in.dims.size() &&
                       planned.out[0] == in.dims[0];
    LOOM_ASSIGN(plan.out, Shape::of(planned.out, keeps ? in.axis : Axis::none));
    if (plan.out.dims.size() == 1) plan.out.dims.clear();
    for (const CallParam& p : planned.params) {
      const Init init = p.init == "zeros"  ? Init::zeros
                        : p.init == "ones" ? Init::ones
                                           : Init::normal;
      plan.params.push_back({p.role, p.rows, p.cols, init, p.std, false});
    }
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const CustomConfig& c = of(config);
    const bool f64 = v.type == ValueType::f64;
    if (f64 ? !c.registered->f64 : !c.registered->f32)
      return Status(Code::unsupported,
                    message(c.layer, " computes in ", (f64 ? "f32" : "f64"),
                            " alone: give its cell the dtype ", (f64 ? "f32" : "f64")));
    const Call call = call_of(c, v.in(), v.path());
    LOOM_ASSIGN(const CallPlan plan, plan_call(*c.registered, call));
    const View y = v.emit.call(v.emit.add_call(call), x, weights(v, plan), plan.width);
    v.save("x", x);
    v.save("y", y);
    return y;
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const CustomConfig& c = of(config);
    const Call call = call_of(c, v.in(), v.path());
    LOOM_ASSIGN(const CallPlan plan, plan_call(*c.registered, call));
    const View x = v.saved("x");
    if (!c.registered->differentiable) {
      // Of the network's input nobody asks for a gradient.
      if (plan.params.empty() && v.emit.of(x).kind == BufferKind::input) return View{};
      return Status(
          Code::unsupported,
          message(c.layer, " at ", v.path(),
                  " has no backward: neither it nor what comes before it can be trained"));
    }
    std::vector<View> sums;
    for (const CallParam& p : plan.params) sums.push_back(v.emit.temp(v.type, {p.rows}, p.cols));
    const View gx =
        v.emit.call_back(v.emit.add_call(call), x, v.saved("y"), gy, weights(v, plan), sums);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto g = v.gradient(plan.params[i].role);
      const bool more = g.accumulate == Accumulate::yes;
      v.emit.copy_to(more ? v.emit.add(g.to, sums[i]) : sums[i], g.to);
    }
    return gx;
  }

  std::string_view row_dependence(const LayerConfig& config, const Shape&) const override {
    return of(config).registered->row_dependent ? "is registered as one whose rows depend on others"
                                                : "";
  }

 private:
  static Call call_of(const CustomConfig& c, const Shape& in, std::string_view path = {}) {
    Call call{c.layer, static_cast<std::int32_t>(c.version), c.config.json.dump(), in.dims,
              std::string(path)};
    if (call.dims.empty()) call.dims.push_back(in.width);
    return call;
  }
  static std::vector<View> weights(LayerContext& v, const CallPlan& plan) {
    std::vector<View> list;
    for (const CallParam& p : plan.params) list.push_back(v.weight(p.role));
    return list;
  }
};

}  // namespace

void register_custom(LayerList& layers) {
  static const Custom type;
  layers.push_back(&type);
}

}  // namespace loom
