#include "formats/gguf/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/files/bytes.h"
#include "base/json/json.h"
#include "base/message.h"
#include "formats/byte_reader.h"
#include "formats/gguf/gguf_types.h"
#include "formats/sniff.h"

namespace loom {
namespace {

constexpr std::uint64_t kLargestKey = 65535;  // bytes, by the format
constexpr std::uint32_t kLargestRank = 4;     // GGML_MAX_DIMS
constexpr std::string_view kAlignmentKey = "general.alignment";
// The least that an entry and a tensor take in the file: a hostile count is refused before anything
// is reserved.
constexpr std::uint64_t kSmallestEntry = 8 + 4 + 1;
constexpr std::uint64_t kSmallestTensor = 8 + 4 + 4 + 8;

struct GgmlType {
  std::string_view name;  // "" where the number is unused
  std::optional<StorageType> type;
};
constexpr GgmlType kGgmlTypes[] = {
    {"F32", StorageType::f32},
    {"F16", StorageType::f16},
    {"Q4_0", StorageType::q4_0},
    {"Q4_1", {}},
    {"Q4_2", {}},
    {"Q4_3", {}},
    {"Q5_0", {}},
    {"Q5_1", {}},
    {"Q8_0", StorageType::q8_0},
    {"Q8_1", {}},
    {"Q2_K", {}},
    {"Q3_K", {}},
    {"Q4_K", StorageType::q4_k},
    {"Q5_K", {}},
    {"Q6_K", StorageType::q6_k},
    {"Q8_K", {}},
    {"IQ2_XXS", {}},
    {"IQ2_XS", {}},
    {"IQ3_XXS", {}},
    {"IQ1_S", {}},
    {"IQ4_NL", {}},
    {"IQ3_S", {}},
    {"IQ2_S", {}},
    {"IQ4_XS", {}},
    {"I8", StorageType::i8},
    {"I16", StorageType::i16},
    {"I32", StorageType::i32},
    {"I64", StorageType::i64},
    {"F64", StorageType::f64},
    {"IQ1_M", {}},
    {"BF16", StorageType::bf16},
    {"Q4_0_4_4", {}},
    {"Q4_0_4_8", {}},
    {"Q4_0_8_8", {}},
    {"TQ1_0", {}},
    {"TQ2_0", {}},
    {"IQ4_NL_4_4 (or BitNet's I2_S)", {}},
    {"IQ4_NL_4_8", {}},
    {"IQ4_NL_8_8", {}},
    {"MXFP4", {}},
};

struct ValueType {
  std::string_view name;
  std::uint32_t bytes;  // of a value; for a string or array the least it takes
};
constexpr ValueType kValueTypes[] = {
    {"u8", 1},   {"i8", 1},     {"u16", 2},    {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 8}, {"array", 12}, {"u64", 8}, {"i64", 8}, {"f64", 8}};
const ValueType& row(Gguf::Type type) { return kValueTypes[static_cast<std::size_t>(type)]; }

bool is_integer(Gguf::Type t) {
  using enum Gguf::Type;
  return t != f32 && t != f64 && t != boolean && t != string && t != array;
}
bool is_float(Gguf::Type t) { return t == Gguf::Type::f32 || t == Gguf::Type::f64; }

struct Integer {
  std::uint64_t bits;
  bool negative;
};

Result<Integer> read_integer(ByteReader& reader, Gguf::Type type) {
  const std::uint32_t size = row(type).bytes;
  std::array<std::byte, 8> raw{};
  LOOM_TRY(reader.bytes(std::span(raw).first(size), "an integer"));
  auto bits = load_le<std::uint64_t>(raw.data());
  using enum Gguf::Type;
  const bool is_signed = type == i8 || type == i16 || type == i32 || type == i64;
  const bool negative = is_signed && (bits >> (size * 8 - 1) & 1) != 0;
  if (negative && size < 8) bits |= ~std::uint64_t{0} << (size * 8);
  return Integer{bits, negative};
}

Result<double> read_float(ByteReader& reader, Gguf::Type type) {
  if (type == Gguf::Type::f64) return reader.value<double>("a float");
  LOOM_ASSIGN(const float value, reader.value<float>("a float"));
  return static_cast<double>(value);
}

// Walks the header and fills in what it says; the caller adds the source.
class HeaderParser {
 public:
  HeaderParser(const ByteSource& source) : source_(source), reader_(source, 4) {}

