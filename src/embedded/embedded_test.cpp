#include "embedded/embedded.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/files/sha256.h"
#include "base/files/source.h"
#include "support/places.h"

namespace loom {
namespace {

TEST(Embedded, the_bytes_are_those_of_the_committed_model) {
  const auto expected = read_text_file(loom::test::source_dir() + "/models/embedded.sha256");
  ASSERT_TRUE(expected.ok()) << expected.status().to_string();
  ASSERT_TRUE(has_embedded_model());
  const auto model = embedded_model();
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto bytes = *model;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64, 0u);
  EXPECT_EQ(Sha256::hex(Sha256::of(bytes)) + "  embedded.entity\n", *expected);
  EXPECT_EQ(embedded_model()->data(), bytes.data());  // unpacked once
}

}  // namespace
}  // namespace loom
