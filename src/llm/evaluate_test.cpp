#include "llm/evaluate.h"

#include <cmath>
#include <cstring>

#include "llm/test_models.h"

namespace loom {
namespace {

using namespace test;

// Plain softmax in double over a row of logits.
std::vector<double> softmax(std::span<const float> x) {
  std::vector<double> p(x.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += p[i] = std::exp(static_cast<double>(x[i]));
  for (double& v : p) v /= sum;
  return p;
}

// -log of the probability of token `id` by row `i` of logits.
double surprise(std::span<const float> logits, std::size_t vocab, std::size_t i, std::int32_t id) {
  return -std::log(softmax(logits.subspan(i * vocab, vocab))[static_cast<std::size_t>(id)]);
}

class EvaluateFamily : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Evaluate, EvaluateFamily,
                         testing::Values("llama2_untied", "mistral_window", "qwen3_qknorm"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(EvaluateFamily, perplexity_of_the_logits_of_transformers) {
  LOOM_TEST_FILE(folder, std::string("families/") + GetParam());
  Model model = load(folder);
  const auto ids = read_golden(folder).prompt;
  const std::vector<float> golden = read_floats(folder + "/golden_logits.f32");
  const std::size_t vocab = golden.size() / ids.size();
  double loss = 0;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) loss += surprise(golden, vocab, i, ids[i + 1]);
  loss /= static_cast<double>(ids.size() - 1);
  ThreadPool pool(1);
  const auto e = evaluate(model, nullptr, pool, ids);
  ASSERT_TRUE(e.ok()) << e.status().to_string();
  EXPECT_EQ(e->tokens, 47);
  EXPECT_NEAR(e->loss, loss, 1e-5);
  EXPECT_NEAR(e->perplexity, std::exp(loss), 1e-5 * std::exp(loss));
  EXPECT_EQ(e->kl, 0);
}

TEST(Evaluate, divergence_from_another_model) {
  LOOM_TEST_FILE(a_folder, "families/llama3_scaled_rope");
  LOOM_TEST_FILE(b_folder, "families/qwen3_qknorm");
  Model a = load(a_folder), b = load(b_folder);
  const auto ids = read_golden(a_folder).prompt;
  ThreadPool pool(1);
  const auto same = evaluate(a, &a, pool, ids);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->kl, 0);
  EXPECT_EQ(same->same_best, 1);
  EXPECT_EQ(same->loss, same->reference_loss);

  const std::vector<float> q = logits_of(a, ids), p = logits_of(b, ids);
  const std::size_t vocab = q.size() / ids.size();
  double kl = 0, largest = 0, equal = 0;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    const auto x = std::span(p).subspan(i * vocab, vocab),
               y = std::span(q).subspan(i * vocab, vocab);
    const auto px = softmax(x), py = softmax(y);
    double sum = 0;
    for (std::size_t v = 0; v < vocab; ++v) sum += px[v] * std::log(px[v] / py[v]);
    kl += sum / 47;
    largest = std::max(largest, sum);
    equal += (std::max_element(x.begin(), x.end()) - x.begin() ==
              std::max_element(y.begin(), y.end()) - y.begin()) /
             47.0;
  }
  const auto e = evaluate(a, &b, pool, ids);
  ASSERT_TRUE(e.ok());
  EXPECT_NEAR(e->kl, kl, 1e-9);
  EXPECT_NEAR(e->largest_kl, largest, 1e-9);
  EXPECT_NEAR(e->same_best, equal, 1e-12);
}

TEST(Evaluate, windows_predict_every_token_but_the_first_once) {
  LOOM_TEST_FILE(folder, "families/qwen3_qknorm");
  Model model = load(folder);
  const auto ids = read_golden(folder).prompt;  // 48
  ThreadPool pool(1);
  // Windows of 20: rows 0-19, 20-39, 40-46, each from position 0.
  double loss = 0;
  for (const std::size_t begin : {0u, 20u, 40u}) {
    const std::size_t end = std::min<std::size_t>(begin + 20, 47);
    const std::vector<float> rows = logits_of(model, std::span(ids).subspan(begin, end - begin));
    const std::size_t vocab = rows.size() / (end - begin);
    for (std::size_t i = begin; i < end; ++i)
      loss += surprise(rows, vocab, i - begin, ids[i + 1]) / 47;
  }
  std::optional<double> first;
  for (const std::int64_t chunk : {1, 7, 16, 64}) {
    const auto e = evaluate(model, nullptr, pool, ids, {.context = 20, .chunk = chunk});
    ASSERT_TRUE(e.ok()) << e.status().to_string();
    EXPECT_EQ(e->tokens, 47);
    EXPECT_NEAR(e->loss, loss, 1e-9);
    if (!first) first = e->loss;
    EXPECT_EQ(e->loss, *first);  // to the bit
  }
}

TEST_P(EvaluateFamily, logits_do_not_depend_on_chunks_or_threads) {
  LOOM_TEST_FILE(folder, std::string("families/") + GetParam());
  Model model = load(folder);
  const auto ids = read_golden(folder).prompt;
  const std::vector<float> expected = logits_of(model, ids);
  for (const int threads : {1, 3})
    for (const std::int64_t chunk : {1, 3, 20, 64}) {
      if (threads > 1 && chunk < 64) continue;  // barriers are slow where cores are shared
      const std::vector<float> rows = logits_of(model, ids, {.chunk = chunk}, threads);
      ASSERT_EQ(rows.size(), expected.size());
      EXPECT_EQ(std::memcmp(rows.data(), expected.data(), rows.size() * 4), 0)
          << chunk << " " << threads;
    }
}

TEST(Evaluate, mistakes_are_errors) {
  LOOM_TEST_FILE(folder, "families/llama3_scaled_rope");
  Model model = load(folder), other = load("embedded");
  ThreadPool pool(1);
  const std::vector<std::int32_t> one = {1}, wrong = {1, 2, 320, 4};
  LOOM_EXPECT_ERROR(evaluate(model, nullptr, pool, one), Code::invalid_argument,
                    "at least two tokens, got 1");
  LOOM_EXPECT_ERROR(evaluate(model, nullptr, pool, wrong), Code::out_of_range,
                    "id 320 at position 2: the vocabulary has 320");
  LOOM_EXPECT_ERROR(evaluate(model, &other, pool, std::vector<std::int32_t>{1, 2}),
                    Code::invalid_argument, "the vocabularies differ: 320 and 1200");
  LOOM_EXPECT_ERROR(evaluate(model, nullptr, pool, wrong, {.context = -1}), Code::invalid_argument,
                    "negative context -1");
  auto logits = [&](std::span<const std::int32_t> ids,
                    const EvaluateOptions& options) -> Result<int> {
    LOOM_TRY(all_logits(model, pool, ids, options, [](std::int64_t, std::span<const float>) {
      return Status(Code::io, "enough");
    }));
    return 0;
  };
  LOOM_EXPECT_ERROR(logits({}, {}), Code::invalid_argument, "at least one id");
  LOOM_EXPECT_ERROR(logits(std::vector<std::int32_t>{1, 2, 3, 4}, {.context = 3}),
                    Code::out_of_range, "has 4 tokens, the context holds 3");
  LOOM_EXPECT_ERROR(logits(one, {}), Code::io, "enough");
}

}  // namespace
}  // namespace loom
