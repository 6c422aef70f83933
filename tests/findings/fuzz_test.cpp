// What campaigns of tests/fuzz found: the shortest input of each kind, and its likes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include <loom/loom.h>
#include "base/json.h"

namespace loom {
namespace {

TEST(Findings, Fuzz_AWeightThatIsNoNumberIsNamed) {
  EXPECT_EQ(format_double(__builtin_nan("")), "nan");
  EXPECT_EQ(format_double(__builtin_inf()), "inf");
  EXPECT_EQ(format_double(-__builtin_inf()), "-inf");
  EXPECT_EQ(Json(__builtin_nan("")).dump(), "null");
  const float x[4] = {1, 2, 3, 4};
  const std::int32_t classes[2] = {0, 1};
  loom_error error{};
  loom_data plain = 0, data = 0;
  ASSERT_EQ(loom_data_classes(x, 4, 2, classes, 2, &plain, &error), LOOM_OK);
  const std::pair<float, const char*> kCases[] = {
      {__builtin_nanf(""), "sample 1 has nan: a weight"},
      {__builtin_inff(), "sample 1 has inf: a weight"}};
  for (const auto& [value, part] : kCases) {
    const float weights[2] = {1, value};
    EXPECT_EQ(loom_data_weighted(plain, weights, 2, &data, &error), LOOM_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(error.message, part), nullptr) << error.message;
  }
  EXPECT_EQ(loom_release(plain, nullptr), LOOM_OK);
}

}  // namespace
}  // namespace loom
