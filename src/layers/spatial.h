// What layers with a window over space share: their settings, and the window these make on an input
// of channels x space.
#pragma once

#include <string>
#include <vector>

#include "layers/layer.h"
#include "ops/windows/windows.h"

namespace loom {

struct SpatialConfig : LayerConfig {
  std::vector<std::int64_t> kernel{3}, stride{1}, padding{0}, dilation{1};
  template <class V>
  void spatial_fields(V& v) {
    v("kernel", kernel, {.doc = "size of the window: one number, or one per dimension", .min = 1});
    v("stride", stride,
      {.doc = min_stride == 0 ? "step of the window; 0: the kernel" : "step of the window",
       .min = min_stride});
    v("padding", padding,
      {.doc = "zeros around the input: one number, one per dimension, or all "
              "begins and then all ends",
       .min = 0});
    v("dilation", dilation, {.doc = "step between the taps of the window", .min = 1});
  }
  double min_stride = 1;
};

// Of channels x 1 to 3 dimensions of space: the input's channels and space are filled in, `out` is
// not. Errors name the setting.
Result<Window> window_of(const SpatialConfig& config, const Shape& in, std::size_t rank);
// Fills in `out`: floor or ceil of (in + padding - reach) / stride + 1, a last window that would
// begin beyond the input and its first padding left out (PyTorch).
Status place_window(Window& window, bool ceil_mode);
// channels x the last `rank` dimensions of a Window::Dims.
Shape spatial_shape(std::int64_t channels, const Window::Dims& dims, std::size_t rank);

}  // namespace loom
