#include "llm/embedded_model.h"

#include <gtest/gtest.h>

#include "base/files/sha256.h"
#include "embedded/embedded.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

// Its first 64 greedy tokens; changes with the model and with LOOM_NUMERICS_VERSION alone.
constexpr const char* kGreedy64 =
    "19d1b7e4b3f9199365bdf85b0391b142bd69b2a3b3d714964595ea5da8ae9846";

TEST(EmbeddedModel, greedy_ids_are_pinned_for_every_isa_and_number_of_threads) {
  auto model = load_model("embedded");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  for (const std::string_view isa : cpu::available_isas()) {
    for (int threads = 1; threads <= 3; ++threads) {
      SCOPED_TRACE(std::string(isa) + ", threads: " + std::to_string(threads));
      ThreadPool pool(threads);
      GeneratorOptions options;
      options.isa = isa;
      auto generator = Generator::create(*model, pool, options);
      ASSERT_TRUE(generator.ok()) << generator.status().to_string();
      ASSERT_TRUE(generator->feed(std::vector<std::int32_t>{0}).ok());
      GenerateOptions greedy;
      greedy.max_tokens = 64;
      Generation story;
      const Status status = generator->generate(greedy, &story);
      ASSERT_TRUE(status.ok()) << status.to_string();
      EXPECT_EQ(story.ids.size(), 64u);
      Sha256 hash;
      for (const std::int32_t id : story.ids) hash.update_u64(static_cast<std::uint64_t>(id));
      EXPECT_EQ(Sha256::hex(hash.finish()), kGreedy64) << story.text;
    }
  }
}

TEST(EmbeddedModel, runs_from_where_it_was_unpacked) {
  auto model = load_model("embedded");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto file = *embedded_model();
  int packed = 0;
  for (const Network::NamedParam& p : model->network.params()) {
    if (p.tied || p.param->store->has_master()) continue;
    const auto matrix = p.param->store->packed();
    ASSERT_TRUE(matrix.ok());
    const auto bytes = matrix->bytes();
    EXPECT_TRUE(bytes.data() >= file.data() &&
                bytes.data() + bytes.size() <= file.data() + file.size())
        << p.path;
    ++packed;
  }
  EXPECT_EQ(packed, 1 + 6 * 7);  // the table, and of each block q, k, v, o, gate, up, down
}

TEST(EmbeddedModel, its_parts_load_alone) {
  const auto config = load_config("embedded");
  const auto tokenizer = load_tokenizer("embedded");
  ASSERT_TRUE(config.ok() && tokenizer.ok());
  EXPECT_EQ(config->vocab_size, static_cast<std::int64_t>(tokenizer->vocab_size()));
  EXPECT_EQ(tokenizer->encode(""), std::vector<std::int32_t>{*config->bos});
}

}  // namespace
}  // namespace loom
