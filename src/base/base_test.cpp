#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files/bytes.h"
#include "base/files/sha256.h"
#include "base/files/source.h"
#include "base/json/json.h"
#include "base/random.h"

namespace loom {
namespace {

TEST(Sha256, PublishedVectors) {  // FIPS 180-4 examples
  EXPECT_EQ(Sha256::hex(Sha256::of({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256::hex(Sha256::of(as_bytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      Sha256::hex(Sha256::of(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, AnyCutOfTheInputGivesTheSameDigest) {
  std::string text(1000, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  for (std::size_t cut : {1u, 63u, 64u, 65u, 200u}) {
    Sha256 sha;
    for (std::size_t i = 0; i < text.size(); i += cut)
      sha.update(as_bytes(std::string_view(text).substr(i, cut)));
    EXPECT_EQ(sha.finish(), Sha256::of(as_bytes(text))) << cut;
  }
}

TEST(Philox, PublishedVectors) {  // kat_vectors of Random123
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({f, f, f, f}, {f, f}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Json, RoundTrip) {
  const std::string text =
      R"({"a":[1,-2,3.5,1e300,"x\"\\\u00e9\ud83d\ude00\n"],"b":{"c":null,"d":true},"e":9223372036854775807})";
  auto v = Json::parse(text);
  ASSERT_TRUE(v.ok()) << v.status().to_string();
  auto again = Json::parse(v->dump());
  ASSERT_TRUE(again.ok()) << v->dump();
  EXPECT_EQ(again->dump(), v->dump());
  EXPECT_EQ(v->find("a")->as_array()[4].as_string(), "x\"\\\xC3\xA9\xF0\x9F\x98\x80\n");
  EXPECT_EQ(v->find("e")->as_integer(), INT64_MAX);
  Json copy = *v;
  Json moved = std::move(*v);
  EXPECT_EQ(copy.dump(2), moved.dump(2));
}

// Unicode 15, table 3-7: first and last sequences of each row, and what lies just outside.
TEST(Json, StringsAreUtf8) {
  for (const char* good :
       {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    const auto v = Json::parse("[\"" + std::string(good) + "\"]");
    ASSERT_TRUE(v.ok()) << v.status().to_string();
    EXPECT_EQ(v->as_array()[0].as_string(), good);
  }
  for (const char* bad : {"\x80", "\xBF", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF",
                          "\xED\xA0\x80", "\xED\xBF\xBF", "\xE2\x82", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    for (const std::string& text :
         {"[\"ab" + std::string(bad) + "\"]", "{\"ab" + std::string(bad) + "\":1}"}) {
      const Status status = Json::parse(text).status();
      EXPECT_EQ(status.code(), Code::corrupt) << text;
      EXPECT_NE(status.message().find("(offset 4): a string that is not UTF-8"), std::string::npos)
          << status.message();
    }
  }
  EXPECT_NE(Json::parse("[\"\\udc00\"]").status().message().find("(offset 8): a low surrogate"),
            std::string::npos);
  EXPECT_NE(Json::parse("[\"\\ud83d\\u0041\"]")
                .status()
                .message()
                .find("a high surrogate without a low one"),
            std::string::npos);
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "01", "1.", "1e", "\"\\x\"",
                           "\"\\ud800\"", "nul", "1 2", "1e999", "\"a\nb\"", "-"}) {
    auto v = Json::parse(text);
    EXPECT_FALSE(v.ok()) << text;
    EXPECT_NE(v.status().message().find("offset"), std::string::npos) << v.status().message();
  }
  EXPECT_FALSE(Json::parse(std::string(100000, '[')).ok());
}

// The two ways give one text: on random bits, on powers of two and their neighbors, on decimals
// people write, and on ties.
TEST(Number, TheFastTextIsThePortableOne) {
  std::vector<double> values = {5e-324,
                                2.2250738585072014e-308,
                                1.7976931348623157e308,
                                5.684341886080802e-14,
                                2251799813685248.25,
                                2251799813685248.75,
                                9007199254740993.0,
                                1e22,
                                1e23,
                                4.35,
                                0.3,
                                1e-7};
  for (int e = -1074; e <= 1023; ++e) {
    const double power = std::ldexp(1.0, e);
    values.insert(values.end(), {power, std::nextafter(power, 0.0), std::nextafter(power, 1e308)});
  }
  const RandomStream random(9, 9);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const double bits =
        std::bit_cast<double>(std::uint64_t{random.bits(2 * i)} << 32 | random.bits(2 * i + 1));
    if (bits - bits == 0) values.push_back(bits);
    values.push_back(static_cast<double>(random.bits(2 * i) % 100000) / 1000.0);
  }
  for (const double v : values)
    for (const double x : {v, -v})
      EXPECT_EQ(format_double(x), format_double_portable(x)) << std::bit_cast<std::uint64_t>(x);
}

TEST(Number, ParsesAsStrtodDoes) {
  RandomStream random(1, 2);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t bits = std::uint64_t{random.bits(2 * i)} << 32 | random.bits(2 * i + 1);
    const double value = std::bit_cast<double>(bits);
    if (!(value - value == 0)) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.*e", static_cast<int>(i % 20), value);
    double got;
    const double want = std::strtod(text, nullptr);
    if (!(want - want == 0)) {
      EXPECT_FALSE(parse_double(text, &got));
      continue;
    }
    ASSERT_TRUE(parse_double(text, &got)) << text;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(want)) << text;
    ASSERT_TRUE(parse_double(format_double(value), &got));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(got), bits) << format_double(value);
  }
  for (const char* text : {"2.2250738585072011e-308", "4.9406564584124654e-324",
                           "2.4703282292062327e-324", "2.4703282292062328e-324",
                           "1.7976931348623157e308", "0.1", "123456789012345678901234567890",
                           "9007199254740993", "1e22", "1e23", "0.000001", "1e-400"}) {
    double got;
    ASSERT_TRUE(parse_double(text, &got)) << text;
    EXPECT_EQ(got, std::strtod(text, nullptr)) << text;
  }
  EXPECT_EQ(format_double(0.1), "0.1");
  EXPECT_EQ(format_double(1e-5), "0.00001");
  EXPECT_EQ(format_double(10000.0), "10000.0");
}

TEST(Source, AllThreeKindsReadTheSame) {
  const std::string path = testing::TempDir() + "loom_source_test";
  const std::string text = "hello, bytes";
  ASSERT_TRUE(write_file(path, as_bytes(text)).ok());
  auto mapped = open_source(path), plain = open_source(path, MapMode::read);
  ASSERT_TRUE(mapped.ok() && plain.ok());
  const SourcePtr memory = source_from_view(as_bytes(text), "memory");
  const SourcePtr callback = source_from_callback(
      text.size(),
      [&](std::uint64_t offset, std::span<std::byte> out) {
        std::copy_n(as_bytes(text).data() + offset, out.size(), out.data());
        return Status();
      },
      "callback");
  for (const SourcePtr& s : {*mapped, *plain, memory, callback}) {
    std::byte part[5];
    ASSERT_TRUE(s->read(7, part).ok());
    EXPECT_EQ(as_text(part), "bytes");
    const Status past = s->read(8, part);
    EXPECT_EQ(past.code(), Code::truncated);
    EXPECT_NE(past.message().find("12"), std::string::npos) << past.message();
  }
  std::filesystem::remove(path);
  EXPECT_EQ(open_source(path).status().code(), Code::not_found);
  EXPECT_EQ(open_source("/").status().code(), Code::invalid_argument);
}

TEST(AtomicFile, AbandonedWriterLeavesTheOldFile) {
  const std::string folder = testing::TempDir() + "loom_atomic_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/f";
  ASSERT_TRUE(write_file(path, as_bytes("old")).ok());
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(as_bytes("new")).ok());
  }
  auto text = read_text_file(path);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace loom
