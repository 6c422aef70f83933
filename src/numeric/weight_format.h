// How a weight matrix is stored: a dtype, a layout and the granularity of its scales.
// docs/reference/packing.md has every byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "numeric/dtype.h"

namespace loom {

// Ids are on disk: append only.
enum class Layout : std::uint8_t {
#define LOOM_LAYOUT(id, name, Name) name = id,
#include "numeric/layouts.def"
};

enum class ScaleKind : std::uint8_t { none = 0, tensor = 1, row = 2, block = 3 };

struct WeightFormat {
  DType dtype = DType::f32;
  Layout layout = Layout::plain;
  ScaleKind scale = ScaleKind::none;
  std::uint16_t block = 0;  // weights per scale where scale is block: 16 or 32 (of the GGUF
                            // layouts, their sub-blocks); else 0

  friend bool operator==(const WeightFormat&, const WeightFormat&) = default;
  ArithClass arith() const { return info(dtype).arith; }
};

// The format a bare dtype name means: "i4" is A4 in blocks of 16; the other scaled types take one
// scale per row.
WeightFormat default_format(DType dtype);

// "f32", "i8", "i4" (= "i4:a4"), "i4:s4", "i4:row", "i8:tensor", "i8:block32", "q4_0", "q8_0",
// "q4_k", "q6_k"; any case, and the synonyms of parse_dtype before the colon. to_string gives the
// one canonical spelling.
Result<WeightFormat> parse_weight_format(std::string_view text);
std::string to_string(const WeightFormat& format);
// From the numbers of a file. Error: corrupt where they are not one of all_weight_formats().
Result<WeightFormat> weight_format_from_ids(std::uint32_t dtype, std::uint32_t layout,
                                            std::uint32_t scale, std::uint32_t block);

// Every format that parse_weight_format accepts, dtypes in id order, then the native and the GGUF
// layouts: what tests and tables iterate over. A WeightFormat that is not in the list is refused by
// whatever takes one.
std::span<const WeightFormat> all_weight_formats();

}  // namespace loom