  Status run() {
    if (source_.size() > static_cast<std::uint64_t>(INT64_MAX))
      return fail(Code::out_of_range, "claims more than 2^63-1 bytes");
    LOOM_ASSIGN(version, reader_.value<std::uint32_t>("the version"));
    if (version == byte_swap(std::uint32_t{2}) || version == byte_swap(std::uint32_t{3})) {
      return fail(Code::unsupported, "is a big-endian GGUF file: convert it to little-endian");
    }
    if (version < 2 || version > 3) {
      return fail(Code::unsupported, "has GGUF version ", version,
                  " (at offset 4), expected 2 or 3");
    }
    LOOM_ASSIGN(const std::uint64_t tensor_count, reader_.value<std::uint64_t>("the tensor count"));
    LOOM_ASSIGN(const std::uint64_t entry_count,
                reader_.value<std::uint64_t>("the metadata count"));
    LOOM_TRY(check_count(tensor_count, kSmallestTensor, "tensors", 8));
    LOOM_TRY(check_count(entry_count, kSmallestEntry, "metadata entries", 16));
    for (std::uint64_t i = 0; i < entry_count; ++i) LOOM_TRY(parse_entry());
    std::sort(metadata.begin(), metadata.end(),
              [](const Gguf::Entry& a, const Gguf::Entry& b) { return a.key < b.key; });
    for (std::size_t i = 1; i < metadata.size(); ++i) {
      if (metadata[i].key == metadata[i - 1].key) {
        return fail(Code::corrupt, "metadata key ", quoted(metadata[i].key), " is there twice");
      }
    }
    for (std::uint64_t i = 0; i < tensor_count; ++i) LOOM_TRY(parse_tensor());
    return place_tensors();
  }

  std::uint32_t version = 0;
  std::uint64_t alignment = 32;
  std::vector<Gguf::Entry> metadata;
  std::vector<TensorInfo> tensors;

 private:
  template <class... Parts>
  Status fail(Code code, const Parts&... what) const {
    return Status(code, message(source_.name(), ": ", what...));
  }

  Status check_count(std::uint64_t count, std::uint64_t min, std::string_view what,
                     std::uint64_t offset) const {
    if (count <= reader_.left() / min) return {};
    return fail(Code::corrupt, "claims ", count, " ", what, " (at offset ", offset,
                "), more than its ", source_.size(), " bytes can hold");
  }

  Status parse_type(Gguf::Type* out, const std::string& key) {
    const std::uint64_t at = reader_.at();
    LOOM_ASSIGN(const std::uint32_t id, reader_.value<std::uint32_t>("a value type"));
    if (id >= std::size(kValueTypes)) {
      return fail(Code::corrupt, "metadata key ", quoted(key), " has value type ", id,
                  " at offset ", at, ", expected 0 to 12");
    }
    *out = static_cast<Gguf::Type>(id);
    return {};
  }

