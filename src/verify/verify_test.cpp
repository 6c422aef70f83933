#include "verify/verify.h"
#include "support/places.h"

#include <gtest/gtest.h>

#include "base/files/source.h"
#include "ops/cpu/isa.h"

namespace loom {
namespace {

std::vector<VerifyRow> rows_of(int threads, const std::string& isa) {
  ThreadPool pool(threads);
  auto rows = run_verify(pool, {.isa = isa});
  EXPECT_TRUE(rows.ok()) << rows.status().to_string();
  return rows.ok() ? *rows : std::vector<VerifyRow>();
}

TEST(Verify, EqualsTheGoldenTable) {
  const auto golden = read_text_file(loom::test::source_dir() + "/tests/golden/numerics.txt");
  ASSERT_TRUE(golden.ok()) << golden.status().to_string();
  const auto rows = rows_of(1, "");
  EXPECT_EQ(compare_tables(rows, *golden), "");
  EXPECT_NE(golden->find("all " + fingerprint(rows)), std::string::npos);
}

TEST(Verify, EveryInstructionSetAndTeamGivesOneFingerprint) {
  const std::string want = fingerprint(rows_of(1, ""));
  for (std::string_view isa : cpu::available_isas())
    EXPECT_EQ(fingerprint(rows_of(1, std::string(isa))), want) << isa;
  for (int threads = 2; threads <= 4; ++threads)
    EXPECT_EQ(fingerprint(rows_of(threads, "")), want) << threads;
}

TEST(Verify, ADifferenceIsNamed) {
  const std::vector<VerifyRow> rows = {{"a b", "11"}, {"c", "22"}};
  EXPECT_EQ(compare_tables(rows, "a b 11\nc 22\n"), "");
  EXPECT_NE(compare_tables(rows, "a b 11\nc 23\n").find("'c'"), std::string::npos);
  EXPECT_NE(compare_tables(rows, "a b 11\n").find("not in the table"), std::string::npos);
}

}  // namespace
}  // namespace loom
