// Convolutions, pools and resizing.
#include <algorithm>

#include "formats/onnx/infer/rule.h"

namespace loom::onnx {
namespace {

// The attributes that convolutions and pools share, filled in for every spatial dimension and
// checked.
struct Window {
  Dims kernel, strides, dilations, begin, end;  // begin, end: padding
  std::string auto_pad;                         // NOTSET, VALID, SAME_UPPER, SAME_LOWER
  bool ceil = false;
};

Result<Dims> positive(const Call& call, std::string_view attribute, Dims fallback,
                      std::int64_t min) {
  const std::size_t count = fallback.size();
  LOOM_ASSIGN(const Dims values, call.node.get_ints(attribute, std::move(fallback)));
  bool good = values.size() == count;
  for (const std::int64_t v : values) good = good && v >= min && v <= kMaxWindow;
  if (!good) {
    return wrong("attribute ", quoted(attribute), " is ", values, ", expected ", count,
                 " numbers of at least ", min);
  }
  return values;
}

Result<Window> window(const Call& call, Dims kernel) {
  const std::size_t spatial = kernel.size();
  Window w;
  LOOM_ASSIGN(w.kernel, positive(call, "kernel_shape", std::move(kernel), 1));
  LOOM_ASSIGN(w.strides, positive(call, "strides", Dims(spatial, 1), 1));
  LOOM_ASSIGN(w.dilations, positive(call, "dilations", Dims(spatial, 1), 1));
  for (std::size_t d = 0; d < spatial; ++d) {
    if ((w.kernel[d] - 1) * w.dilations[d] >= kMaxWindow)
      return wrong("a window of ", w.kernel[d], " with dilation ", w.dilations[d],
                   " reaches over more than ", kMaxWindow);
  }
  LOOM_ASSIGN(const Dims pads, positive(call, "pads", Dims(2 * spatial, 0), -kMaxWindow));
  w.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  w.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  LOOM_ASSIGN(w.auto_pad, call.node.get_string("auto_pad", "NOTSET"));
  LOOM_ASSIGN(const std::int64_t ceil, call.node.get_int("ceil_mode", 0));
  w.ceil = ceil != 0;
  for (const std::string_view known : {"", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}) {
    if (w.auto_pad == known) return w;
  }
  return wrong("auto_pad is ", quoted(w.auto_pad));
}

// Positions of the window along one dimension. With ceil_mode a last window that would start behind
// the padding is left out.
Result<std::int64_t> positions(const Window& w, std::size_t d, std::int64_t length) {
  if (w.auto_pad.starts_with("SAME")) return (length + w.strides[d] - 1) / w.strides[d];
  const bool valid = w.auto_pad == "VALID";
  const std::int64_t begin = valid ? 0 : w.begin[d], end = valid ? 0 : w.end[d],
                     covered = (w.kernel[d] - 1) * w.dilations[d] + 1;
  const std::int64_t room = length + begin + end - covered;
  if (room < 0)
    return wrong("a window of ", covered, " does not fit into ", length, " padded by ", begin,
                 " and ", end);
  std::int64_t count = (w.ceil ? room + w.strides[d] - 1 : room) / w.strides[d] + 1;
  if (w.ceil && (count - 1) * w.strides[d] >= length + begin) --count;
  return count;
}

Status slide(Call& call, const Window& w, std::int64_t channels, Type type) {
  Dims out{call.dims()[0], channels};
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    LOOM_ASSIGN(const std::int64_t count, positions(w, d, call.dims()[d + 2]));
    out.push_back(count);
  }
  call.set(0, type, std::move(out));
  return {};
}

Status check_spatial(const Call& call) {
  return call.rank() >= 3 ? Status() : wrong("input ", call.dims(), " has no spatial dimensions");
}

// kernel_shape, where it is given, says what the weights say.
Status check_kernel(const Window& w, const Dims& weights) {
  if (std::equal(w.kernel.begin(), w.kernel.end(), weights.begin() + 2)) return {};
  return wrong("kernel_shape is ", w.kernel, ", the weights are ", weights);
}

// Weights [out channels, in channels / group, kernel].
Status convolve(Call& call, std::size_t weight, Type type) {
  LOOM_TRY(call.need(weight + 1));
  LOOM_TRY(check_spatial(call));
  const Dims &x = call.dims(), &k = call.dims(weight);
  LOOM_ASSIGN(const std::int64_t group, call.node.get_int("group", 1));
  if (k.size() != x.size() || group < 1 || group > kMaxDim || x[1] != k[1] * group ||
      k[0] % group != 0) {
    return wrong("input ", x, " and weights ", k, " in ", group, " groups");
  }
  LOOM_ASSIGN(const Window w, window(call, Dims(k.begin() + 2, k.end())));
  LOOM_TRY(check_kernel(w, k));
  if (call.node.op == "Conv") LOOM_TRY(call.shaped(2, {k[0]}, "bias"));
  return slide(call, w, k[0], type);
}

Status conv(Call& call) {
  LOOM_TRY(call.need(1));
  return convolve(call, 1, call.x().type);
}
Status conv_integer(Call& call) { return convolve(call, 1, Type::i32); }
Status qlinear_conv(Call& call) {
  LOOM_TRY(call.need(8));
  return convolve(call, 3, call.x(7).type);
}

// Weights [in channels, out channels / group, kernel].
Status conv_transpose(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_TRY(check_spatial(call));
  const Dims &x = call.dims(), &k = call.dims(1);
  LOOM_ASSIGN(const std::int64_t group, call.node.get_int("group", 1));
  if (k.size() != x.size() || group < 1 || group > kMaxDim || x[1] != k[0] || x[1] % group != 0) {
    return wrong("input ", x, " and weights ", k, " in ", group, " groups");
  }
  LOOM_ASSIGN(const Window w, window(call, Dims(k.begin() + 2, k.end())));
  LOOM_TRY(check_kernel(w, k));
  LOOM_TRY(call.shaped(2, {k[1] * group}, "bias"));
  LOOM_ASSIGN(const Dims extra, positive(call, "output_padding", Dims(w.kernel.size(), 0), 0));
  LOOM_ASSIGN(Dims wanted, call.node.get_ints("output_shape", {}));
  // Some exporters give all dimensions.
  if (wanted.size() == x.size()) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != w.kernel.size()) return wrong("output_shape is ", wanted);
  Dims out{x[0], k[1] * group};
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    const std::int64_t full =
        w.strides[d] * (x[d + 2] - 1) + extra[d] + (w.kernel[d] - 1) * w.dilations[d] + 1;
    std::int64_t length = full - (w.auto_pad == "VALID" ? 0 : w.begin[d] + w.end[d]);
    if (w.auto_pad.starts_with("SAME")) length = x[d + 2] * w.strides[d];
    if (!wanted.empty()) length = wanted[d];
    if (length < 0) return wrong("output dimension ", d + 2, " is ", length);
    out.push_back(length);
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status pool(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_TRY(check_spatial(call));
  LOOM_ASSIGN(const Dims kernel, call.node.get_ints("kernel_shape", {}));
  if (kernel.size() + 2 != call.rank())
    return wrong("kernel_shape ", kernel, " for input ", call.dims());
  LOOM_ASSIGN(const Window w, window(call, kernel));
  LOOM_TRY(slide(call, w, call.dims()[1], call.x().type));
  call.set(1, Type::i64, call.out[0].dims);  // the indices of MaxPool
  return {};
}

Status global_pool(Call& call) {
  LOOM_TRY(call.need(1));
  LOOM_TRY(check_spatial(call));
  Dims out = call.dims();
  std::fill(out.begin() + 2, out.end(), 1);
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status max_unpool(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_TRY(check_spatial(call));
  if (call.has(2)) {
    LOOM_ASSIGN(Dims out, call.ints(2, "output_shape"));
    call.set(0, call.x().type, std::move(out));
    return {};
  }
  LOOM_ASSIGN(const Dims kernel, call.node.get_ints("kernel_shape", {}));
  if (kernel.size() + 2 != call.rank())
    return wrong("kernel_shape ", kernel, " for input ", call.dims());
  LOOM_ASSIGN(const Window w, window(call, kernel));
  Dims out{call.dims()[0], call.dims()[1]};
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    out.push_back((call.dims()[d + 2] - 1) * w.strides[d] + w.kernel[d] - w.begin[d] - w.end[d]);
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status check_lengths(std::size_t given, const Dims& axes) {
  return given == axes.size() ? Status()
                              : wrong("has ", given, " sizes or scales for ", axes.size(), " axes");
}

// The dimensions with these sizes. Where the aspect ratio is kept, there is one scale for all axes:
// the smallest or largest of those that the sizes ask for, the sizes rounded to it.
Result<Dims> resized_to(const Call& call, const Dims& axes, const Dims& sizes,
                        const std::string& policy) {
  Dims out = call.dims();
  LOOM_TRY(check_lengths(sizes.size(), axes));
  double common = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& length = out[*axis_of(axes[i], call.rank())];
    if (sizes[i] < 0 || sizes[i] > kMaxDim) return wrong("sizes ", sizes);
    if (length == 0 && policy != "stretch") return wrong("sizes ", sizes, " of ", call.dims());
    const double ratio = static_cast<double>(sizes[i]) / static_cast<double>(length);
    common = i == 0                   ? ratio
             : policy == "not_larger" ? std::min(common, ratio)
                                      : std::max(common, ratio);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& length = out[*axis_of(axes[i], call.rank())];
    if (policy == "stretch") {
      length = sizes[i];
      continue;
    }
    const double scaled = static_cast<double>(length) * common + 0.5;
    if (!(scaled >= 0 && scaled <= static_cast<double>(kMaxDim))) return wrong("sizes ", sizes);
    length = static_cast<std::int64_t>(scaled);
  }
  return out;
}

// Those of input `at` where there is one, else of the attribute.
Result<std::vector<double>> scales_of(const Call& call, std::size_t at) {
  std::vector<double> scales;
  if (call.has(at)) {
    if (!call.cells[at] || !is_float(call.x(at).type))
      return not_supported("its scales depend on data");
    for (const Cell& c : *call.cells[at]) scales.push_back(c.r);
  } else {
    LOOM_ASSIGN(const std::vector<float> given, call.node.get_floats("scales", {}));
    scales.assign(given.begin(), given.end());
  }
  return scales;
}

// floor(length * scale)
Result<Dims> scaled_by(const Call& call, const Dims& axes, const std::vector<double>& scales) {
  Dims out = call.dims();
  LOOM_TRY(check_lengths(scales.size(), axes));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& length = out[*axis_of(axes[i], call.rank())];
    const double scaled = static_cast<double>(length) * scales[i];
    if (!(scaled >= 0 && scaled <= static_cast<double>(kMaxDim)))
      return wrong("scales[", i, "] is out of range");
    length = static_cast<std::int64_t>(scaled);
  }
  return out;
}

// Sizes as given, or by scales.
Status resize(Call& call) {
  LOOM_TRY(call.need(1));
  const bool old = call.node.op == "Upsample" || call.opset < 11;
  Dims all(call.rank());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  LOOM_ASSIGN(const Dims axes, call.node.get_ints("axes", std::move(all)));
  LOOM_TRY(axes_of(axes, call.rank()).status());
  LOOM_ASSIGN(const std::string policy,
              call.node.get_string("keep_aspect_ratio_policy", "stretch"));
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return not_supported("keep_aspect_ratio_policy ", quoted(policy));
  Dims out;
  if (!old && call.has(3)) {
    LOOM_ASSIGN(const Dims sizes, call.ints(3, "sizes"));
    LOOM_ASSIGN(out, resized_to(call, axes, sizes, policy));
  } else {
    LOOM_ASSIGN(const std::vector<double> scales, scales_of(call, old ? 1 : 2));
    LOOM_ASSIGN(out, scaled_by(call, axes, scales));
  }
  call.set(0, call.x().type, std::move(out));
  return {};
}

Status grid_sample(Call& call) {
  LOOM_TRY(call.need(2));
  const Dims &x = call.dims(), &grid = call.dims(1);
  if (x.size() < 3 || grid.size() != x.size()) return wrong("input ", x, " and grid ", grid);
  Dims out{x[0], x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  call.set(0, call.x().type, std::move(out));
  return {};
}

// Coordinates for GridSample: theta [N, 2, 3] or [N, 3, 4] times the places of size [N, C, H, W] or
// [N, C, D, H, W].
Status affine_grid(Call& call) {
  LOOM_TRY(call.need(2));
  LOOM_ASSIGN(const Dims size, call.ints(1, "size"));
  const std::size_t spatial = size.size() - 2;
  if (size.size() != 4 && size.size() != 5) return wrong("size ", size);
  LOOM_TRY(call.shaped(0, {size[0], int_of(spatial), int_of(spatial) + 1}, "theta"));
  LOOM_ASSIGN(const std::int64_t align, call.node.get_int("align_corners", 0));
  Dims out{size[0]};
  for (std::size_t d = 2; d < size.size(); ++d) {
    if (size[d] < 1 || size[d] > kMaxDim) return wrong("size ", size);
    if (align && size[d] == 1) return not_supported("corners of one place");
    out.push_back(size[d]);
  }
  out.push_back(int_of(spatial));
  call.set(0, call.x().type, std::move(out));
  return {};
}

// Blocks [N, C times the values of a block, blocks] to images [N, C, image_shape].
Status col2im(Call& call) {
  LOOM_TRY(call.need(3));
  LOOM_ASSIGN(const Dims image, call.ints(1, "image_shape"));
  LOOM_ASSIGN(const Dims block, call.ints(2, "block_shape"));
  const Dims& x = call.dims();
  if (x.size() != 3 || image.empty() || image.size() != block.size())
    return wrong("input ", x, ", image_shape ", image, ", block_shape ", block);
  if (call.attribute("kernel_shape") || call.attribute("auto_pad"))
    return wrong("has attributes of another operator");
  for (std::size_t d = 0; d < block.size(); ++d) {
    if (block[d] < 1 || block[d] > kMaxWindow || image[d] < 1 || image[d] > kMaxWindow)
      return wrong("image_shape ", image, ", block_shape ", block);
  }
  LOOM_ASSIGN(const Window w, window(call, block));
  const std::optional<std::uint64_t> values = element_count(block);
  std::int64_t blocks = 1;
  for (std::size_t d = 0; d < block.size(); ++d) {
    LOOM_ASSIGN(const std::int64_t count, positions(w, d, image[d]));
    blocks = blocks > kMaxDim ? blocks : blocks * count;
  }
  if (!values || *values > static_cast<std::uint64_t>(x[1]) || x[1] % int_of(*values) != 0 ||
      blocks != x[2])
    return wrong("input ", x, " for blocks ", block, " of images ", image);
  Dims out{x[0], x[1] / int_of(*values)};
  out.insert(out.end(), image.begin(), image.end());
  call.set(0, call.x().type, std::move(out));
  return {};
}

// x [N, C, length], weights [C, 1, kernel], state [N, C, kernel - 1].
Status causal_conv(Call& call) {
  LOOM_TRY(call.need(2));
  const Dims &x = call.dims(), &k = call.dims(1);
  if (x.size() != 3 || k.size() != 3 || k[0] != x[1] || k[1] != 1 || k[2] < 1 || k[2] > kMaxWindow)
    return wrong("input ", x, " and weights ", k);
  LOOM_TRY(call.shaped(2, {x[1]}, "bias"));
  LOOM_TRY(call.shaped(3, {x[0], x[1], k[2] - 1}, "past_state"));
  call.set(1, call.x().type, {x[0], x[1], k[2] - 1});
  call.set(0, call.x().type, x);
  return {};
}

constexpr RuleRow kRows[] = {
#define LOOM_SHAPE_window(op, attributes, shape, fold, traits) \
  {op, shape, fold, attributes, traits},
#include "formats/onnx/operators.def"
};

}  // namespace

std::span<const RuleRow> window_rules() { return kRows; }

}  // namespace loom::onnx
