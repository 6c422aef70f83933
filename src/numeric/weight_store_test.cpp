#include "numeric/weight_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace loom {
namespace {

std::vector<float> some_weights(std::int64_t count) {
  const RandomStream random(4, 4);
  std::vector<float> w(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = (random.uniform(i) - 0.5f) * 0.3f;
  return w;
}

WeightFormat format(const char* text) { return parse_weight_format(text).value(); }

std::vector<double> values_of(WeightStore& w) {
  std::vector<double> out(static_cast<std::size_t>(w.rows() * w.cols()));
  EXPECT_TRUE(w.values(std::span<double>(out)).ok());
  return out;
}

std::vector<std::byte> packed_bytes_of(WeightStore& w) {
  const PackedMatrix m = w.packed().value();
  return {m.bytes().begin(), m.bytes().end()};
}

TEST(WeightStore, ZerosTakeNoMemoryUntilSomeoneLooks) {
  WeightStore w(1 << 28, 1 << 28);  // 2^58 bytes as f32
  EXPECT_TRUE(w.has_master());
  EXPECT_FALSE(w.master_is_f64());
  EXPECT_EQ(w.master_bytes(), 0u);
  ASSERT_TRUE(w.morph(default_format(DType::i4)).ok());
  ASSERT_TRUE(w.morph(default_format(DType::f64)).ok());
  EXPECT_TRUE(w.master_is_f64());
  EXPECT_EQ(w.master_bytes(), 0u);

  WeightStore small(3, 5);
  ASSERT_TRUE(small.morph(default_format(DType::f64)).ok());
  EXPECT_EQ(small.mutable_master64().size(), 15u);
  EXPECT_TRUE(small.master().empty());
  WeightStore packed(3, 5);
  ASSERT_TRUE(packed.morph(default_format(DType::i8)).ok());
  std::vector<float> values(15, 1);
  ASSERT_TRUE(packed.values(std::span<float>(values)).ok());
  EXPECT_EQ(values, std::vector<float>(15));
  ASSERT_TRUE(packed.drop_master().ok());
  EXPECT_FALSE(packed.has_master());
}

TEST(WeightStore, BeginsAsZerosInF32) {
  WeightStore store(2, 3);
  EXPECT_EQ(store.format(), default_format(DType::f32));
  EXPECT_EQ(values_of(store), std::vector<double>(6, 0.0));
  EXPECT_EQ(store.packed()->bytes().size(), store.packed_bytes());
}

TEST(WeightStore, NoFormatIsSticky) {
  const auto w = some_weights(20 * 70);
  for (const WeightFormat& target : all_weight_formats()) {
    WeightStore direct = WeightStore::from_f32(20, 70, w).value();
    if (target.layout == Layout::q4_k || target.layout == Layout::q6_k) {
      EXPECT_EQ(direct.morph(target).code(), Code::unsupported);
      EXPECT_EQ(direct.format(), default_format(DType::f32));
      continue;
    }
    ASSERT_TRUE(direct.morph(target).ok());
    WeightStore detour = WeightStore::from_f32(20, 70, w).value();
    for (const char* stop : {"i8", "binary", "i32", "i4", "f16", "i64", "u2"})
      ASSERT_TRUE(detour.morph(format(stop)).ok());
    ASSERT_TRUE(detour.morph(target).ok());
    EXPECT_EQ(packed_bytes_of(direct), packed_bytes_of(detour)) << to_string(target);
    ASSERT_TRUE(detour.morph(format("f32")).ok());
    ASSERT_FALSE(detour.master_is_f64());
    EXPECT_TRUE(std::equal(w.begin(), w.end(), detour.master().begin())) << to_string(target);
  }
}

TEST(WeightStore, FiftyThreeBitWeightsAndThirtyTwoBitCodesSurvive) {
  const RandomStream random(8, 1);
  std::vector<double> w(30 * 33);
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<double>(static_cast<std::int64_t>(std::uint64_t{random.bits(2 * i)} << 32 |
                                                         random.bits(2 * i + 1)) >>
                               11) *
           0x1p-55;
  WeightStore store = WeightStore::from_f64(30, 33, w).value();
  EXPECT_EQ(values_of(store), w);
  for (const char* stop : {"i8", "i64", "f32", "i4", "f64"})
    ASSERT_TRUE(store.morph(format(stop)).ok()) << stop;
  EXPECT_EQ(values_of(store), w);
  // 53-bit integers within 2^10 of the largest are exact in i64, with and without the master.
  ASSERT_TRUE(store.morph(format("i64")).ok());
  EXPECT_EQ(values_of(store), w);
  ASSERT_TRUE(store.drop_master().ok());
  EXPECT_FALSE(store.has_master());
  EXPECT_EQ(values_of(store), w);
  ASSERT_TRUE(store.morph(format("f64")).ok());
  EXPECT_EQ(values_of(store), w);

  // 32-bit integer weights are their own codes.
  std::vector<double> ints(64);
  for (std::size_t i = 0; i < ints.size(); ++i)
    ints[i] = static_cast<double>(static_cast<std::int32_t>(random.bits(5000 + i)));
  ints[7] = 2147483647.0;
  for (double& x : ints) x = std::max(x, -2147483647.0);
  for (const char* type : {"i32", "i32:tensor"}) {
    WeightStore wide = WeightStore::from_f64(1, 64, ints).value();
    ASSERT_TRUE(wide.morph(format(type)).ok());
    EXPECT_EQ(wide.packed()->row_scale64(0), 1.0);
    ASSERT_TRUE(wide.drop_master().ok());
    EXPECT_EQ(values_of(wide), ints);
    ASSERT_TRUE(wide.morph(format("f64")).ok());
    ASSERT_TRUE(wide.morph(format(type)).ok());
    EXPECT_EQ(values_of(wide), ints);
  }
  std::vector<double> unsigned_ints(64);
  for (std::size_t i = 0; i < unsigned_ints.size(); ++i)
    unsigned_ints[i] = static_cast<double>(random.bits(6000 + i) >> 1);
  WeightStore u32 = WeightStore::from_f64(1, 64, unsigned_ints).value();
  ASSERT_TRUE(u32.morph(format("u32")).ok());
  EXPECT_EQ(values_of(u32), unsigned_ints);
}

TEST(WeightStore, UnsignedTypesKeepTheSign) {
  const auto w = some_weights(4 * 40);
  for (const char* type : {"u64", "u32", "u16", "u8", "u4", "u2"}) {
    WeightStore store = WeightStore::from_f32(4, 40, w).value();
    ASSERT_TRUE(store.morph(format(type)).ok());
    const auto back = values_of(store);
    double negative = 0, positive = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      negative = std::min(negative, back[i]);
      positive = std::max(positive, back[i]);
      if (std::fabs(w[i]) > 0.12f) {
        EXPECT_GT(back[i] * w[i], 0) << type << " " << i;
      }
    }
    EXPECT_LT(negative, 0) << type;
    EXPECT_GT(positive, 0) << type;
  }
}

TEST(WeightStore, DroppedMasterLeavesTheDecodedValues) {
  for (const char* type : {"f32", "i8", "i4", "ternary", "fp8e4m3", "i8:block32", "q8_0", "i32"}) {
    WeightStore store = WeightStore::from_f32(7, 50, some_weights(350)).value();
    ASSERT_TRUE(store.morph(format(type)).ok());
    const auto before = values_of(store);
    EXPECT_GT(store.master_bytes(), 0u);
    ASSERT_TRUE(store.drop_master().ok());
    EXPECT_EQ(store.master_bytes(), 0u);
    EXPECT_EQ(values_of(store), before) << type;
    // Without a master the decoded values are the truth from now on.
    ASSERT_TRUE(store.morph(format("f64")).ok());
    EXPECT_EQ(values_of(store), before) << type;
  }
}

TEST(WeightStore, FromPackedRunsWithoutAMaster) {
  WeightStore made = WeightStore::from_f32(3, 64, some_weights(192)).value();
  ASSERT_TRUE(made.morph(format("q4_0")).ok());
  WeightStore loaded = WeightStore::from_packed(made.packed().value());
  EXPECT_EQ(loaded.format(), format("q4_0"));
  EXPECT_FALSE(loaded.has_master());
  EXPECT_EQ(values_of(loaded), values_of(made));
  EXPECT_EQ(loaded.packed_bytes(), 3u * 2u * 18u);
}

TEST(WeightStore, TouchMakesThePackedFormStale) {
  WeightStore store = WeightStore::from_f32(2, 2, {1, 2, 3, 4}).value();
  ASSERT_TRUE(store.morph(format("i8")).ok());
  const std::uint64_t before = store.epoch();
  const auto old = packed_bytes_of(store);
  store.mutable_master()[0] = -7;
  EXPECT_EQ(packed_bytes_of(store), old);
  store.touch();
  EXPECT_GT(store.epoch(), before);
  EXPECT_NE(packed_bytes_of(store), old);
  EXPECT_NEAR(values_of(store)[0], -7, 0.03);
}

TEST(WeightStore, ARefusedMorphChangesNothing) {
  WeightStore store =
      WeightStore::from_f32(1, 3, {1, std::numeric_limits<float>::quiet_NaN(), 3}).value();
  const Status refused = store.morph(format("i8"));
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_NE(refused.message().find("element 1 "), std::string::npos) << refused.message();
  EXPECT_EQ(store.format(), default_format(DType::f32));
  EXPECT_EQ(store.master().size(), 3u);
  EXPECT_FALSE(store.packed().ok());
  EXPECT_FALSE(store.drop_master().ok());
  EXPECT_TRUE(store.has_master());
  EXPECT_EQ(WeightStore::from_f32(2, 3, {1, 2}).status().code(), Code::invalid_argument);
  EXPECT_EQ(WeightStore::from_f32(0, 3, {}).status().code(), Code::out_of_range);
  std::vector<float> small(2);
  EXPECT_EQ(store.values(small).code(), Code::invalid_argument);
}

TEST(WeightStore, MastersChangeTypeOnlyWithoutLoss) {
  WeightStore exact = WeightStore::from_f32(1, 2, {0.1f, 2}).value();
  ASSERT_TRUE(exact.morph(format("i32")).ok());
  EXPECT_TRUE(exact.master_is_f64());
  ASSERT_TRUE(exact.morph(format("bf16")).ok());
  EXPECT_FALSE(exact.master_is_f64());
  WeightStore finer = WeightStore::from_f64(1, 2, {0.1, 2}).value();
  ASSERT_TRUE(finer.morph(format("f32")).ok());
  EXPECT_TRUE(finer.master_is_f64());
  EXPECT_EQ(values_of(finer)[0], static_cast<double>(0.1f));
  finer.narrow_master();
  EXPECT_FALSE(finer.master_is_f64());
  EXPECT_EQ(finer.master()[0], 0.1f);
}

}  // namespace
}  // namespace loom
