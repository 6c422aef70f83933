// What bytes that nothing vouches for must be asked: a look that reads everything once, a few GB/s,
// and, where that sees a fault, a slow one that names it.
#include <cstring>
#include <string>
#include <vector>

#include "numeric/packed/native4.h"
#include "numeric/packed/packed_view.h"

namespace loom {
namespace {

constexpr std::uint32_t kExponent = 0x7F800000;  // of an f32
constexpr std::uint64_t kExponent64 = 0x7FF0000000000000;

// True where any element of a section of U has all bits of `mask`: the exponent of an infinity or
// NaN.
template <class U>
bool any_with(std::span<const std::byte> section, U mask) {
  bool found = false;
  for (std::size_t i = 0; i + sizeof(U) <= section.size(); i += sizeof(U))
    found |= (load_le<U>(section.data() + i) & mask) == mask;
  return found;
}

// True where any element of a section of U is more than `largest`; `bits` of each are looked at.
template <class U>
bool any_above(std::span<const std::byte> section, U largest, U bits = static_cast<U>(-1)) {
  bool found = false;
  for (std::size_t i = 0; i + sizeof(U) <= section.size(); i += sizeof(U))
    found |= (load_le<U>(section.data() + i) & bits) > largest;
  return found;
}

// Whether no code is an infinity or NaN. Integers have none, nor do floats whose largest code is
// finite, nor those below a byte.
bool codes_are_finite(const DTypeInfo& type, std::span<const std::byte> codes) {
  if (type.codec.family == CodecFamily::ieee)
    return type.bits == 64 ? !any_with(codes, kExponent64) : !any_with(codes, kExponent);
  if (type.codec.family != CodecFamily::small_float || type.bits < 8) return true;
  const std::uint32_t largest = type.codec.small_float.max_code;
  if (type.bits == 8)
    return !any_above(codes, static_cast<std::uint8_t>(largest), std::uint8_t{0x7F});
  return !any_above(codes, static_cast<std::uint16_t>(largest), std::uint16_t{0x7FFF});
}

// A4: w8 = code*s - 8*m4 rises with the code and is never below -120, so the largest code of an
// output and block decides. A superblock is 8 rows of codes, two per block, and a row of sub-scales
// (panel.h); K is padded to whole superblocks.
bool a4_fits(const std::byte* panel, std::int64_t code_rows) {
  constexpr int kRow = 64;
  std::uint8_t over = 0;
  for (std::int64_t super = 0; super < code_rows / 8; ++super, panel += 9 * kRow) {
    for (int block = 0; block < 4; ++block) {
      std::uint8_t a[kRow], b[kRow], pair[kRow];  // `pair`: s and m4 of each byte's output
      std::memcpy(a, panel + 2 * block * kRow, kRow);
      std::memcpy(b, panel + (2 * block + 1) * kRow, kRow);
      for (int n = 0; n < 16; ++n)
        std::memset(pair + 4 * n, std::to_integer<int>(panel[8 * kRow + 4 * n + block]), 4);
      for (int i = 0; i < kRow; ++i) {
        const std::uint8_t la = a[i] & 15, lb = b[i] & 15, ha = a[i] >> 4, hb = b[i] >> 4;
        const std::uint8_t low = la > lb ? la : lb, high = ha > hb ? ha : hb,
                           largest = low > high ? low : high;
        const auto product = static_cast<std::uint8_t>(largest * (pair[i] & 15)),
                   max = static_cast<std::uint8_t>(127 + 8 * (pair[i] >> 4));
        over |= product > max;
      }
    }
  }
  return over == 0;
}

bool gguf_scales_finite(const PackedMatrix& matrix) {
  const Layout layout = matrix.format().layout;
  const GgufBlock block = gguf_block(layout);
  bool bad = false;
  const auto half = [&](const std::byte* at) {
    bad |= (load_le<std::uint16_t>(at) & 0x7C00) == 0x7C00;
  };
  for (std::size_t at = 0; at < matrix.bytes().size();
       at += static_cast<std::size_t>(block.bytes)) {
    const std::byte* p = matrix.bytes().data() + at;
    half(layout == Layout::q6_k ? p + 208 : p);
    if (layout == Layout::q4_k) half(p + 2);
  }
  return !bad;
}

// True where find_fault would find nothing.
bool is_sound(const PackedMatrix& matrix) {
  const WeightFormat& format = matrix.format();
  const PackedLayout& layout = matrix.layout();
  if (is_gguf(format.layout)) return gguf_scales_finite(matrix);
  const auto section = [&](std::uint64_t at, std::uint64_t size) {
    return matrix.bytes().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  };
  for (const auto scales : {section(layout.sub_scales, layout.sub_scales_size),
                            section(layout.scales, layout.scales_size)})
    if (is_real(format) ? any_with(scales, kExponent64) : any_with(scales, kExponent)) return false;
  const int bits = info(format.dtype).bits;
  if (bits < 32 &&
      any_above(section(layout.zeros, layout.zeros_size), (std::uint32_t{1} << bits) - 1))
    return false;
  const auto codes = section(layout.codes, layout.codes_size);
  if (!codes_are_finite(info(format.dtype), codes)) return false;
  if (format.layout != Layout::a4) return true;  // fp4 and S4 have no code that is wrong
  const PackedView view(format, layout);
  for (std::int64_t p = 0; p < layout.panels; ++p)
    if (!a4_fits(codes.data() + static_cast<std::uint64_t>(p) * layout.panel_bytes,
                 view.code_rows()))
      return false;
  return true;
}

std::string place(std::int64_t row, std::size_t col) {
  return "row " + std::to_string(row) + ", column " + std::to_string(col);
}

Status find_fault(const PackedMatrix& matrix) {
  const WeightFormat& format = matrix.format();
  const PackedLayout& layout = matrix.layout();
  const std::byte* bytes = matrix.bytes().data();
  if (is_gguf(format.layout)) {
    std::vector<double> values(static_cast<std::size_t>(matrix.cols()));
    for (std::int64_t row = 0; row < matrix.rows(); ++row) {
      matrix.decode_codes(row, values);
      for (std::size_t k = 0; k < values.size(); ++k)
        if (!(values[k] - values[k] == 0))
          return Status(Code::corrupt,
                        place(row, k) + " is not a finite number: its block's scale is not");
    }
    return Status();
  }
  const PackedView view(format, layout);
  const std::int64_t groups = format.scale == ScaleKind::block ? layout.blocks : 1;
  const bool bounded = info(format.dtype).bits < 64 && !info(format.dtype).is_signed;
  for (std::int64_t row = 0; row < layout.panels * kPanel; ++row) {
    for (std::int64_t b = 0; b < groups; ++b) {
      const std::string at =
          "row " + std::to_string(row) + (groups > 1 ? ", block " + std::to_string(b) : "");
      const double scale = view.scale(bytes, row, b);
      if (!(scale - scale == 0))
        return Status(Code::corrupt, at + ": the scale is not a finite number");
      if (bounded && view.zero(bytes, row, b) >> info(format.dtype).bits != 0)
        return Status(Code::corrupt, at + ": the zero point " +
                                         std::to_string(view.zero(bytes, row, b)) +
                                         " is not a code of " + std::string(name(format.dtype)));
    }
    if (!info(format.dtype).is_float && !is_native4(format.layout)) continue;
    std::vector<std::uint64_t> codes(static_cast<std::size_t>(layout.padded_cols));
    const std::byte* panel = bytes + view.panel_at(row);
    const int n = static_cast<int>(row % kPanel);
    unpack_panel_row(view.geometry, panel, n, codes);
    if (is_native4(format.layout)) {
      for (std::int64_t k = 0; k < layout.padded_cols; ++k) {
        const int sub = get_sub_scale(format.layout, panel, view.code_rows(), n,
                                      k / native4_block(format.layout));
        const int w8 =
            native4_value(format.layout, static_cast<int>(codes[static_cast<std::size_t>(k)]), sub);
        if (w8 < -127 || w8 > 127)
          return Status(Code::corrupt, place(row, static_cast<std::size_t>(k)) +
                                           ": code and sub-scale make " + std::to_string(w8) +
                                           ", which is not in -127..127");
      }
      continue;
    }
    std::vector<double> values(codes.size());
    decode_group(format.dtype, codes, 0, values.data());
    for (std::size_t k = 0; k < values.size(); ++k)
      if (!(values[k] - values[k] == 0))
        return Status(Code::corrupt, place(row, k) + " is not a finite number");
  }
  return Status();
}

}  // namespace

Status PackedMatrix::check() const { return is_sound(*this) ? Status() : find_fault(*this); }

}  // namespace loom
