// Positions: a learned vector for every step of a sequence is added to it (Gehring et al., arXiv 1705.03122, section 3.1).
#include "layers/layer.h"

namespace loom {
namespace {

struct PositionsConfig : LayerConfig {
  std::int64_t count = 0;
  double std = 0.02;
  template <class V>
  void fields(V& v) {
    v.about("Adds a learned vector per position to the steps of a row [steps, features], or to rows "
            "that are positions of sequences, as language models have them. Parameter: `weight` "
            "[count, features].");
    v("count", count, {.doc = "positions; 0: the steps of a row", .min = 0});
    v("std", std, {.doc = "standard deviation of the initial vectors", .min = 0});
  }
};

class Positions : public LayerWith<PositionsConfig> {
 public:
  std::string_view name() const override { return "positions"; }
  Works works() const override { return Works::on_steps; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const PositionsConfig& c = of(config);
    auto bad = [](std::string what) { return Status(Code::invalid_argument, std::move(what)); };
    LOOM_TRY(expect_values(in));
    const bool in_row = in.dims.size() == 2 && in.axis != Axis::channels;
    if (!in_row && in.axis != Axis::positions)
      return bad("expects rows of [steps, features], or of one position, got " + in.to_string());
    if (!in_row && c.count == 0)
      return bad("\"count\": rows are single positions here, say how many there are at most");
    const std::int64_t steps = in_row ? in.dims[0] : c.count, count = c.count > 0 ? c.count : steps;
    if (count < steps)
      return bad("\"count\": " + std::to_string(count) + " positions for the " +
                 std::to_string(steps) + " steps of " + in.to_string());
    LayerPlan plan{in, {{"weight", count, in_row ? in.dims[1] : in.width, Init::normal, c.std}}};
    if (in_row) plan.out.axis = Axis::steps;
    return plan;
  }
  Result<View> forward(const LayerConfig&, Visit& v, View x, View) const override {
    const std::int64_t steps = in_row(v) ? v.in().dims[0] : 1;
    const View rows = v.emit.reshape(x, x.cols / steps), places = places_of(v, rows);
    v.keep("places", places);
    const View y = v.emit.add(rows, v.emit.gather(v.weight("weight"), places));
    return v.emit.reshape(y, y.cols * steps);
  }
  Result<View> backward(const LayerConfig&, Visit& v, View gy, View*) const override {
    const auto gw = v.gradient("weight");
    const std::int64_t steps = in_row(v) ? v.in().dims[0] : 1;
    v.emit.gather_add(v.emit.reshape(gy, gy.cols / steps), v.kept("places"), gw.to, gw.accumulate);
    return gy;
  }

 private:
  static bool in_row(const Visit& v) { return v.in().dims.size() == 2; }
  static View places_of(Visit& v, View rows) {
    return in_row(v) ? v.emit.steps(v.emit.rows(rows), v.in().dims[0]) : v.positions();
  }
};

}  // namespace

void register_positions(LayerList& layers) {
  static const Positions type;
  layers.push_back(&type);
}

}  // namespace loom
