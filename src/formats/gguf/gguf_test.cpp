#include "formats/gguf/gguf.h"

#include <gtest/gtest.h>

#include "formats/test_files.h"
#include "support/data.h"

namespace loom {
namespace {

using namespace test;

enum : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

Result<Gguf> open_bytes(const std::string& bytes) { return Gguf::open(source_of(bytes)); }

std::string sample() {
  std::string entries =
      gguf_entry("u8", kU8, le<std::uint8_t>(200)) + gguf_entry("i8", kI8, le<std::int8_t>(-3));
  entries += gguf_entry("u16", kU16, le<std::uint16_t>(65535)) +
             gguf_entry("i16", kI16, le<std::int16_t>(-300));
  entries += gguf_entry("u32", kU32, le<std::uint32_t>(4000000000u)) +
             gguf_entry("i32", kI32, le<std::int32_t>(7));
  entries += gguf_entry("u64", kU64, le<std::uint64_t>(~0ull)) +
             gguf_entry("i64", kI64, le<std::int64_t>(INT64_MIN));
  entries += gguf_entry("f32", kF32, le(0.5f)) + gguf_entry("f64", kF64, le(0.25));
  entries += gguf_entry("yes", kBool, le<std::uint8_t>(1)) +
             gguf_entry("text", kString, gguf_text("a\nb"));
  entries += gguf_entry("texts", kArray, gguf_array(kString, 2, gguf_text("x") + gguf_text("")));
  entries +=
      gguf_entry("ints", kArray, gguf_array(kI16, 2, le<std::int16_t>(-1) + le<std::int16_t>(2)));
  entries += gguf_entry("floats", kArray, gguf_array(kF32, 1, le(2.0f))) +
             gguf_entry("none", kArray, gguf_array(kU64, 0, ""));
  const std::string tensors =
      gguf_tensor("b", {2, 3}, 0, 32) + gguf_tensor("a", {32}, 8, 64) + gguf_tensor("c", {}, 28, 0);
  std::string data = le(9.0) + std::string(24, '\0');
  for (int i = 0; i < 6; ++i) data += le(static_cast<float>(i));
  data += std::string(8, '\0') + le<std::uint16_t>(0x3800);  // 0.5
  for (int i = 0; i < 32; ++i) data += le(static_cast<std::int8_t>(i - 16));
  return gguf_bytes(3, 3, 16, entries + tensors, data);
}

TEST(Gguf, ReadsEveryValueAndTensor) {
  for (const SourcePtr& source : {source_of(sample()), callback_source_of(sample())}) {
    const auto file = Gguf::open(source);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    EXPECT_EQ(*file->get_u32("u8"), 200u);
    EXPECT_EQ(*file->get_u32("u16"), 65535u);
    EXPECT_EQ(*file->get_u32("u32"), 4000000000u);
    EXPECT_EQ(*file->get_u32("i32"), 7u);
    EXPECT_EQ(*file->get_u64("u64"), ~0ull);
    EXPECT_EQ(*file->get_f32("f32"), 0.5f);
    EXPECT_EQ(*file->get_f32("f64"), 0.25f);
    EXPECT_EQ(*file->get_bool("yes"), true);
    EXPECT_EQ(*file->get_string("text"), "a\nb");
    EXPECT_EQ(*file->get_strings("texts"), (std::vector<std::string>{"x", ""}));
    EXPECT_EQ(*file->get_integers("ints"), (std::vector<std::int64_t>{-1, 2}));
    EXPECT_EQ(*file->get_floats("floats"), (std::vector<float>{2.0f}));
    EXPECT_TRUE(file->get_integers("none")->empty());
    EXPECT_EQ(*file->get_u32("absent", 5), 5u);
    EXPECT_EQ(*file->get_string("absent", "d"), "d");
    LOOM_EXPECT_ERROR(file->get_u32("absent"), Code::not_found, "has no metadata key 'absent'");
    LOOM_EXPECT_ERROR(file->get_u32("u64"), Code::out_of_range, "18446744073709551615");
    LOOM_EXPECT_ERROR(file->get_u32("i16", 1), Code::out_of_range, "is -300");
    LOOM_EXPECT_ERROR(file->get_u64("i64"), Code::out_of_range, "is -9223372036854775808");
    LOOM_EXPECT_ERROR(file->get_u32("text"), Code::invalid_argument,
                      "is string, expected an integer");
    LOOM_EXPECT_ERROR(file->get_f32("u32"), Code::invalid_argument, "is u32, expected a float");
    LOOM_EXPECT_ERROR(file->get_string("texts"), Code::invalid_argument,
                      "is an array of string, expected a string");
    LOOM_EXPECT_ERROR(file->get_strings("ints"), Code::invalid_argument,
                      "is an array of i16, expected an array of strings");

    std::vector<std::string> described;
    for (const Gguf::Entry& entry : file->metadata())
      described.push_back(entry.key + "=" + *file->describe(entry));
    EXPECT_EQ(described,
              (std::vector<std::string>{"f32=0.5", "f64=0.25", "floats=[1 x f32]", "i16=-300",
                                        "i32=7", "i64=-9223372036854775808", "i8=-3",
                                        "ints=[2 x i16]", "none=[0 x u64]", "text=\"a\\x0ab\"",
                                        "texts=[2 x string]", "u16=65535", "u32=4000000000",
                                        "u64=18446744073709551615", "u8=200", "yes=true"}));

    ASSERT_EQ(file->tensors().size(), 3u);
    EXPECT_EQ(file->find("b")->shape, (std::vector<std::int64_t>{3, 2}));
    std::vector<float> b(6), part(5);
    ASSERT_TRUE(read_f32(*file->find("b"), 0, b).ok());
    EXPECT_EQ(b, (std::vector<float>{0, 1, 2, 3, 4, 5}));
    ASSERT_TRUE(read_f32(*file->find("a"), 14, part).ok());
    EXPECT_EQ(part, (std::vector<float>{-1, -0.5f, 0, 0.5f, 1}));
    EXPECT_TRUE(file->find("c")->shape.empty());
  }
}

TEST(Gguf, Version2IsTheSame) {
  std::string bytes = sample();
  bytes[4] = 2;
  EXPECT_TRUE(open_bytes(bytes).ok());
  bytes[4] = 1;
  LOOM_EXPECT_ERROR(open_bytes(bytes), Code::unsupported, "has GGUF version 1 (at offset 4)");
  bytes.replace(4, 4, std::string("\0\0\0\3", 4));
  LOOM_EXPECT_ERROR(open_bytes(bytes), Code::unsupported, "big-endian");
}

TEST(Gguf, RefusesMetadataThatLies) {
  const auto meta = [&](const std::string& entries, std::uint64_t count = 1) {
    return open_bytes(gguf_bytes(3, 0, count, entries));
  };
  EXPECT_TRUE(meta(gguf_entry("k", kU8, "\x01")).ok());
  LOOM_EXPECT_ERROR(meta(gguf_entry("k", 13, "\x01")), Code::corrupt,
                    "has value type 13 at offset 33");
  LOOM_EXPECT_ERROR(meta(gguf_entry("k", kArray, gguf_array(kArray, 1, gguf_array(kU8, 1, "a")))),
                    Code::unsupported, "'k' is an array of arrays");
  LOOM_EXPECT_ERROR(meta(gguf_entry("k", kArray, gguf_array(99, 1, "a"))), Code::corrupt,
                    "value type 99");
  LOOM_EXPECT_ERROR(meta(gguf_entry("k", kBool, "\x02")), Code::corrupt, "holds the bool 2");
  LOOM_EXPECT_ERROR(meta(gguf_entry("", kU8, "a")), Code::corrupt,
                    "has 0 bytes, expected 1 to 65535");
  LOOM_EXPECT_ERROR(meta(gguf_entry(std::string(65536, 'k'), kU8, "a")), Code::corrupt,
                    "has 65536 bytes");
  LOOM_EXPECT_ERROR(meta(gguf_entry("k", kU8, "a") + gguf_entry("k", kU8, "a"), 2), Code::corrupt,
                    "'k' is there twice");
  LOOM_EXPECT_ERROR(meta(gguf_entry("split.count", kU16, le<std::uint16_t>(3))), Code::unsupported,
                    "is one of 3 parts");
  LOOM_EXPECT_ERROR(meta(gguf_entry("general.alignment", kU32, le<std::uint32_t>(24))),
                    Code::corrupt, "power of two");
  LOOM_EXPECT_ERROR(meta(gguf_entry("general.alignment", kU64, le<std::uint64_t>(32))),
                    Code::corrupt, "must be a u32");
  // Counts and lengths.
  for (const std::uint64_t n : hostile_bits()) {
    const std::string number = std::to_string(n);
    LOOM_EXPECT_ERROR(open_bytes(gguf_bytes(3, n, 0, "")), Code::corrupt,
                      "claims " + number + " tensors");
    LOOM_EXPECT_ERROR(open_bytes(gguf_bytes(3, 0, n, "")), Code::corrupt,
                      "claims " + number + " metadata entries");
    LOOM_EXPECT_ERROR(meta(le(n) + "key"), Code::truncated,
                      "a metadata key takes " + number + " bytes at offset 32");
    LOOM_EXPECT_ERROR(meta(gguf_entry("k", kString, le(n) + "text")), Code::truncated,
                      "takes " + number + " bytes");
    LOOM_EXPECT_ERROR(meta(gguf_entry("k", kArray, gguf_array(kU64, n, "text"))), Code::corrupt,
                      "claims " + number + " items of 'k'");
    LOOM_EXPECT_ERROR(meta(gguf_entry("k", kArray, gguf_array(kString, n, "text"))), Code::corrupt,
                      "claims " + number + " items of 'k'");
    LOOM_EXPECT_ERROR(meta(gguf_entry("k", kArray, gguf_array(kU8, n, "text"))), Code::corrupt,
                      "claims " + number + " items of 'k'");
    LOOM_EXPECT_ERROR(meta(gguf_entry("k", kArray, gguf_array(kString, 1, le(n)))), Code::truncated,
                      "takes " + number + " bytes");
  }
  const auto wide = meta(gguf_entry("k", kArray, gguf_array(kU64, 1, le<std::uint64_t>(~0ull))));
  LOOM_EXPECT_ERROR(wide->get_integers("k"), Code::out_of_range, "holds 18446744073709551615");
  // Values themselves may be anything.
  for (const std::uint64_t n : hostile_bits())
    EXPECT_EQ(*meta(gguf_entry("k", kU64, le(n)))->get_u64("k"), n);
}

TEST(Gguf, RefusesTensorsThatLie) {
  const std::string data(64, '\0');
  const auto one = [&](const std::string& tensor) {
    return open_bytes(gguf_bytes(3, 1, 0, tensor, data));
  };
  const auto two = [&](const std::string& a, const std::string& b) {
    return open_bytes(gguf_bytes(3, 2, 0, a + b, data));
  };
  EXPECT_TRUE(one(gguf_tensor("x", {16}, 0, 0)).ok());
  EXPECT_TRUE(two(gguf_tensor("x", {8}, 0, 0), gguf_tensor("y", {1}, 0, 32)).ok());
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {17}, 0, 0)), Code::truncated,
                    "takes 68 bytes at offset 64, the file has 128");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {8}, 0, 0)), Code::corrupt,
                    "the data end at byte 96, the file has 128");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {8}, 0, 32)), Code::corrupt, "behind a hole, expected 0");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {8}, 0, 4)), Code::corrupt,
                    "no multiple of the alignment 32");
  LOOM_EXPECT_ERROR(two(gguf_tensor("x", {16}, 0, 0), gguf_tensor("y", {8}, 0, 32)), Code::corrupt,
                    "inside the tensor before it");
  LOOM_EXPECT_ERROR(two(gguf_tensor("x", {8}, 0, 0), gguf_tensor("x", {8}, 0, 32)), Code::corrupt,
                    "'x' is there twice");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {32}, 7, 0)), Code::unsupported,
                    "tensor 'x' has type Q5_1");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {32}, 4, 0)), Code::unsupported, "has type Q4_2");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {32}, 77, 0)), Code::unsupported, "has type number 77");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {16, 2}, 2, 0)), Code::corrupt,
                    "rows of 16 elements do not divide into the 32 of a Q4_0 block");
  LOOM_EXPECT_ERROR(one(gguf_tensor("x", {1, 1, 1, 1, 16}, 0, 0)), Code::corrupt,
                    "has 5 dimensions");
  LOOM_EXPECT_ERROR(one(gguf_tensor("", {16}, 0, 0)), Code::corrupt, "its name has 0 bytes");
  for (const std::uint64_t n : hostile_bits()) {
    const auto dimension = static_cast<std::int64_t>(n);
    for (const std::uint32_t type : {0u, 2u, 8u, 12u, 14u, 24u}) {
      for (const auto& shape : {std::vector<std::int64_t>{dimension},
                                {dimension, 2},
                                {256, dimension},
                                {dimension, dimension},
                                {0, dimension, dimension},
                                {dimension, 0}}) {
        const auto file = one(gguf_tensor("x", shape, type, 0));
        ASSERT_FALSE(file.ok());
        EXPECT_TRUE(file.status().code() == Code::corrupt ||
                    file.status().code() == Code::truncated)
            << file.status().to_string();
      }
    }
    const auto file = one(gguf_tensor("x", {16}, 0, n));
    LOOM_EXPECT_ERROR(file, Code::corrupt, std::to_string(n));
    const auto rank =
        one(gguf_text("x") + le(static_cast<std::uint32_t>(n | 8)) + std::string(40, '\0'));
    LOOM_EXPECT_ERROR(rank, Code::corrupt, "dimensions");
  }
}

