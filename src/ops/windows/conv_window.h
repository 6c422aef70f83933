// The window of a convolution as kernels see it. Plain data and no standard library.
#pragma once

namespace loom {

struct ConvWindow {
  long long channels = 1;
  // Depth, height, width of each.
  long long in[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, pad[3] = {},
            pad_end[3] = {}, dilation[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  bool relu = false;  // of the results of conv, on their way out
};

// Of conv_bias_grad: places of each channel in a row.
struct PlacesOfRow {
  long long places = 1;
};

}  // namespace loom
