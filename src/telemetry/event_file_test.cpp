#include "telemetry/event_file.h"
#include "support/places.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/files/bytes.h"

namespace loom {
namespace {

// RFC 3720, B.4, and the check value of the CRC catalogue.
TEST(EventFile, Crc32cVectors) {
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(as_bytes(std::string(32, '\0'))), 0x8A9136AAu);
  EXPECT_EQ(crc32c(as_bytes(std::string(32, '\xff'))), 0x62A8AB43u);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  EXPECT_EQ(crc32c(as_bytes(ascending)), 0x46DD794Eu);
}

// Written by hand from event.proto and summary.proto.
TEST(EventFile, ScalarEventBytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(scalar_event(1.5, 300, "loss", 0.5f),
            "\x09\x00\x00\x00\x00\x00\x00\xF8\x3F"  // 1: double 1.5
            "\x10\xAC\x02"                          // 2: varint 300
            "\x2A\x0D"                              // 5: summary of 13 bytes
            "\x0A\x0B"                              //   1: value of 11 bytes
            "\x0A\x04loss"                          //     1: tag
            "\x15\x00\x00\x00\x3F"sv);              //     2: float 0.5
}

TEST(EventFile, PythonReadsIt) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("loom_events_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / event_file_name(1700000000.25)).string();
  EXPECT_NE(path.find("events.out.tfevents.1700000000.loom"), std::string::npos);
  for (int run = 0; run < 2; ++run) {  // the second appends
    auto file = EventFile::open(path, 1700000000.25);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    for (int i = 1; i <= 100; ++i) {
      ASSERT_TRUE(
          file->scalar("train/loss", 100 * run + i, 1.0f / static_cast<float>(i), 1700000000.25 + i)
              .ok());
      ASSERT_TRUE(file->scalar("train/rate", 100 * run + i, 0.125f, 1700000000.25 + i).ok());
    }
    ASSERT_TRUE(file->flush().ok());
  }
  if (std::system("python3 -c '' 2>/dev/null") != 0)
    GTEST_SKIP() << "needs python3, which reads the file";
  const std::string check =
      "python3 " + loom::test::source_dir() + "/tests/parity/read_events.py --check " + path;
  EXPECT_EQ(std::system(check.c_str()), 0);
  // A flipped bit must not pass.
  std::FILE* f = std::fopen(path.c_str(), "r+b");
  std::fseek(f, 100, SEEK_SET);
  const int c = std::fgetc(f);
  std::fseek(f, 100, SEEK_SET);
  std::fputc(c ^ 4, f);
  std::fclose(f);
  EXPECT_NE(std::system((check + " 2>/dev/null").c_str()), 0);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(EventFile::open((folder / "x").string(), 0).ok());
}

}  // namespace
}  // namespace loom
