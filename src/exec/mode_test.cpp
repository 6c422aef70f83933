#include "exec/mode.h"

#include <gtest/gtest.h>

namespace loom {
namespace {

TEST(Mode, SaysDeviceThreadsAndFusing) {
  struct Case {
    const char *name, *device;
    int threads;
    bool fuse, auto_device;
  };
  for (const Case& c : {Case{"", "cpu", 0, true, false},
                        {"cpu-normal", "cpu", 1, false, false},
                        {"cpu-sc", "cpu", 1, true, false},
                        {"cpu-mc", "cpu", 0, true, false},
                        {"gpu-normal", "gpu", 0, false, false},
                        {"gpu-sc", "gpu", 0, true, false},
                        {"gpu-mc", "gpu", 0, true, false},
                        {"auto", "auto", 0, true, true}}) {
    const auto m = mode_of(c.name, 0, "");
    ASSERT_TRUE(m.ok()) << c.name;
    EXPECT_EQ(m->device, c.device) << c.name;
    EXPECT_EQ(m->threads, c.threads) << c.name;
    EXPECT_EQ(m->fuse, c.fuse) << c.name;
    EXPECT_EQ(m->auto_device, c.auto_device) << c.name;
  }
  EXPECT_EQ(mode_of("gpu-sc", 0, "")->name, "gpu-mc");
  EXPECT_EQ(mode_of("cpu-mc", 3, "")->threads, 3);
  EXPECT_EQ(mode_of("", 2, "gpu")->device, "gpu");
}

TEST(Mode, RefusesWhatDoesNotFit) {
  const auto text = [](const Result<Mode>& m) { return m.status().to_string(); };
  EXPECT_NE(text(mode_of("turbo", 0, ""))
                .find("there is no 'turbo', known are cpu-normal, cpu-sc, cpu-mc, gpu-normal, "
                      "gpu-sc, gpu-mc, auto"),
            std::string::npos);
  EXPECT_NE(text(mode_of("cpu-sc", 2, "")).find("'cpu-sc' is one thread, not 2"),
            std::string::npos);
  EXPECT_NE(text(mode_of("cpu-mc", 0, "gpu")).find("'cpu-mc' says the device, leave out 'gpu'"),
            std::string::npos);
}

}  // namespace
}  // namespace loom
