// What the tests of this module share: models of the test material and their golden values.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/files/bytes.h"
#include "base/files/source.h"
#include "base/json/json.h"
#include "formats/test_files.h"
#include "llm/evaluate.h"
#include "llm/model.h"
#include "support/data.h"

namespace loom::test {

inline Model load(const std::string& path) {
  auto model = load_model(path);
  if (!model.ok()) throw std::runtime_error(model.status().to_string());
  return std::move(*model);
}

inline std::vector<float> read_floats(const std::string& path) {
  const std::string bytes = file_text(path);
  std::vector<float> values(bytes.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<float>(bytes.data() + 4 * i);
  return values;
}

// golden.json of a family: prompt and greedy continuation.
struct Golden {
  std::vector<std::int32_t> prompt, greedy;
};
inline Golden read_golden(const std::string& folder) {
  const auto json = Json::parse(file_text(folder + "/golden.json"));
  Golden g;
  for (const Json& id : json->find("ids")->as_array())
    g.prompt.push_back(static_cast<std::int32_t>(id.as_integer()));
  for (const Json& id : json->find("greedy")->as_array())
    g.greedy.push_back(static_cast<std::int32_t>(id.as_integer()));
  return g;
}

// Logits of all positions, one row after another.
inline std::vector<float> logits_of(Model& model, std::span<const std::int32_t> ids,
                                    const EvaluateOptions& options = {}, int threads = 1) {
  ThreadPool pool(threads);
  std::vector<float> all;
  const Status status =
      all_logits(model, pool, ids, options, [&](std::int64_t, std::span<const float> row) {
        all.insert(all.end(), row.begin(), row.end());
        return Status();
      });
  EXPECT_TRUE(status.ok()) << status.to_string();
  return all;
}

inline float largest_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  float worst = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
  return worst;
}

}  // namespace loom::test
