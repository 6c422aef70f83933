// Convolutions (cross-correlations, as the field has them) over 1 to 3 dimensions of space and
// their transposes. A row is channels x space. The window is unfolded into rows, which a matrix
// product takes in the arithmetic of the cell's dtype: weight [filters, channels / groups x
// kernel].
#include "base/message.h"
#include "layers/pull.h"
#include "layers/spatial.h"

namespace loom {
namespace {

struct ConvConfig : SpatialConfig {
  std::int64_t filters = 0, groups = 1;
  bool bias = true;
  Activation activation = Activation::linear;
  std::vector<std::int64_t> output_padding{0};
  bool transposed = false;
  template <class V>
  void fields(V& v) {
    if (transposed)
      v.about(
          "Transposed convolution over [channels, length], [channels, height, width] or "
          "[channels, depth, height, width]. Parameters: `weight` [filters x kernel, channels], "
          "with groups [groups x filters / groups x kernel, channels / groups], `bias`.");
    else
      v.about(
          "Convolution over [channels, length], [channels, height, width] or [channels, depth, "
          "height, width]. Parameters: `weight` [filters, channels / groups x kernel], "
          "PyTorch's order, `bias`.");
    v("filters", filters,
      {.doc = "channels of the output", .min = 1, .max = INT32_MAX, .required = true});
    spatial_fields(v);
    v("groups", groups,
      {.doc = "number of groups, as in PyTorch; it divides channels and filters", .min = 1});
    v("bias", bias, {.doc = "adds a learned number per filter"});
    v("activation", activation, {.doc = "applied to the sum"});
    if (transposed)
      v("output_padding", output_padding,
        {.doc = "values added at the end of each dimension of "
                "the output, below the stride or the dilation",
         .min = 0});
  }
};

// Channel-first values of a place's row: [places, filters] of each item to [filters, places], and
// back.
View to_channels(ProgramBuilder& emit, View z, std::int64_t places, std::int64_t filters) {
  return emit.transpose(z, {1, 1, 1, places, filters}, {0, 1, 2, 4, 3}, places * filters);
}
View to_places(ProgramBuilder& emit, View y, std::int64_t places, std::int64_t filters) {
  return emit.transpose(y, {1, 1, 1, filters, places}, {0, 1, 2, 4, 3}, filters);
}

Status check(const ConvConfig& c, std::int64_t channels) {
  auto bad = [](const std::string& what) { return Status(Code::invalid_argument, what); };
  if (channels % c.groups != 0 || c.filters % c.groups != 0)
    return bad(message("\"groups\" must divide ", channels, " channels and ", c.filters,
                       " filters, got ", c.groups));
  return {};
}

View product_back(LayerContext& v, View g, std::int64_t groups) {
  return groups == 1 ? v.emit.matmul_t(v.weight("weight"), g)
                     : v.emit.group_matmul_t(v.weight("weight"), g, groups);
}

class Conv : public LayerWith<ConvConfig> {
 public:
  Conv(std::string_view name, std::size_t rank) : name_(name), rank_(rank) {}
  std::string_view name() const override { return name_; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const ConvConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, in));
    LOOM_TRY(check(c, w.channels));
    if (c.filters > INT32_MAX / w.positions())
      return Status(Code::invalid_argument, "gives more than 2^31-1 values");
    const std::int64_t inputs = w.taps() / c.groups;
    LayerPlan plan{
        spatial_shape(c.filters, w.out, rank_),
        {ParamSpec::product("weight", c.filters, inputs, initial_std(inputs, c.activation))}};
    plan.params[0].adapts = c.groups == 1;
    if (c.bias) plan.params.push_back({"bias", 1, c.filters, Init::zeros, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const ConvConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, v.in()));
    const View rows = v.emit.unfold(x, w, v.weight("weight"));
    const View sums = c.groups == 1
                          ? v.linear("weight", rows, c.bias ? "bias" : "")
                          : v.emit.group_matmul(v.weight("weight"), rows,
                                                c.bias ? v.weight("bias") : View{}, c.groups);
    const View z = to_channels(v.emit, sums, w.positions(), c.filters);
    v.save("x", x);
    v.save("z", z);
    return v.emit.activation(z, c.activation);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const ConvConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, v.in()));
    const View gz = to_places(v.emit, v.activation_back(v.saved("z"), gy, c.activation),
                              w.positions(), c.filters);
    // Of targets: what is pulled.
    const View gap = v.pulls.on ? to_places(v.emit, gy, w.positions(), c.filters) : gz;
    // Unfolded again rather than kept: it holds the input once per tap.
    const View rows = v.emit.unfold(v.saved("x"), w, v.weight("weight"));
    if (c.groups == 1 && !v.pulls.on)
      return v.emit.fold(v.linear_back("weight", rows, gz, c.bias ? "bias" : ""), w);
    const auto gw = v.gradient("weight");
    if (c.groups == 1) v.emit.weight_grad(gz, rows, gw.to, gw.accumulate);
    else v.emit.group_weight_grad(gz, rows, gw.to, c.groups, gw.accumulate);
    if (c.bias) {
      const auto gb = v.gradient("bias");
      v.emit.bias_grad(gz, gb.to, gb.accumulate);
    }
    const View gx = v.emit.fold(product_back(v, gap, c.groups), w);
    return v.pulls.on ? v.emit.channel_affine(gx, share(v, w, c.groups), {}, 1) : gx;
  }

 private:
  // Of targets: for each value of the input, over the weights of all places that it meets.
  static View share(LayerContext& v, const Window& w, std::int64_t groups) {
    const View none = v.emit.temp(v.type, Rows{w.positions(), kNone, kNone}, w.taps());
    v.emit.fill(none, 0);
    const View sums = column_sums(v.emit, v.weight("weight"), groups);
    return pull_share(v.emit, v.emit.fold(v.emit.channel_affine(none, {}, sums, 1), w));
  }
  Result<Window> window(const ConvConfig& c, const Shape& in) const {
    LOOM_ASSIGN(Window w, window_of(c, in, rank_));
    LOOM_TRY(place_window(w, false));
    return w;
  }
  std::string_view name_;
  std::size_t rank_;
};

