#include "formats/safetensors/safetensors.h"

#include <gtest/gtest.h>

#include "base/files/sha256.h"
#include "base/message.h"
#include "formats/test_files.h"
#include "support/data.h"

namespace loom {
namespace {

using namespace test;

Result<Safetensors> open_bytes(std::string_view header, std::string_view data) {
  return Safetensors::open(source_of(safetensors_bytes(header, data)));
}

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return "{\"dtype\":\"" + std::string(dtype) + "\",\"shape\":" + std::string(shape) +
         ",\"data_offsets\":" + std::string(offsets) + "}";
}

// A header with a single tensor, x.
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return "{\"x\":" + entry(dtype, shape, offsets) + "}";
}

TEST(Safetensors, ReadsEveryTypeAndSortsByName) {
  const std::string header = "{\"z\":" + entry("U8", "[2]", "[0,2]") +
                             ",\"a\":" + entry("F32", "[1,1]", "[2,6]") +
                             ",\"scalar\":" + entry("F64", "[]", "[6,14]") +
                             ",\"empty\":" + entry("I64", "[0,5]", "[14,14]") +
                             ",\"four\":" + entry("F4", "[2,2]", "[14,16]") +
                             ",\"__metadata__\":{\"k\":\"v\",\"b\":\"\"}}  ";
  const std::string data = "\x01\x02" + le(1.5f) + le(-2.25) + "\x21\xf7";
  for (const SourcePtr& source : {source_of(safetensors_bytes(header, data)),
                                  callback_source_of(safetensors_bytes(header, data))}) {
    const auto file = Safetensors::open(source);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_EQ(file->tensors().size(), 5u);
    EXPECT_EQ(file->tensors()[0].name, "a");
    EXPECT_EQ(file->tensors()[4].name, "z");
    EXPECT_EQ(file->metadata(), (Metadata{{"b", ""}, {"k", "v"}}));
    EXPECT_EQ(file->find("b"), nullptr);
    float value;
    ASSERT_TRUE(read_f32(*file->find("a"), 0, {&value, 1}).ok());
    EXPECT_EQ(value, 1.5f);
    double scalar;
    ASSERT_TRUE(read_f64(*file->find("scalar"), 0, {&scalar, 1}).ok());
    EXPECT_EQ(scalar, -2.25);
    EXPECT_EQ(file->find("empty")->elements(), 0u);
    float four[4], last[1];
    ASSERT_TRUE(read_f32(*file->find("four"), 0, four).ok());
    EXPECT_EQ((std::vector<float>(four, four + 4)), (std::vector<float>{0.5f, 1.0f, 6.0f, -6.0f}));
    ASSERT_TRUE(read_f32(*file->find("four"), 3, last).ok());  // half a byte in
    EXPECT_EQ(last[0], -6.0f);
    LOOM_EXPECT_ERROR(Result<int>(read_f32(*file->find("four"), 2, four)), Code::out_of_range,
                      "elements 2 to 6 asked, it has 4");
  }
}

TEST(Safetensors, RefusesAHeaderThatLies) {
  const std::string four(4, '\0');
  LOOM_EXPECT_ERROR(open_bytes(one("F32", "[2]", "[0,4]"), four), Code::corrupt,
                    "shape [2] of F32 takes 8 bytes, data_offsets [0, 4] give 4");
  LOOM_EXPECT_ERROR(open_bytes(one("F32", "[2]", "[0,8]"), four), Code::truncated,
                    "the header describes a file of 70 bytes, the file has 66: tensor 'x' is the "
                    "first that is not whole");
  LOOM_EXPECT_ERROR(open_bytes(one("U8", "[2]", "[0,2]"), four), Code::corrupt,
                    "the last tensor ends at byte 63, the file has 65");
  LOOM_EXPECT_ERROR(open_bytes(one("U8", "[2]", "[2,4]"), four), Code::corrupt,
                    "after a hole that begins at 0");
  LOOM_EXPECT_ERROR(open_bytes("{\"x\":" + entry("U8", "[3]", "[0,3]") +
                                   ",\"y\":" + entry("U8", "[2]", "[2,4]") + "}",
                               four),
                    Code::corrupt, "inside the tensor before it");
  LOOM_EXPECT_ERROR(open_bytes(one("U8", "[4]", "[4,0]"), four), Code::corrupt,
                    "two rising integers");
  LOOM_EXPECT_ERROR(open_bytes(one("F8_E8M0", "[4]", "[0,4]"), four), Code::unsupported,
                    "tensor 'x': has the unknown dtype 'F8_E8M0'");
  LOOM_EXPECT_ERROR(open_bytes(one("F4", "[3]", "[0,2]"), four), Code::corrupt,
                    "no whole number of bytes");
  LOOM_EXPECT_ERROR(open_bytes(one("U8", "[4294967296,4294967296]", "[0,4]"), four), Code::corrupt,
                    "beyond 2^64");
  LOOM_EXPECT_ERROR(open_bytes("{\"x\":" + entry("U8", "[4]", "[0,4]") +
                                   ",\"x\":" + entry("U8", "[4]", "[0,4]") + "}",
                               four),
                    Code::corrupt, "offset");
  LOOM_EXPECT_ERROR(open_bytes("{\"x\":{\"shape\":[4],\"data_offsets\":[0,4]}}", four),
                    Code::corrupt, "\"dtype\"");
  LOOM_EXPECT_ERROR(open_bytes("{\"x\":[]}", four), Code::corrupt, "no object");
  LOOM_EXPECT_ERROR(open_bytes("{\"__metadata__\":{\"a\":1}}", ""), Code::corrupt,
                    "must be a string");
  LOOM_EXPECT_ERROR(open_bytes("{\"x\":", four), Code::corrupt, "header at offset 8: JSON line 1");
}

