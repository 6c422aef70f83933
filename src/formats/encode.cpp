#include "formats/encode.h"

#include <algorithm>
#include <array>

#include "base/files/bytes.h"
#include "base/json/json.h"
#include "base/message.h"
#include "numeric/codec.h"
#include "numeric/gguf/gguf_blocks.h"

namespace loom {
namespace {

// Writes a value and hands back what a reader will see.
double stored(double value, StorageType type, std::byte* out) {
  switch (type) {
    case StorageType::f64: store_le<double>(out, value); return value;
    case StorageType::f32: {
      const auto narrow = static_cast<float>(value);
      store_le<float>(out, narrow);
      return static_cast<double>(narrow);
    }
    case StorageType::f16: {
      const auto code = static_cast<std::uint16_t>(encode_small_float(value, kF16));
      store_le<std::uint16_t>(out, code);
      return static_cast<double>(f16_to_f32(code));
    }
    default: {
      const auto code = static_cast<std::uint16_t>(encode_small_float(value, kBf16));
      store_le<std::uint16_t>(out, code);
      return static_cast<double>(bf16_to_f32(code));
    }
  }
}

constexpr int kBlock = 32;  // of q8_0 and q4_0

Status refused(Code code, std::uint64_t at, double value, std::string_view why) {
  return Status(code, message("value ", at, " is ", format_double(value), ", ", why));
}

// `out`: the block's bytes; `back`: what a reader will see.
Status store_block(std::span<const double> values, StorageType type, std::uint64_t at,
                   std::byte* out, double* back) {
  const Layout layout = type == StorageType::q8_0 ? Layout::q8_0 : Layout::q4_0;
  std::array<float, kBlock> narrow;
  for (std::size_t i = 0; i < kBlock; ++i) {
    narrow[i] = static_cast<float>(values[i]);
    if (!(narrow[i] - narrow[i] == 0))
      return Status(Code::invalid_argument,
                    message("value ", at + i, " is not a finite number, which blocks cannot hold"));
  }
  encode_gguf_block(layout, narrow.data(), out);
  decode_gguf_block(layout, out, back);
  for (std::size_t i = 0; i < kBlock; ++i)
    if (!(back[i] - back[i] == 0))
      return refused(Code::out_of_range, at + i, values[i], "too large for the scale of its block");
  return {};
}

Status store_all(std::span<const double> values, StorageType type, std::uint64_t first,
                 std::span<std::byte> out, ErrorSum* error) {
  const StorageTypeInfo& row = info(type);
  std::array<double, kBlock> back;
  for (std::size_t i = 0; i < values.size(); i += row.block) {
    std::byte* to = out.data() + i / row.block * row.block_bytes;
    if (row.block == 1) {
      back[0] = stored(values[i], type, to);
      if (!(back[0] - back[0] == 0) && values[i] - values[i] == 0)
        return refused(Code::out_of_range, first + i, values[i],
                       message("more than ", name(type), " holds"));
    } else {
      LOOM_TRY(store_block(values.subspan(i, kBlock), type, first + i, to, back.data()));
    }
    if (error)
      for (std::size_t k = 0; k < row.block; ++k) error->add(values[i + k], back[k]);
  }
  return {};
}

}  // namespace

bool can_encode(StorageType type) {
  switch (type) {
    case StorageType::f64:
    case StorageType::f32:
    case StorageType::f16:
    case StorageType::bf16:
    case StorageType::q8_0:
    case StorageType::q4_0: return true;
    default: return false;
  }
}

ReadValues values_of(const TensorInfo& tensor) {
  return
      [tensor](std::uint64_t first, std::span<double> out) { return read_f64(tensor, first, out); };
}

ReadValues values_of(const PackedMatrix& matrix) {
  return [matrix](std::uint64_t first, std::span<double> out) -> Status {
    const auto cols = static_cast<std::uint64_t>(matrix.cols());
    const auto row = static_cast<std::int64_t>(first / cols),
               end = static_cast<std::int64_t>((first + out.size() + cols - 1) / cols);
    std::vector<double> rows(static_cast<std::size_t>((end - row) * matrix.cols()));
    matrix.decode(row, end - row, rows);
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(first % cols), out.size(), out.begin());
    return {};
  };
}

TensorInfo encoded_tensor(std::string name, std::vector<std::int64_t> shape, StorageType type,
                          ReadValues read, ErrorSum* error) {
  TensorInfo to{std::move(name), type, std::move(shape), 0, 0, nullptr};
  to.size = storage_bytes(type, element_count(to.shape).value_or(0)).value_or(0);
  to.source = source_from_callback(
      to.size,
      [read = std::move(read), type, error](std::uint64_t offset,
                                            std::span<std::byte> out) -> Status {
        const StorageTypeInfo& row = info(type);
        if (offset % row.block_bytes != 0 || out.size() % row.block_bytes != 0)
          return Status(Code::internal, "a tensor is read in parts of a block");
        const std::uint64_t first = offset / row.block_bytes * row.block;
        std::vector<double> values(out.size() / row.block_bytes * row.block);
        LOOM_TRY(read(first, values));
        return store_all(values, type, first, out, error);
      },
      to.name);
  return to;
}

TensorInfo reordered_rows(const TensorInfo& from, std::vector<std::int64_t> order) {
  TensorInfo to = from;
  const std::uint64_t rows = from.shape.empty() ? 1 : static_cast<std::uint64_t>(from.shape[0]),
                      row_bytes = from.size / std::max<std::uint64_t>(rows, 1);
  to.offset = 0;
  to.source = source_from_callback(
      to.size,
      [from, row_bytes, order = std::move(order)](std::uint64_t offset,
                                                  std::span<std::byte> out) -> Status {
        while (!out.empty()) {
          const std::uint64_t row = offset / row_bytes, skip = offset % row_bytes,
                              group = order.size();
          const auto target = row / group * group + static_cast<std::uint64_t>(order[row % group]);
          const auto n =
              static_cast<std::size_t>(std::min<std::uint64_t>(row_bytes - skip, out.size()));
          LOOM_TRY(from.source->read(from.offset + target * row_bytes + skip, out.first(n)));
          offset += n;
          out = out.subspan(n);
        }
        return {};
      },
      to.name);
  return to;
}

}  // namespace loom
