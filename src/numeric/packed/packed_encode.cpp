#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/threads/thread_pool.h"
#include "numeric/packed/native4.h"
#include "numeric/packed/packed_view.h"

namespace loom {
namespace {

struct AlignedFree {
  void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
};

}  // namespace

std::shared_ptr<std::byte> aligned_bytes(std::uint64_t size, std::uint64_t first) {
  if (size > std::numeric_limits<std::size_t>::max()) return nullptr;
  auto* p = static_cast<std::byte*>(
      ::operator new[](static_cast<std::size_t>(size), std::align_val_t{64}, std::nothrow));
  if (p != nullptr)
    std::fill_n(p + static_cast<std::size_t>(first), static_cast<std::size_t>(size - first),
                std::byte{0});
  return std::shared_ptr<std::byte>(p, AlignedFree{});
}

Status no_memory(const WeightFormat& format, std::int64_t rows, std::int64_t cols,
                 std::uint64_t bytes) {
  return Status(Code::out_of_memory, "a " + shape_text(rows, cols) + " matrix in " +
                                         to_string(format) + " takes " + std::to_string(bytes) +
                                         " bytes");
}

namespace {

// The largest magnitude that can be encoded: what the scales' own type holds.
double largest_value(const WeightFormat& f) {
  if (is_real(f)) return std::numeric_limits<double>::max();
  return is_gguf(f.layout) ? 65504.0 * 7 : static_cast<double>(std::numeric_limits<float>::max());
}

// Rows [first, first + values.size() / cols) of a matrix of `rows`. `first` begins a panel; the
// last part ends the last panel, with zeros.
template <class T>
struct Part {
  using Value = T;
  std::int64_t rows, cols, first;
  std::span<const T> values;