  Status parse_entry() {
    Gguf::Entry entry{};
    const std::uint64_t at = reader_.at();
    LOOM_TRY(reader_.text(&entry.key, "a metadata key"));
    if (entry.key.empty() || entry.key.size() > kLargestKey) {
      return fail(Code::corrupt, "metadata key at offset ", at, " has ", entry.key.size(),
                  " bytes, expected 1 to 65535");
    }
    LOOM_TRY(parse_type(&entry.type, entry.key));
    entry.element = entry.type;
    entry.count = 1;
    if (entry.type == Gguf::Type::array) {
      LOOM_TRY(parse_type(&entry.element, entry.key));
      if (entry.element == Gguf::Type::array)
        return fail(Code::unsupported, "metadata key ", quoted(entry.key),
                    " is an array of arrays");
      const std::uint64_t count_at = reader_.at();
      LOOM_ASSIGN(entry.count, reader_.value<std::uint64_t>("an array's count"));
      LOOM_TRY(check_count(entry.count, row(entry.element).bytes, "items of " + quoted(entry.key),
                           count_at));
    }
    entry.offset = reader_.at();
    LOOM_TRY(walk_values(entry));
    if (entry.key == kAlignmentKey) LOOM_TRY(read_alignment(entry));
    if (entry.key == "split.count") LOOM_TRY(refuse_split(entry));
    metadata.push_back(std::move(entry));
    return {};
  }

  Status walk_values(const Gguf::Entry& entry) {
    if (entry.element == Gguf::Type::string) {
      for (std::uint64_t i = 0; i < entry.count; ++i)
        LOOM_TRY(reader_.skip_text(entry.key.size() <= 80 ? entry.key : "a string"));
      return {};
    }
    if (entry.element == Gguf::Type::boolean) {
      for (std::uint64_t i = 0; i < entry.count; ++i) {
        LOOM_ASSIGN(const std::uint8_t value, reader_.value<std::uint8_t>("a bool"));
        if (value > 1)
          return fail(Code::corrupt, "metadata key ", quoted(entry.key), " holds the bool ", value,
                      ", expected 0 or 1");
      }
      return {};
    }
    return reader_.skip(entry.count * row(entry.element).bytes,
                        "a metadata value");  // the count was checked: no overflow
  }

  Status read_alignment(const Gguf::Entry& entry) {
    std::uint32_t value = 0;
    if (entry.type == Gguf::Type::u32) {
      LOOM_ASSIGN(value, ByteReader(source_, entry.offset).value<std::uint32_t>("the alignment"));
    }
    if (!std::has_single_bit(value)) {
      return fail(Code::corrupt, "general.alignment at offset ", entry.offset,
                  " must be a u32 power of two");
    }
    alignment = value;
    return {};
  }

  // One of several parts is no model; the parts know how many they are.
  Status refuse_split(const Gguf::Entry& entry) {
    if (!is_integer(entry.type)) return {};
    ByteReader reader(source_, entry.offset);
    LOOM_ASSIGN(const Integer parts, read_integer(reader, entry.type));
    if (parts.negative || parts.bits <= 1) return {};
    return fail(Code::unsupported, "is one of ", parts.bits,
                " parts of a split GGUF: merge them with llama-gguf-split");
  }