TEST(Safetensors, RefusesAWrongHeaderLength) {
  const std::string header = one("U8", "[4]", "[0,4]");
  const auto with_length = [&](std::uint64_t length) {
    return Safetensors::open(source_of(le(length) + header + "abcd"));
  };
  EXPECT_TRUE(with_length(header.size()).ok());
  LOOM_EXPECT_ERROR(with_length(header.size() + 5), Code::truncated,
                    message("the header ends at byte ", header.size() + 13, ", the file has ",
                            header.size() + 12));
  for (const std::uint64_t length : hostile_bits()) {
    const auto file = with_length(length);
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.status().message().find(std::to_string(length)), std::string::npos)
        << file.status().to_string();
  }
  for (std::uint64_t length = 0; length < header.size(); ++length)
    ASSERT_FALSE(with_length(length).ok()) << length;
}

TEST(Safetensors, HostileNumbersInEveryField) {
  for (const std::string& n : hostile_texts()) {
    for (const std::string& text :
         {one("U8", "[" + n + "]", "[0,4]"), one("U8", "[4," + n + "]", "[0,4]"),
          one("U8", "[0," + n + "]", "[0,4]"), one("U8", n, "[0,4]"),
          one("U8", "[4]", "[" + n + ",4]"), one("U8", "[4]", "[0," + n + "]"), one("U8", "[4]", n),
          "{\"x\":" + n + "}"}) {
      const auto file = open_bytes(text, "abcd");
      ASSERT_FALSE(file.ok()) << text;
      EXPECT_TRUE(file.status().code() == Code::corrupt || file.status().code() == Code::truncated)
          << text << file.status().to_string();
    }
  }
}

TEST(Safetensors, WritesWhatItReads) {
  TempFolder folder;
  const std::string header = "{\"odd\":" + entry("U8", "[3]", "[0,3]") +
                             ",\"wide \\u00e9\\n\":" + entry("F64", "[1]", "[3,11]") +
                             ",\"b\":" + entry("BF16", "[2]", "[11,15]") +
                             ",\"a\":" + entry("BF16", "[1]", "[15,17]") +
                             ",\"__metadata__\":{\"z\":\"1\",\"a\":\"2\"}}";
  const std::string data = "abc" + le(0.1) + "1234" + "56";
  std::string first;
  for (const SourcePtr& source : {source_of(safetensors_bytes(header, data)),
                                  callback_source_of(safetensors_bytes(header, data))}) {
    const auto file = Safetensors::open(source);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_TRUE(
        write_safetensors(folder / "one.safetensors", file->tensors(), file->metadata()).ok());
    auto again = open_source(folder / "one.safetensors");
    const auto copy = Safetensors::open(*again);
    ASSERT_TRUE(copy.ok()) << copy.status().to_string();
    // The order of the tensors given must not matter.
    std::vector<TensorInfo> reversed(copy->tensors().rbegin(), copy->tensors().rend());
    ASSERT_TRUE(write_safetensors(folder / "two.safetensors", reversed,
                                  {copy->metadata().rbegin(), copy->metadata().rend()})
                    .ok());
    const std::string one = file_text(folder / "one.safetensors");
    EXPECT_EQ(one, file_text(folder / "two.safetensors"));
    EXPECT_TRUE(first.empty() || one == first);
    first = one;
    EXPECT_EQ(load_le<std::uint64_t>(one.data()) % 8, 0u);
    for (const TensorInfo& tensor : copy->tensors()) {
      EXPECT_EQ(tensor.offset % info(tensor.type).block_bytes, 0u) << tensor.name;
      const TensorInfo* origin = file->find(tensor.name);
      ASSERT_TRUE(origin);
      EXPECT_EQ(tensor.shape, origin->shape);
      std::vector<std::byte> want(origin->size), got(tensor.size);
      ASSERT_TRUE(origin->source->read(origin->offset, want).ok());
      ASSERT_TRUE(tensor.source->read(tensor.offset, got).ok());
      EXPECT_EQ(got, want);
    }
  }
}