  std::int64_t count() const { return static_cast<std::int64_t>(values.size()) / cols; }
  std::int64_t end() const { return std::min(rows, first + count()); }
  std::int64_t padded_end() const { return (end() + kPanel - 1) / kPanel * kPanel; }
  std::span<const T> row(std::int64_t row) const {
    return row < rows ? values.subspan(static_cast<std::size_t>((row - first) * cols),
                                       static_cast<std::size_t>(cols))
                      : std::span<const T>();
  }
};

template <class T>
Status check_values(const WeightFormat& format, const Part<T>& part) {
  const double largest = largest_value(format);
  const T limit =
      static_cast<T>(std::min(largest, static_cast<double>(std::numeric_limits<T>::max())));
  constexpr std::size_t kRun = 4096;
  for (std::size_t i = 0; i < part.values.size(); i += kRun) {
    if (within(part.values.subspan(i, std::min(kRun, part.values.size() - i)), limit)) continue;
    while (part.values[i] >= -limit && part.values[i] <= limit) ++i;
    const double x = static_cast<double>(part.values[i]);
    const bool finite = x - x == 0;
    const std::int64_t element = part.first * part.cols + static_cast<std::int64_t>(i);
    const std::string at = "element " + std::to_string(element) + " (row " +
                           std::to_string(element / part.cols) + ", column " +
                           std::to_string(element % part.cols) + ") is ";
    if (finite)
      return Status(Code::out_of_range, at + format_double(x) + ", beyond what " +
                                            to_string(format) + " holds (" +
                                            format_double(largest) + ")");
    return Status(Code::invalid_argument, at +
                                              (x != x  ? "NaN"
                                               : x > 0 ? "infinite"
                                                       : "-infinite") +
                                              "; weights are finite numbers");
  }
  return Status();
}

// Codes and scales of one row, from its values flushed; `tensor` is the scale where all rows share
// one.
template <class U>
void encode_row(const PackedView& view, std::int64_t row, std::span<const double> weights,
                const GroupScale& tensor, std::span<U> codes, std::byte* bytes) {
  const WeightFormat& format = view.format;
  const std::size_t padded = codes.size(),
                    block = format.scale == ScaleKind::block ? format.block : padded;
  for (std::size_t b = 0, k = 0; k < padded; ++b, k += block) {
    const std::size_t from = std::min(k, weights.size()),
                      count = std::min(block, weights.size() - from);
    const auto group = weights.subspan(from, count);
    GroupScale g = tensor;
    if (format.scale == ScaleKind::row || format.scale == ScaleKind::block)
      g = choose_scale(format.dtype, group);
    encode_group(format.dtype, group, g, codes.data() + k);
    std::fill(codes.data() + k + count, codes.data() + std::min(k + block, padded),
              static_cast<U>(zero_code(format.dtype, g.zero)));
    view.put_group(bytes, row, static_cast<std::int64_t>(b), g);
  }
  pack_panel_row<U>(view.geometry, codes, static_cast<int>(row % kPanel),
                    bytes + view.panel_at(row));
}

template <class U, class T>
void encode_rows(const PackedView& view, const Part<T>& part, const GroupScale& tensor,
                 std::byte* bytes) {
  std::vector<double> values(static_cast<std::size_t>(part.cols));
  std::vector<U> codes(static_cast<std::size_t>(view.layout.padded_cols));
  for (std::int64_t row = part.first; row < part.padded_end(); ++row) {
    const auto weights = part.row(row);
    if constexpr (sizeof(U) == 2 && sizeof(T) == sizeof(float)) {
      if (view.format.dtype == DType::bf16) {
        std::fill(codes.begin() + static_cast<std::ptrdiff_t>(weights.size()), codes.end(), U{0});
        encode_bf16(weights, codes.data());
        pack_panel_row<U>(view.geometry, codes, static_cast<int>(row % kPanel),
                          bytes + view.panel_at(row));
        continue;
      }
    }
    flush<T>(view.format.dtype, weights, values.data());
    encode_row<U>(view, row, std::span<const double>(values).first(weights.size()), tensor, codes,
                  bytes);
  }
}

template <class T>
void encode_plain(const PackedView& view, const Part<T>& part, const GroupScale& tensor,
                  std::byte* bytes) {
  switch (view.geometry.code_bytes) {
    case 8: return encode_rows<std::uint64_t>(view, part, tensor, bytes);
    case 4: return encode_rows<std::uint32_t>(view, part, tensor, bytes);
    case 2: return encode_rows<std::uint16_t>(view, part, tensor, bytes);
    default: return encode_rows<std::uint8_t>(view, part, tensor, bytes);
  }
}

template <class T>
void encode_native(const PackedView& view, const Part<T>& part, std::byte* bytes) {
  constexpr std::int64_t kTogether = 4;  // a panel has whole ones of them
  const std::size_t padded = static_cast<std::size_t>(view.layout.padded_cols),
                    blocks = static_cast<std::size_t>(view.layout.blocks),
                    cols = static_cast<std::size_t>(part.cols);
  const Layout layout = view.format.layout;
  std::vector<float> weights(kTogether * cols);
  std::vector<std::uint8_t> codes(kTogether * padded), subs(kTogether * blocks);
  float scales[kTogether];
  for (std::int64_t first = part.first; first < part.padded_end(); first += kTogether) {
    std::fill(weights.begin(), weights.end(), 0.0f);
    for (std::size_t r = 0; r < kTogether; ++r)
      flush<T>(view.format.dtype, part.row(first + static_cast<std::int64_t>(r)),
               weights.data() + r * cols);
    // Padding blocks are blocks of zeros: w8 = 0 with s = 1.
    std::fill(codes.begin(), codes.end(), static_cast<std::uint8_t>(layout == Layout::a4 ? 0 : 8));
    std::fill(subs.begin(), subs.end(), std::uint8_t{1});
    encode_native4({layout, kTogether, cols, weights.data(), codes.data(), padded, subs.data(),
                    blocks, scales});
    std::byte* const panel = bytes + view.panel_at(first);
    for (std::size_t r = 0; r < kTogether; ++r) {
      const std::int64_t row = first + static_cast<std::int64_t>(r);
      const int n = static_cast<int>(row % kPanel);
      view.put_group(bytes, row, 0, {static_cast<double>(scales[r]), 0});
      pack_panel_row<std::uint8_t>(view.geometry, std::span(codes).subspan(r * padded, padded), n,
                                   panel);
      for (std::size_t b = 0; b < blocks; ++b)
        put_sub_scale(layout, panel, view.code_rows(), n, static_cast<std::int64_t>(b),
                      subs[r * blocks + b]);
    }
  }
}

template <class T>
void encode_gguf(const PackedView& view, const Part<T>& part, std::byte* bytes) {
  const GgufBlock block = gguf_block(view.format.layout);
  std::vector<float> weights(static_cast<std::size_t>(view.layout.padded_cols), 0.0f);
  for (std::int64_t row = part.first; row < part.end(); ++row) {
    flush<T>(view.format.dtype, part.row(row), weights.data());
    std::byte* to = bytes + static_cast<std::uint64_t>(row) * view.layout.panel_bytes;
    for (std::int64_t b = 0; b < view.layout.blocks; ++b)
      encode_gguf_block(view.format.layout, weights.data() + b * block.weights,
                        to + b * block.bytes);
  }
}

// What a team encodes: each worker takes some panels, which share no byte and no scale but that of
// the tensor.
template <class T>
struct Encoding {
  const PackedView& view;
  Part<T> part;                        // all rows; no values where they are read
  const PackedMatrix::ReadRows* read;  // null: `part` has them
  GroupScale tensor;                   // where one scale serves all
  std::byte* bytes;

