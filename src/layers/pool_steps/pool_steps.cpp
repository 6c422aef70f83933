// Pooling over the steps of a row, of those within its length.
#include "base/message.h"
#include "layers/takes.h"

namespace loom {
namespace {

struct PoolStepsConfig : LayerConfig {
  std::string op = "mean";
  Names takes;
  template <class V>
  void fields(V& v) {
    v.about(
        "One vector from the steps of a row [steps, features]: their mean, maximum or sum, or the "
        "last of them.");
    v("op", op, {.doc = "which", .one_of = "mean, max, sum, last"});
    v("takes", takes,
      {.doc = "operands behind the first, in their order: `lengths`, steps of a row, an input of "
              "one id: those behind do not count, and without any the result is 0",
       .written = !takes.empty()});
  }
};

class PoolSteps : public LayerWith<PoolStepsConfig> {
 public:
  std::string_view name() const override { return "pool_steps"; }
  bool takes_operands() const override { return true; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& row, const Shape*,
                         ChildPlanner&) const override {
    const Names& takes = of(config).takes;
    LOOM_TRY(check_takes(takes, "lengths", row));
    const Shape& in = first_operand(row);
    if (in.ids > 0 || in.dims.size() != 2 || in.axis == Axis::channels)
      return Status(Code::invalid_argument,
                    message("expects rows of [steps, features], got ", in.to_string()));
    LOOM_TRY(check_lengths(row, place_of(takes, "lengths"), in.dims[0]));
    return LayerPlan{{in.dims[1]}, {}};
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View row, View) const override {
    ProgramBuilder& e = v.emit;
    const Sizes s = sizes(v);
    const std::string& op = of(config).op;
    const View x = operand(v.in(), row, 0), lengths = lengths_of(config, v, row);
    if (op == "max") return largest(v, x, lengths);
    const View shares = shares_of(op, e, x, lengths, s.steps);
    v.save("shares", shares);
    const View y = e.batched_matmul(
        shares, x, {1, 1, 1, s.features, s.steps, {0, 0, 0, 1}, {0, 0, s.features, 1}});
    return op == "mean" ? divided(v, y, lengths) : y;
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    ProgramBuilder& e = v.emit;
    const Sizes s = sizes(v);
    const std::string& op = of(config).op;
    View gx;
    if (op == "max") {
      if (const View any = v.saved("any"); any.valid()) gy = only_seen(e, any, gy);
      gx = e.transpose(e.reduce_back(v.saved("turned"), v.saved("y"), gy, Reduce::max, s.steps),
                       {1, 1, 1, s.features, s.steps}, {0, 1, 2, 4, 3}, s.features * s.steps);
    } else {
      if (op == "mean") gy = divided(v, gy, v.saved("count"));
      gx = e.batched_matmul(v.saved("shares"), gy,
                            {1, 1, s.steps, s.features, 1, {0, 0, 1, 0}, {0, 0, 0, 1}});
    }
    return joined_gradients(e, v.in(), {gx});
  }

 private:
  struct Sizes {
    std::int64_t steps, features;
  };
  static Sizes sizes(const LayerContext& v) {
    const Shape& in = first_operand(v.in());
    return {in.dims[0], in.dims[1]};
  }
  static View lengths_of(const LayerConfig& config, const LayerContext& v, View row) {
    const std::size_t i = place_of(of(config).takes, "lengths");
    return i > 0 ? operand(v.in(), row, i) : View{};
  }
  // What counts of each step: 1 or 0.
  static View shares_of(const std::string& op, ProgramBuilder& e, View x, View lengths,
                        std::int64_t steps) {
    if (lengths.valid() && op != "last") return seen_steps(e, lengths, steps);
    if (lengths.valid())
      return e.binary(lengths, step_numbers(e, e.type(x), steps), Binary::equal,
                      {1, 1, 1, 1, steps}, {}, {0, 0, 0, 0, 1}, e.rows(x));
    const View all = e.like(x, steps);
    e.fill(all, op == "last" ? 0 : 1);
    if (op == "last") e.fill(ProgramBuilder::slice(all, steps - 1, 1), 1);
    return all;
  }
  // By the number of steps, which is kept.
  static View divided(LayerContext& v, View y, View lengths) {
    ProgramBuilder& e = v.emit;
    View by = e.temp(e.type(y), {}, 1);
    e.fill(by, lengths.valid() ? 1 : static_cast<double>(sizes(v).steps));
    if (lengths.valid())
      by = e.binary(lengths, by, Binary::max, {1, 1, 1, 1, 1}, {}, {}, e.rows(y));
    v.save("count", lengths);
    return e.binary(y, by, Binary::div, {1, 1, 1, 1, y.cols}, {0, 0, 0, 0, 1}, {}, e.rows(y));
  }
  static View largest(LayerContext& v, View x, View lengths) {
    ProgramBuilder& e = v.emit;
    const Sizes s = sizes(v);
    View any;
    if (lengths.valid()) {
      const View low = e.like(x, x.cols);
      e.fill(low, e.type(x) == ValueType::f64 ? -__DBL_MAX__ : -static_cast<double>(__FLT_MAX__));
      const View seen = seen_steps(e, lengths, s.steps);
      x = e.select(spread_steps(e, seen, s.features), x, low);
      any = spread_steps(e, ProgramBuilder::slice(seen, 0, 1), s.features);
    }
    const View transposed = e.transpose(x, {1, 1, 1, s.steps, s.features}, {0, 1, 2, 4, 3}, x.cols);
    const View y = e.reduce(transposed, Reduce::max, s.steps);
    v.save("turned", transposed);
    v.save("y", y);
    v.save("any", any);
    return any.valid() ? only_seen(e, any, y) : y;
  }
};

}  // namespace

void register_pool_steps(LayerList& layers) {
  static const PoolSteps type;
  layers.push_back(&type);
}

}  // namespace loom
