#include "formats/gguf/gguf_writer.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "formats/encode.h"
#include "formats/test_files.h"

namespace loom {
namespace {

using namespace test;

// What one file holds, drawn from a stream.
struct Drawn {
  Drawn(std::uint64_t stream) : random(7, stream) {
    strings.resize(below(5));
    for (std::string& s : strings) s = text();
    floats.resize(below(5));
    for (float& f : floats) f = random.uniform(++n);
    integers.resize(below(5));
    for (std::int32_t& i : integers) i = static_cast<std::int32_t>(below(0xffffffffu));
    one = text();
    u = below(0xffffffffu);
    values.resize(below(4));
    for (auto& v : values) {
      v.resize(below(70));
      for (float& f : v) f = random.uniform(++n);
    }
  }
  std::uint32_t below(std::uint32_t limit) { return random.below(++n, limit); }
  std::string text() {
    std::string out;
    for (std::uint32_t i = below(9); i > 0; --i) out += static_cast<char>(below(256));
    return out;
  }
  GgufMetadata metadata() const {
    GgufMetadata m;
    m.strings("strings", strings);
    m.f32s("floats", floats);
    m.i32s("integers", integers);
    m.string("one", one);
    m.u32("u32", u);
    m.i32("i32", static_cast<std::int32_t>(u));
    m.u64("u64", ~std::uint64_t{u});
    m.f32("f32", 0.1f);
    m.f64("f64", 0.1);
    m.boolean("yes", true);
    return m;
  }