  Status parse_tensor() {
    TensorInfo tensor;
    LOOM_TRY(reader_.text(&tensor.name, "a tensor name"));
    const auto corrupt = [&](const auto&... what) {
      return fail(Code::corrupt, "tensor ", quoted(tensor.name), ": ", what...);
    };
    if (tensor.name.empty() || tensor.name.size() > kLargestKey)
      return corrupt("its name has ", tensor.name.size(), " bytes");
    const std::uint64_t at = reader_.at();
    LOOM_ASSIGN(const std::uint32_t rank, reader_.value<std::uint32_t>("a tensor's rank"));
    if (rank > kLargestRank)
      return corrupt("has ", rank, " dimensions at offset ", at, ", GGUF allows 4");
    for (std::uint32_t i = 0; i < rank; ++i) {
      LOOM_ASSIGN(const std::int64_t dimension, reader_.value<std::int64_t>("a dimension"));
      if (dimension < 0) {
        return corrupt("dimension ", i, " at offset ", reader_.at() - 8, " is ",
                       static_cast<std::uint64_t>(dimension), ", the largest allowed is 2^63-1");
      }
      tensor.shape.insert(tensor.shape.begin(), dimension);
    }
    LOOM_ASSIGN(const std::uint32_t id, reader_.value<std::uint32_t>("a tensor type"));
    if (id >= std::size(kGgmlTypes) || !kGgmlTypes[id].type) {
      const std::string type =
          id < std::size(kGgmlTypes) ? std::string(kGgmlTypes[id].name) : message("number ", id);
      return fail(Code::unsupported, "tensor ", quoted(tensor.name), " has type ", type,
                  "; read are F32, F16, BF16, F64, I8 to I64, Q8_0, Q4_0, Q4_K and Q6_K");
    }
    tensor.type = *kGgmlTypes[id].type;
    const std::uint32_t block = info(tensor.type).block;
    const std::uint64_t innermost =
        tensor.shape.empty() ? 1 : static_cast<std::uint64_t>(tensor.shape.back());
    if (innermost % block != 0) {
      return corrupt("rows of ", innermost, " elements do not divide into the ", block, " of a ",
                     kGgmlTypes[id].name, " block");
    }
    const auto count = element_count(tensor.shape);
    const auto size = count ? storage_bytes(tensor.type, *count) : std::nullopt;
    if (!size) return corrupt("shape ", shape_text(tensor.shape), " passes 2^64 bytes");
    tensor.size = *size;
    LOOM_ASSIGN(tensor.offset, reader_.value<std::uint64_t>("a tensor's offset"));
    if (tensor.offset % alignment != 0) {
      return corrupt("data offset ", tensor.offset, " (at offset ", reader_.at() - 8,
                     ") is no multiple of the alignment ", alignment);
    }
    tensors.push_back(std::move(tensor));
    return {};
  }

  // In order of offset, tensors follow each other with nothing but padding between them and behind
  // the last.
  Status place_tensors() {
    std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
      return a.offset != b.offset ? a.offset < b.offset
             : a.size != b.size   ? a.size < b.size
                                  : a.name < b.name;
    });
    const std::uint64_t file_size = source_.size();
    const std::uint64_t begin = align_up(reader_.at(), alignment);
    std::uint64_t next = 0;  // where the next tensor starts, relative to begin
    std::uint64_t end = tensors.empty() ? reader_.at() : begin;
    for (TensorInfo& tensor : tensors) {
      const auto where = [&] { return "tensor " + quoted(tensor.name) + ": "; };
      if (tensor.offset != next) {
        return fail(Code::corrupt, where(), "data offset ", tensor.offset, " is ",
                    tensor.offset < next ? "inside the tensor before it" : "behind a hole",
                    ", expected ", next);
      }
      const auto last = checked_add(
          begin + next, tensor.size);  // begin + next: at most one alignment (2^31) past the file
      if (!last || *last > file_size) {
        return fail(Code::truncated, where(), "takes ", tensor.size, " bytes at offset ",
                    begin + next, ", the file has ", file_size);
      }
      tensor.offset = begin + next;
      end = *last;
      next = align_up(end - begin, alignment);
    }
    if (file_size > align_up(end, alignment)) {
      return fail(Code::corrupt, "the data end at byte ", end, ", the file has ", file_size);
    }
    std::sort(tensors.begin(), tensors.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
    for (std::size_t i = 1; i < tensors.size(); ++i) {
      if (tensors[i].name == tensors[i - 1].name)
        return fail(Code::corrupt, "tensor ", quoted(tensors[i].name), " is there twice");
    }
    return {};
  }

  const ByteSource& source_;
  ByteReader reader_;
};

// For the sorted lists of entries and tensors.
template <class T, class Key>
const T* find_sorted(const std::vector<T>& items, std::string_view name, Key key) {
  const auto at =
      std::lower_bound(items.begin(), items.end(), name,
                       [&](const T& item, std::string_view n) { return item.*key < n; });
  return at != items.end() && (*at).*key == name ? &*at : nullptr;
}

}  // namespace

