// Reports over planted trees of /proc and /sys: what they say, and that nothing unknown is a 0.
#include "audit/report.h"

#if defined(__linux__)

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "audit/read_bandwidth.h"

namespace loom::audit {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

class Tree {
 public:
  explicit Tree(const Files& files)
      : root_(fs::path(testing::TempDir()) /
              ("audit-" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(root_);
    for (const auto& [name, content] : files) add(name, content);
  }
  ~Tree() { fs::remove_all(root_); }
  void add(const std::string& name, const std::string& content) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << content;
  }
  Json report() const {
    const std::string proc = root_ / "proc", sys = root_ / "sys", etc = root_ / "etc";
    Report r;
    report_linux(r, {proc.c_str(), sys.c_str(), etc.c_str(), 4096});
    report_kernels(r);
    return r.take();
  }

 private:
  fs::path root_;
};

const Json& at(const Json& json, const char* section, const char* key) {
  return *json.find(section)->find(key);
}
std::int64_t number(const Json& json, const char* section, const char* key) {
  const Json& value = at(json, section, key);
  return value.is_integer() ? value.as_integer() : -1;
}
// The reason for a key that is null, by its path.
std::string why(const Json& json, const std::string& path) {
  const std::size_t dot = path.find('.');
  const Json* value = json.find(path.substr(0, dot));
  if (dot != std::string::npos) value = value->find(path.substr(dot + 1));
  EXPECT_TRUE(value && value->is_null()) << path;
  const Json* reason = json.find("unknown")->find(path);
  return reason ? reason->as_string() : "";
}

const std::string kCpu = "sys/devices/system/cpu/cpu";

void add_cache(Tree& tree, int core, int index, const char* level, const char* type,
               const char* size, const char* shared) {
  const std::string at = kCpu + std::to_string(core) + "/cache/index" + std::to_string(index) + "/";
  tree.add(at + "level", level);
  tree.add(at + "type", type);
  tree.add(at + "size", size);
  tree.add(at + "coherency_line_size", "64\n");
  tree.add(at + "shared_cpu_list", shared);
}

// Two fast cores of two threads, two slow ones that share a second cache.
TEST(Audit, ReadsALaptopWithTwoKindsOfCores) {
  Tree tree(Files{
      {"proc/cpuinfo",
       "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Core Seven\nflags\t: avx2\n"},
      {"proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    8192 kB\n"},
      {"proc/self/statm", "1000 300 100 1 0 200 0\n"},
      {"proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-63\n"},
      {"proc/sys/kernel/osrelease", "6.1.0-test\n"},
      {"etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Testix 12 (odd)\"\n"},
      {"sys/devices/system/cpu/online", "0-5\n"}});
  const char* siblings[] = {"0-1", "0-1", "2-3", "2-3", "4", "5"};
  for (int core = 0; core < 6; ++core) {
    const char* own = siblings[core];
    tree.add(kCpu + std::to_string(core) + "/topology/core_cpus_list", own);
    add_cache(tree, core, 0, "1\n", "Data\n", core < 4 ? "48K\n" : "32K\n", own);
    add_cache(tree, core, 1, "1\n", "Instruction\n", core < 4 ? "32K\n" : "64K\n", own);
    add_cache(tree, core, 2, "2\n", "Unified\n", "2048K\n", core < 4 ? own : "4-5\n");
    add_cache(tree, core, 3, "3\n", "Unified\n", "12M\n", "0-5\n");
  }
  const Json r = tree.report();
  EXPECT_EQ(at(r, "os", "version").as_string(), "Testix 12 (odd)");
  EXPECT_EQ(at(r, "os", "kernel").as_string(), "6.1.0-test");
  EXPECT_EQ(at(r, "cpu", "model").as_string(), "Core Seven");
  EXPECT_EQ(number(r, "cpu", "logical_cores"), 6);
  EXPECT_EQ(number(r, "cpu", "physical_cores"), 4);
  EXPECT_EQ(number(r, "cpu", "affinity_cores"), 6);
  EXPECT_EQ(number(r, "cpu", "usable_cores"), 6);
  EXPECT_EQ(number(r, "memory", "total"), 16384 * 1024);
  EXPECT_EQ(number(r, "memory", "available"), 8192 * 1024);
  EXPECT_EQ(number(r, "memory", "resident"), 300 * 4096);
  EXPECT_NE(why(r, "cpu.quota_cores"), "");
  EXPECT_NE(why(r, "memory.limit"), "");
  std::string caches;
  for (const Json& c : r.find("caches")->as_array())
    caches += std::to_string(c.find("count")->as_integer()) + "xL" +
              std::to_string(c.find("level")->as_integer()) + c.find("type")->as_string().front() +
              std::to_string(c.find("bytes")->as_integer() >> 10) + "/" +
              std::to_string(c.find("shared_by")->as_integer()) + " ";
  EXPECT_EQ(caches, "2xL1d48/2 2xL1i32/2 2xL1d32/1 2xL1i64/1 3xL2u2048/2 1xL3u12288/6 ");
}

TEST(Audit, NamesTheCoresOfAnArmBoardWithoutFrequencies) {
  const Tree tree(Files{
      {"proc/cpuinfo",
       "processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
       "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n"
       "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n"
       "processor\t: 3\nCPU implementer\t: 0x41\nCPU part\t: 0xfff\n\nModel\t\t: A Board\n"}});
  const Json r = tree.report();
  EXPECT_EQ(at(r, "cpu", "vendor").as_string(), "ARM");
  EXPECT_EQ(at(r, "cpu", "model").as_string(), "Cortex-A53 + Cortex-A72 + part 0xfff");
  EXPECT_EQ(number(r, "cpu", "logical_cores"), 4);
  EXPECT_NE(why(r, "cpu.physical_cores").find("topology/thread_siblings_list cannot be read"),
            std::string::npos);
  EXPECT_NE(why(r, "caches"), "");
  EXPECT_EQ(number(r, "cpu", "usable_cores"), 4);  // without an affinity
}

TEST(Audit, TakesTheLeastLimitsOfNestedGroups) {
  const Tree tree(Files{{"proc/cpuinfo", ""},
                        {"proc/self/cgroup", "0::/outer/inner\n"},
                        {"proc/self/status", "Cpus_allowed_list:\t0,2-4\n"},
                        {"sys/devices/system/cpu/online", "0-7\n"},
                        {"sys/fs/cgroup/outer/memory.max", "1048576\n"},
                        {"sys/fs/cgroup/outer/inner/memory.max", "max\n"},
                        {"sys/fs/cgroup/outer/cpu.max", "400000 100000\n"},
                        {"sys/fs/cgroup/outer/inner/cpu.max", "150000 100000\n"}});
  const Json r = tree.report();
  EXPECT_EQ(number(r, "memory", "limit"), 1048576);
  EXPECT_EQ(at(r, "cpu", "quota_cores").as_number(), 1.5);
  EXPECT_EQ(number(r, "cpu", "affinity_cores"), 4);
  EXPECT_EQ(number(r, "cpu", "usable_cores"), 2);
}

// Inside a container the path is that of the machine outside.
TEST(Audit, FindsLimitsOfVersion1AtTheTopToo) {
  const Tree tree(Files{{"proc/self/cgroup",
                         "9:name=systemd:/docker/ab\n4:memory:/docker/ab\n3:cpuset:/\n"
                         "2:cpu,cpuacct:/docker/ab\n"},
                        {"sys/devices/system/cpu/online", "0-3\n"},
                        {"sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"},
                        {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"},
                        {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}});
  const Json r = tree.report();
  EXPECT_EQ(number(r, "memory", "limit"), 536870912);
  EXPECT_EQ(at(r, "cpu", "quota_cores").as_number(), 0.5);
  EXPECT_EQ(number(r, "cpu", "usable_cores"), 1);
  tree.report();
}

TEST(Audit, KnowsNoLimitWhereVersion1HasNone) {
  const Tree tree(Files{{"proc/self/cgroup", "2:memory:/\n1:cpu:/\n"},
                        {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                        {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                        {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}});
  const Json r = tree.report();
  EXPECT_NE(why(r, "memory.limit"), "");
  EXPECT_NE(why(r, "cpu.quota_cores"), "");
}

TEST(Audit, SaysWhyNothingIsKnownOfMissingFiles) {
  const Json r = Tree(Files{}).report();
  for (const char* path :
       {"os.version", "os.kernel", "cpu.model", "cpu.vendor", "cpu.logical_cores",
        "cpu.physical_cores", "cpu.affinity_cores", "cpu.quota_cores", "cpu.usable_cores", "caches",
        "memory.total", "memory.available", "memory.limit", "memory.resident"})
    EXPECT_NE(why(r, path), "") << path;
  EXPECT_FALSE(at(r, "cpu", "isas").as_array().empty());
  EXPECT_EQ(at(r, "os", "name").as_string(), "linux");
}

TEST(Audit, RefusesGarbageAndHugeNumbers) {
  const std::string huge(40, '9');
  Tree tree(Files{{"proc/cpuinfo", std::string("model name\t: \xff\xfe odd\nprocessor\t: " + huge +
                                               "\nvendor_id\nCPU part\t:\n")},
                  {"proc/meminfo", "MemTotal: " + huge + " kB\nMemAvailable: 12 parsecs\n"},
                  {"proc/self/statm", "1 4611686018427387903\n"},
                  {"proc/self/status", "Cpus_allowed_list:\t5-2\n"},
                  {"proc/self/cgroup", "0::/../../etc\nnonsense\n:::\n0:\n"},
                  {"sys/fs/cgroup/memory.max", huge},
                  {"sys/fs/cgroup/cpu.max", "100000 0\n"},
                  {"sys/devices/system/cpu/online", "0-99999999\n"},
                  {"etc/os-release", std::string(3 << 20, 'x')}});
  Json r = tree.report();
  EXPECT_TRUE(Json::parse(r.dump()).ok());
  for (const char* path :
       {"os.version", "cpu.vendor", "cpu.logical_cores", "cpu.affinity_cores", "cpu.quota_cores",
        "memory.total", "memory.available", "memory.limit", "memory.resident"})
    EXPECT_NE(why(r, path), "") << path;
  // One core is enough to look at its caches.
  tree.add("sys/devices/system/cpu/online", "0");
  add_cache(tree, 0, 0, "1", "Strange", "0K", "0-");
  add_cache(tree, 0, 1, "-4", "Data", "1K", "0");
  add_cache(tree, 0, 2, "2", "Unified", huge.c_str(), "0");
  r = tree.report();
  const Json::Array& caches = r.find("caches")->as_array();
  ASSERT_EQ(caches.size(), 2u);
  for (const char* key : {"type", "bytes", "shared_by"})
    EXPECT_TRUE(caches[0].find(key)->is_null()) << key;
  EXPECT_TRUE(caches[1].find("bytes")->is_null());
  EXPECT_EQ(caches[1].find("line")->as_integer(), 64);
}

TEST(Audit, ReadsAListOfManyCores) {
  const Tree tree(Files{{"sys/devices/system/cpu/online", "0-4095,8191\n"},
                        {"proc/self/status", "Cpus_allowed_list:\t8190-8191,64\n"}});
  const Json r = tree.report();
  EXPECT_EQ(number(r, "cpu", "logical_cores"), 4097);
  EXPECT_EQ(number(r, "cpu", "usable_cores"), 2);
}

TEST(Audit, ReadsThisMachine) {
  Report r;
  report_host(r);
  ASSERT_TRUE(r.find("cpu.logical_cores") && r.find("memory.total") && r.find("memory.resident"));
  EXPECT_GT(r.find("memory.total")->as_integer(), r.find("memory.resident")->as_integer());
  EXPECT_TRUE(report_gpus(r, "cpu").ok());
  EXPECT_FALSE(r.find("gpus"));
  ThreadPool pool(2);
  const auto rate = read_bandwidth(pool, 3, 1 << 20);
  ASSERT_TRUE(rate.ok());
  EXPECT_GT(*rate, 1e6);
}

}  // namespace
}  // namespace loom::audit

#endif
