// Matrices that their stores hold in 16 bits give the bits of those in f32.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "base/random.h"
#include "exec/session.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

enum class Half { bf16, f16 };

// Values that the type holds. Whole rows of bf16 are smaller than what an f32 weight may be when it
// is read, although their sums would not be.
float value(Half half, const RandomStream& random, std::uint64_t i) {
  const float v = random.uniform(i) - 0.5f;
  if (half == Half::f16) return static_cast<float>(static_cast<int>(v * 1024)) / 4096;
  if (i / 1000 % 3 == 0) return v < 0 ? -0x1.8p-41f : 0x1.8p-41f;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & 0xFFFF0000u);
}

// A tied embedding, products with and without bias of odd sizes, one wider than a piece of a panel.
Result<Network> network(Half half, bool hold) {
  LOOM_ASSIGN(const Json topology, Json::parse(R"({"format": "loom-topology", "version": 1,
    "layers_per_cell": 4, "input": {"ids": 53}, "cells": [
    {"at": [0,0,0,0], "type": "embedding", "out": 37},
    {"at": [0,0,0,1], "type": "dense", "out": 301, "activation": "tanh"},
    {"at": [0,0,0,2], "type": "dense", "out": 37, "bias": false},
    {"at": [0,0,0,3], "type": "dense", "out": 53, "bias": false, "tie": "0.0.0.0:weight"}]})"));
  LOOM_ASSIGN(Network n, Network::from_json(topology));
  const RandomStream random(9, half == Half::f16);
  std::uint64_t k = 0;
  for (const auto& p : n.params()) {
    if (p.tied) continue;
    for (float& x : p.param->store->mutable_master()) x = value(half, random, k++);
    p.param->store->touch();
    if (hold && p.param->spec.quantized) LOOM_TRY(p.param->store->hold());
  }
  return n;
}
int held(Network& n) {
  int count = 0;
  for (const auto& p : n.params()) count += !p.tied && p.param->store->held();
  return count;
}

std::vector<float> outputs(Session& s, std::int64_t rows) {
  std::vector<std::uint32_t> ids, sequences, positions;
  for (std::uint32_t i = 0; i < rows; ++i) {
    ids.push_back(i * 7 % 53);
    sequences.push_back(0);
    positions.push_back(i);
  }
  const Status ran = s.run_tokens(ids, sequences, positions, {});
  EXPECT_TRUE(ran.ok()) << ran.to_string();
  if (!ran.ok()) return {};
  std::vector<float> all;
  for (std::int64_t i = 0; i < rows; ++i)
    all.insert(all.end(), s.output(i).begin(), s.output(i).end());
  return all;
}
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

class Held : public testing::TestWithParam<Half> {};

TEST_P(Held, SessionsHaveTheBitsOfF32) {
  auto plain = network(GetParam(), false), small = network(GetParam(), true);
  ASSERT_TRUE(plain.ok()) << plain.status().to_string();
  ASSERT_TRUE(small.ok()) << small.status().to_string();
  std::vector<std::string_view> isas = cpu::available_isas();
  for (const std::string_view isa : cpu::fast_isas()) isas.push_back(isa);
  for (const std::string_view isa : isas)
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      SessionOptions options;
      options.isa = isa;
      auto a = Session::create(*plain, pool, options), b = Session::create(*small, pool, options);
      ASSERT_TRUE(a.ok()) << a.status().to_string();
      ASSERT_TRUE(b.ok()) << b.status().to_string();
      for (const std::int64_t rows : {1, 2, 3, 4, 5, 13, 64})
        EXPECT_TRUE(same(outputs(*a, rows), outputs(*b, rows))) << isa << " " << rows;
      EXPECT_EQ(held(*small), 3);  // none was made for a run
    }
}

TEST_P(Held, SessionsSeeWhatIsWritten) {
  auto plain = network(GetParam(), false), small = network(GetParam(), true);
  ThreadPool pool(2);
  auto a = Session::create(*plain, pool), b = Session::create(*small, pool);
  ASSERT_TRUE(b.ok()) << b.status().to_string();
  const std::vector<float> before = outputs(*a, 9);
  EXPECT_TRUE(same(before, outputs(*b, 9)));
  for (int round = 0; round < 2; ++round) {
    for (Network* n : {&*plain, &*small}) {
      WeightStore* const w = n->find(round == 0 ? "0.0.0.1" : "0.0.0.0", "weight");
      ASSERT_TRUE(w);
      w->mutable_master()[3] = 0.1f + static_cast<float>(round);
      w->touch();
    }
    ASSERT_TRUE(a->refresh().ok());
    ASSERT_TRUE(b->refresh().ok());
    for (const std::int64_t rows : {1, 9, 40}) {
      const std::vector<float> now = outputs(*a, rows);
      EXPECT_TRUE(same(now, outputs(*b, rows))) << rows;
      EXPECT_FALSE(same(now, before));
    }
    EXPECT_EQ(held(*small), 2 - round);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Held, testing::Values(Half::bf16, Half::f16),
                         [](const auto& test) { return test.param == Half::f16 ? "f16" : "bf16"; });

}  // namespace
}  // namespace loom
