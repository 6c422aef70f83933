// Norms of rows of [channels, space...]: over a batch (Ioffe and Szegedy, arXiv 1502.03167), over
// each channel (Ulyanov et al., arXiv 1607.08022), over groups of channels (Wu and He, arXiv
// 1803.08494). Then a gain and a bias per channel. A row without dimensions is channels of one
// value.
#include "base/message.h"
#include "layers/pull.h"

namespace loom {
namespace {

std::int64_t channels_of(const Shape& in) { return in.dims.empty() ? in.width : in.dims[0]; }
std::int64_t space_of(const Shape& in) { return in.width / channels_of(in); }

Status expect_channels(const Shape& in) {
  LOOM_TRY(expect_values(in));
  if (in.axis != Axis::steps) return {};
  return Status(Code::invalid_argument,
                message("works on [channels, space...], and the first dimension of ",
                        in.to_string(), " is steps: put a permute before it"));
}

void add_affine(LayerPlan& plan, std::int64_t channels) {
  plan.params.push_back({"gain", 1, channels, Init::ones, 0, false});
  plan.params.push_back({"bias", 1, channels, Init::zeros, 0, false});
}
View affine(LayerContext& v, View normal, bool on) {
  return on ? v.emit.channel_affine(normal, v.weight("gain"), v.weight("bias"), space_of(v.in()))
            : normal;
}
// Gradients of gain and bias from the sums of gy and gy * normal per channel.
void learn_affine(LayerContext& v, View sums, std::int64_t channels) {
  const auto gg = v.gradient("gain"), gb = v.gradient("bias");
  v.emit.bias_grad(ProgramBuilder::slice(sums, channels, channels), gg.to, gg.accumulate);
  v.emit.bias_grad(ProgramBuilder::slice(sums, 0, channels), gb.to, gb.accumulate);
}

struct BatchNormConfig : LayerConfig {
  double eps = 1e-5, momentum = 0.1;
  bool affine = true;
  template <class V>
  void fields(V& v) {
    v.about(
        "Channels of [channels, space...] normalized by the batch's statistics while training, "
        "by running ones otherwise (arXiv 1502.03167); without dimensions each value is a "
        "channel. Training takes the statistics of the micro-batch's rows, and each update "
        "moves `running_mean` and `running_var` (of a sample, as PyTorch has it) towards those "
        "of the last micro-batch.");
    v("eps", eps, {.doc = "added to the variance before the root", .min = 1e-12, .max = 1});
    v("momentum", momentum,
      {.doc = "what a batch weighs in the running mean and variance", .min = 0, .max = 1});
    v("affine", affine, {.doc = "learns a gain and a bias per channel"});
  }
};

class BatchNorm : public LayerWith<BatchNormConfig> {
 public:
  std::string_view name() const override { return "batch_norm"; }
  std::string_view row_dependence(const LayerConfig&, const Shape&) const override {
    return "takes statistics of all rows";
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const BatchNormConfig& c = of(config);
    LOOM_TRY(expect_channels(in));
    LayerPlan plan{in, {}};
    if (c.affine) add_affine(plan, channels_of(in));
    plan.params.push_back({"running_mean", 1, channels_of(in), Init::zeros, 0, false});
    plan.params.push_back({"running_var", 1, channels_of(in), Init::ones, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const BatchNormConfig& c = of(config);
    const std::int64_t channels = channels_of(v.in()), space = space_of(v.in());
    if (!v.learning || v.frozen) {
      const View gain = c.affine ? v.weight("gain") : View{},
                 bias = c.affine ? v.weight("bias") : View{};
      const auto [scale, shift] =
          v.emit.fold_norm(v.weight("running_mean"), v.weight("running_var"), gain, bias, c.eps);
      v.save("scale", scale);
      return v.emit.channel_affine(x, scale, shift, space);
    }
    const View moments = v.emit.channel_moments(x, space);
    const View mean = ProgramBuilder::slice(moments, 0, channels);
    const auto [scale, shift] =
        v.emit.fold_norm(mean, ProgramBuilder::slice(moments, channels, channels), {}, {}, c.eps);
    const std::int64_t places = v.emit.rows(x).constant * space;
    v.learn_average("running_mean", mean, c.momentum, places);
    v.learn_average("running_var", ProgramBuilder::slice(moments, 2 * channels, channels),
                    c.momentum, places);
    const View normal = v.emit.channel_affine(x, scale, shift, space);
    v.save("scale", scale);
    v.save("normal", normal);
    return affine(v, normal, c.affine);
  }

  // With n the normal values: gx = scale * (g - mean(g) - n * mean(g * n)), where g = gy * gain.
  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const std::int64_t channels = channels_of(v.in()), space = space_of(v.in());
    if (v.frozen) return v.emit.channel_affine(gy, v.saved("scale"), {}, space);
    const View normal = v.saved("normal"), sums = v.emit.channel_sums(gy, normal, space);
    View scale = v.saved("scale");
    if (of(config).affine) {
      learn_affine(v, sums, channels);
      if (v.pulls.on) return gain_pull(v.emit, gy, v.weight("gain"), space);
      scale = v.emit.mul(scale, v.weight("gain"));
    }
    if (v.pulls.on) return gy;
    const View minus = v.emit.scale(scale, -1);
    const View through_mean =
        v.emit.mul(minus, ProgramBuilder::slice(sums, 2 * channels, channels));
    const View through_variance =
        v.emit.mul(minus, ProgramBuilder::slice(sums, 3 * channels, channels));
    return v.emit.add(v.emit.channel_affine(gy, scale, {}, space),
                      v.emit.channel_affine(normal, through_variance, through_mean, space));
  }
};

struct GroupNormConfig : LayerConfig {
  bool instance = false, affine = true;
  std::int64_t groups = 1;
  double eps = 1e-5;
  template <class V>
  void fields(V& v) {
    if (instance) v.about("Each channel normalized by itself (arXiv 1607.08022).");
    else {
      v.about("Each of `groups` of channels normalized by itself (arXiv 1803.08494).");
      v("groups", groups, {.doc = "number of groups, which divides the channels", .min = 1});
    }
    v("eps", eps, {.doc = "added to the variance before the root", .min = 1e-12, .max = 1});
    v("affine", affine, {.doc = "learns a gain and a bias per channel"});
  }
};

class GroupNorm : public LayerWith<GroupNormConfig> {
 public:
  explicit GroupNorm(bool instance) : instance_(instance) {}
  std::string_view name() const override { return instance_ ? "instance_norm" : "group_norm"; }

