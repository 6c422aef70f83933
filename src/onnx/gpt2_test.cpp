// A GPT-2 as an optimizer exports it (com.microsoft operators, keys and values of the past in and
// out): the greedy tokens that its publishers test for.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/json/json.h"
#include "onnx/import.h"
#include "support/data.h"

namespace loom::onnx {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const Json& list) {
  Rows rows;
  for (const Json& row : list.as_array()) {
    rows.emplace_back();
    for (const Json& v : row.as_array()) rows.back().push_back(static_cast<double>(v.as_integer()));
  }
  return rows;
}
// Rows of equal length as a tensor of int32.
Tensor tensor_of(const std::string& name, const Rows& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return *make_tensor(
      name, Type::i32,
      {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size())}, all);
}

struct Cache {
  std::vector<double> values;
  std::int64_t length = 0;
};
// One run: the tokens at their positions, everything before them seen; the logits of the last
// token, by row.
Rows step(const Runner& runner, const Rows& tokens, std::vector<Cache>& past) {
  const auto batch = static_cast<std::int64_t>(tokens.size());
  const std::int64_t before = past[0].length,
                     total = before + static_cast<std::int64_t>(tokens[0].size());
  Rows positions(tokens.size()), mask(tokens.size());
  for (std::size_t b = 0; b < tokens.size(); ++b) {
    for (std::int64_t i = before; i < total; ++i) positions[b].push_back(static_cast<double>(i));
    mask[b].assign(static_cast<std::size_t>(total), 1);
  }
  std::vector<Runner::Input> inputs;
  inputs.push_back({"input_ids", tensor_of("input_ids", tokens)});
  inputs.push_back({"position_ids", tensor_of("position_ids", positions)});
  inputs.push_back({"attention_mask", tensor_of("attention_mask", mask)});
  for (std::size_t l = 0; l < past.size(); ++l) {
    const std::string name = "past_" + std::to_string(l);
    inputs.push_back(
        {name, *make_tensor(name, Type::f32, {2, batch, 4, before, 8}, past[l].values)});
  }
  const auto out = runner.run(inputs);
  EXPECT_TRUE(out.ok()) << out.status().to_string();
  Rows last;
  if (!out.ok()) return last;
  for (const Runner::Output& o : *out) {
    if (o.name == "logits") {
      const std::int64_t words = o.dims[2];
      for (std::int64_t b = 0; b < batch; ++b) {
        const auto end = o.values.begin() + (b + 1) * o.dims[1] * words;
        last.emplace_back(end - words, end);
      }
    } else {
      Cache& c = past[static_cast<std::size_t>(o.name.back() - '0')];
      EXPECT_EQ(o.dims, (Dims{2, batch, 4, total, 8})) << o.name;
      c = {o.values, total};
    }
  }
  return last;
}

Rows greedy(const Runner& runner, const Rows& prompt, std::size_t length) {
  Rows text = prompt, next = prompt;
  std::vector<Cache> past(5);
  while (text[0].size() < length) {
    const Rows logits = step(runner, next, past);
    if (logits.size() != text.size()) return text;
    for (std::size_t b = 0; b < text.size(); ++b) {
      next[b] = {static_cast<double>(std::max_element(logits[b].begin(), logits[b].end()) -
                                     logits[b].begin())};
      text[b].push_back(next[b][0]);
    }
  }
  return text;
}

TEST(Onnx, TinyGpt2GivesTheGreedyTokensOfItsPublishers) {
  LOOM_TEST_FILE(path, "models/tiny_random_gpt2/past.onnx");
  LOOM_TEST_FILE(golden_path, "models/tiny_random_gpt2/golden.json");
  std::ifstream file(golden_path, std::ios::binary);
  const auto golden = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  ASSERT_TRUE(golden.ok()) << golden.status().to_string();
  auto model = open_model(path);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const Runner runner(std::move(*model));
  const auto length = static_cast<std::size_t>(golden->find("max_length")->as_integer());
  const Rows prompt = rows_of(*golden->find("input_ids")),
             want = rows_of(*golden->find("expected_greedy"));
  EXPECT_EQ(greedy(runner, prompt, length), want);
  // Without the past: all tokens again for each new one.
  Rows text = prompt;
  while (text[0].size() < length) {
    std::vector<Cache> none(5);
    const Rows logits = step(runner, text, none);
    ASSERT_EQ(logits.size(), text.size());
    for (std::size_t b = 0; b < text.size(); ++b)
      text[b].push_back(static_cast<double>(std::max_element(logits[b].begin(), logits[b].end()) -
                                            logits[b].begin()));
  }
  EXPECT_EQ(text, want);
}

// A token that the table does not have makes no number, in place of some other token's.
TEST(Onnx, TokensOutsideOfATableGiveNoNumbers) {
  LOOM_TEST_FILE(path, "models/tiny_random_gpt2/past.onnx");
  auto model = open_model(path);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const Runner runner(std::move(*model));
  std::vector<Cache> past(5);
  const Rows logits = step(runner, {{3, 1000}}, past);
  ASSERT_EQ(logits.size(), 1u);
  for (const double v : logits[0]) ASSERT_TRUE(v != v);
}

}  // namespace
}  // namespace loom::onnx
