#include "numeric/weight_format.h"

#include <array>
#include <vector>

#include "base/numbered.h"

namespace loom {
namespace {

constexpr int kLayoutIds[] = {
#define LOOM_LAYOUT(id, ...) id,
#include "numeric/layouts.def"
};
#define LOOM_LAYOUT(id, name, Name) \
  static_assert(in_order(kLayoutIds, id), "layouts.def: row " #id " is not " #name);
#include "numeric/layouts.def"

// The layouts other than plain: each fixes the rest of the format.
struct Named {
  std::string_view text;
  WeightFormat format;
};
constexpr Named kNamed[] = {
    {"i4", {DType::i4, Layout::a4, ScaleKind::row, 0}},
    {"i4:s4", {DType::i4, Layout::s4, ScaleKind::row, 0}},
    {"q4_0", {DType::i4, Layout::q4_0, ScaleKind::block, 32}},
    {"q8_0", {DType::i8, Layout::q8_0, ScaleKind::block, 32}},
    {"q4_k", {DType::i4, Layout::q4_k, ScaleKind::block, 32}},
    {"q6_k", {DType::i8, Layout::q6_k, ScaleKind::block, 16}},
};

struct Granularity {
  std::string_view suffix;
  ScaleKind scale;
  std::uint16_t block;
};
constexpr Granularity kGranularities[] = {{":tensor", ScaleKind::tensor, 0},
                                          {":row", ScaleKind::row, 0},
                                          {":block16", ScaleKind::block, 16},
                                          {":block32", ScaleKind::block, 32}};

std::vector<WeightFormat> list_formats() {
  std::vector<WeightFormat> all;
  for (int i = 0; i < kDTypeCount; ++i) {
    const DTypeInfo& type = info(static_cast<DType>(i));
    if (!type.scaled) all.push_back({type.id, Layout::plain, ScaleKind::none, 0});
    else
      for (const Granularity& g : kGranularities)
        all.push_back({type.id, Layout::plain, g.scale, g.block});
  }
  for (const Named& n : kNamed) all.push_back(n.format);
  return all;
}

}  // namespace

WeightFormat default_format(DType dtype) {
  if (dtype == DType::i4) return kNamed[0].format;
  return {dtype, Layout::plain, info(dtype).scaled ? ScaleKind::row : ScaleKind::none, 0};
}

Result<WeightFormat> weight_format_from_ids(std::uint32_t dtype, std::uint32_t layout,
                                            std::uint32_t scale, std::uint32_t block) {
  for (const WeightFormat& f : all_weight_formats())
    if (dtype == static_cast<std::uint32_t>(f.dtype) &&
        layout == static_cast<std::uint32_t>(f.layout) &&
        scale == static_cast<std::uint32_t>(f.scale) && block == f.block)
      return f;
  return Status(Code::corrupt, "no weight format has dtype " + std::to_string(dtype) + ", layout " +
                                   std::to_string(layout) + ", scale " + std::to_string(scale) +
                                   ", block " + std::to_string(block));
}

Result<WeightFormat> parse_weight_format(std::string_view text) {
  const std::string quoted = "'" + std::string(text) + "'";
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const Named& n : kNamed)
    if (n.text == lower) return n.format;
  const std::size_t colon = lower.find(':');
  const auto dtype = parse_dtype(std::string_view(lower).substr(0, colon));
  if (!dtype.ok())
    return Status(Code::invalid_argument,
                  quoted + " is not a weight format: " + dtype.status().message() +
                      "; or q4_0, q8_0, q4_k, q6_k");
  if (colon == std::string::npos) return default_format(*dtype);
  const std::string suffix = lower.substr(colon);
  if (*dtype == DType::i4 && suffix == ":a4") return kNamed[0].format;
  if (*dtype == DType::i4 && suffix == ":s4") return kNamed[1].format;
  for (const Granularity& g : kGranularities)
    if (g.suffix == suffix) {
      if (!info(*dtype).scaled)
        return Status(Code::invalid_argument, quoted + ": " + std::string(name(*dtype)) +
                                                  " has no scale; write it without a colon");
      return WeightFormat{*dtype, Layout::plain, g.scale, g.block};
    }
  return Status(
      Code::invalid_argument,
      quoted + ": after the colon comes tensor, row, block16 or block32 (for i4 also a4 or s4)");
}

std::string to_string(const WeightFormat& format) {
  for (const Named& n : kNamed)
    if (n.format == format) return std::string(n.text);
  std::string text(name(format.dtype));
  if (format == default_format(format.dtype)) return text;
  for (const Granularity& g : kGranularities)
    if (g.scale == format.scale && g.block == format.block) text += g.suffix;
  return text;
}

std::span<const WeightFormat> all_weight_formats() {
  static const std::vector<WeightFormat> all = list_formats();
  return all;
}

}  // namespace loom