  void prepare(GroupNormConfig& config) const override {
    config.instance = instance_;
    config.affine = !instance_;  // PyTorch's defaults
  }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const GroupNormConfig& c = of(config);
    LOOM_TRY(expect_channels(in));
    const std::int64_t channels = channels_of(in);
    auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
    if (channels % c.groups != 0)
      return bad(message("\"groups\" must divide ", channels, " channels, got ", c.groups));
    if (size(c, in) == 1)
      return bad(message(
          "a norm over one value is always 0: expects an input of [channels, space...], got ",
          in.to_string()));
    LayerPlan plan{in, {}};
    if (c.affine) add_affine(plan, channels);
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const GroupNormConfig& c = of(config);
    const std::int64_t n = size(c, v.in());
    const View normal = v.emit.layer_norm(x, filled(v, n, 1), filled(v, n, 0), n, c.eps);
    v.save("x", x);
    v.save("normal", normal);
    return affine(v, normal, c.affine);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const GroupNormConfig& c = of(config);
    const std::int64_t n = size(c, v.in()), space = space_of(v.in());
    if (c.affine) {
      learn_affine(v, v.emit.channel_sums(gy, v.saved("normal"), space), channels_of(v.in()));
      if (v.pulls.on) return gain_pull(v.emit, gy, v.weight("gain"), space);
      gy = v.emit.channel_affine(gy, v.weight("gain"), {}, space);
    }
    if (v.pulls.on) return gy;
    return v.emit.layer_norm_back(v.saved("x"), filled(v, n, 1), gy, n, c.eps);
  }

 private:
  // Values of a group, which is normal by itself.
  static std::int64_t size(const GroupNormConfig& c, const Shape& in) {
    return in.width / (c.instance ? channels_of(in) : c.groups);
  }
  static View filled(LayerContext& v, std::int64_t n, double value) {
    const View y = v.emit.temp(v.type, Rows{}, n);
    v.emit.fill(y, value);
    return y;
  }
  bool instance_;
};

}  // namespace

void register_channel_norm(LayerList& layers) {
  static const BatchNorm batch;
  static const GroupNorm instance(true), group(false);
  layers.push_back(&batch);
  layers.push_back(&instance);
  layers.push_back(&group);
}

}  // namespace loom