TEST(Safetensors, WriterRefusesAndLeavesNothing) {
  TempFolder folder;
  const std::vector<float> values = {1, 2, 3};
  const std::string path = folder / "x.safetensors";
  const auto write = [&](std::vector<TensorInfo> tensors) {
    return Result<int>(write_safetensors(path, tensors));
  };
  LOOM_EXPECT_ERROR(write({tensor_from_f32("a", {3}, values), tensor_from_f32("a", {3}, values)}),
                    Code::invalid_argument, "x.safetensors");
  LOOM_EXPECT_ERROR(write({tensor_from_f32("a", {4}, values)}), Code::invalid_argument,
                    "shape [4] of F32 takes 16 bytes");
  LOOM_EXPECT_ERROR(write({tensor_from_f32("__metadata__", {3}, values)}), Code::invalid_argument,
                    "reserved");
  TensorInfo block = tensor_from_f32("q", {32}, values);
  block.type = StorageType::q4_0;
  LOOM_EXPECT_ERROR(write({block}), Code::unsupported, "safetensors has no type q4_0");
  TensorInfo failing = tensor_from_f32("f", {3}, values);
  failing.source = source_from_callback(
      12, [](std::uint64_t, std::span<std::byte>) { return Status(Code::io, "disk gone"); },
      "failing");
  LOOM_EXPECT_ERROR(write({failing}), Code::io, "disk gone");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Files of the reference implementation come back byte for byte: same order, same header text, same
// padding.
class ReferenceFile : public testing::TestWithParam<const char*> {};

TEST_P(ReferenceFile, ComesBackByteForByte) {
  TempFolder folder;
  LOOM_TEST_FILE(path, GetParam());
  auto source = open_source(path);
  ASSERT_TRUE(source.ok());
  const auto file = Safetensors::open(*source);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  ASSERT_TRUE(write_safetensors(folder / "copy", file->tensors(), file->metadata()).ok());
  EXPECT_TRUE(file_text(path) == file_text(folder / "copy"));
}

INSTANTIATE_TEST_SUITE_P(
    Safetensors, ReferenceFile,
    testing::Values("families/llama2_untied/model.safetensors",
                    "families/qwen3_qknorm/model.safetensors",
                    "families/llama3_scaled_rope/model-00002-of-00004.safetensors",
                    "families/gemma2/model-00002-of-00004.safetensors",
                    "models/mnist_cnn/model-mnist.safetensors",
                    "models/mnist_cnn/model_f64.safetensors"),
    [](const auto& test) { return "of" + std::to_string(test.index); });

class SafetensorsFolder : public testing::Test {
 protected:
  void put(std::string_view name, std::string_view bytes) {
    ASSERT_TRUE(write_file(folder_ / name, as_bytes(bytes)).ok());
  }
  void index(const std::string& map) {
    put("model.safetensors.index.json", "{\"metadata\":{},\"weight_map\":{" + map + "}}");
  }
  Result<Safetensors> open() { return Safetensors::open_folder(folder_.path()); }
  void SetUp() override {
    put("1.safetensors", safetensors_bytes("{\"a\":" + entry("U8", "[1]", "[0,1]") + "}", "a"));
    put("2.safetensors", safetensors_bytes("{\"b\":" + entry("U8", "[2]", "[0,2]") + "}", "bc"));
  }
  TempFolder folder_;
};

TEST_F(SafetensorsFolder, ChecksEveryPromise) {
  LOOM_EXPECT_ERROR(open(), Code::not_found,
                    "holds neither model.safetensors nor model.safetensors.index.json");
  index("\"a\":\"1.safetensors\",\"b\":\"2.safetensors\"");
  const auto file = open();
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(file->tensors().size(), 2u);
  float value;
  ASSERT_TRUE(read_f32(*file->find("b"), 1, {&value, 1}).ok());
  EXPECT_EQ(value, 'c');

  index("\"a\":\"1.safetensors\",\"b\":\"1.safetensors\"");
  LOOM_EXPECT_ERROR(open(), Code::corrupt,
                    "promises tensor 'b' in '1.safetensors', which does not hold it");
  index("\"a\":\"1.safetensors\",\"b\":\"3.safetensors\"");
  LOOM_EXPECT_ERROR(open(), Code::not_found, "3.safetensors");
  put("3.safetensors", safetensors_bytes("{\"a\":" + entry("U8", "[1]", "[0,1]") +
                                             ",\"b\":" + entry("U8", "[1]", "[1,2]") + "}",
                                         "ab"));
  LOOM_EXPECT_ERROR(open(), Code::corrupt, "tensor 'a' lies in two shards");
  put("3.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4999999\n");
  LOOM_EXPECT_ERROR(open(), Code::unsupported, "git lfs pull");
  for (const char* bad : {"\"../1.safetensors\"", "\"/etc/passwd\"", "\"..\"", "\"\"",
                          "\"a\\u0000b\"", "\"a\\\\b\"", "\"c:x\"", "3", "null"}) {
    index("\"a\":" + std::string(bad));
    LOOM_EXPECT_ERROR(open(), Code::corrupt, "is not the name of a file in the same folder");
  }
  put("model.safetensors.index.json", "{\"weight_map\":[]}");
  LOOM_EXPECT_ERROR(open(), Code::corrupt, "\"weight_map\" must be an object");
  put("model.safetensors.index.json", "[");
  LOOM_EXPECT_ERROR(open(), Code::corrupt, "JSON line 1");
}

}  // namespace
}  // namespace loom
