// What killed saves leave is removed by the next; tests/injection kills them.
#if !defined(__wasm__)
#include <gtest/gtest.h>
#include <unistd.h>

#include "checkpoint/test_networks.h"

namespace loom {
namespace {

using namespace test;

TEST(Crash, OnlyFilesOfDeadWritersAreRemoved) {
  const TempFolder folder;
  const std::string path = folder / "net.entity";
  const std::string live = path + ".tmp0-" + std::to_string(::getppid()),
                    dead = path + ".tmp3-999999999";
  const std::vector<std::string> kept = {live,
                                         path + ".tmp",
                                         path + ".tmp0-",
                                         path + ".tmp0-12x",
                                         path + ".tmp-1-99999999",
                                         folder / "other.entity.tmp0-99999999"};
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
