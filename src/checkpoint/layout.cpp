#include "checkpoint/layout.h"

#include <algorithm>
#include <set>

#include "base/files/bytes.h"
#include "base/message.h"
#include "checkpoint/checksum.h"
#include "formats/tensor_file.h"

namespace loom {

std::string to_string(const TensorType& type) {
  return (type.packed ? "packed " : "") + to_string(type.format);
}

Result<std::uint64_t> tensor_size(const TensorType& type, std::span<const std::int64_t> shape) {
  if (type.packed) {
    if (shape.size() != 2)
      return Status(Code::invalid_argument,
                    message("a packed matrix has two dimensions, this one ", shape_text(shape)));
    LOOM_ASSIGN(const PackedLayout layout, packed_layout(type.format, shape[0], shape[1]));
    return layout.total;
  }
  const int bits = info(type.format.dtype).bits;
  if (bits < 8 || type != TensorType::plain(type.format.dtype))
    return Status(Code::invalid_argument,
                  message("elements of ", to_string(type.format), " are stored packed only"));
  if (shape.size() > entity_layout::kMaxRank)
    return Status(Code::invalid_argument,
                  message("has ", shape.size(), " dimensions, at most ", entity_layout::kMaxRank));
  const auto elements = element_count(shape);
  const auto size =
      elements ? checked_mul(*elements, static_cast<std::uint64_t>(bits / 8)) : std::nullopt;
  if (!size || *size > entity_layout::kMaxFile)
    return Status(Code::out_of_range,
                  message("shape ", shape_text(shape), " is negative or overflows"));
  return *size;
}

namespace entity_layout {
namespace {

enum Kind : std::uint8_t { kSection = 0, kPlain = 1, kPacked = 2 };
constexpr std::size_t kDigest = sizeof(Sha256::Digest);
constexpr std::size_t kFixed = 72;  // of an entry, before dimensions and name

Status corrupt(std::string what) { return Status(Code::corrupt, std::move(what)); }

bool is_format(const WeightFormat& format) {
  const auto all = all_weight_formats();
  return std::find(all.begin(), all.end(), format) != all.end();
}

// The bytes of an entry that say its type.
struct TypeBytes {
  std::uint8_t dtype, layout, scale;
  std::uint16_t block;
};

// Gives the entry of a tensor its type, and checks that its size is that of its shape.
Status set_type(EntityEntry& e, const TypeBytes& t) {
  const std::string what = describe(e);
  if (!e.is_tensor)
    return t.dtype || t.layout || t.scale || t.block || !e.shape.empty()
               ? corrupt(message(what, ": a section has no type and no shape"))
               : Status();
  if (t.dtype >= kDTypeCount)
    return corrupt(message(what, ": dtype ", t.dtype, ", known are 0 to ", kDTypeCount - 1));
  e.type.format = {static_cast<DType>(t.dtype), static_cast<Layout>(t.layout),
                   static_cast<ScaleKind>(t.scale), t.block};
  if (e.type.packed ? !is_format(e.type.format) : e.type != TensorType::plain(e.type.format.dtype))
    return corrupt(message(what, ": dtype ", t.dtype, ", layout ", t.layout, ", scale ", t.scale,
                           ", block ", t.block, " is no format"));
  const auto size = tensor_size(e.type, e.shape);
  if (!size.ok()) return corrupt(message(what, ": ", size.status().message()));
  if (*size != e.size)
    return corrupt(message(what, ": ", to_string(e.type), " of shape ", shape_text(e.shape),
                           " takes ", *size, " bytes, the entry says ", e.size));
  return {};
}

// Reads one entry at `at` and moves behind it.
Result<EntityEntry> parse_entry(std::span<const std::byte> toc, std::size_t& at) {
  const std::string where = "table of contents, byte " + std::to_string(at) + ": ";
  const std::size_t left = toc.size() - at;
  if (left < kFixed)
    return corrupt(
        message(where, "an entry takes at least ", kFixed, " bytes, ", left, " are left"));
  const std::byte* p = toc.data() + at;
  const auto byte = [p](std::size_t i) { return std::to_integer<std::uint8_t>(p[i]); };
  EntityEntry e;
  const std::uint8_t kind = byte(0);
  const TypeBytes type{byte(1), byte(2), byte(3), load_le<std::uint16_t>(p + 4)};
  const auto rank = load_le<std::uint16_t>(p + 6), name = load_le<std::uint16_t>(p + 8);
  if (kind > kPacked)
    return corrupt(
        message(where, "kind ", kind, " is none of section, tensor and packed matrix (0 to 2)"));
  if (rank > kMaxRank) return corrupt(message(where, rank, " dimensions, at most ", kMaxRank));
  const std::size_t text = kFixed + 8 * std::size_t{rank}, whole = align_up(text + name, 8);
  if (left < whole)
    return corrupt(message(where, "the entry takes ", whole, " bytes, ", left, " are left"));
  e.name = as_text(toc.subspan(at + text, name));
  if (const std::string_view problem = name_problem(e.name); !problem.empty())
    return corrupt(message(where, "the name ", problem));
  const auto zero = [](std::byte b) { return b == std::byte{0}; };
  if (!std::all_of(p + 10, p + 16, zero) || !std::all_of(p + text + name, p + whole, zero))
    return corrupt(message(where, "reserved bytes are not zero"));
  e.is_tensor = kind != kSection;
  e.type.packed = kind == kPacked;
  e.offset = load_le<std::uint64_t>(p + 16);
  e.size = load_le<std::uint64_t>(p + 24);
  e.checksum = load_le<std::uint64_t>(p + 32);
  std::transform(p + 40, p + kFixed, e.sha256.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  for (std::size_t i = 0; i < rank; ++i)
    e.shape.push_back(load_le<std::int64_t>(p + kFixed + 8 * i));
  at += whole;
  LOOM_TRY(set_type(e, type));
  return e;
}

}  // namespace

std::string_view name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kMaxName) return "is longer than 1024 bytes";
  if (std::any_of(name.begin(), name.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return "holds a control character";
  return {};
}

std::string describe(const EntityEntry& entry) {
  return (entry.is_tensor ? "tensor " : "section ") + quoted(entry.name);
}

std::array<std::byte, kHeader> header_bytes(const Header& header) {
  std::array<std::byte, kHeader> out{};
  std::copy_n(as_bytes(kMagic).begin(), kMagic.size(), out.begin());
  store_le(out.data() + 8, kVersion);
  store_le(out.data() + 16, header.file_size);
  store_le(out.data() + 24, header.toc_offset);
  store_le(out.data() + 32, header.toc_size);
  store_le(out.data() + 56, Xxh64::of(std::span(out).first(56)));
  return out;
}

Result<Header> parse_header(std::span<const std::byte, kHeader> bytes, std::uint64_t source_size) {
  const std::byte* p = bytes.data();
  if (const auto version = load_le<std::uint32_t>(p + 8); version != kVersion)
    return Status(Code::unsupported, message("is an .entity file of version ", version,
                                             ", this library reads version ", kVersion));
  if (load_le<std::uint64_t>(p + 56) != Xxh64::of(bytes.first(56)))
    return corrupt("the header (bytes 0 to 63) does not match its checksum");
  if (load_le<std::uint32_t>(p + 12) != 0)
    return Status(Code::unsupported, message("has feature flags ", load_le<std::uint32_t>(p + 12),
                                             ", this library knows none"));
  if (load_le<std::uint64_t>(p + 40) != 0 || load_le<std::uint64_t>(p + 48) != 0)
    return corrupt("the reserved bytes 40 to 55 of the header are not zero");
  const Header h{load_le<std::uint64_t>(p + 16), load_le<std::uint64_t>(p + 24),
                 load_le<std::uint64_t>(p + 32)};
  const std::string sizes = "the header says " + std::to_string(h.file_size) +
                            " bytes, the file has " + std::to_string(source_size);
  if (h.file_size > source_size) return Status(Code::truncated, sizes);
  if (h.file_size < source_size) return corrupt(sizes);
  if (h.toc_size < kDigest || h.toc_size > kMaxToc)
    return corrupt(message("the table of contents has ", h.toc_size, " bytes, allowed are ",
                           kDigest, " to ", kMaxToc));
  if (h.file_size > kMaxFile || h.toc_offset < kHeader || h.toc_offset % kAlignment != 0 ||
      h.toc_offset > h.file_size || h.file_size - h.toc_offset != h.toc_size)
    return corrupt(message("the table of contents, ", h.toc_size, " bytes at offset ", h.toc_offset,
                           ", does not end the file of ", h.file_size));
  return h;
}

std::uint64_t entry_size(const EntityEntry& entry) {
  return align_up(kFixed + 8 * entry.shape.size() + entry.name.size(), 8);
}

std::vector<std::byte> toc_bytes(std::span<const EntityEntry* const> entries) {
  std::vector<std::byte> out;
  for (const EntityEntry* e : entries) {
    const std::size_t at = out.size();
    out.resize(at + static_cast<std::size_t>(entry_size(*e)));
    std::byte* p = out.data() + at;
    p[0] = std::byte{e->is_tensor ? e->type.packed ? kPacked : kPlain : kSection};
    if (e->is_tensor) {
      const WeightFormat& f = e->type.format;
      p[1] = static_cast<std::byte>(f.dtype);
      p[2] = static_cast<std::byte>(f.layout);
      p[3] = static_cast<std::byte>(f.scale);
      store_le(p + 4, f.block);
    }
    store_le(p + 6, static_cast<std::uint16_t>(e->shape.size()));
    store_le(p + 8, static_cast<std::uint16_t>(e->name.size()));
    store_le(p + 16, e->offset);
    store_le(p + 24, e->size);
    store_le(p + 32, e->checksum);
    std::copy(e->sha256.begin(), e->sha256.end(), reinterpret_cast<std::uint8_t*>(p + 40));
    for (std::size_t i = 0; i < e->shape.size(); ++i) store_le(p + kFixed + 8 * i, e->shape[i]);
    std::copy_n(as_bytes(e->name).begin(), e->name.size(), p + kFixed + 8 * e->shape.size());
  }
  const Sha256::Digest digest = Sha256::of(out);
  const auto raw = std::as_bytes(std::span(digest));
  out.insert(out.end(), raw.begin(), raw.end());
  return out;
}

Result<std::vector<EntityEntry>> parse_toc(std::span<const std::byte> bytes, const Header& header) {
  const auto toc = bytes.first(bytes.size() - kDigest);
  const Sha256::Digest digest = Sha256::of(toc);
  if (!std::ranges::equal(std::as_bytes(std::span(digest)), bytes.last(kDigest)))
    return corrupt(message("the table of contents at offset ", header.toc_offset,
                           " does not match its SHA-256"));
  std::vector<EntityEntry> entries;
  std::set<std::pair<bool, std::string_view>> seen;
  std::uint64_t end = kHeader;
  for (std::size_t at = 0; at < toc.size();) {
    LOOM_ASSIGN(EntityEntry e, parse_entry(toc, at));
    if (e.offset != end || e.size > header.toc_offset - end)
      return corrupt(message(describe(e), ": lies at offset ", e.offset, " with ", e.size,
                             " bytes; expected offset ", end,
                             " and an end before the table of contents at ", header.toc_offset));
    end = align_up(e.offset + e.size, kAlignment);
    entries.push_back(std::move(e));
  }
  if (end != header.toc_offset)
    return corrupt(message("the entries end at offset ", end, ", the table of contents begins at ",
                           header.toc_offset));
  for (const EntityEntry& e : entries)
    if (!seen.insert({e.is_tensor, e.name}).second)
      return corrupt(message(describe(e), ": stands twice"));
  return entries;
}

}  // namespace entity_layout
}  // namespace loom
