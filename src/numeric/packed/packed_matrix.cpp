#include "numeric/packed/packed_matrix.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "numeric/codec.h"
#include "numeric/packed/native4.h"
#include "numeric/packed/packed_view.h"

namespace loom {

namespace {

// What a matrix is padded and cut to: sets blocks, panels, padded_cols and panel_bytes, and returns
// the number of scales.
std::uint64_t cut_panels(const WeightFormat& format, std::int64_t rows, std::int64_t cols,
                         PackedLayout& out) {
  const PanelGeometry g = panel_geometry(format);
  const std::int64_t multiple = format.dtype == DType::ternary          ? 20
                                : format.arith() == ArithClass::integer ? 64
                                                                        : 32;
  out.panels = (rows + kPanel - 1) / kPanel;
  out.padded_cols = (cols + multiple - 1) / multiple * multiple;
  const std::int64_t code_rows = out.padded_cols / g.k_per_row();
  const std::int64_t stored =
      g.sub_scale_rows == 0 ? code_rows
                            : code_rows + (code_rows + g.sub_scale_rows - 1) / g.sub_scale_rows;
  out.panel_bytes = static_cast<std::uint64_t>(stored) * static_cast<std::uint64_t>(g.row_bytes());
  if (is_native4(format.layout)) out.blocks = out.padded_cols / native4_block(format.layout);
  if (format.scale == ScaleKind::block)
    out.blocks = (out.padded_cols + format.block - 1) / format.block;
  if (format.scale == ScaleKind::none) return 0;
  return static_cast<std::uint64_t>(out.panels * kPanel *
                                    (format.scale == ScaleKind::block ? out.blocks : 1));
}

// The codes of a word, as code * step + zero. Wide: in AVX2, which shifts each by its own number.
template <bool Wide>
__attribute__((always_inline)) inline void take_apart(std::uint32_t word, int step, int zero,
                                                      double* to) {
  if constexpr (Wide) {
    typedef std::uint32_t Words __attribute__((vector_size(32)));
    typedef std::int32_t Half __attribute__((vector_size(16)));
    typedef double Reals __attribute__((vector_size(32)));
    const Words codes = (Words{} + word) >> Words{0, 8, 16, 24, 4, 12, 20, 28} & 15,
                values =
                    codes * static_cast<std::uint32_t>(step) + static_cast<std::uint32_t>(zero);
    Half halves[2];
    std::memcpy(halves, &values, sizeof halves);
    for (int i = 0; i < 2; ++i) {
      const Reals reals = __builtin_convertvector(halves[i], Reals);
      std::memcpy(to + 4 * i, &reals, sizeof reals);
    }
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      to[i] = static_cast<int>(word >> (i % 4 * 8 + i / 4 * 4) & 15) * step + zero;
  }
}

// A row of A4 or S4 without its scale.
template <bool Wide>
__attribute__((always_inline)) inline void decode_native4(const PackedView& view,
                                                          const std::byte* panel, int n,
                                                          std::span<double> out) {
  const Layout layout = view.format.layout;
  const auto block = static_cast<std::size_t>(native4_block(layout));
  const std::int64_t rows = view.code_rows();
  for (std::size_t k = 0; k < out.size(); k += block) {
    const int sub = get_sub_scale(layout, panel, rows, n, static_cast<std::int64_t>(k / block));
    const int zero = native4_value(layout, 0, sub), step = native4_value(layout, 1, sub) - zero;
    double room[32];
    double* const to = out.size() - k < block ? room : out.data() + k;
    for (std::size_t i = 0; i < block; i += 8) {
      const std::int64_t at =
          stored_row(static_cast<std::int64_t>((k + i) / 8), view.geometry.sub_scale_rows);
      take_apart<Wide>(load_le<std::uint32_t>(panel + at * 64 + n * 4), step, zero, to + i);
    }
    if (to == room) std::copy_n(room, out.size() - k, out.data() + k);
  }
}

void decode_narrow(const PackedView& view, const std::byte* panel, int n, std::span<double> out) {
  decode_native4<false>(view, panel, n, out);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void decode_avx2(const PackedView& view, const std::byte* panel, int n,
                                         std::span<double> out) {
  decode_native4<true>(view, panel, n, out);
}
#endif

}  // namespace

Result<PackedLayout> packed_layout(const WeightFormat& format, std::int64_t rows,
                                   std::int64_t cols) {
  constexpr std::int64_t kMax = 0x7FFFFFFF;
  const auto known = all_weight_formats();
  if (std::find(known.begin(), known.end(), format) == known.end())
    return Status(Code::invalid_argument,
                  "this dtype, layout, scale and block do not make a weight format; "
                  "parse_weight_format gives valid ones");
  if (rows < 1 || cols < 1 || rows > kMax || cols > kMax)
    return Status(Code::out_of_range, "a packed matrix is 1 to 2147483647 rows and columns, got " +
                                          shape_text(rows, cols));
  PackedLayout out;
  const std::uint64_t width = is_real(format) ? 8 : 4;
  std::optional<std::uint64_t> codes;
  std::uint64_t units = 0;  // scales
  if (is_gguf(format.layout)) {
    const GgufBlock block = gguf_block(format.layout);
    out.blocks = (cols + block.weights - 1) / block.weights;
    out.padded_cols = out.blocks * block.weights;
    out.panel_bytes =
        static_cast<std::uint64_t>(out.blocks) * static_cast<std::uint64_t>(block.bytes);
    codes = checked_mul(static_cast<std::uint64_t>(rows), out.panel_bytes);
  } else {
    units = cut_panels(format, rows, cols, out);
    codes = checked_mul(static_cast<std::uint64_t>(out.panels), out.panel_bytes);
  }
  if (!codes || *codes > std::uint64_t{1} << 62 || units > std::uint64_t{1} << 58)
    return Status(Code::out_of_range, "a " + shape_text(rows, cols) + " matrix in " +
                                          to_string(format) + " is larger than 2^62 bytes");
  std::uint64_t at = 0;
  const auto section = [&](std::uint64_t size, std::uint64_t* offset, std::uint64_t* out_size) {
    *offset = at;
    *out_size = size;
    at = align_up(at + size, 64);
  };
  const bool blocks = format.scale == ScaleKind::block;
  section(*codes, &out.codes, &out.codes_size);
  section(blocks ? units * width : 0, &out.sub_scales, &out.sub_scales_size);
  section(blocks ? 0 : units * width, &out.scales, &out.scales_size);
  const bool is_signed = info(format.dtype).is_signed;
  section(is_signed ? 0 : units * zero_bytes(format), &out.zeros, &out.zeros_size);
  // GGUF rows end where the file's tensor does.
  out.total = is_gguf(format.layout) ? *codes : at;
  return out;
}

Result<PackedMatrix> PackedMatrix::wrap(const WeightFormat& format, std::int64_t rows,
                                        std::int64_t cols, std::span<const std::byte> bytes,
                                        std::shared_ptr<const void> owner) {
  LOOM_ASSIGN(const PackedLayout layout, packed_layout(format, rows, cols));
  if (bytes.size() != layout.total)
    return Status(bytes.size() < layout.total ? Code::truncated : Code::corrupt,
                  "a " + shape_text(rows, cols) + " matrix in " + to_string(format) + " is " +
                      std::to_string(layout.total) + " bytes, got " + std::to_string(bytes.size()));
  if (!is_gguf(format.layout) && reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 != 0)
    return Status(Code::invalid_argument,
                  "packed panels begin at a multiple of 64 bytes in memory; these bytes do not");
  PackedMatrix m;
  m.format_ = format;
  m.rows_ = rows;
  m.cols_ = cols;
  m.layout_ = layout;
  m.bytes_ = bytes;
  m.owner_ = std::move(owner);
  m.file_ = mapping_of(bytes.data());
  return m;
}

double PackedMatrix::row_scale64(std::int64_t row) const {
  return format_.scale == ScaleKind::block
             ? 1
             : PackedView(format_, layout_).scale(bytes_.data(), row, 0);
}

void PackedMatrix::decode_codes(std::int64_t row, std::span<double> out) const {
  const PackedView view(format_, layout_);
  if (is_gguf(format_.layout)) {
    const GgufBlock block = gguf_block(format_.layout);
    float values[256];
    for (std::int64_t b = 0; b < layout_.blocks; ++b) {
      decode_gguf_block(
          format_.layout,
          bytes_.data() + static_cast<std::uint64_t>(row) * layout_.panel_bytes + b * block.bytes,
          values);
      const std::int64_t from = b * block.weights;
      std::copy(values, values + std::min<std::int64_t>(block.weights, cols_ - from),
                out.begin() + from);
    }
    return;
  }
  const std::byte* panel = bytes_.data() + view.panel_at(row);
  const int n = static_cast<int>(row % kPanel);
  if (is_native4(format_.layout)) {
    out = out.first(static_cast<std::size_t>(cols_));
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return decode_avx2(view, panel, n, out);
#endif
    return decode_narrow(view, panel, n, out);
  }
  const std::int64_t per_row = view.geometry.k_per_row();
  std::vector<std::uint64_t> codes(
      static_cast<std::size_t>((cols_ + per_row - 1) / per_row * per_row));
  unpack_panel_row(view.geometry, panel, n, codes);
  codes.resize(static_cast<std::size_t>(cols_));
  if (format_.scale != ScaleKind::block)
    return decode_group(format_.dtype, codes, view.zero(bytes_.data(), row, 0), out.data());
  for (std::int64_t b = 0, k = 0; k < cols_; ++b, k += format_.block) {
    const std::size_t from = static_cast<std::size_t>(k);
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::int64_t>(format_.block, cols_ - k));
    decode_group(format_.dtype, std::span(codes).subspan(from, count),
                 view.zero(bytes_.data(), row, b), out.data() + from);
    const double scale = view.scale(bytes_.data(), row, b);
    for (std::size_t i = from; i < from + count; ++i) {
      out[i] *= scale;
      // Kernels of the float classes read them as f32.
      if (!is_real(format_)) out[i] = static_cast<double>(static_cast<float>(out[i]));
    }
  }
}

void PackedMatrix::decode_codes(std::int64_t row, std::span<float> out) const {
  std::vector<double> wide(static_cast<std::size_t>(cols_));
  decode_codes(row, wide);
  std::transform(wide.begin(), wide.end(), out.begin(),
                 [](double x) { return static_cast<float>(x); });
}

void PackedMatrix::decode(std::int64_t first, std::int64_t count, std::span<double> out) const {
  for (std::int64_t row = first; row < first + count; ++row) {
    const auto to = out.subspan(static_cast<std::size_t>((row - first) * cols_),
                                static_cast<std::size_t>(cols_));
    decode_codes(row, to);
    const double scale = row_scale64(row);
    for (double& x : to) x *= scale;
  }
}

void PackedMatrix::decode(std::int64_t first, std::int64_t count, std::span<float> out) const {
  std::vector<double> wide(static_cast<std::size_t>(cols_));
  for (std::int64_t row = first; row < first + count; ++row) {
    decode(row, 1, wide);
    std::transform(wide.begin(), wide.end(), out.begin() + (row - first) * cols_,
                   [](double x) { return static_cast<float>(x); });
  }
}

std::int32_t code_at(const PackedMatrix& matrix, std::int64_t row, std::int64_t col) {
  const WeightFormat& format = matrix.format();
  const PackedLayout& layout = matrix.layout();
  if (format.arith() != ArithClass::integer) return 0;
  const std::byte* bytes = matrix.bytes().data();
  if (is_gguf(format.layout)) {
    const GgufBlock block = gguf_block(format.layout);
    std::int32_t codes[256];
    const std::byte* blocks = bytes + static_cast<std::uint64_t>(row) * layout.panel_bytes;
    decode_gguf_codes(format.layout, blocks + col / block.weights * block.bytes, codes);
    return codes[col % block.weights];
  }
  const PackedView view(format, layout);
  const std::byte* panel = bytes + view.panel_at(row);
  std::uint64_t codes[32];
  const std::int64_t per_row = view.geometry.k_per_row();
  const std::span<std::uint64_t> one(codes, static_cast<std::size_t>(per_row));
  const int n = static_cast<int>(row % kPanel);
  unpack_panel_row(
      view.geometry,
      panel + stored_row(col / per_row, view.geometry.sub_scale_rows) * view.geometry.row_bytes(),
      n, one);
  const std::uint64_t code = one[static_cast<std::size_t>(col % per_row)];
  if (is_native4(format.layout)) {
    const int sub = get_sub_scale(format.layout, panel, view.code_rows(), n,
                                  col / native4_block(format.layout));
    return native4_value(format.layout, static_cast<int>(code), sub);
  }
  const Codec& codec = info(format.dtype).codec;
  if (codec.family == CodecFamily::small_float) {
    const float value = decode_small_float(static_cast<std::uint32_t>(code), codec.small_float);
    const int factor = integer_factor(codec.small_float);
    return static_cast<std::int32_t>(value * static_cast<float>(factor));
  }
  double value = 0;
  const std::int64_t block = format.scale == ScaleKind::block ? col / format.block : 0;
  decode_group(format.dtype, std::span(&code, 1), view.zero(bytes, row, block), &value);
  return static_cast<std::int32_t>(value);
}

}  // namespace loom
