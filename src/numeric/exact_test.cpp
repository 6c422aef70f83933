// f32 values held in 16 bits.
#include "numeric/packed/exact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/threads/thread_pool.h"
#include "numeric/codec.h"
#include "numeric/weight_store.h"

namespace loom {
namespace {

// All finite codes of a type, in rows that end within a panel and at an odd column.
std::vector<float> all_values(DType dtype) {
  std::vector<float> values;
  for (std::uint32_t code = 0; code < 65536; ++code) {
    const float v = decode_small_float(code, info(dtype).codec.small_float);
    if (v - v == 0) values.push_back(v);
  }
  return values;
}
constexpr std::int64_t kCols = 67;

std::vector<float> whole_rows(std::vector<float> values) {
  while (values.size() % kCols != 0) values.push_back(0.5f);
  return values;
}

Result<WeightStore> held(const std::vector<float>& values, ThreadPool* pool = nullptr) {
  const auto rows = static_cast<std::int64_t>(values.size()) / kCols;
  LOOM_ASSIGN(WeightStore store, WeightStore::from_f32(rows, kCols, values));
  LOOM_TRY(store.hold(pool));
  return store;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

class Exactly : public testing::TestWithParam<DType> {};

TEST_P(Exactly, EveryFiniteValueIsHeldAndComesBack) {
  const std::vector<float> values = whole_rows(all_values(GetParam()));
  ThreadPool pool(3);
  for (ThreadPool* team : {static_cast<ThreadPool*>(nullptr), &pool}) {
    auto store = held(values, team);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    ASSERT_TRUE(store->held());
    EXPECT_EQ(store->held()->format().dtype, GetParam());
    EXPECT_EQ(store->format(), WeightFormat{});
    EXPECT_TRUE(store->has_master());
    EXPECT_FALSE(store->master_is_f64());
    // Rows are padded to a panel, columns to 32.
    EXPECT_LT(store->master_bytes(), values.size() * 4 * 3 / 4);
    std::vector<float> rows(3 * kCols);
    store->read_master(40, rows);
    EXPECT_TRUE(same_bits(rows, std::span(values).subspan(40 * kCols, rows.size())));
    ASSERT_TRUE(store->held());
    EXPECT_TRUE(same_bits(store->master(), values));  // which makes it
    EXPECT_FALSE(store->held());
    EXPECT_EQ(store->master_bytes(), values.size() * 4);
  }
}
INSTANTIATE_TEST_SUITE_P(Half, Exactly, testing::Values(DType::bf16, DType::f16),
                         [](const auto& test) { return std::string(name(test.param)); });

// All that a store says and does is what it does with a master in memory.
TEST(Exactly, AStoreIsWhatItWas) {
  const std::vector<float> values = whole_rows(all_values(DType::f16));
  const auto rows = static_cast<std::int64_t>(values.size()) / kCols;
  for (const char* text : {"f32", "f64", "f16", "bf16", "i8", "i4", "q8_0"}) {
    const WeightFormat format = parse_weight_format(text).value();
    WeightStore a = held(values).value(), b = WeightStore::from_f32(rows, kCols, values).value();
    ASSERT_TRUE(a.held());
    std::vector<float> of_a(values.size()), of_b(values.size());
    ASSERT_TRUE(a.values(std::span(of_a)).ok());
    ASSERT_TRUE(b.values(std::span(of_b)).ok());
    EXPECT_TRUE(same_bits(of_a, of_b)) << text;
    ASSERT_TRUE(a.held());
    ASSERT_TRUE(a.morph(format).ok());
    ASSERT_TRUE(b.morph(format).ok());
    EXPECT_EQ(a.epoch(), b.epoch());
    const PackedMatrix x = a.packed().value(), y = b.packed().value();
    EXPECT_TRUE(std::ranges::equal(x.bytes(), y.bytes())) << text;
    ASSERT_TRUE(a.morph({}).ok());
    EXPECT_TRUE(same_bits(a.master(), values)) << text;
  }
  WeightStore written = held(values).value();
  const auto before = written.epoch();
  written.mutable_master()[5] = 0.1f;  // which no 16 bits hold
  written.touch();
  EXPECT_NE(written.epoch(), before);
  EXPECT_FALSE(written.held());
  std::vector<float> now(values.size());
  ASSERT_TRUE(written.values(std::span(now)).ok());
  EXPECT_EQ(now[5], 0.1f);
  EXPECT_EQ(now[2000], values[2000]);
}

TEST(Exactly, OneOtherValueIsReasonEnoughNot) {
  const std::vector<float> good = whole_rows(all_values(DType::f16));
  for (const std::size_t at : {std::size_t{0}, good.size() / 2, good.size() - 1})
    for (const float bad : {0.1f, 65505.0f, -65536.0f * 3, 0x1p-25f,
                            1 + std::numeric_limits<float>::epsilon(), 0x1.8p-24f}) {
      std::vector<float> values = good;
      values[at] = bad;
      auto store = held(values);
      ASSERT_TRUE(store.ok());
      EXPECT_FALSE(store->held()) << at << " " << static_cast<double>(bad);
      EXPECT_TRUE(same_bits(store->master(), values));
    }
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> values = whole_rows(all_values(DType::bf16));
    values[values.size() / 3] = bad;
    auto store = held(values);
    ASSERT_TRUE(store.ok());
    EXPECT_FALSE(store->held());
  }
  // Values of another format stay with it.
  WeightStore packed = WeightStore::from_f32(1, 4, {1, 2, 3, 4}).value();
  ASSERT_TRUE(packed.morph(default_format(DType::i8)).ok());
  ASSERT_TRUE(packed.hold().ok());
  EXPECT_FALSE(packed.held());
}

}  // namespace
}  // namespace loom
