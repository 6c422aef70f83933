// SIGKILL at any moment of endless saves: the last that was acknowledged is there with the same
// bits, or the one that was under way, and the next save leaves no temporary file. LOOM_KILLS kills
// of all kinds together (500; 10,000 with LOOM_SOAK=1), from LOOM_SEED (1).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <set>

#include "base/random.h"
#include "injection/savers.h"
#include "injection/settings.h"

namespace loom::test {
namespace {

// What the child tells: digests of the versions it saves, and how many are saved.
struct Told {
  static constexpr unsigned kLast = 64;
  std::atomic<unsigned> begun{0}, saved{0};
  char digests[kLast][65] = {};
};

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files.insert(entry.path().string());
  return files;
}

class Kills : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    saver_ = make_saver(GetParam(), folder_);
    void* const page =
        ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    told_ = new (page) Told;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Saves until it is killed.
  [[noreturn]] void child() {
    for (;;) {
      if (!saver_->advance().ok()) ::_exit(1);
      const unsigned version = told_->begun + 1;
      const std::string digest = saver_->digest();
      std::memcpy(told_->digests[version % Told::kLast], digest.c_str(), 65);
      told_->begun = version;
      if (!saver_->save().ok()) ::_exit(1);
      told_->saved = version;
    }
  }
  bool is(const std::string& digest, unsigned version) const {
    return digest == told_->digests[version % Told::kLast];
  }

  const std::string folder_ = scratch_folder("kill");
  std::unique_ptr<Saver> saver_;
  Told* told_ = nullptr;
};

TEST_P(Kills, LeaveWhatWasAcknowledged) {
  using Clock = std::chrono::steady_clock;
  ASSERT_TRUE(saver_->advance().ok() && saver_->save().ok());
  const std::set<std::string> files = files_in(folder_);
  std::string last = saver_->digest();
  const auto begin = Clock::now();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(saver_->save().ok());
  const auto save_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin) / 3;
  const std::uint64_t seed = number_of("LOOM_SEED", 1);
  const std::uint64_t kills =
      number_of("LOOM_KILLS", std::getenv("LOOM_SOAK") ? 10'000 : 500) / saver_kinds().size() + 1;
  const RandomStream random(seed, 0);
  std::uint64_t changed = 0, left_behind = 0;
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill) + " of seed " + std::to_string(seed));
    told_->begun = told_->saved = 0;
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) child();
    // Kills hit anywhere in a save on a machine of any speed and load.
    int status = 0;
    while (told_->saved < kill % 3) {
      ASSERT_EQ(::waitpid(pid, &status, WNOHANG), 0) << "the child could not save";
      ::usleep(100);
    }
    ::usleep(random.below(kill, static_cast<std::uint32_t>(2 * save_us.count() + 1000)));
    ::kill(pid, SIGKILL);
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child could not save";

    const unsigned saved = told_->saved, begun = told_->begun;
    const auto found = saver_->load();
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    const bool old_one = saved == 0 ? *found == last : is(*found, saved);
    ASSERT_TRUE(old_one || (begun > saved && is(*found, begun)));
    changed += *found != last;
    last = *found;
    left_behind += files_in(folder_) != files;
    if (kill % 10 == 9 || kill + 1 == kills) {
      ASSERT_TRUE(saver_->save().ok());
      ASSERT_EQ(files_in(folder_), files) << "a save removes what the killed ones left";
      last = saver_->digest();
    }
  }
  EXPECT_GE(changed, kills / 3);
  EXPECT_TRUE(left_behind > 0 || kills < 50) << "no kill hit a save in the middle";
  std::printf("%s: %llu kills: %llu new files, %llu left something behind\n", GetParam().c_str(),
              static_cast<unsigned long long>(kills), static_cast<unsigned long long>(changed),
              static_cast<unsigned long long>(left_behind));
}

INSTANTIATE_TEST_SUITE_P(Injection, Kills, testing::ValuesIn(saver_kinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace loom::test
