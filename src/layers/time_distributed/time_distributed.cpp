// TimeDistributed: a row is `count` equal parts, and its one layer sees every part as a row of its
// own (a batch inside of a row; a layer at every step). What the layer gives is joined again.
#include "base/message.h"
#include "layers/layer.h"

namespace loom {
namespace {

struct TimeDistributedConfig : LayerConfig {
  std::int64_t count = 0;
  template <class V>
  void fields(V& v) {
    v.about("One layer applied to every part of the row: a part is a row to it.");
    v("count", count, {.doc = "parts; 0: the first dimension of the row", .min = 0});
  }
};

class TimeDistributed : public LayerWith<TimeDistributedConfig> {
 public:
  std::string_view name() const override { return "time_distributed"; }
  bool is_container() const override { return true; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner& children) const override {
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    if (children.count() != 1)
      return bad(
          message("holds one layer, got ", children.count(), ": put several into a sequential"));
    LOOM_TRY(expect_values(in));
    const std::int64_t count = parts(of(config), in);
    if (count < 1 || in.width % count != 0)
      return bad(message("cannot cut ", in.to_string(), " into ", count,
                         " parts: set \"count\", or give the row dimensions"));
    Shape part{in.width / count};
    if (in.dims.size() > 1 && in.dims[0] == count)
      part.dims.assign(in.dims.begin() + 1, in.dims.end());
    LOOM_ASSIGN(const Shape out, children.plan(0, part, nullptr));
    if (out.width > INT32_MAX / count) return bad("gives more than 2^31-1 values");
    Shape whole{out.width * count, 0, {count}};
    if (in.axis == Axis::steps && in.dims[0] == count) whole.axis = Axis::steps;
    if (out.dims.empty()) whole.dims.push_back(out.width);
    else whole.dims.insert(whole.dims.end(), out.dims.begin(), out.dims.end());
    return LayerPlan{whole, {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const std::int64_t count = parts(of(config), v.in());
    LOOM_ASSIGN(const View y, v.child_forward(0, v.emit.reshape(x, x.cols / count), {}));
    return v.emit.reshape(y, y.cols * count);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const std::int64_t count = parts(of(config), v.in());
    LOOM_ASSIGN(const View gx, v.child_backward(0, v.emit.reshape(gy, gy.cols / count), nullptr));
    return gx.valid() ? v.emit.reshape(gx, gx.cols * count) : gx;
  }

 private:
  static std::int64_t parts(const TimeDistributedConfig& c, const Shape& in) {
    return c.count > 0 ? c.count : in.dims.empty() ? 0 : in.dims[0];
  }
};

}  // namespace

void register_time_distributed(LayerList& layers) {
  static const TimeDistributed type;
  layers.push_back(&type);
}

}  // namespace loom
