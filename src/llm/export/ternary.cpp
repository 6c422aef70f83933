// BitNet's matrices as transformers' quantizer "bitnet" has them.
#include "base/files/bytes.h"
#include "base/message.h"
#include "llm/export/outgoing.h"

namespace loom {
namespace {

// The one scale of a matrix; rows of zeros have none.
Result<float> scale_of(const PackedMatrix& matrix, const std::string& name) {
  float scale = 0;
  std::vector<float> codes(static_cast<std::size_t>(matrix.cols()));
  for (std::int64_t r = 0; r < matrix.rows(); ++r) {
    const float own = matrix.row_scale(r);
    matrix.decode_codes(r, codes);
    bool zeros = true;
    for (const float code : codes) zeros = zeros && code == 0;
    if (zeros || own == scale) continue;
    if (scale != 0)
      return Status(Code::unsupported, message("tensor ", name,
                                               ": its rows have scales of their own, BitNet in "
                                               "transformers has one for the matrix"));
    scale = own;
  }
  return scale == 0 ? 1.0f : scale;
}

// Row r of the bytes holds rows r, r + q, r + 2 q and r + 3 q, from the low bits up.
Status pack_row(const PackedMatrix& matrix, std::int64_t row, std::span<std::byte> out) {
  std::vector<float> codes(static_cast<std::size_t>(matrix.cols()));
  std::fill(out.begin(), out.end(), std::byte{0});
  for (int part = 0; part < 4; ++part) {
    matrix.decode_codes(row + part * (matrix.rows() / 4), codes);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] |= static_cast<std::byte>((static_cast<int>(codes[i]) + 1) << (2 * part));
  }
  return {};
}

}  // namespace

Result<std::pair<TensorInfo, TensorInfo>> ternary_tensors(const OutgoingTensor& from) {
  const std::string name = from.place.spelled(Naming::hf);
  if (from.scale) {
    TensorInfo codes = from.values, scale = *from.scale;
    codes.name = name;
    scale.name = name + "_scale";
    return std::pair(std::move(codes), std::move(scale));
  }
  const PackedMatrix& matrix = *from.ternary;
  if (from.rows % 4 != 0)
    return Status(Code::unsupported, message("tensor ", quoted(name), ": ", from.rows,
                                             " rows are not whole bytes of four"));
  LOOM_ASSIGN(const float scale, scale_of(matrix, quoted(name)));
  std::vector<std::byte> raw(sizeof(float));
  store_le<float>(raw.data(), scale);
  TensorInfo scales{name + "_scale", StorageType::f32, {1}, 0, raw.size(), nullptr};
  scales.source = source_from_bytes(std::move(raw), scales.name);
  TensorInfo codes{name, StorageType::u8, {from.rows / 4, from.cols}, 0, 0, nullptr};
  codes.size = static_cast<std::uint64_t>(from.rows / 4 * from.cols);
  codes.source = source_from_callback(
      codes.size,
      [matrix](std::uint64_t offset, std::span<std::byte> out) -> Status {
        const auto cols = static_cast<std::uint64_t>(matrix.cols());
        std::vector<std::byte> row(static_cast<std::size_t>(cols));
        while (!out.empty()) {
          const std::uint64_t skip = offset % cols;
          LOOM_TRY(pack_row(matrix, static_cast<std::int64_t>(offset / cols), row));
          const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(cols - skip, out.size()));
          std::copy_n(row.begin() + static_cast<std::ptrdiff_t>(skip), n, out.begin());
          offset += n;
          out = out.subspan(n);
        }
        return {};
      },
      name);
  return std::pair(std::move(codes), std::move(scales));
}

}  // namespace loom
