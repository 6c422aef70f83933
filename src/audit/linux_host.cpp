// Linux: /proc and /sys. Only files of the kernel are read, each checked as if anybody wrote it.
// Written for few bytes of code: plain arrays and printf.
#include "audit/report.h"

#if defined(__linux__)

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <iterator>
#include <string>

namespace loom::audit {
namespace {

constexpr std::size_t kMaxFile = 1 << 20;  // bytes that are read of a file
constexpr int kMaxCores = 8192;            // of a kernel
constexpr std::size_t kMaxText = 256;      // bytes of a name
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

// A set of cores. Not std::bitset, whose loops would stand wherever it is used.
struct Cores {
  std::uint64_t words[kMaxCores / 64];
  bool has(int core) const { return words[core / 64] >> core % 64 & 1; }
  std::int64_t count() const;
  int lowest() const;  // kMaxCores: none
};

// A file whose size is only known once it is read.
struct File {
  char path[1024];
  std::string content;
  bool there = false;

  [[gnu::format(printf, 2, 3)]] bool read(const char* name, ...) {
    va_list list;
    va_start(list, name);
    std::vsnprintf(path, sizeof path, name, list);
    va_end(list);
    return read_path();
  }
  bool read_path();
  const char* state() const { return there ? "has no such value" : "cannot be read"; }
};

bool File::read_path() {
  content.clear();
  there = false;
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  char part[4096];
  ssize_t n = 0;
  do {
    n = ::read(fd, part, sizeof part);
    if (n > 0) content.append(part, static_cast<std::size_t>(n));
  } while ((n > 0 && content.size() < kMaxFile) || (n < 0 && errno == EINTR));
  ::close(fd);
  return there = n >= 0;
}

// The next part that ends at `end`, taken from the front of the text.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\n\"";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Digits at the front, taken from it; -1 where there are none, or the number is kHuge or more.
std::int64_t take_number(std::string_view& text) {
  std::int64_t value = text.empty() || text[0] < '0' || text[0] > '9' ? -1 : 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    value = value < 0 || value >= kHuge / 10 ? -1 : 10 * value + (text[0] - '0');
    text.remove_prefix(1);
    if (value < 0) break;
  }
  return value;
}

// "64", "48K", "16384 kB"; -1 for all else.
std::int64_t number(std::string_view text) {
  text = trimmed(text);
  const std::int64_t value = take_number(text);
  text = trimmed(text);
  if (text.empty()) return value;
  const int shift = text[0] == 'K' || text[0] == 'k' ? 10
                    : text[0] == 'M'                 ? 20
                    : text[0] == 'G'                 ? 30
                                                     : -1;
  text.remove_prefix(1);
  if (shift < 0 || value >= kHuge >> shift || !(text.empty() || text == "B")) return -1;
  return value < 0 ? value : value << shift;
}

std::int64_t Cores::count() const {
  std::int64_t n = 0;
  for (const std::uint64_t word : words) n += std::popcount(word);
  return n;
}

int Cores::lowest() const {
  int i = 0;
  while (i < kMaxCores && !has(i)) ++i;
  return i;
}

// Adds "0-3,8"; false where it is no such list, or an empty one.
bool add_cores(Cores& cores, std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return false;
  while (!text.empty()) {
    std::string_view range = take(text, ',');
    const std::int64_t first = take_number(range);
    std::int64_t last = first;
    if (!range.empty() && range[0] == '-') {
      range.remove_prefix(1);
      last = take_number(range);
    }
    if (first < 0 || last < first || last >= kMaxCores || !range.empty()) return false;
    for (std::int64_t i = first; i <= last; ++i) cores.words[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return true;
}

// The value of the next line "key : value" or "key=value"; empty at the end.
std::string_view take_value(std::string_view& text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    if (!line.starts_with(key)) continue;
    line = trimmed(line.substr(key.size()));
    if (line.empty() || (line[0] != ':' && line[0] != '=')) continue;
    if (const auto value = trimmed(line.substr(1)); !value.empty())
      return value.substr(0, kMaxText);
  }
  return {};
}

std::string_view value_of(const File& file, std::string_view key) {
  std::string_view text = file.content;
  return take_value(text, key);
}

void report_text(Report& r, const char* path, const File& file, std::string_view value) {
  if (value.empty()) r.none(path, "%s %s", file.path, file.state());
  else r.text(path, value);
}

void report_number(Report& r, const char* path, const File& file, std::int64_t value) {
  if (value < 0) r.none(path, "%s %s", file.path, file.state());
  else r.count(path, value);
}

// ---- processor

struct Part {
  char code[6], name[12];
};
constexpr Part kArmParts[] = {
    {"0xd03", "Cortex-A53"},  {"0xd04", "Cortex-A35"},  {"0xd05", "Cortex-A55"},
    {"0xd07", "Cortex-A57"},  {"0xd08", "Cortex-A72"},  {"0xd09", "Cortex-A73"},
    {"0xd0b", "Cortex-A76"},  {"0xd0c", "Neoverse N1"}, {"0xd0d", "Cortex-A77"},
    {"0xd40", "Neoverse V1"}, {"0xd41", "Cortex-A78"},  {"0xd44", "Cortex-X1"},
    {"0xd49", "Neoverse N2"}, {"0xd4f", "Neoverse V2"}, {"", ""}};
constexpr const Part* kNoParts = std::end(kArmParts) - 1;
constexpr Part kImplementers[] = {{"0x41", "ARM"},
                                  {"0x48", "HiSilicon"},
                                  {"0x4e", "NVIDIA"},
                                  {"0x51", "Qualcomm"},
                                  {"0x61", "Apple"},
                                  {"0xc0", "Ampere"},
                                  {"", ""}};

// Of cores of several kinds all names, each once, with " + " between: a text of `names`.
struct Names {
  char text[kMaxText];
  int size = 0;
  std::string_view view() const { return {text, static_cast<std::size_t>(size)}; }
  void read(std::string_view content, const char* key, const Part* parts);
};

void Names::read(std::string_view content, const char* key, const Part* parts) {
  for (;;) {
    const std::string_view code = take_value(content, key);
    if (code.empty()) return;
    const Part* part = parts;
    while (part->code[0] != '\0' && code != part->code) ++part;
    const bool known = part->code[0] != '\0';
    char name[24];
    const int n =
        std::snprintf(name, sizeof name, known ? "%.*s" : "part %.*s",
                      known ? 12 : static_cast<int>(std::min<std::size_t>(code.size(), 12)),
                      known ? part->name : code.data());
    if (view().find(name) != std::string_view::npos || size + n + 4 > static_cast<int>(sizeof text))
      continue;
    size += std::snprintf(text + size, sizeof text - static_cast<std::size_t>(size), "%s%s",
                          size > 0 ? " + " : "", name);
  }
}

void report_processor(Report& r, const File& cpuinfo) {
  Names vendors, models;
  std::string_view vendor = value_of(cpuinfo, "vendor_id"), model;
  for (const char* key : {"model name", "cpu model", "uarch"})  // of MIPS and RISC-V the last two
    if (model.empty()) model = value_of(cpuinfo, key);
  if (vendor.empty()) {
    vendors.read(cpuinfo.content, "CPU implementer", kImplementers);
    vendor = vendors.view();
  }
  if (model.empty()) {
    models.read(cpuinfo.content, "CPU part", vendor == "ARM" ? kArmParts : kNoParts);
    model = models.view();
  }
  report_text(r, "cpu.model", cpuinfo, model);
  report_text(r, "cpu.vendor", cpuinfo, vendor);
}

// The cores that are online.
void report_cores(Report& r, const Roots& roots, File& file, Cores& cores) {
  file.read("%s/devices/system/cpu/online", roots.sys);
  if (!add_cores(cores, file.content)) {
    cores = {};
    file.read("%s/cpuinfo", roots.proc);
    std::string_view text = file.content;
    for (std::string_view n; !(n = take_value(text, "processor")).empty();) add_cores(cores, n);
  }
  const std::int64_t count = cores.count();
  report_number(r, "cpu.logical_cores", file, count > 0 ? count : -1);
}

// A core in silicon is counted at the first of its threads.
void report_physical(Report& r, const Roots& roots, File& file, const Cores& cores) {
  std::int64_t physical = 0;
  for (int core = 0; core < kMaxCores && physical >= 0; ++core) {
    if (!cores.has(core)) continue;
    Cores siblings{};
    for (const char* name : {"core_cpus_list", "thread_siblings_list"}) {
      file.read("%s/devices/system/cpu/cpu%d/topology/%s", roots.sys, core, name);
      if (add_cores(siblings, file.content)) break;
      siblings = {};
    }
    const int first = siblings.lowest();
    if (first == kMaxCores) physical = -1;
    else if (first == core) ++physical;
  }
  report_number(r, "cpu.physical_cores", file, physical > 0 ? physical : -1);
}

void report_affinity(Report& r, const Roots& roots, File& file, const Cores& cores) {
  if (!file.read("%s/thread-self/status", roots.proc)) file.read("%s/self/status", roots.proc);
  Cores allowed{};
  bool known = add_cores(allowed, value_of(file, "Cpus_allowed_list"));
  if (cores.count() > 0)  // the list may name cores that this machine could have
    for (int i = 0; i < kMaxCores / 64; ++i) allowed.words[i] &= cores.words[i];
  const std::int64_t count = allowed.count();
  report_number(r, "cpu.affinity_cores", file, known && count > 0 ? count : -1);
}

// ---- caches

// Adds cpuN/cache/indexM where this core is the first to have it; false where there is none.
bool read_cache(Caches& caches, const Roots& roots, File& file, int core, int index) {
  const auto read = [&](const char* name) {
    file.read("%s/devices/system/cpu/cpu%d/cache/index%d/%s", roots.sys, core, index, name);
    return trimmed(file.content);
  };
  const std::string_view type = read("type");
  if (!file.there) return false;
  Cache cache{};
  cache.count = 1;
  for (const char* name : {"data", "instruction", "unified"})
    if (!type.empty() && type.substr(1) == name + 1) cache.type = name;
  Cores shared{};
  if (add_cores(shared, read("shared_cpu_list"))) {
    if (shared.lowest() != core) return true;
    cache.shared_by = shared.count();
  }
  cache.level = number(read("level"));
  cache.bytes = number(read("size"));
  cache.line = number(read("coherency_line_size"));
  if (cache.level > 0) caches.add(cache);
  return true;
}

void read_caches(Report& r, const Roots& roots, File& file, const Cores& cores) {
  Caches caches;
  for (int core = 0; core < kMaxCores; ++core)
    for (int index = 0; index < 16 && cores.has(core); ++index)
      if (!read_cache(caches, roots, file, core, index)) break;
  report_caches(r, caches);
}

// ---- control groups

struct Limits {
  std::int64_t memory = kHuge;  // bytes; kHuge: no limit
  double cores = 0;             // 0: no quota
};

// A hierarchy of groups: the folder `base` of /sys/fs/cgroup, below it that of the group.
struct Hierarchy {
  const Roots& roots;
  std::string_view base, group;
  bool v2;

  std::int64_t number_in(File& file, const char* v2_name, const char* v1_name) const {
    file.read("%s/fs/cgroup%s%.*s%.*s/%s", roots.sys, base.empty() ? "" : "/",
              static_cast<int>(base.size()), base.data(), static_cast<int>(group.size()),
              group.data(), v2 ? v2_name : v1_name);
    std::string_view text = file.content;
    return number(take(text, ' '));
  }
};

// The limits of the group.
void read_group(Limits& limits, File& file, const Hierarchy& h) {
  // Without a limit version 2 says "max", version 1 the last page below 2^63.
  const std::int64_t bytes = h.number_in(file, "memory.max", "memory.limit_in_bytes");
  if (bytes >= 0 && bytes < limits.memory) limits.memory = bytes;
  const std::int64_t quota = h.number_in(file, "cpu.max", "cpu.cfs_quota_us");
  std::int64_t period = number(
      std::string_view(file.content).substr(std::min(file.content.find(' '), file.content.size())));
  if (!h.v2) period = h.number_in(file, "", "cpu.cfs_period_us");
  if (quota < 1 || period < 1) return;
  const double cores = static_cast<double>(quota) / static_cast<double>(period);
  if (limits.cores == 0 || cores < limits.cores) limits.cores = cores;
}

// The least limits of this process's groups and all above them. Version 1 has a hierarchy for each
// list of controllers, version 2 one for all. In a container a group's path may be that of the
// machine outside, and its files lie at the top.
Limits read_groups(const Roots& roots, File& file) {
  Limits limits;
  File groups;
  groups.read("%s/self/cgroup", roots.proc);
  std::string_view lines = groups.content;
  while (!lines.empty()) {
    std::string_view line = take(lines, '\n');
    take(line, ':');
    const std::string_view names = take(line, ':');
    const bool v2 = names.empty(), both = names == "cpu,cpuacct" || names == "cpuacct,cpu";
    for (int second = 0; second < 2; ++second) {
      Hierarchy h{roots, v2 ? "unified" : names, line, v2};
      if (second) h.base = both ? "cpu" : "";
      if (line == "/" || line.find("..") != std::string_view::npos) h.group = {};
      for (read_group(limits, file, h); !h.group.empty(); read_group(limits, file, h))
        h.group = h.group.substr(0, std::min(h.group.rfind('/'), h.group.size() - 1));
    }
  }
  return limits;
}

// ---- memory

void report_memory(Report& r, const Roots& roots, File& file, const Limits& limits) {
  file.read("%s/meminfo", roots.proc);
  report_number(r, "memory.total", file, number(value_of(file, "MemTotal")));
  report_number(r, "memory.available", file, number(value_of(file, "MemAvailable")));
  if (limits.memory < kHuge) r.count("memory.limit", limits.memory);
  else r.none("memory.limit", "no control group sets a limit");
  r.count("memory.page_size", roots.page_size);
  file.read("%s/self/statm", roots.proc);
  std::string_view words = file.content;
  take(words, ' ');
  const std::int64_t pages = number(take(words, ' '));
  report_number(r, "memory.resident", file,
                pages < 0 || pages >= kHuge / roots.page_size ? -1 : pages * roots.page_size);
}

}  // namespace

void report_linux(Report& r, const Roots& roots) {
#if defined(__ANDROID__)
  r.text("os.name", "android");
#else
  r.text("os.name", "linux");
#endif
  File file;
  file.read("%s/os-release", roots.etc);
  report_text(r, "os.version", file, value_of(file, "PRETTY_NAME"));
  file.read("%s/sys/kernel/osrelease", roots.proc);
  report_text(r, "os.kernel", file, trimmed(file.content).substr(0, kMaxText));
  file.read("%s/cpuinfo", roots.proc);
  report_processor(r, file);
  Cores cores{};
  report_cores(r, roots, file, cores);
  report_physical(r, roots, file, cores);
  report_affinity(r, roots, file, cores);
  const Limits limits = read_groups(roots, file);
  if (limits.cores > 0) r.real("cpu.quota_cores", limits.cores);
  else r.none("cpu.quota_cores", "no control group sets a quota");
  read_caches(r, roots, file, cores);
  report_memory(r, roots, file, limits);
}

void report_host(Report& r) {
  Roots roots;
  if (const long page = ::sysconf(_SC_PAGESIZE); page > 0) roots.page_size = page;
  report_linux(r, roots);
}

}  // namespace loom::audit

#endif