TEST(Gguf, AlignmentIsTheFilesOwn) {
  const std::string entry = gguf_entry("general.alignment", kU32, le<std::uint32_t>(64));
  std::string bytes = "GGUF" + le<std::uint32_t>(3) + le<std::uint64_t>(1) + le<std::uint64_t>(1) +
                      entry + gguf_tensor("x", {1}, 0, 0);
  bytes.resize(align_up(bytes.size(), 64), '\0');
  bytes += le(3.5f);
  const auto file = open_bytes(bytes);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(file->alignment(), 64u);
  float value;
  ASSERT_TRUE(read_f32(file->tensors()[0], 0, {&value, 1}).ok());
  EXPECT_EQ(value, 3.5f);
}

TEST(Gguf, VocabularyFiles) {
  struct Case {
    const char* file;
    std::size_t tokens;
  };
  for (const Case& c : {Case{"gpt-2", 50257}, Case{"llama-spm", 32000}, Case{"bert-bge", 30522}}) {
    LOOM_TEST_FILE(path, std::string("llamacpp_vocab/ggml-vocab-") + c.file + ".gguf");
    auto mapped = open_source(path);
    ASSERT_TRUE(mapped.ok());
    auto read = open_source(path, MapMode::read);
    for (const SourcePtr& source : {*mapped, *read}) {
      const auto file = Gguf::open(source);
      ASSERT_TRUE(file.ok()) << file.status().to_string();
      EXPECT_EQ(file->get_strings("tokenizer.ggml.tokens")->size(), c.tokens);
    }
  }
}

}  // namespace
}  // namespace loom
