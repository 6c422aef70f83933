// Windows over up to three spatial dimensions: what convolution and pooling look at. Values lie
// channel by channel, each channel row-major (as PyTorch's NCDHW has them); missing dimensions
// are 1.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ops/windows/conv_window.h"

namespace loom {

struct Window {
  using Dims = std::array<std::int64_t, 3>;  // depth, height, width
  std::int64_t channels = 1;
  Dims in{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, pad{0, 0, 0}, pad_end{0, 0, 0},
      dilation{1, 1, 1}, out{1, 1, 1};

  static constexpr int kInts = 22;
  static std::int64_t product(const Dims& d) { return d[0] * d[1] * d[2]; }
  std::int64_t values() const { return channels * product(in); }    // of an item
  std::int64_t positions() const { return product(out); }           // of the window
  std::int64_t taps() const { return channels * product(kernel); }  // values under it

  std::array<std::int64_t, kInts> to_ints() const {
    std::array<std::int64_t, kInts> list{channels};
    std::size_t n = 1;
    for (const Dims* d : {&in, &kernel, &stride, &pad, &pad_end, &dilation, &out})
      for (const std::int64_t v : *d) list[n++] = v;
    return list;
  }
  static Window from_ints(std::span<const std::int64_t> list) {
    Window w;
    w.channels = list[0];
    std::size_t n = 1;
    for (Dims* d : {&w.in, &w.kernel, &w.stride, &w.pad, &w.pad_end, &w.dilation, &w.out})
      for (std::int64_t& v : *d) v = list[n++];
    return w;
  }
  // Sizes that kernels may trust: each small enough that no sum of products of two overflows, and
  // every place of the window's first tap inside of the padded input.
  bool valid() const {
    constexpr std::int64_t kMax = std::int64_t{1} << 30;
    if (channels < 1 || channels > kMax) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      for (const std::int64_t v : {in[i], kernel[i], stride[i], dilation[i], out[i]})
        if (v < 1 || v > kMax) return false;
      if (pad[i] < 0 || pad[i] > kMax || pad_end[i] < 0 || pad_end[i] > kMax) return false;
      if ((out[i] - 1) * stride[i] >= in[i] + pad[i] + pad_end[i]) return false;
    }
    for (const Dims* d : {&in, &kernel, &out})
      if ((*d)[0] * (*d)[1] > kMax || product(*d) > kMax / channels) return false;
    return true;
  }
};

// The same as kernels see it.
ConvWindow conv_window(const Window& window);
// Values of a channel with its padding, as far as windows reach.
std::int64_t padded_plane(const ConvWindow& window);

}  // namespace loom