  void encode(const Part<T>& some) const {
    const bool gguf = is_gguf(view.format.layout);
    const std::uint64_t size = view.layout.panel_bytes;
    const std::int64_t per = gguf ? 1 : kPanel;
    std::fill_n(bytes + view.layout.codes + static_cast<std::uint64_t>(some.first / per) * size,
                static_cast<std::uint64_t>((some.count() + per - 1) / per) * size, std::byte{0});
    if (gguf) encode_gguf(view, some, bytes);
    else if (is_native4(view.format.layout)) encode_native(view, some, bytes);
    else encode_plain(view, some, tensor, bytes);
  }
  // In pieces that a core's cache holds.
  Status encode_range(std::int64_t first, std::int64_t end) const {
    constexpr std::int64_t kPiece = std::int64_t{1} << 15;  // values
    const std::int64_t step = std::max<std::int64_t>(kPiece / part.cols / kPanel, 1) * kPanel;
    std::vector<T> room;
    for (; first < end; first += step) {
      const std::size_t count = static_cast<std::size_t>(std::min(step, end - first) * part.cols);
      Part<T> piece{part.rows, part.cols, first, {}};
      if constexpr (sizeof(T) == sizeof(float)) {
        if (read != nullptr) {
          room.resize(count);
          LOOM_TRY((*read)(first, room));
          piece.values = room;
        }
      }
      if (read == nullptr)
        piece.values = part.values.subspan(static_cast<std::size_t>(first * part.cols), count);
      LOOM_TRY(check_values(view.format, piece));
      if (view.format.layout == Layout::q4_k || view.format.layout == Layout::q6_k)
        return Status(Code::unsupported, to_string(view.format) +
                                             " is read and run, not written; write q4_0, q8_0 "
                                             "or i4");
      encode(piece);
    }
    return {};
  }
  static Status share(void* context, int worker, int workers) {
    const auto* self = static_cast<const Encoding*>(context);
    const std::int64_t rows = self->part.rows, panels = (rows + kPanel - 1) / kPanel;
    return self->encode_range(panels * worker / workers * kPanel,
                              std::min(rows, panels * (worker + 1) / workers * kPanel));
  }
};

// Of `values`, or of those that `read` brings.
template <class T>
Result<PackedMatrix> encode_all(const WeightFormat& format, std::int64_t rows, std::int64_t cols,
                                std::span<const T> values, const PackedMatrix::ReadRows* read,
                                ThreadPool* pool) {
  constexpr std::int64_t kWorthATeam = 1 << 14;  // values
  LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, rows, cols));
  // Who fills the panels clears them.
  auto bytes = aligned_bytes(layout.total, layout.codes + layout.codes_size);
  if (bytes == nullptr) return no_memory(format, rows, cols, layout.total);
  const PackedView view(format, layout);
  Encoding<T> encoding{view, {rows, cols, 0, values}, read, GroupScale{1, 0}, bytes.get()};
  if (format.scale == ScaleKind::tensor) {
    LOOM_TRY(check_values(format, encoding.part));
    encoding.tensor = choose_tensor_scale<T>(format.dtype, values);
  }
  if (pool != nullptr && rows * cols >= kWorthATeam)
    LOOM_TRY(pool->run_allocating(&Encoding<T>::share, &encoding));
  else LOOM_TRY(encoding.encode_range(0, rows));
  const std::span<const std::byte> all(bytes.get(), static_cast<std::size_t>(layout.total));
  return PackedMatrix::wrap(format, rows, cols, all, std::move(bytes));
}

template <class T>
Result<PackedMatrix> encode_whole(const WeightFormat& format, std::int64_t rows, std::int64_t cols,
                                  std::span<const T> values, ThreadPool* pool) {
  LOOM_TRY(packed_layout(format, rows, cols).status());
  if (static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) != values.size())
    return Status(Code::invalid_argument, "a " + shape_text(rows, cols) + " matrix has " +
                                              std::to_string(rows * cols) + " values, got " +
                                              std::to_string(values.size()));
  return encode_all(format, rows, cols, values, nullptr, pool);
}

}  // namespace

Result<PackedMatrix> PackedMatrix::encode(const WeightFormat& format, std::int64_t rows,
                                          std::int64_t cols, std::span<const float> values,
                                          ThreadPool* pool) {
  return encode_whole(format, rows, cols, values, pool);
}
Result<PackedMatrix> PackedMatrix::encode(const WeightFormat& format, std::int64_t rows,
                                          std::int64_t cols, std::span<const double> values,
                                          ThreadPool* pool) {
  return encode_whole(format, rows, cols, values, pool);
}
Result<PackedMatrix> PackedMatrix::encode(const WeightFormat& format, std::int64_t rows,
                                          std::int64_t cols, const ReadRows& read,
                                          ThreadPool* pool) {
  LOOM_TRY(packed_layout(format, rows, cols).status());
  if (format.scale != ScaleKind::tensor)
    return encode_all<float>(format, rows, cols, {}, &read, pool);
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  LOOM_TRY(read(0, values));
  return encode_all<float>(format, rows, cols, values, nullptr, pool);
}

}  // namespace loom