  RandomStream random;
  std::uint64_t n = 0;
  std::vector<std::string> strings;
  std::vector<float> floats;
  std::vector<std::int32_t> integers;
  std::string one;
  std::uint32_t u = 0;
  std::vector<std::vector<float>> values;
};

void expect_metadata(const Gguf& file, const Drawn& d) {
  EXPECT_EQ(file.metadata().size(), 10u);
  EXPECT_EQ(*file.get_strings("strings"), d.strings);
  EXPECT_EQ(*file.get_floats("floats"), d.floats);
  EXPECT_EQ(*file.get_integers("integers"),
            std::vector<std::int64_t>(d.integers.begin(), d.integers.end()));
  EXPECT_EQ(*file.get_string("one"), d.one);
  EXPECT_EQ(*file.get_u32("u32"), d.u);
  EXPECT_EQ(file.find_key("i32")->type, Gguf::Type::i32);
  EXPECT_EQ(*file.get_u64("u64"), ~std::uint64_t{d.u});
  EXPECT_EQ(*file.get_f32("f32"), 0.1f);
  EXPECT_EQ(*file.get_f64("f64"), 0.1);
  EXPECT_EQ(*file.get_bool("yes"), true);
}

TEST(GgufWriter, RandomMetadataComesBack) {
  TempFolder folder;
  for (std::uint64_t round = 0; round < 50; ++round) {
    const Drawn d(round);
    std::vector<TensorInfo> tensors;
    for (const auto& v : d.values)
      tensors.push_back(tensor_from_f32("t" + std::to_string(tensors.size()),
                                        {static_cast<std::int64_t>(v.size())}, v));
    const std::string path = folder / "random.gguf";
    const Status written = write_gguf(path, d.metadata(), tensors);
    ASSERT_TRUE(written.ok()) << written.to_string();
    const auto file = Gguf::open(*open_source(path));
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    expect_metadata(*file, d);
    ASSERT_EQ(file->tensors().size(), d.values.size());
    for (std::size_t i = 0; i < d.values.size(); ++i) {
      const TensorInfo* t = file->find(tensors[i].name);
      ASSERT_NE(t, nullptr);
      EXPECT_EQ(t->offset % 32, 0u);
      std::vector<float> back(d.values[i].size());
      ASSERT_TRUE(read_f32(*t, 0, back).ok());
      EXPECT_EQ(back, d.values[i]);
    }
  }
}

TEST(GgufWriter, RefusesWhatNoReaderTakes) {
  TempFolder folder;
  const std::string path = folder / "no.gguf";
  const std::vector<float> values(40, 1.0f);
  const auto refuse = [&](const TensorInfo& t, Code code, std::string_view part,
                          const GgufMetadata& m = {}) {
    const Status status = write_gguf(path, m, std::span(&t, 1));
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.to_string();
    EXPECT_FALSE(std::filesystem::exists(path));
  };
  TensorInfo t = tensor_from_f32("t", {40}, values);
  GgufMetadata twice;
  twice.u32("key", 1);
  twice.string("key", "");
  refuse(t, Code::invalid_argument, "'key' is there twice", twice);
  TensorInfo wrong = t;
  wrong.shape = {41};
  refuse(wrong, Code::invalid_argument, "is not 160 bytes");
  wrong = t;
  wrong.type = StorageType::fp8e4m3;
  refuse(wrong, Code::unsupported, "GGUF has no type");
  wrong = t;
  wrong.name = std::string(64, 'x');
  refuse(wrong, Code::invalid_argument, "its name has 64 bytes");
  wrong = t;
  wrong.shape = {1, 1, 1, 1, 40};
  refuse(wrong, Code::invalid_argument, "more than 4 dimensions");
  const TensorInfo blocks = encoded_tensor("t", {4, 40}, StorageType::q8_0, values_of(t), nullptr);
  refuse(blocks, Code::invalid_argument, "not whole blocks of 32");
  const TensorInfo list[] = {t, t};
  EXPECT_EQ(write_gguf(path, {}, list).code(), Code::invalid_argument);
}

TEST(Encode, RowsChangePlacesInEveryType) {
  std::vector<float> values(8 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 200;
  const TensorInfo plain = tensor_from_f32("t", {8, 64}, values);
  for (const StorageType type : {StorageType::f64, StorageType::f32, StorageType::f16,
                                 StorageType::bf16, StorageType::q8_0, StorageType::q4_0}) {
    ErrorSum error;
    const TensorInfo made = encoded_tensor("t", plain.shape, type, values_of(plain), &error);
    std::vector<std::byte> bytes(static_cast<std::size_t>(made.size));
    ASSERT_TRUE(made.source->read(0, bytes).ok());
    TensorInfo kept = made;
    kept.source = source_from_bytes(std::move(bytes), "kept");
    const TensorInfo moved = reordered_rows(kept, {0, 2, 1, 3});
    std::vector<float> a(values.size()), b(values.size());
    ASSERT_TRUE(read_f32(kept, 0, a).ok());
    ASSERT_TRUE(read_f32(moved, 0, b).ok());
    for (std::size_t row = 0; row < 8; ++row) {
      constexpr std::size_t kFrom[] = {0, 2, 1, 3, 4, 6, 5, 7};
      for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(b[row * 64 + i], a[kFrom[row] * 64 + i]);
    }
    EXPECT_EQ(error.largest == 0,
              type != StorageType::q8_0 && type != StorageType::q4_0 && type != StorageType::bf16)
        << name(type) << " " << error.largest;
  }
}

TEST(Encode, RefusesValuesThatATypeCannotHold) {
  const std::vector<float> values(32, 1e6f);
  const TensorInfo large = tensor_from_f32("t", {32}, values);
  std::vector<std::byte> bytes(64);
  const TensorInfo half = encoded_tensor("t", {32}, StorageType::f16, values_of(large), nullptr);
  const Status status = half.source->read(0, bytes);
  EXPECT_EQ(status.code(), Code::out_of_range) << status.to_string();
  const std::vector<float> lost(32, NAN);
  const TensorInfo none = encoded_tensor("t", {32}, StorageType::q8_0,
                                         values_of(tensor_from_f32("t", {32}, lost)), nullptr);
  bytes.resize(34);
  EXPECT_EQ(none.source->read(0, bytes).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace loom
