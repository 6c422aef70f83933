// Functions of single values, of pairs with broadcasting, and a choice between two: what graphs of
// other frameworks hold beside layers.
#include "layers/tensor/layers.h"

namespace loom {
namespace {

struct UnaryConfig : LayerConfig {
  Unary op = Unary::abs;
  double a = 0, b = 0;
  template <class V>
  void fields(V& v) {
    v.about("A function of single values, with up to two parameters.");
    v("op", op, {.doc = "the function ([kinds](../../src/ops/graph/kinds.h))", .required = true});
    v("a", a, {.doc = "its first parameter"});
    v("b", b, {.doc = "its second parameter"});
  }
};

class UnaryLayer : public LayerWith<UnaryConfig> {
 public:
  std::string_view name() const override { return "unary"; }
  Works works() const override { return Works::on_values; }
  bool takes_missing(const LayerConfig& config) const override {
    return of(config).op == Unary::is_nan;
  }
  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(expect_values(in));
    return LayerPlan{in, {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const UnaryConfig& c = of(config);
    v.save("x", x);
    return v.emit.unary(x, c.op, c.a, c.b);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const UnaryConfig& c = of(config);
    const Unary kind = c.op;
    if (!differentiable(kind)) return View{};
    return v.emit.unary_back(v.saved("x"), gy, kind, c.a, c.b);
  }
};

struct ActivationConfig : LayerConfig {
  Activation activation = Activation::relu;
  template <class V>
  void fields(V& v) {
    v.about("A function of each value by itself.");
    v("activation", activation, {.doc = "the function"});
  }
};

class ActivationLayer : public LayerWith<ActivationConfig> {
 public:
  std::string_view name() const override { return "activation"; }
  Works works() const override { return Works::on_values; }
  Result<LayerPlan> plan(const LayerConfig&, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(expect_values(in));
    return LayerPlan{in, {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    v.save("x", x);
    return v.emit.activation(x, of(config).activation);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    return v.emit.activation_back(v.saved("x"), gy, of(config).activation);
  }
};

// With two shapes both operands arrive; with one the other is the parameter "value" of shape
// `constant`.
struct BinaryConfig : LayerConfig {
  Binary op = Binary::add;
  OperandShapes shapes;
  Dims constant;
  bool constant_first = false;
  template <class V>
  void fields(V& v) {
    v.about(
        "Two operands that arrive side by side, spread as NumPy does; or one, and a learned "
        "one, the parameter `value`.");
    v("op", op, {.doc = "the function ([kinds](../../src/ops/graph/kinds.h))", .required = true});
    v("constant", constant,
      {.doc = "shape of the learned operand, where only one arrives", .min = 1});
    v("constant_first", constant_first, {.doc = "the learned operand is the first"});
    v("shapes", shapes.list,
      {.doc = "of both operands, or of the one; none: two that come as "
              "`operands`",
       .min = 1,
       .written = !shapes.list.empty()});
  }
  bool learned() const { return shapes.list.size() == 1; }
};

class BinaryLayer : public LayerWith<BinaryConfig> {
 public:
  std::string_view name() const override { return "binary"; }
  bool takes_operands() const override { return true; }
  // Of two alike: nothing is spread over steps.
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape& in,
                            std::int64_t steps) const override {
    const bool alike = in.parts.size() == 2 && in.parts[0].axis == in.parts[1].axis &&
                       in.parts[0].width == in.parts[1].width && of(*config).shapes.list.empty();
    return alike ? config : LayerType::by_step(config, in, steps);
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(check_operands(of(config).shapes, in));
    const BinaryConfig c = with_shapes(of(config), in);
    LOOM_TRY(check_shapes(c.shapes, c.learned() ? 1 : 2, in));
    if (!c.learned() && !c.constant.empty())
      return Status(Code::invalid_argument, "\"constant\" goes with one shape, two are given");
    LOOM_TRY(check_size("constant", c.constant));
    LOOM_ASSIGN(const Dims out, broadcast(first(c), second(c)));
    LOOM_TRY(spread(out, {first(c), second(c)}).status());
    LOOM_ASSIGN(Shape shape, shape_of(out, in.parts));
    LayerPlan plan{std::move(shape), {}};
    if (c.learned())
      plan.params.push_back({"value", 1, elements(c.constant), Init::zeros, 0, false});
    return plan;
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const BinaryConfig c = with_shapes(of(config), v.in());
    const auto [a, b] = operands(c, v, x);
    LOOM_ASSIGN(const Dims out, broadcast(first(c), second(c)));
    LOOM_ASSIGN(const Spread s, spread(out, {first(c), second(c)}));
    v.save("x", x);
    return v.emit.binary(a, b, c.op, s.sizes, s.steps[0], s.steps[1], v.emit.rows(x));
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const BinaryConfig c = with_shapes(of(config), v.in());
    const Binary kind = c.op;
    if (!differentiable(kind)) return View{};
    const auto [a, b] = operands(c, v, v.saved("x"));
    LOOM_ASSIGN(const Dims out, broadcast(first(c), second(c)));
    LOOM_ASSIGN(const Spread s, spread(out, {first(c), second(c)}));
    const auto grads = v.emit.binary_back(a, b, gy, kind, s.sizes, s.steps[0], s.steps[1]);
    LOOM_ASSIGN(const View ga, sum_spread(v.emit, grads.first, out, first(c)));
    LOOM_ASSIGN(const View gb, sum_spread(v.emit, grads.second, out, second(c)));
    if (c.learned()) {
      const auto gv = v.gradient("value");
      v.emit.bias_grad(c.constant_first ? ga : gb, gv.to, gv.accumulate);
      return c.constant_first ? gb : ga;
    }
    return joined(v.emit, {ga, gb});
  }

 private:
  static const Dims& first(const BinaryConfig& c) {
    return c.learned() && c.constant_first ? c.constant : c.shapes.list[0];
  }
  static const Dims& second(const BinaryConfig& c) {
    return !c.learned() ? c.shapes.list[1] : c.constant_first ? c.shapes.list[0] : c.constant;
  }
  static std::pair<View, View> operands(const BinaryConfig& c, LayerContext& v, View x) {
    if (!c.learned()) return {part(x, c.shapes, 0), part(x, c.shapes, 1)};
    const View value = v.weight("value");
    return c.constant_first ? std::pair{value, x} : std::pair{x, value};
  }
};

// where(c, a, b)
struct SelectConfig : LayerConfig {
  OperandShapes shapes;
  template <class V>
  void fields(V& v) {
    v.about("`numpy.where` of three operands that arrive side by side.");
    v("shapes", shapes.list,
      {.doc = "of condition, then, otherwise; none: three that come as "
              "`operands`",
       .min = 1,
       .written = !shapes.list.empty()});
  }
};

class SelectLayer : public LayerWith<SelectConfig> {
 public:
  std::string_view name() const override { return "select"; }
  bool takes_operands() const override { return true; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_TRY(check_operands(of(config).shapes, in));
    const SelectConfig c = with_shapes(of(config), in);
    LOOM_TRY(check_shapes(c.shapes, 3, in));
    LOOM_ASSIGN(const Dims out, result(c));
    LOOM_TRY(spread(out, c.shapes.list).status());
    LOOM_ASSIGN(Shape shape, shape_of(out, in.parts));
    return LayerPlan{std::move(shape), {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const SelectConfig c = with_shapes(of(config), v.in());
    LOOM_ASSIGN(const View condition, spread_part(c, v.emit, x, 0));
    LOOM_ASSIGN(const View a, spread_part(c, v.emit, x, 1));
    LOOM_ASSIGN(const View b, spread_part(c, v.emit, x, 2));
    v.save("condition", condition);
    return v.emit.select(condition, a, b);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const SelectConfig c = with_shapes(of(config), v.in());
    LOOM_ASSIGN(const Dims out, result(c));
    const View none = v.emit.temp(v.emit.type(gy), v.emit.rows(gy), gy.cols),
               nothing = v.emit.temp(v.emit.type(gy), v.emit.rows(gy), elements(c.shapes.list[0]));
    v.emit.fill(none, 0);
    v.emit.fill(nothing, 0);
    LOOM_ASSIGN(const View ga, sum_spread(v.emit, v.emit.select(v.saved("condition"), gy, none),
                                          out, c.shapes.list[1]));
    LOOM_ASSIGN(const View gb, sum_spread(v.emit, v.emit.select(v.saved("condition"), none, gy),
                                          out, c.shapes.list[2]));
    return joined(v.emit, {nothing, ga, gb});
  }

 private:
  static Result<Dims> result(const SelectConfig& c) {
    LOOM_ASSIGN(const Dims two, broadcast(c.shapes.list[0], c.shapes.list[1]));
    return broadcast(two, c.shapes.list[2]);
  }
  // An operand spread to the shape of the result: it and itself by `max`.
  static Result<View> spread_part(const SelectConfig& c, ProgramBuilder& emit, View x,
                                  std::size_t i) {
    const View own = part(x, c.shapes, i);
    LOOM_ASSIGN(const Dims out, result(c));
    if (elements(c.shapes.list[i]) == elements(out)) return own;
    LOOM_ASSIGN(const Spread s, spread(out, {c.shapes.list[i]}));
    return emit.binary(own, own, Binary::max, s.sizes, s.steps[0], s.steps[0], emit.rows(x));
  }
};

}  // namespace

void register_elementwise(LayerList& layers) {
  static const UnaryLayer unary;
  static const ActivationLayer activation;
  static const BinaryLayer binary;
  static const SelectLayer select;
  layers.insert(layers.end(), {&unary, &activation, &binary, &select});
}

}  // namespace loom
