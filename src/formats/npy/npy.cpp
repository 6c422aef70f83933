#include "formats/npy/npy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/files/bytes.h"
#include "base/message.h"
#include "formats/sniff.h"

namespace loom {
namespace {

constexpr std::uint64_t kMaxHeader =
    1 << 20;  // NumPy itself writes a few hundred bytes and reads 10,000
constexpr std::size_t kDataAlignment = 64;

// The header is a Python dictionary literal of three keys; this reads exactly that and no more of
// Python.
class DictParser {
 public:
  DictParser(std::string_view text) : text_(text) {}

  Status run() {
    bool seen_descr = false, seen_order = false, seen_shape = false;
    if (!take('{')) return error("expected '{'");
    while (!take('}')) {
      std::string key;
      LOOM_TRY(string(&key));
      if (!take(':')) return error("expected ':'");
      if (key == "descr" && !std::exchange(seen_descr, true)) {
        LOOM_TRY(description());
      } else if (key == "fortran_order" && !std::exchange(seen_order, true)) {
        LOOM_TRY(boolean());
      } else if (key == "shape" && !std::exchange(seen_shape, true)) {
        LOOM_TRY(tuple());
      } else {
        return error("unknown or repeated key ", quoted(key));
      }
      if (!take(',')) {
        if (!take('}')) return error("expected ',' or '}'");
        break;
      }
    }
    skip();
    if (at_ != text_.size()) return error("expected the end of the header");
    if (!seen_descr || !seen_order || !seen_shape)
      return error("expected the keys 'descr', 'fortran_order' and 'shape'");
    return {};
  }

  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

