// Positions: a vector for every step of a sequence is added to it, learned (Gehring et al., arXiv
// 1705.03122, section 3.1) or of sines and cosines (Vaswani et al., arXiv 1706.03762, section 3.5).
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct PositionsConfig : LayerConfig {
  std::string kind = "learned";
  std::int64_t count = 0;
  double std = 0.02;
  template <class V>
  void fields(V& v) {
    v.about(
        "Adds a vector per position to the steps of a row [steps, features], or to rows that are "
        "positions of sequences, as language models have them. Parameter of those learned: "
        "`weight` [count, features].");
    v("kind", kind,
      {.doc = "`learned`, or `sinusoidal`: sin(p / 10000^(2i / features)) at feature 2i "
              "of position p, and its cosine at 2i + 1",
       .one_of = "learned, sinusoidal"});
    const When learned{"kind", kind, "learned"};
    v("count", count, {.doc = "positions; 0: the steps of a row", .min = 0, .only = learned});
    v("std", std, {.doc = "standard deviation of the initial vectors", .min = 0, .only = learned});
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
      return bad(
          message("expects rows of [steps, features], or of one position, got ", in.to_string()));
    LayerPlan plan{in, {}};
    if (in_row) plan.out.axis = Axis::steps;
    const std::int64_t features = in_row ? in.dims[1] : in.width;
    if (sinusoidal(c)) {
      if (features % 2 != 0 || features > 65536)
        return bad(message("sines and cosines need an even number of features, at most 65536, got ",
                           in.to_string()));
      return plan;
    }
    if (!in_row && c.count == 0)
      return bad("\"count\": rows are single positions here, say how many there are at most");
    const std::int64_t steps = in_row ? in.dims[0] : c.count, count = c.count > 0 ? c.count : steps;
    if (count < steps)
      return bad(message("\"count\": ", count, " positions for the ", steps, " steps of ",
                         in.to_string()));
    plan.params.push_back({"weight", count, features, Init::normal, c.std});
    return plan;
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const std::int64_t steps = in_row(v) ? v.in().dims[0] : 1;
    const View rows = v.emit.reshape(x, x.cols / steps), places = places_of(v, rows);
    v.save("places", places);
    const View y =
        v.emit.add(rows, sinusoidal(of(config)) ? waves(v, rows, places)
                                                : v.emit.gather(v.weight("weight"), places));
    return v.emit.reshape(y, y.cols * steps);
  }
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape&,
                            std::int64_t steps) const override {
    return changed(config, [&](PositionsConfig& c) {
      if (!sinusoidal(c) && c.count == 0) c.count = steps;
    });
  }
  std::string_view needs_all_rows(const LayerConfig&, const Shape& in) const override {
    return in.dims.size() == 2 ? ""
                               : "knows a row by its position, and those of a stream have no end";
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    if (sinusoidal(of(config))) return gy;
    const auto gw = v.gradient("weight");
    const std::int64_t steps = in_row(v) ? v.in().dims[0] : 1;
    v.emit.embedding_grad(v.emit.reshape(gy, gy.cols / steps), v.saved("places"), gw.to,
                          gw.accumulate);
    return gy;
  }

 private:
  static bool sinusoidal(const PositionsConfig& c) { return c.kind == "sinusoidal"; }
  // Rotary positions turn (0, 1) into (sin, cos): halves of a row, which are then interleaved.
  static View waves(LayerContext& v, View rows, View places) {
    ProgramBuilder& e = v.emit;
    const std::int64_t n = rows.cols, max = in_row(v) ? v.in().dims[0] : v.max_positions;
    const View units = e.like(rows, n);
    e.fill(ProgramBuilder::slice(units, 0, n / 2), 0);
    e.fill(ProgramBuilder::slice(units, n / 2, n / 2), 1);
    const View halves = e.rope(units, places, e.rope_table(RopeSpec{}, max, n, v.type), n, true);
    return e.transpose(halves, {1, 1, 1, 2, n / 2}, {0, 1, 2, 4, 3}, n);
  }
  static bool in_row(const LayerContext& v) { return v.in().dims.size() == 2; }
  static View places_of(LayerContext& v, View rows) {
    return in_row(v) ? v.emit.steps(v.emit.rows(rows), v.in().dims[0]) : v.positions();
  }
};

}  // namespace

void register_positions(LayerList& layers) {
  static const Positions type;
  layers.push_back(&type);
}

}  // namespace loom