// y = fold(x W^T) + bias: each input value spreads over the window. Weight [filters x kernel,
// channels]: PyTorch's [channels, filters, kernel], turned; of several groups [groups, filters /
// groups x kernel, channels / groups].
class ConvTransposed : public LayerWith<ConvConfig> {
 public:
  ConvTransposed(std::string_view name, std::size_t rank) : name_(name), rank_(rank) {}
  std::string_view name() const override { return name_; }

  void prepare(ConvConfig& config) const override { config.transposed = true; }

  Result<LayerPlan> plan(const LayerConfig& config, const Shape& in, const Shape*,
                         ChildPlanner&) const override {
    const ConvConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, in));
    const std::int64_t channels = in.dims[0];
    LOOM_TRY(check(c, channels));
    LayerPlan plan{spatial_shape(c.filters, w.in, rank_),
                   {{"weight", w.taps(), channels / c.groups, Init::normal,
                     initial_std(channels / c.groups, c.activation)}}};
    if (c.bias) plan.params.push_back({"bias", 1, c.filters, Init::zeros, 0, false});
    return plan;
  }

  Result<View> forward(const LayerConfig& config, LayerContext& v, View x, View) const override {
    const ConvConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, v.in()));
    const View places = to_places(v.emit, x, w.positions(), v.in().dims[0]);
    const View rows = c.groups == 1 ? v.emit.matmul(v.weight("weight"), places)
                                    : v.emit.group_matmul(v.weight("weight"), places, {}, c.groups);
    View z = v.emit.fold(rows, w);
    if (c.bias) z = v.emit.channel_affine(z, {}, v.weight("bias"), Window::product(w.in));
    v.save("places", places);
    v.save("z", z);
    return v.emit.activation(z, c.activation);
  }

  Result<View> backward(const LayerConfig& config, LayerContext& v, View gy, View*) const override {
    const ConvConfig& c = of(config);
    LOOM_ASSIGN(const Window w, window(c, v.in()));
    const View gz = v.activation_back(v.saved("z"), gy, c.activation);
    if (c.bias) {
      const auto gb = v.gradient("bias");
      v.emit.bias_grad(to_places(v.emit, gz, Window::product(w.in), c.filters), gb.to,
                       gb.accumulate);
    }
    const View rows = v.emit.unfold(gz, w, v.weight("weight"), true);
    const auto gw = v.gradient("weight");
    if (c.groups == 1) v.emit.weight_grad(rows, v.saved("places"), gw.to, gw.accumulate);
    else v.emit.group_weight_grad(rows, v.saved("places"), gw.to, c.groups, gw.accumulate);
    View g;
    if (v.pulls.on) {
      const View sums = column_sums(v.emit, v.weight("weight"), c.groups);
      g = v.emit.channel_affine(product_back(v, v.emit.unfold(gy, w), c.groups),
                                pull_share(v.emit, sums), {}, 1);
    } else {
      g = product_back(v, rows, c.groups);
    }
    return to_channels(v.emit, g, w.positions(), v.in().dims[0]);
  }

 private:
  // The window of the convolution that this one transposes: its input is our output, its places are
  // our input.
  Result<Window> window(const ConvConfig& c, const Shape& in) const {
    LOOM_ASSIGN(Window w, window_of(c, in, rank_));
    std::vector<std::int64_t> extra = c.output_padding;
    if (extra.size() == 1) extra = std::vector<std::int64_t>(rank_, c.output_padding[0]);
    if (extra.size() != rank_)
      return Status(Code::invalid_argument,
                    message("\"output_padding\": expected one number or ", rank_));
    w.out = w.in;
    w.channels = c.filters;
    for (std::size_t i = 3 - rank_; i < 3; ++i) {
      const std::int64_t more = extra[i - (3 - rank_)];
      if (more < 0 || (more >= w.stride[i] && more >= w.dilation[i]))
        return Status(
            Code::invalid_argument,
            message("\"output_padding\" must be below the stride or the dilation, got ", more));
      if (w.out[i] > INT32_MAX / w.stride[i] || w.kernel[i] > INT32_MAX / w.dilation[i])
        return Status(Code::invalid_argument, "gives more than 2^31-1 values");
      w.in[i] = (w.out[i] - 1) * w.stride[i] - w.pad[i] - w.pad_end[i] +
                (w.kernel[i] - 1) * w.dilation[i] + 1 + more;
      if (w.in[i] < 1)
        return Status(Code::invalid_argument, "the padding leaves nothing of the output");
    }
    if (!w.valid())
      return Status(Code::invalid_argument,
                    "\"filters\" must be at least 1, and the output at most 2^30 values");
    return w;
  }
  std::string_view name_;
  std::size_t rank_;
};

}  // namespace

void register_conv(LayerList& layers) {
  static const Conv one("conv1d", 1), two("conv2d", 2), three("conv3d", 3);
  static const ConvTransposed back_one("conv_transpose1d", 1), back_two("conv_transpose2d", 2),
      back_three("conv_transpose3d", 3);
  for (const LayerType* type :
       {static_cast<const LayerType*>(&one), static_cast<const LayerType*>(&two),
        static_cast<const LayerType*>(&three), static_cast<const LayerType*>(&back_one),
        static_cast<const LayerType*>(&back_two), static_cast<const LayerType*>(&back_three)})
    layers.push_back(type);
}

}  // namespace loom