std::string_view name(Gguf::Type type) { return row(type).name; }

std::optional<std::uint32_t> ggml_number(StorageType type) {
  for (std::uint32_t i = 0; i < std::size(kGgmlTypes); ++i)
    if (kGgmlTypes[i].type == type) return i;
  return std::nullopt;
}

Result<Gguf> Gguf::open(SourcePtr source) {
  LOOM_TRY(expect_kind(*source, FileKind::gguf));
  HeaderParser parser(*source);
  LOOM_TRY(parser.run());
  Gguf file;
  file.version_ = parser.version;
  file.alignment_ = parser.alignment;
  file.metadata_ = std::move(parser.metadata);
  file.tensors_ = std::move(parser.tensors);
  for (TensorInfo& tensor : file.tensors_) tensor.source = source;
  file.source_ = std::move(source);
  return file;
}

const Gguf::Entry* Gguf::find_key(std::string_view key) const {
  return find_sorted(metadata_, key, &Entry::key);
}
const TensorInfo* Gguf::find(std::string_view name) const {
  return find_sorted(tensors_, name, &TensorInfo::name);
}

Status Gguf::wrong_type(const Entry& entry, std::string_view wanted) const {
  const std::string type =
      message(entry.type == Type::array ? "an array of " : "", name(entry.element));
  return Status(Code::invalid_argument,
                message(source_->name(), ": metadata key ", quoted(entry.key), " is ", type,
                        ", expected ", wanted));
}

Result<const Gguf::Entry*> Gguf::require(std::string_view key, bool array,
                                         std::string_view wanted) const {
  const Entry* entry = find_key(key);
  if (!entry)
    return Status(Code::not_found, message(source_->name(), ": has no metadata key ", quoted(key)));
  if ((entry->type == Type::array) != array) return wrong_type(*entry, wanted);
  return entry;
}

Result<std::uint64_t> Gguf::get_u64(std::string_view key,
                                    std::optional<std::uint64_t> fallback) const {
  if (fallback && !find_key(key)) return *fallback;
  constexpr std::string_view kWanted = "an integer from 0 to 2^64-1";
  LOOM_ASSIGN(const Entry* entry, require(key, false, kWanted));
  if (!is_integer(entry->type)) return wrong_type(*entry, kWanted);
  ByteReader reader(*source_, entry->offset);
  LOOM_ASSIGN(const Integer value, read_integer(reader, entry->type));
  if (value.negative) {
    return Status(Code::out_of_range,
                  message(source_->name(), ": metadata key ", quoted(key), " is ",
                          static_cast<std::int64_t>(value.bits), ", expected ", kWanted));
  }
  return value.bits;
}

Result<std::uint32_t> Gguf::get_u32(std::string_view key,
                                    std::optional<std::uint32_t> fallback) const {
  LOOM_ASSIGN(const std::uint64_t value, get_u64(key, fallback));
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    return Status(Code::out_of_range, message(source_->name(), ": metadata key ", quoted(key),
                                              " is ", value, ", expected at most 2^32-1"));
  }
  return static_cast<std::uint32_t>(value);
}

Result<double> Gguf::get_f64(std::string_view key, std::optional<double> fallback) const {
  if (fallback && !find_key(key)) return *fallback;
  LOOM_ASSIGN(const Entry* entry, require(key, false, "a float"));
  if (!is_float(entry->type)) return wrong_type(*entry, "a float");
  ByteReader reader(*source_, entry->offset);
  return read_float(reader, entry->type);
}

Result<float> Gguf::get_f32(std::string_view key, std::optional<float> fallback) const {
  if (fallback && !find_key(key)) return *fallback;
  LOOM_ASSIGN(const double value, get_f64(key));
  return static_cast<float>(value);
}

