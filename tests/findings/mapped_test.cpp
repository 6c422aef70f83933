// Files that another program cuts or changes while they are mapped.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <loom/loom.h>
#include "base/files/source.h"
#include "findings/child.h"

namespace loom {
namespace {

using test::in_child;

#define TEXT(s) (s), std::strlen(s)

// Weights of some hundred pages that run from the file.
constexpr const char* kNetwork =
    R"({"format":"loom-topology","version":1,"layers_per_cell":2,"input":{"width":512},"cells":[
  {"at":[0,0,0,0],"type":"dense","out":1024,"dtype":"i8"},{"at":[0,0,0,1],"type":"dense","out":16,"dtype":"i8"}]})";

class FindingsMapped : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "loom_mapped_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ + "/net.entity";
    loom_network n = 0;
    ASSERT_EQ(loom_network_create(TEXT(kNetwork), &n, &error), LOOM_OK) << error.message;
    ASSERT_EQ(loom_network_initialize(n, 3, &error), LOOM_OK);
    ASSERT_EQ(loom_network_save(n, path_.data(), path_.size(), &error), LOOM_OK) << error.message;
    ASSERT_EQ(loom_release(n, &error), LOOM_OK);
    size_ = std::filesystem::file_size(path_);
    ASSERT_GT(size_, 400000u);
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  // A session on the file, which has run once.
  bool open(loom_network& n, loom_session& s) {
    return loom_network_load(path_.data(), path_.size(), &n, &error) == LOOM_OK &&
           loom_session_create(n, TEXT("{\"threads\":2}"), &s, &error) == LOOM_OK &&
           run(s) == LOOM_OK;
  }
  std::int32_t run(loom_session s) {
    static const std::vector<float> x(512, 0.5f);
    return loom_session_run(s, 1, x.data(), x.size(), y_, 16, &error);
  }
  // The error names the file.
  bool refused(std::int32_t code) const {
    return (code == LOOM_TRUNCATED || code == LOOM_IO) &&
           std::string(error.message).find("net.entity: was c") != std::string::npos;
  }

  std::string folder_, path_;
  std::uint64_t size_ = 0;
  float y_[16] = {};
  loom_error error{};
};

TEST_F(FindingsMapped, G4_AFileThatIsCutWhileItRunsIsATypedError) {
  for (const std::uint64_t left :
       {std::uint64_t{0}, std::uint64_t{4096}, size_ / 2, size_ - 5000, size_ - 1}) {
    const auto end = in_child([&](std::string& text) {
      loom_network n = 0;
      loom_session s = 0;
      if (!open(n, s) || truncate(path_.c_str(), static_cast<off_t>(left)) != 0) return false;
      bool good = true;
      // Now and ever after, whoever asks.
      for (int i = 0; i < 2; ++i) good &= refused(run(s));
      text = error.message;
      loom_bytes bytes = 0;
      good &= refused(loom_network_save_bytes(n, &bytes, &error));
      good &= refused(loom_network_morph(n, TEXT("f32"), "", 0, &error));
      // Growing again brings nothing back.
      good &= truncate(path_.c_str(), static_cast<off_t>(size_)) == 0 && refused(run(s));
      return good && loom_release(s, &error) == LOOM_OK && loom_release(n, &error) == LOOM_OK;
    });
    EXPECT_EQ(end.code, 0) << left << ": " << end.text;
    EXPECT_NE(
        end.text.find("was cut from " + std::to_string(size_) + " to " + std::to_string(left)),
        std::string::npos)
        << end.text;
    TearDown();
    SetUp();
  }
}

TEST_F(FindingsMapped, G4_AFileThatIsOverwrittenWhileItRunsIsATypedError) {
  loom_network n = 0;
  loom_session s = 0;
  ASSERT_TRUE(open(n, s)) << error.message;
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size_ / 2));
    file.put('x');
  }
  EXPECT_TRUE(refused(run(s))) << error.message;
  for (const loom_handle h : {s, n}) EXPECT_EQ(loom_release(h, nullptr), LOOM_OK);
}

TEST_F(FindingsMapped, G4_AFileThatIsReplacedRunsOn) {
  loom_network n = 0;
  loom_session s = 0;
  ASSERT_TRUE(open(n, s)) << error.message;
  const std::vector<float> before(y_, y_ + 16);
  // As every writer of Loom's replaces files, and removal.
  ASSERT_EQ(loom_network_save(n, path_.data(), path_.size(), &error), LOOM_OK) << error.message;
  EXPECT_EQ(run(s), LOOM_OK) << error.message;
  std::filesystem::remove(path_);
  EXPECT_EQ(run(s), LOOM_OK) << error.message;
  EXPECT_EQ(std::vector<float>(y_, y_ + 16), before);
  for (const loom_handle h : {s, n}) EXPECT_EQ(loom_release(h, nullptr), LOOM_OK);
}

TEST_F(FindingsMapped, G4_AFileThatIsCutWhileItLoadsIsATypedError) {
  const auto end = in_child([&](std::string& text) {
    const auto source = open_source(path_);
    if (!source.ok() || truncate(path_.c_str(), 100) != 0) return false;
    std::vector<std::byte> all(size_);
    const Status read = (*source)->read(0, all);
    text = read.to_string();
    unsigned sum = 0;
    for (const std::byte b : (*source)->view()) sum += std::to_integer<unsigned>(b);
    return read.code() == Code::truncated && sum > 0 &&
           (*source)->intact().code() == Code::truncated;
  });
  EXPECT_EQ(end.code, 0) << end.text;
}

// Signals of mappings that are not Loom's.
volatile sig_atomic_t g_caught = 0;
int touch_cut_file(const std::string& path) {
  std::ofstream(path) << std::string(8192, 'x');
  std::FILE* file = std::fopen(path.c_str(), "rb");
  const auto* data = static_cast<const volatile char*>(
      mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, fileno(file), 0));
  if (truncate(path.c_str(), 0) != 0) return -1;
  return data[5000];
}

TEST_F(FindingsMapped, G4_SignalsOfOthersGoToThoseWhoHadThemBefore) {
  LOOM_SKIP_FORKS();
  const auto handled = in_child([&](std::string&) {
    struct sigaction own{};
    own.sa_handler = [](int) { _exit(77); };
    sigaction(SIGBUS, &own, nullptr);
    loom_network n = 0;
    loom_session s = 0;
    return open(n, s) && touch_cut_file(folder_ + "/other") > 0;
  });
  EXPECT_EQ(handled.code, 77);
  const auto unhandled = in_child([&](std::string&) {
    signal(SIGBUS, SIG_DFL);
    loom_network n = 0;
    loom_session s = 0;
    return open(n, s) && touch_cut_file(folder_ + "/other") > 0;
  });
  EXPECT_EQ(unhandled.code, 128 + SIGBUS);
  const auto sent = in_child([&](std::string&) {
    signal(SIGBUS, SIG_DFL);
    loom_network n = 0;
    loom_session s = 0;
    return open(n, s) && kill(getpid(), SIGBUS) == 0;
  });
  EXPECT_EQ(sent.code, 128 + SIGBUS);
}

}  // namespace
}  // namespace loom
