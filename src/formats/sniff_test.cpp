#include "formats/sniff.h"

#include <gtest/gtest.h>

#include "formats/gguf/gguf.h"
#include "formats/npy/npy.h"
#include "formats/safetensors/safetensors.h"
#include "formats/test_files.h"
#include "support/data.h"

namespace loom {
namespace {

using namespace test;
using namespace std::string_literals;

Result<FileKind> sniff_bytes(const std::string& bytes) { return sniff(*source_of(bytes)); }

TEST(Sniff, KnowsTheKinds) {
  EXPECT_EQ(*sniff_bytes(safetensors_bytes("{}", "")), FileKind::safetensors);
  // A header of 640 bytes: 80 02, like a pickle.
  EXPECT_EQ(*sniff_bytes(safetensors_bytes("{\"a\":" + std::string(640 - 7, ' ') + "1}", "")),
            FileKind::safetensors);
  EXPECT_EQ(*sniff_bytes("GGUF\3\0\0\0"s), FileKind::gguf);
  EXPECT_EQ(*sniff_bytes("LOOMENT2"), FileKind::entity);
  EXPECT_EQ(*sniff_bytes("\x93NUMPY\1\0"s), FileKind::npy);
  EXPECT_EQ(*sniff_bytes("{}"), FileKind::json);
  EXPECT_EQ(*sniff_bytes("\xef\xbb\xbf \n[1]"), FileKind::json);
  EXPECT_EQ(*sniff_bytes("{\"a\":  1, {"), FileKind::json);
  for (const char* relative :
       {"models/silero_vad/silero_vad_16k_op15.onnx", "models/tiny_random_gpt2/past.onnx",
        "models/silero_vad/silero_vad_op18_ifless.onnx"}) {
    LOOM_TEST_FILE(path, relative);
    const auto kind = sniff(**open_source(path));
    ASSERT_TRUE(kind.ok()) << kind.status().to_string();
    EXPECT_EQ(*kind, FileKind::onnx);
  }
}

TEST(Sniff, RefusesByName) {
  LOOM_EXPECT_ERROR(sniff_bytes(""), Code::truncated, "is empty (0 bytes)");
  LOOM_EXPECT_ERROR(
      sniff_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4265536256\n"),
      Code::unsupported,
      "is a Git LFS pointer of 75 bytes, not the file itself (4265536256 bytes): run `git lfs "
      "pull`");
  LOOM_EXPECT_ERROR(sniff_bytes("version https://git-lfs.github.com/spec/v1\n"), Code::unsupported,
                    "git lfs pull");
  LOOM_EXPECT_ERROR(sniff_bytes("\n <!DOCTYPE html><html>"), Code::unsupported,
                    "is an HTML or XML page");
  LOOM_EXPECT_ERROR(sniff_bytes("\x80\2}q\0"s), Code::unsupported,
                    "is a Python pickle: Loom never runs one");
  LOOM_EXPECT_ERROR(sniff_bytes("\x80\4\x95\0\0\0\0\0\0\0\0"s), Code::unsupported,
                    "is a Python pickle");
  LOOM_EXPECT_ERROR(
      sniff_bytes("PK\3\4\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0a.npy"s),
      Code::unsupported, ".npz");
  LOOM_EXPECT_ERROR(sniff_bytes("\x1f\x8b\x08\0\0\0\0\0\0\3"s), Code::unsupported, "is gzip data");
  LOOM_EXPECT_ERROR(sniff_bytes("\x89HDF\r\n\x1a\n____"s), Code::unsupported, "HDF5");
  LOOM_EXPECT_ERROR(sniff_bytes("\x1c\0\0\0TFL3\0\0\0\0"s), Code::unsupported, "TensorFlow Lite");
  LOOM_EXPECT_ERROR(sniff_bytes("tjgg\3\0\0\0\0\0\0\0"s), Code::unsupported, "before GGUF");
  LOOM_EXPECT_ERROR(sniff_bytes(std::string(257, 'a') + "ustar\0"s), Code::unsupported,
                    "tar archive");
  LOOM_EXPECT_ERROR(sniff_bytes("GGU"), Code::truncated, "has 3 bytes");
  LOOM_EXPECT_ERROR(sniff_bytes("hello, this is a text"), Code::unsupported,
                    "is no model file: it starts with 68 65 6c 6c 6f 2c 20 74");
  LOOM_EXPECT_ERROR(sniff_bytes(std::string(100, '\0')), Code::unsupported, "is no model file");
  // A header that lies, and a file cut inside its header.
  LOOM_EXPECT_ERROR(sniff_bytes(le<std::uint64_t>(~0ull) + "{}"), Code::corrupt,
                    "claim a header of 18446744073709551615 bytes");
  LOOM_EXPECT_ERROR(sniff_bytes(le<std::uint64_t>(50) + "{\"a\":"), Code::truncated,
                    "the header ends at byte 58, the file has 13");
}

TEST(Sniff, ReadersNameTheOtherKind) {
  LOOM_EXPECT_ERROR(Safetensors::open(source_of("{\"model_type\":\"llama\"}")), Code::unsupported,
                    "is JSON, expected safetensors");
  LOOM_EXPECT_ERROR(Gguf::open(source_of(safetensors_bytes("{}", ""))), Code::unsupported,
                    "is safetensors, expected GGUF");
  LOOM_EXPECT_ERROR(open_npy(source_of("GGUF\3\0\0\0"s)), Code::unsupported,
                    "is GGUF, expected NumPy .npy");
  LOOM_EXPECT_ERROR(Safetensors::open(source_of("<html>")), Code::unsupported, "HTML");
}

}  // namespace
}  // namespace loom
