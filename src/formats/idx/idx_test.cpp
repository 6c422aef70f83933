#include "formats/idx/idx.h"

#include <gtest/gtest.h>

#include "base/files/inflate.h"
#include "support/data.h"

namespace loom {
namespace {

SourcePtr bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) bytes[i] = static_cast<std::byte>(text[i]);
  return source_from_bytes(std::move(bytes), "a.idx");
}
std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

TEST(Idx, ReadsEveryType) {
  struct Case {
    std::string bytes;
    std::vector<double> values;
  };
  using std::string_literals::operator""s;
  const Case cases[] = {{"\0\0\x08\1\0\0\0\3\1\2\xff"s, {1, 2, 255}},
                        {"\0\0\x09\1\0\0\0\2\1\xff"s, {1, -1}},
                        {"\0\0\x0b\1\0\0\0\2\1\2\xff\xfe"s, {258, -2}},
                        {"\0\0\x0c\1\0\0\0\1\0\1\0\2"s, {65538}},
                        {"\0\0\x0d\2\0\0\0\1\0\0\0\1\x3f\xc0\0\0"s, {1.5}},
                        {"\0\0\x0e\1\0\0\0\1\xc0\2\0\0\0\0\0\0"s, {-2.25}}};
  for (const Case& c : cases) {
    const auto array = open_array(bytes_of(c.bytes));
    ASSERT_TRUE(array.ok()) << array.status().to_string();
    std::vector<double> got(array->elements());
    ASSERT_TRUE(read_f64(*array, 0, got).ok());
    EXPECT_EQ(got, c.values);
  }
}

TEST(Idx, RefusesWhatIsWrong) {
  using std::string_literals::operator""s;
  EXPECT_EQ(open_idx(bytes_of("\0\0"s)).status().code(), Code::truncated);
  EXPECT_EQ(open_idx(bytes_of("\0\1\x08\1\0\0\0\0"s)).status().code(), Code::corrupt);
  EXPECT_EQ(open_idx(bytes_of("\0\0\x0a\1\0\0\0\0"s)).status().code(), Code::unsupported);
  EXPECT_EQ(open_idx(bytes_of("\0\0\x08\0\0\0\0\0"s)).status().code(), Code::unsupported);
  EXPECT_EQ(open_idx(bytes_of("\0\0\x08\1\0\0\0\2\1"s)).status().message(),
            "a.idx: expects 2 bytes of shape [2] at offset 8, the file has 1");
  EXPECT_EQ(open_idx(bytes_of("\0\0\x08\1\0\0\0\1\1\1"s)).status().code(), Code::corrupt);
  EXPECT_EQ(
      open_idx(
          bytes_of("\0\0\x0e\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s))
          .status()
          .code(),
      Code::corrupt);
}

// What Python's gzip and zlib made of 'a' * 1000, with a fixed code, and of a stored block; a
// header with name, comment, extra field and its own checksum.
constexpr std::string_view kFixed = "1f8b08000000000002ff4b4c1c05a360140c77000003da389ae8030000";
constexpr std::string_view kStored = "1f8b08000000000004ff010500faff68656c6c6f86a6103605000000";
constexpr std::string_view kFullHeader =
    "1f8b081e0000000000ff040001020304612e747874006e6f746500LL010500faff68656c6c6f86a6103605000000";

TEST(Gzip, ReadsBlocksAndHeaders) {
  auto text = [](std::string_view hex) {
    const std::string raw = from_hex(hex);
    auto out = gunzip(std::as_bytes(std::span(raw)), 1 << 20, "a.gz");
    return out.ok() ? std::string(reinterpret_cast<const char*>(out->data()), out->size())
                    : out.status().to_string();
  };
  EXPECT_EQ(text(kFixed), std::string(1000, 'a'));
  EXPECT_EQ(text(kStored), "hello");
  std::string full(kFullHeader);
  full.replace(full.find("LL"), 2, "0000");
  EXPECT_EQ(text(full), "hello");
  EXPECT_EQ(text(std::string(kStored) + std::string(kStored)), "hellohello");
  EXPECT_NE(text(std::string(kStored) + "00").find("behind its gzip data"), std::string::npos);
}

TEST(Gzip, RefusesDamageWithoutExceptionOfAByte) {
  const std::string raw = from_hex(kFixed);
  const auto limited = gunzip(std::as_bytes(std::span(raw)), 999, "a.gz");
  EXPECT_EQ(limited.status().code(), Code::out_of_range);
  for (std::size_t n = 0; n < raw.size(); ++n)
    EXPECT_FALSE(gunzip(std::as_bytes(std::span(raw).first(n)), 1 << 20, "a.gz").ok()) << n;
  for (std::size_t i = 10; i < raw.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = raw;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const auto out = gunzip(std::as_bytes(std::span(bad)), 1 << 20, "a.gz");
      // Bits that pad the last byte of the stream mean nothing.
      if (out.ok()) {
        EXPECT_EQ(out->size(), 1000u) << i << " " << bit;
      }
    }
}

// Dynamic codes: each file has a checksum of its own.
TEST(Gzip, ReadsMnist) {
  LOOM_TEST_FILE(path, "mnist/t10k-images-idx3-ubyte.gz");
  auto source = open_source(path);
  ASSERT_TRUE(source.ok());
  const auto images = open_array(*source);
  ASSERT_TRUE(images.ok()) << images.status().to_string();
  EXPECT_EQ(images->shape, (std::vector<std::int64_t>{10000, 28, 28}));
  std::vector<float> image(784);
  ASSERT_TRUE(read_f32(*images, 0, image).ok());
  EXPECT_EQ(image[7 * 28 + 6], 84.0f);  // the first stroke of the seven
}

}  // namespace
}  // namespace loom
