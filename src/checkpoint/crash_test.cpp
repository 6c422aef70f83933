// SIGKILL while saving: the file is always the old one or a new one, whole.
#if !defined(__wasm__)
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/random.h"
#include "checkpoint/test_networks.h"

namespace loom {
namespace {

using namespace test;

// 50 kills in the gate, 500 with LOOM_SOAK=1. One child saves networks of seeds 1, 2, 3... without end; which one the file holds is
// checked against a network of the seed that its provenance names. A child lives until it has saved up to twice and then some random time
// more, so that the kills hit anywhere in a save on a machine of any speed and load.
TEST(Crash, AKilledSaveLeavesTheOldFileOrTheNew) {
  const TempFolder folder;
  const std::string path = folder / "net.entity";
  const std::string json = topologies()[1].json;
  const auto save = [&](Network& network, std::uint64_t seed) {
    EntitySections extra;
    extra.bytes["provenance"] = "{\"seed\":" + std::to_string(seed) + "}";
    extra.bytes["tokenizer"] = std::string(300'000, static_cast<char>(seed));  // long enough to be killed in
    return network.initialize(seed).ok() && save_network(path, network, extra).ok();
  };
  Network network = network_of(json);
  ASSERT_TRUE(save(network, 1));
  void* const page = ::mmap(nullptr, sizeof(std::atomic<unsigned>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  std::atomic<unsigned>& saves = *new (page) std::atomic<unsigned>(0);  // of the child at hand
  const RandomStream random(7, 0);
  const int kills = std::getenv("LOOM_SOAK") ? 500 : 50;
  int changed = 0, left_behind = 0;
  std::int64_t last = 1;
  for (int kill = 0; kill < kills; ++kill) {
    saves = 0;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (std::uint64_t seed = static_cast<std::uint64_t>(last) + 1;; ++seed) {
        if (!save(network, seed)) ::_exit(1);
        ++saves;
      }
    }
    const auto wanted = static_cast<unsigned>(kill % 3);
    int status = 0;
    while (saves < wanted) {
      ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "the child could not save";
      ::usleep(200);
    }
    ::usleep(static_cast<useconds_t>(random.below(static_cast<std::uint64_t>(kill), 20'000)));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child could not save";

    auto entity = open_entity(path);
    ASSERT_TRUE(entity.ok()) << entity.status().to_string();
    const Status whole = entity->verify_all();
    ASSERT_TRUE(whole.ok()) << whole.to_string();
    const std::int64_t seed = *entity->json("provenance")->get_integer("seed", 0);
    ASSERT_GE(seed, last + wanted);
    changed += seed > last;
    last = seed;
    auto loaded = load_network(*entity);
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    Network expected = network_of(json, static_cast<std::uint64_t>(seed));
    EXPECT_EQ(values_of(*loaded->find("0.0.0.1/0/1", "q")), values_of(*expected.find("0.0.0.1/0/1", "q")));
    const std::size_t files = folder.files();
    left_behind += files > 1;
    EXPECT_LE(files, 2u) << "more than the temporary file of the one that was killed";
  }
  EXPECT_GE(changed, kills / 3 * 2);
  ASSERT_TRUE(save(network, 1));
  EXPECT_EQ(folder.files(), 1u) << "a save removes what the killed ones left";
  EXPECT_GT(left_behind, 0) << "no kill hit a save in the middle";
  ::munmap(page, sizeof saves);
  std::printf("%d kills: %d new files, %d temporary files left behind, then removed\n", kills, changed, left_behind);
}

TEST(Crash, OnlyFilesOfDeadWritersAreRemoved) {
  const TempFolder folder;
  const std::string path = folder / "net.entity";
  const std::string live = path + ".tmp0-" + std::to_string(::getppid()), dead = path + ".tmp3-999999999";
  const std::vector<std::string> kept = {live, path + ".tmp", path + ".tmp0-", path + ".tmp0-12x", path + ".tmp-1-99999999", folder / "other.entity.tmp0-99999999"};
  for (const std::string& file : kept) ASSERT_TRUE(write_file(file, {}).ok());
  ASSERT_TRUE(write_file(dead, {}).ok());
  Network network = network_of(topologies()[0].json);
  ASSERT_TRUE(save_network(path, network).ok());
  EXPECT_FALSE(std::filesystem::exists(dead));
  for (const std::string& file : kept) EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

}  // namespace
}  // namespace loom
#endif
