#include "numeric/gguf/gguf_panels.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "numeric/gguf/gguf_blocks.h"

namespace loom {

GgufPanels gguf_panels(Layout layout) {
  switch (layout) {
    case Layout::q4_0: return {DType::i4, 32, false};
    case Layout::q4_k: return {DType::u4, 32, true};
    case Layout::q6_k: return {DType::i8, 16, false};
    default: return {DType::i8, 32, false};  // q8_0
  }
}

void fill_gguf_panels(const PackedMatrix& matrix, std::byte* codes, float* scales, float* minima) {
  const Layout layout = matrix.format().layout;
  const GgufPanels form = gguf_panels(layout);
  const GgufBlock block = gguf_block(layout);
  const bool nibbles = form.dtype != DType::i8;
  const std::int32_t offset = form.dtype == DType::i8 ? 128 : form.dtype == DType::i4 ? 8 : 0;
  const auto padded =
      static_cast<std::int64_t>(align_up(static_cast<std::uint64_t>(matrix.cols()), 64));
  const std::int64_t panel_bytes = padded * (nibbles ? 8 : 16),
                     groups = (matrix.cols() + form.block - 1) / form.block;
  for (std::int64_t r = 0; r < matrix.rows(); ++r) {
    std::byte* to = codes + r / 16 * panel_bytes + r % 16 * 4;
    const std::byte* from =
        matrix.bytes().data() + static_cast<std::uint64_t>(r) * matrix.layout().panel_bytes;
    for (std::int64_t b = 0; b < matrix.layout().blocks; ++b, from += block.bytes) {
      std::int32_t q[256];
      decode_gguf_codes(layout, from, q);
      const std::int64_t first = b * block.weights,
                         count = std::min<std::int64_t>(block.weights, matrix.cols() - first);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t k = first + i;
        const auto code = static_cast<unsigned>(q[i] + offset);
        if (nibbles) to[k / 8 * 64 + k % 4] |= static_cast<std::byte>(code << (k / 4 % 2 * 4));
        else to[k / 4 * 64 + k % 4] = static_cast<std::byte>(code);
      }
      float scale[16], minimum[16];
      gguf_block_scales(layout, from, scale, minimum);
      for (std::int64_t j = 0; j * form.block < count; ++j) {
        const std::int64_t at = (r / 16 * groups + first / form.block + j) * 16 + r % 16;
        scales[at] = scale[j];
        if (minima) minima[at] = minimum[j];
      }
    }
  }
}

}  // namespace loom
