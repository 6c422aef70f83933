#include "layers/spatial.h"

#include "base/message.h"

namespace loom {
namespace {

Status bad(std::string what) { return Status(Code::invalid_argument, std::move(what)); }

// A setting for the last `rank` of three dimensions; one number serves all.
Status spread(const std::vector<std::int64_t>& list, std::string_view key, std::size_t rank,
              std::int64_t min, Window::Dims& to) {
  if (list.size() != 1 && list.size() != rank)
    return bad(message("\"", key, "\": expected one number or ", rank, ", got ", list.size()));
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t v = list[list.size() == 1 ? 0 : i];
    if (v < min || v > INT32_MAX / 2)
      return bad(message("\"", key, "\" must be at least ", min, ", got ", v));
    to[3 - rank + i] = v;
  }
  return {};
}

}  // namespace

Result<Window> window_of(const SpatialConfig& c, const Shape& in, std::size_t rank) {
  if (in.ids > 0 || in.dims.size() != rank + 1) {
    static constexpr std::string_view kSpace[] = {"length", "height, width",
                                                  "depth, height, width"};
    return bad(message(
        "expects an input of [channels, ", kSpace[rank - 1], "], got ", in.to_string(),
        ": say so by the network's \"input\": {\"dims\": [...]}, or with a reshape before it"));
  }
  if (in.axis == Axis::steps)
    return bad(message("runs over [channels, space], and the first dimension of ", in.to_string(),
                       " is steps: put a permute before it, \"order\": [1, 0]"));
  Window w;
  w.channels = in.dims[0];
  for (std::size_t i = 0; i < rank; ++i) w.in[3 - rank + i] = in.dims[i + 1];
  LOOM_TRY(spread(c.kernel, "kernel", rank, 1, w.kernel));
  LOOM_TRY(spread(c.stride, "stride", rank, 1, w.stride));
  LOOM_TRY(spread(c.dilation, "dilation", rank, 1, w.dilation));
  const bool both = rank > 0 && c.padding.size() == 2 * rank;
  const auto middle =
      c.padding.begin() + static_cast<std::ptrdiff_t>(both ? rank : c.padding.size());
  LOOM_TRY(spread({c.padding.begin(), middle}, "padding", rank, 0, w.pad));
  LOOM_TRY(spread(both ? std::vector<std::int64_t>(middle, c.padding.end()) : c.padding, "padding",
                  rank, 0, w.pad_end));
  return w;
}

Status place_window(Window& w, bool ceil_mode) {
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilation[i] + 1,
                       room = w.in[i] + w.pad[i] + w.pad_end[i] - reach;
    if (room < 0)
      return bad(message("a window that reaches over ", reach, " values does not fit into ",
                         w.in[i], " with ", w.pad[i] + w.pad_end[i], " of padding"));
    w.out[i] = room / w.stride[i] + 1;
    if (ceil_mode && room % w.stride[i] != 0 && w.out[i] * w.stride[i] < w.in[i] + w.pad[i])
      ++w.out[i];
  }
  if (!w.valid())
    return bad(message("the window over ", w.channels, " channels is larger than 2^30 values"));
  return {};
}

Shape spatial_shape(std::int64_t channels, const Window::Dims& dims, std::size_t rank) {
  Shape s{channels * Window::product(dims), 0, {channels}};
  s.dims.insert(s.dims.end(), dims.end() - static_cast<std::ptrdiff_t>(rank), dims.end());
  s.axis = Axis::channels;
  return s;
}

}  // namespace loom
