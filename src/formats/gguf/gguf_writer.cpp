#include "formats/gguf/gguf_writer.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "base/message.h"
#include "formats/gguf/gguf_types.h"
#include "formats/stream.h"

namespace loom {
namespace {

constexpr std::uint64_t kAlignment = 32;
constexpr std::size_t kLongestName = 63;  // GGML_MAX_NAME, less the zero at its end
constexpr std::size_t kLargestRank = 4;

template <class T>
void append(std::string& out, T value) {
  std::byte raw[sizeof(T)];
  store_le<T>(raw, value);
  out.append(as_text(raw));
}
void append_text(std::string& out, std::string_view text) {
  append<std::uint64_t>(out, text.size());
  out.append(text);
}

Status check_tensor(const TensorInfo& t) {
  if (!ggml_number(t.type))
    return Status(Code::unsupported, message("GGUF has no type ", name(t.type)));
  if (t.name.empty() || t.name.size() > kLongestName)
    return Status(Code::invalid_argument,
                  message("its name has ", t.name.size(), " bytes, GGUF takes 1 to 63"));
  if (t.shape.size() > kLargestRank)
    return Status(Code::invalid_argument,
                  message(shape_text(t.shape), " has more than 4 dimensions"));
  const auto elements = element_count(t.shape);
  const auto size = elements ? storage_bytes(t.type, *elements) : std::nullopt;
  if (!size || *size != t.size || !t.source)
    return Status(Code::invalid_argument, message("its shape ", shape_text(t.shape), " in ",
                                                  name(t.type), " is not ", t.size, " bytes"));
  const std::uint32_t block = info(t.type).block;
  if (block > 1 && (t.shape.empty() || t.shape.back() % block != 0))
    return Status(Code::invalid_argument,
                  message("rows of ", shape_text(t.shape), " are not whole blocks of ", block));
  return {};
}

Status pad(ByteSink& file, std::uint64_t from) {
  constexpr std::byte kZeros[kAlignment] = {};
  return file.write(
      std::span(kZeros).first(static_cast<std::size_t>(align_up(from, kAlignment) - from)));
}

}  // namespace

template <class T>
void GgufMetadata::put(T value) {
  append<T>(bytes_, value);
}
void GgufMetadata::put_text(std::string_view text) { append_text(bytes_, text); }

void GgufMetadata::begin(std::string_view key, Gguf::Type type) {
  put_text(key);
  put(static_cast<std::uint32_t>(type));
  ++count_;
}
void GgufMetadata::begin_array(std::string_view key, Gguf::Type element, std::size_t count) {
  begin(key, Gguf::Type::array);
  put(static_cast<std::uint32_t>(element));
  put<std::uint64_t>(count);
}
void GgufMetadata::u32(std::string_view key, std::uint32_t value) {
  begin(key, Gguf::Type::u32);
  put(value);
}
void GgufMetadata::i32(std::string_view key, std::int32_t value) {
  begin(key, Gguf::Type::i32);
  put(value);
}
void GgufMetadata::u64(std::string_view key, std::uint64_t value) {
  begin(key, Gguf::Type::u64);
  put(value);
}
void GgufMetadata::f32(std::string_view key, float value) {
  begin(key, Gguf::Type::f32);
  put(value);
}
void GgufMetadata::f64(std::string_view key, double value) {
  begin(key, Gguf::Type::f64);
  put(value);
}
void GgufMetadata::boolean(std::string_view key, bool value) {
  begin(key, Gguf::Type::boolean);
  put<std::uint8_t>(value);
}
void GgufMetadata::string(std::string_view key, std::string_view value) {
  begin(key, Gguf::Type::string);
  put_text(value);
}
void GgufMetadata::strings(std::string_view key, std::span<const std::string> values) {
  begin_array(key, Gguf::Type::string, values.size());
  for (const std::string& v : values) put_text(v);
}
void GgufMetadata::f32s(std::string_view key, std::span<const float> values) {
  begin_array(key, Gguf::Type::f32, values.size());
  for (const float v : values) put(v);
}
void GgufMetadata::i32s(std::string_view key, std::span<const std::int32_t> values) {
  begin_array(key, Gguf::Type::i32, values.size());
  for (const std::int32_t v : values) put(v);
}

bool gguf_holds(StorageType type) { return ggml_number(type).has_value(); }

Status write_gguf(const Destination& to, const GgufMetadata& metadata,
                  std::span<const TensorInfo> tensors) {
  const std::string& path = to.path;
  std::string header = "GGUF";
  append<std::uint32_t>(header, 3);
  append<std::uint64_t>(header, tensors.size());
  append<std::uint64_t>(header, metadata.count());
  header += metadata.bytes();
  std::uint64_t at = 0;
  for (const TensorInfo& t : tensors) {
    LOOM_TRY(check_tensor(t).at(path + ": tensor " + quoted(t.name)));
    append_text(header, t.name);
    append<std::uint32_t>(header, static_cast<std::uint32_t>(t.shape.size()));
    for (std::size_t i = t.shape.size(); i-- > 0;) append<std::int64_t>(header, t.shape[i]);
    append<std::uint32_t>(header, *ggml_number(t.type));
    append<std::uint64_t>(header, at);
    const auto end = checked_add(at, t.size);
    if (!end || *end > static_cast<std::uint64_t>(INT64_MAX) - kAlignment)
      return Status(Code::out_of_range, path + ": the file would pass 2^63 bytes");
    at = align_up(*end, kAlignment);
  }
  // The reader's own checks say whether the file could be read back: keys and names twice, and what
  // a key is too long for. It sees the header with data of the right size.
  const std::uint64_t begin = align_up(header.size(), kAlignment), whole = begin + at;
  const auto header_alone = source_from_callback(
      whole,
      [&](std::uint64_t offset, std::span<std::byte> out) {
        const std::uint64_t n = offset < header.size()
                                    ? std::min<std::uint64_t>(out.size(), header.size() - offset)
                                    : 0;
        if (n > 0)
          std::copy_n(as_bytes(header).begin() + static_cast<std::ptrdiff_t>(offset), n,
                      out.begin());
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(n), out.end(), std::byte{0});
        return Status();
      },
      path);
  if (const auto check = Gguf::open(header_alone); !check.ok())
    return Status(Code::invalid_argument, check.status().message());
  LOOM_ASSIGN(const std::unique_ptr<ByteSink> file, open_sink(to));
  LOOM_TRY(file->write(as_bytes(header)));
  LOOM_TRY(pad(*file, header.size()));
  for (const TensorInfo& t : tensors) {
    LOOM_TRY(stream_tensor(t, *file));
    LOOM_TRY(pad(*file, t.size));
  }
  return file->commit();
}

}  // namespace loom