 private:
  template <class... Parts>
  Status error(const Parts&... what) const {
    return Status(Code::corrupt, message("header at character ", at_, ": ", what...));
  }
  void skip() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Status string(std::string* out) {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return error("expected a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) return error("a string without an end");
    *out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return {};
  }

  Status description() {
    skip();
    if (text_.substr(at_).starts_with('['))
      return Status(Code::unsupported, "is a structured array: save each field on its own");
    return string(&descr);
  }

  Status boolean() {
    if (take_word("True")) {
      fortran_order = true;
    } else if (!take_word("False")) {
      return error("expected True or False");
    }
    return {};
  }

  Status tuple() {
    if (!take('(')) return error("expected '('");
    while (!take(')')) {
      skip();
      const std::size_t start = at_;
      std::uint64_t value = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        const auto tens = checked_mul(value, 10);
        const auto next =
            tens ? checked_add(*tens, static_cast<std::uint64_t>(text_[at_] - '0')) : std::nullopt;
        if (!next || *next > static_cast<std::uint64_t>(INT64_MAX))
          return error("a dimension beyond 2^63-1");
        value = *next;
      }
      if (at_ == start) return error("expected a dimension from 0 to 2^63-1");
      shape.push_back(static_cast<std::int64_t>(value));
      if (!take(',')) {
        if (!take(')')) return error("expected ',' or ')'");
        break;
      }
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<StorageType> find_type(const std::string& descr) {
  if (descr == "|b1") return StorageType::boolean;
  for (const DTypeInfo& row : kDTypes)
    if (!descr.empty() && descr == row.numpy) return storage_type(row.id);
  if (descr.find('O') != descr.npos)
    return Status(Code::unsupported, "is an object array, which is a pickle: save numbers");
  if (descr.starts_with('>'))
    return Status(Code::unsupported,
                  message("is big-endian (", quoted(descr), "): save it little-endian"));
  return Status(Code::unsupported,
                message("has the type ", quoted(descr),
                        "; read are booleans, integers of 1 to 8 bytes and floats of 2 to 8"));
}

struct Header {
  TensorInfo tensor;
  std::string descr;
};

Result<Header> read_header(const ByteSource& source) {
  std::array<std::byte, 12> start{};
  const std::span<std::byte> head(
      start.data(), static_cast<std::size_t>(std::min<std::uint64_t>(start.size(), source.size())));
  LOOM_TRY(source.read(0, head));
  const int major = std::to_integer<int>(start[6]);
  if (major < 1 || major > 3)
    return Status(Code::unsupported,
                  message("has .npy version ", major, " (at offset 6), expected 1 to 3"));
  const std::uint64_t begin = major == 1 ? 10 : 12;
  const std::uint64_t size = major == 1 ? load_le<std::uint16_t>(start.data() + 8)
                                        : load_le<std::uint32_t>(start.data() + 8);
  if (begin + size > source.size()) {
    return Status(Code::truncated, message("the header ends at byte ", begin + size,
                                           ", the file has ", source.size()));
  }
  if (size > kMaxHeader)
    return Status(Code::corrupt,
                  message("claims a header of ", size, " bytes, the limit is ", kMaxHeader));
  std::string text(static_cast<std::size_t>(size), '\0');
  LOOM_TRY(source.read(begin, std::as_writable_bytes(std::span(text))));
  DictParser dict(text);
  LOOM_TRY(dict.run());

  Header header;
  TensorInfo& tensor = header.tensor;
  LOOM_ASSIGN(tensor.type, find_type(dict.descr));
  if (dict.fortran_order && dict.shape.size() > 1) {
    return Status(Code::unsupported, "is in Fortran order: save numpy.ascontiguousarray of it");
  }
  tensor.shape = std::move(dict.shape);
  const auto count = element_count(tensor.shape);
  const auto bytes = count ? storage_bytes(tensor.type, *count) : std::nullopt;
  if (!bytes)
    return Status(Code::corrupt, message("shape ", shape_text(tensor.shape), " passes 2^64 bytes"));
  tensor.offset = begin + size;
  tensor.size = *bytes;
  header.descr = std::move(dict.descr);
  return header;
}

Result<TensorInfo> parse(const ByteSource& source) {
  LOOM_ASSIGN(Header header, read_header(source));
  TensorInfo& tensor = header.tensor;
  const std::uint64_t room = source.size() - tensor.offset;
  if (tensor.size != room) {
    return Status(
        tensor.size > room ? Code::truncated : Code::corrupt,
        message("shape ", shape_text(tensor.shape), " of ", quoted(header.descr), " takes ",
                tensor.size, " bytes at offset ", tensor.offset, ", the file has ", source.size()));
  }
  return std::move(header.tensor);
}

}  // namespace

Result<std::uint64_t> npy_size(const ByteSource& start) {
  LOOM_TRY(expect_kind(start, FileKind::npy));
  auto header = read_header(start);
  if (!header.ok()) return header.status().at(start.name());
  const auto size = checked_add(header->tensor.offset, header->tensor.size);
  if (!size)
    return Status(Code::corrupt, message(start.name(), ": shape ", shape_text(header->tensor.shape),
                                         " passes 2^64 bytes"));
  return *size;
}

Result<TensorInfo> open_npy(SourcePtr source) {
  LOOM_TRY(expect_kind(*source, FileKind::npy));
  auto tensor = parse(*source);
  if (!tensor.ok()) return tensor.status().at(source->name());
  tensor->source = std::move(source);
  return tensor;
}

Status write_npy(const std::string& path, std::span<const std::int64_t> shape,
                 std::span<const float> values) {
  if (const auto count = element_count(shape); !count || *count != values.size()) {
    return Status(Code::invalid_argument, message(path, ": shape ", shape_text(shape),
                                                  " does not hold ", values.size(), " values"));
  }
  std::string header = "\x93NUMPY\x01";
  header.append(3, '\0');  // minor version, header length
  header += "{'descr': '" + std::string(info(DType::f32).numpy);
  header += "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i)
    header += (i ? ", " : "") + std::to_string(shape[i]);
  header += shape.size() == 1 ? ",), }" : "), }";
  // NumPy leaves room for the first dimension to grow to 21 digits.
  if (!shape.empty()) header.append(21 - std::to_string(shape[0]).size(), ' ');
  header.resize(align_up(header.size() + 1, kDataAlignment) - 1, ' ');
  header += '\n';
  if (header.size() - 10 > UINT16_MAX)
    return Status(Code::out_of_range, message(path, ": the shape has too many dimensions"));
  store_le<std::uint16_t>(header.data() + 8, static_cast<std::uint16_t>(header.size() - 10));
  LOOM_ASSIGN(AtomicFile file, AtomicFile::create(path));
  LOOM_TRY(file.write(as_bytes(header)));
  LOOM_TRY(file.write(tensor_from_f32(path, {}, values).view()));
  return file.commit();
}

}  // namespace loom
