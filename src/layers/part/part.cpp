// Part: one operand of a row that has several.
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct PartConfig : LayerConfig {
  std::string of;
  std::int64_t index = -1;
  template <class V>
  void fields(V& v) {
    v.about(
        "One of several operands of a row: `of` names a part of the network's input, or "
        "`index` counts.");
    v("of", of, {.doc = "its name"});
    v("index", index, {.doc = "which one, from 0; -1: that of the name `of`", .min = -1});
  }
};

class Part : public LayerWith<PartConfig> {
 public:
  std::string_view name() const override { return "part"; }
  bool takes_operands() const override { return true; }
  Result<ConfigPtr> by_step(const ConfigPtr& config, const Shape&, std::int64_t) const override {
    return config;
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_ASSIGN(const Place place, place_of(of(config), in));
    LayerPlan plan{in.parts[place.index], {}};
    plan.out.name.clear();
    return plan;
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    LOOM_ASSIGN(const Place place, place_of(of(config), v.in()));
    v.save("x", x);
    return ProgramBuilder::slice(x, place.column, v.in().parts[place.index].count());
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    LOOM_ASSIGN(const Place place, place_of(of(config), v.in()));
    const View x = v.saved("x"), gx = v.emit.temp(v.emit.type(gy), v.emit.rows(gy), x.cols);
    v.emit.fill(gx, 0);
    v.emit.copy_to(gy, ProgramBuilder::slice(gx, place.column, gy.cols));
    return gx;
  }

 private:
  struct Place {
    std::size_t index = 0;
    std::int64_t column = 0;
  };
  static Result<Place> place_of(const PartConfig& c, const Shape& in) {
    auto bad = [](std::string what) { return Status(Code::invalid_argument, std::move(what)); };
    if (in.parts.empty())
      return bad(message("expects a row of several operands, got ", in.to_string()));
    if (c.of.empty() == (c.index < 0))
      return bad("give \"of\", the name of a part, or its \"index\"");
    Place place;
    std::vector<std::string_view> names;
    for (; place.index < in.parts.size(); ++place.index) {
      const Shape& part = in.parts[place.index];
      if (c.of.empty() ? c.index == static_cast<std::int64_t>(place.index) : c.of == part.name)
        return place;
      names.push_back(part.name);
      place.column += part.count();
    }
    const std::string got = in.to_string() + " arrive";
    if (c.of.empty()) return bad(message("\"index\" ", c.index, ": ", got));
    return bad(message("\"of\": no part is named \"", c.of, "\", ", got, nearest(c.of, names)));
  }
};

}  // namespace

void register_part(LayerList& layers) {
  static const Part type;
  layers.push_back(&type);
}

}  // namespace loom
