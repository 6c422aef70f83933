// Builders of small files for the tests of this module: byte for byte, with every field open to
// lies.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdint>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/bytes.h"
#include "base/files/source.h"

namespace loom::test {

template <class T>
std::string le(T value) {
  std::string out(sizeof(T), '\0');
  store_le(out.data(), value);
  return out;
}

inline SourcePtr source_of(std::string_view bytes) {
  const auto span = as_bytes(bytes);
  return source_from_bytes({span.begin(), span.end()}, "test");
}

// The same bytes without a view: through a read callback.
inline SourcePtr callback_source_of(std::string bytes) {
  const std::uint64_t size = bytes.size();
  return source_from_callback(
      size,
      [bytes = std::move(bytes)](std::uint64_t offset, std::span<std::byte> out) {
        std::copy_n(as_bytes(bytes).begin() + static_cast<std::ptrdiff_t>(offset), out.size(),
                    out.begin());
        return Status();
      },
      "test");
}

inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return le<std::uint64_t>(header.size()) + std::string(header) + std::string(data);
}

inline std::string gguf_text(std::string_view text) {
  return le<std::uint64_t>(text.size()) + std::string(text);
}
inline std::string gguf_entry(std::string_view key, std::uint32_t type, std::string_view value) {
  return gguf_text(key) + le(type) + std::string(value);
}
inline std::string gguf_array(std::uint32_t element, std::uint64_t count, std::string_view values) {
  return le(element) + le(count) + std::string(values);
}
inline std::string gguf_tensor(std::string_view name,
                               const std::vector<std::int64_t>& innermost_first, std::uint32_t type,
                               std::uint64_t offset) {
  std::string out = gguf_text(name) + le(static_cast<std::uint32_t>(innermost_first.size()));
  for (const std::int64_t dimension : innermost_first) out += le(dimension);
  return out + le(type) + le(offset);
}
// `head`: entries and tensors already joined; padding to 32 and `data` follow.
inline std::string gguf_bytes(std::uint32_t version, std::uint64_t tensors, std::uint64_t entries,
                              std::string_view head, std::string_view data = {}) {
  std::string out = "GGUF" + le(version) + le(tensors) + le(entries) + std::string(head);
  out.resize(align_up(out.size(), 32), '\0');
  return out + std::string(data);
}

inline std::string npy_bytes(std::string_view dict, std::string_view data) {
  return std::string("\x93NUMPY\x01\0", 8) + le(static_cast<std::uint16_t>(dict.size())) +
         std::string(dict) + std::string(data);
}

// The numbers that break readers: as text for JSON, as bits for binary fields.
inline const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> kTexts = {"-1",
                                                  "2147483647",
                                                  "2147483649",
                                                  "4294967295",
                                                  "4294967297",
                                                  "9007199254740991",
                                                  "9007199254740993",
                                                  "9223372036854775807",
                                                  "9223372036854775809",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "-9223372036854775808",
                                                  "1e400",
                                                  "1e18",
                                                  "0.5",
                                                  "-0.0",
                                                  "1.0",
                                                  "null",
                                                  "\"4\"",
                                                  "[]",
                                                  "{}"};
  return kTexts;
}
inline const std::vector<std::uint64_t>& hostile_bits() {
  static const std::vector<std::uint64_t> kBits = {
      0x7fffffff,       0x80000001,       0xffffffff, 0x100000001,      (1ull << 53) - 1,
      (1ull << 53) + 1, (1ull << 63) - 1, 1ull << 63, (1ull << 63) + 1, ~0ull,
      ~0ull - 31};
  return kBits;
}

// A folder that is gone after the test.
class TempFolder {
 public:
  TempFolder() {
    static int count = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("loom_formats_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string file_text(const std::string& path) {
  auto text = read_text_file(path);
  EXPECT_TRUE(text.ok()) << text.status().to_string();
  return text.ok() ? *text : std::string();
}

}  // namespace loom::test

// The result must be an error of this code whose message holds `part`.
#define LOOM_EXPECT_ERROR(expr, expected_code, part)                                 \
  do {                                                                               \
    const auto loom_r = (expr);                                                      \
    ASSERT_FALSE(loom_r.ok()) << "expected an error with: " << (part);               \
    EXPECT_EQ(loom_r.status().code(), expected_code) << loom_r.status().to_string(); \
    EXPECT_NE(loom_r.status().message().find(part), std::string::npos)               \
        << loom_r.status().to_string();                                              \
  } while (0)