Result<bool> Gguf::get_bool(std::string_view key, std::optional<bool> fallback) const {
  if (fallback && !find_key(key)) return *fallback;
  LOOM_ASSIGN(const Entry* entry, require(key, false, "a bool"));
  if (entry->type != Type::boolean) return wrong_type(*entry, "a bool");
  LOOM_ASSIGN(const std::uint8_t value,
              ByteReader(*source_, entry->offset).value<std::uint8_t>("a bool"));
  return value != 0;
}

Result<std::string> Gguf::get_string(std::string_view key,
                                     std::optional<std::string> fallback) const {
  if (fallback && !find_key(key)) return *fallback;
  LOOM_ASSIGN(const Entry* entry, require(key, false, "a string"));
  if (entry->type != Type::string) return wrong_type(*entry, "a string");
  ByteReader reader(*source_, entry->offset);
  std::string text;
  LOOM_TRY(reader.text(&text, "a string"));
  return text;
}

Result<std::vector<std::string>> Gguf::get_strings(std::string_view key) const {
  LOOM_ASSIGN(const Entry* entry, require(key, true, "an array of strings"));
  if (entry->element != Type::string) return wrong_type(*entry, "an array of strings");
  ByteReader reader(*source_, entry->offset);
  std::vector<std::string> items(static_cast<std::size_t>(entry->count));
  for (std::string& item : items) LOOM_TRY(reader.text(&item, "a string"));
  LOOM_TRY(source_->intact());
  return items;
}

Result<std::vector<std::int64_t>> Gguf::get_integers(std::string_view key) const {
  LOOM_ASSIGN(const Entry* entry, require(key, true, "an array of integers"));
  if (!is_integer(entry->element)) return wrong_type(*entry, "an array of integers");
  ByteReader reader(*source_, entry->offset);
  std::vector<std::int64_t> items(static_cast<std::size_t>(entry->count));
  for (std::int64_t& item : items) {
    LOOM_ASSIGN(const Integer value, read_integer(reader, entry->element));
    if (!value.negative && value.bits > static_cast<std::uint64_t>(INT64_MAX)) {
      return Status(Code::out_of_range,
                    message(source_->name(), ": metadata key ", quoted(key), " holds ", value.bits,
                            ", expected at most 2^63-1"));
    }
    item = static_cast<std::int64_t>(value.bits);
  }
  LOOM_TRY(source_->intact());
  return items;
}

Result<std::vector<float>> Gguf::get_floats(std::string_view key) const {
  LOOM_ASSIGN(const Entry* entry, require(key, true, "an array of floats"));
  if (!is_float(entry->element)) return wrong_type(*entry, "an array of floats");
  ByteReader reader(*source_, entry->offset);
  std::vector<float> items(static_cast<std::size_t>(entry->count));
  for (float& item : items) {
    LOOM_ASSIGN(const double value, read_float(reader, entry->element));
    item = static_cast<float>(value);
  }
  LOOM_TRY(source_->intact());
  return items;
}

Result<std::string> Gguf::describe(const Entry& entry) const {
  if (entry.type == Type::array) return message("[", entry.count, " x ", name(entry.element), "]");
  ByteReader reader(*source_, entry.offset);
  if (is_integer(entry.type)) {
    LOOM_ASSIGN(const Integer value, read_integer(reader, entry.type));
    return value.negative ? std::to_string(static_cast<std::int64_t>(value.bits))
                          : std::to_string(value.bits);
  }
  if (is_float(entry.type)) {
    LOOM_ASSIGN(const double value, read_float(reader, entry.type));
    if (value != value) return std::string("nan");
    if (value - value != 0) return std::string(value > 0 ? "inf" : "-inf");
    return format_double(value);
  }
  if (entry.type == Type::boolean) {
    LOOM_ASSIGN(const bool value, get_bool(entry.key));
    return std::string(value ? "true" : "false");
  }
  LOOM_ASSIGN(const std::string text, get_string(entry.key));
  return quoted(text, '"');
}

}  // namespace loom
