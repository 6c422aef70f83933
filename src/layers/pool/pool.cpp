// Max and average pooling over 1 to 3 dimensions of space, of a window or of everything.
#include "base/message.h"
#include "layers/pull.h"
#include "layers/spatial.h"

namespace loom {
namespace {

struct PoolConfig : SpatialConfig {
  PoolConfig() { kernel = {2}, stride = {0}, min_stride = 0; }
  bool ceil_mode = false, count_include_pad = true, global = false, average = false;
  template <class V>
  void fields(V& v) {
    if (average)
      v.about(
          "The mean of each window of [channels, length], [channels, height, width] or "
          "[channels, depth, height, width].");
    else
      v.about(
          "The largest value of each window of [channels, length], [channels, height, width] "
          "or [channels, depth, height, width].");
    spatial_fields(v);
    v("ceil_mode", ceil_mode, {.doc = "a last window that is partly outside counts too"});
    v("global", global, {.doc = "the window is the whole space, whatever the window's keys say"});
    if (average)
      v("count_include_pad", count_include_pad, {.doc = "padding counts in the divisor"});
  }
};

class Pool : public LayerWith<PoolConfig> {
 public:
  Pool(std::string_view name, std::size_t rank, bool average)
      : name_(name), rank_(rank), average_(average) {}
  std::string_view name() const override { return name_; }

  void prepare(PoolConfig& config) const override { config.average = average_; }
  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    LOOM_ASSIGN(const Window w, window(of(config), in));
    return LayerPlan{spatial_shape(w.channels, w.out, rank_), {}};
  }
  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const PoolConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, v.in()));
    if (!average_) v.save("x", x);
    return average_ ? v.emit.avg_pool(x, w, c.count_include_pad) : v.emit.max_pool(x, w);
  }
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const PoolConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, v.in()));
    if (v.pulls.on) return pull(v.emit, average_ ? View{} : v.saved("x"), gy, w);
    return average_ ? v.emit.avg_pool_back(gy, w, c.count_include_pad)
                    : v.emit.max_pool_back(v.saved("x"), gy, w);
  }

 private:
  // The mean gap of the windows that a value is in, or, by `x`, in which it is the largest.
  static View pull(ProgramBuilder& e, View x, View gap, const Window& w) {
    const std::int64_t places = w.positions(), taps = w.taps() / w.channels;
    const auto spread = [&](View y) {
      const View rows = e.transpose(y, {1, 1, 1, w.channels, places}, {0, 1, 2, 4, 3}, w.channels);
      return e.binary(rows, filled_row(e, e.type(y), 1, 1), Binary::mul,
                      {1, 1, 1, w.channels, taps}, {0, 0, 0, 1, 0}, {}, e.rows(rows));
    };
    View gaps = spread(gap), counts;
    if (x.valid()) {
      counts = combined(e, e.unfold(x, w), spread(e.max_pool(x, w)), Binary::equal);
      gaps = e.mul(gaps, counts);
    } else {
      e.fill(counts = e.temp(e.type(gap), Rows{places, kNone, kNone}, w.taps()), 1);
    }
    return combined(e, e.fold(gaps, w), pull_share(e, e.fold(counts, w)), Binary::mul);
  }
  // A stride of 0 is the kernel's, as PyTorch has it.
  Result<Window> window(PoolConfig c, const Shape& in) const {
    if (c.global) {
      if (in.dims.size() == rank_ + 1) c.kernel.assign(in.dims.begin() + 1, in.dims.end());
      c.stride = c.dilation = {1};
      c.padding = {0};
    } else if (c.stride == std::vector<std::int64_t>{0}) c.stride = c.kernel;
    LOOM_ASSIGN(Window w, window_of(c, in, rank_));
    for (std::size_t i = 0; i < 3; ++i)
      if (const std::int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1;
          w.pad[i] >= reach || w.pad_end[i] >= reach)
        return Status(Code::invalid_argument,
                      message("\"padding\" must be below the window's reach of ", reach,
                              ": a window would see nothing else"));
    LOOM_TRY(place_window(w, c.ceil_mode));
    return w;
  }
  std::string_view name_;
  std::size_t rank_;
  bool average_;
};

}  // namespace

void register_pool(LayerList& layers) {
  static const Pool types[] = {{"max_pool1d", 1, false}, {"max_pool2d", 2, false},
                               {"max_pool3d", 3, false}, {"avg_pool1d", 1, true},
                               {"avg_pool2d", 2, true},  {"avg_pool3d", 3, true}};
  for (const Pool& type : types) layers.push_back(&type);
}

}  // namespace loom
