// The executor's private plan changes no bit: with barriers left out and private copies made, every
// family and weight format gives what a barrier after every instruction gives, for one row and for
// many, for more workers than rows and fewer.
#include <gtest/gtest.h>

#include <cstring>

#include "base/json/json.h"
#include "exec/session.h"
#include "llm/config/config.h"

namespace loom {
namespace {

constexpr std::uint32_t kRows = 9;

struct Outcome {
  std::vector<float> logits;
  std::int64_t barriers;  // of the run with one row
};

Outcome run(Network& network, int threads, bool fuse) {
  ThreadPool pool(threads);
  auto s = Session::create(network, pool,
                           {.max_rows = kRows,
                            .max_head_rows = kRows,
                            .max_positions = 64,
                            .fuse = fuse,
                            .poison = true});
  EXPECT_TRUE(s.ok()) << s.status().to_string();
  Outcome out{};
  std::uint32_t position = 0;
  // Row counts go up and down, so that barriers are found again each time.
  for (const std::uint32_t rows : {1u, 2u, kRows, 3u, 1u, 1u, 5u, 2u, 1u}) {
    std::vector<std::uint32_t> ids, positions, head;
    for (std::uint32_t i = 0; i < rows; ++i) {
      ids.push_back((position * 7 + 3) % 64);
      positions.push_back(position++);
      head.push_back(i);
    }
    const std::vector<std::uint32_t> sequences(rows, 0);
    const Status status = s->run_tokens(ids, sequences, positions, head);
    EXPECT_TRUE(status.ok()) << status.to_string();
    for (std::uint32_t i = 0; i < rows; ++i)
      out.logits.insert(out.logits.end(), s->output(i).begin(), s->output(i).end());
  }
  out.barriers = s->executor().barriers();
  return out;
}

TEST(Schedule, FusedRunsEqualUnfusedOnes) {
  for (const char* family : {"llama", "mistral", "qwen2", "qwen3"}) {
    const auto json = Json::parse(
        R"({"model_type":")" + std::string(family) +
        R"(","vocab_size":64,"hidden_size":96,"intermediate_size":144,"num_hidden_layers":2,"num_attention_heads":6,
"num_key_value_heads":2,"max_position_embeddings":64,"rms_norm_eps":1e-5,"rope_theta":10000.0,"tie_word_embeddings":true})");
    ASSERT_TRUE(json.ok()) << json.status().to_string();
    const auto config = config_from_hf(*json);
    ASSERT_TRUE(config.ok()) << config.status().to_string();
    for (const char* dtype : {"f64", "f32", "bf16", "f16", "fp8e4m3", "i8", "i4", "i4:s4",
                              "i4:block32", "u4", "fp4", "i2", "ternary", "binary"}) {
      SCOPED_TRACE(std::string(family) + ", " + dtype);
      auto network = Network::from_json(decoder_topology(*config));
      ASSERT_TRUE(network.ok()) << network.status().to_string();
      ASSERT_TRUE(network->initialize(3).ok());
      const auto format = parse_weight_format(dtype);
      ASSERT_TRUE(format.ok()) << format.status().to_string();
      ASSERT_TRUE(network->morph(*format).ok());
      const Outcome want = run(*network, 1, false);
      ASSERT_NE(want.logits.front(), want.logits.back());
      for (const int threads : {1, 2, 3, 4}) {
        const Outcome plain = run(*network, threads, false), fused = run(*network, threads, true);
        ASSERT_EQ(plain.logits.size(), want.logits.size());
        ASSERT_EQ(std::memcmp(plain.logits.data(), want.logits.data(),
                              want.logits.size() * sizeof(float)),
                  0)
            << threads;
        ASSERT_EQ(std::memcmp(fused.logits.data(), want.logits.data(),
                              want.logits.size() * sizeof(float)),
                  0)
            << threads;
        if (threads > 1) {
          ASSERT_LT(fused.barriers * 4, plain.barriers * 3) << threads;
        }
      }
    }
  }
}

}  // namespace
}  // namespace loom
