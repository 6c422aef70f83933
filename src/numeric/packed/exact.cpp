#include "numeric/packed/exact.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "base/threads/thread_pool.h"
#include "numeric/codec.h"
#include "numeric/packed/packed_view.h"

namespace loom {
namespace {

// What the exponents of f32 have over those of f16, and the steps of its subnormals. No f32 here is
// subnormal: the host's environment may have none.
constexpr std::uint32_t kExponents = 112u << 23;
constexpr float kStep = 0x1p-24f;

float from_f16(std::uint16_t code) {
  const std::uint32_t m = code & 0x7FFFu;
  const float small = static_cast<float>(static_cast<std::int32_t>(m)) * kStep;
  const std::uint32_t bits =
      m < 0x400u ? std::bit_cast<std::uint32_t>(small) : (m << 13) + kExponents;
  return std::bit_cast<float>(bits | static_cast<std::uint32_t>(code & 0x8000u) << 16);
}
float from_bf16(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

// Codes of finite values; whether they are these values.
bool to_f16(std::span<const float> values, std::uint16_t* out) {
  const float* from = values.data();
  int lost = 0;
  for (std::size_t i = 0, n = values.size(); i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(from[i]);
    const std::uint32_t m = bits & 0x7FFFFFFFu;
    const float magnitude = std::bit_cast<float>(m);
    const float steps = (magnitude < 0x1p-14f ? magnitude : 0.0f) / kStep;
    const std::uint32_t code = m < 0x38800000u ? static_cast<std::uint32_t>(static_cast<int>(steps))
                                               : (m - kExponents) >> 13;
    out[i] = static_cast<std::uint16_t>((code & 0x7FFFu) | bits >> 31 << 15);
    lost |= !(magnitude <= 65504.0f && from_f16(out[i]) == from[i]);
  }
  return lost == 0;
}
bool to_bf16(std::span<const float> values, std::uint16_t* out) {
  const float* from = values.data();
  std::uint32_t lost = 0;
  for (std::size_t i = 0, n = values.size(); i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(from[i]);
    out[i] = static_cast<std::uint16_t>(bits >> 16);
    lost |= (bits & 0xFFFFu) | ((bits & 0x7F800000u) == 0x7F800000u ? 1u : 0u);
  }
  return lost == 0;
}

// Of a panel, whose codes lie as [k / 2][16 outputs][2].
std::size_t place(std::int64_t row, std::size_t k) {
  return k / 2 * 64 + static_cast<std::size_t>(row % kPanel) * 4 + k % 2 * 2;
}

// Panels that a team packs, each worker every n-th, until one of them finds a value that is lost.
struct Packing {
  bool (*codes)(std::span<const float>, std::uint16_t*);
  const PackedLayout& layout;
  std::int64_t rows, cols;
  const PackedMatrix::ReadRows& read;
  std::byte* bytes;
  std::atomic<bool> exact = true;

  static Status share(void* context, int worker, int workers) {
    auto* self = static_cast<Packing*>(context);
    const auto cols = static_cast<std::size_t>(self->cols);
    std::vector<float> values(static_cast<std::size_t>(kPanel) * cols);
    std::vector<std::uint16_t> codes(cols);
    for (std::int64_t panel = worker; panel < self->layout.panels && self->exact;
         panel += workers) {
      const std::int64_t first = panel * kPanel, count = std::min(kPanel, self->rows - first);
      const auto some = std::span(values).first(static_cast<std::size_t>(count) * cols);
      LOOM_TRY(self->read(first, some));
      std::byte* to = self->bytes + static_cast<std::uint64_t>(panel) * self->layout.panel_bytes;
      for (std::int64_t row = 0; row < count; ++row) {
        if (!self->codes(some.subspan(static_cast<std::size_t>(row) * cols, cols), codes.data())) {
          self->exact = false;
          break;
        }
        for (std::size_t k = 0; k < cols; ++k) store_le(to + place(row, k), codes[k]);
      }
    }
    return {};
  }
};

}  // namespace

Result<std::optional<PackedMatrix>> pack_exactly(std::int64_t rows, std::int64_t cols,
                                                 const PackedMatrix::ReadRows& read,
                                                 ThreadPool* pool) {
  constexpr std::int64_t kWorthATeam = 1 << 14;  // values
  // Where a matrix is of other values its first panel tells, before memory is taken.
  LOOM_TRY(packed_layout({}, rows, cols).status());
  std::vector<float> some(static_cast<std::size_t>(std::min(kPanel, rows) * cols));
  LOOM_TRY(read(0, some));
  std::vector<std::uint16_t> codes(some.size());
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const auto encode = dtype == DType::f16 ? &to_f16 : &to_bf16;
    if (!encode(some, codes.data())) continue;
    const WeightFormat format = default_format(dtype);
    LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, rows, cols));
    auto bytes = aligned_bytes(layout.total);
    if (bytes == nullptr) return no_memory(format, rows, cols, layout.total);
    Packing packing{encode, layout, rows, cols, read, bytes.get()};
    if (pool == nullptr || rows * cols < kWorthATeam) LOOM_TRY(Packing::share(&packing, 0, 1));
    else LOOM_TRY(pool->run_allocating(&Packing::share, &packing));
    if (!packing.exact) continue;
    const std::span<const std::byte> all(bytes.get(), static_cast<std::size_t>(layout.total));
    LOOM_ASSIGN(PackedMatrix packed, PackedMatrix::wrap(format, rows, cols, all, std::move(bytes)));
    return std::optional(std::move(packed));
  }
  return std::optional<PackedMatrix>();
}

namespace {
template <class Value>
void unpack(const PackedMatrix& matrix, std::int64_t first, std::span<float> out, Value value) {
  const auto cols = static_cast<std::size_t>(matrix.cols());
  for (std::size_t at = 0; at < out.size(); at += cols, ++first) {
    const std::byte* panel = matrix.bytes().data() + static_cast<std::uint64_t>(first / kPanel) *
                                                         matrix.layout().panel_bytes;
    for (std::size_t k = 0; k < cols; ++k)
      out[at + k] = value(load_le<std::uint16_t>(panel + place(first, k)));
  }
}
}  // namespace

void unpack_exactly(const PackedMatrix& matrix, std::int64_t first, std::span<float> out) {
  if (matrix.format().dtype == DType::f16)
    unpack(matrix, first, out, [](std::uint16_t code) { return from_f16(code); });
  else unpack(matrix, first, out, [](std::uint16_t code) { return from_bf16(code); });
}

}  // namespace loom
