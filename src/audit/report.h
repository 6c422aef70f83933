// The report of an audit while it is made: values by their paths, as "cpu.model", and the reason
// for each one that is not known. Small calls, since there are many.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json/json.h"
#include "base/status.h"

namespace loom::audit {

class Report {
 public:
  void set(const char* path, Json value);
  void count(const char* path, std::int64_t value);
  void real(const char* path, double value);
  void flag(const char* path, bool value);
  void text(const char* path, std::string_view value);
  // The value is null, because of the rest, as printf has it.
  [[gnu::format(printf, 3, 4)]] void none(const char* path, const char* why, ...);
  // Null where it is not known.
  const Json* find(const char* path) const;
  // What is in it so far, without the reasons.
  const Json& values() const { return json_; }
  // The object; the reasons are its member `unknown`.
  Json take();

 private:
  Json json_ = Json::object(), unknown_ = Json::object();
};

// One cache: `count` of them are alike. 0, or no type: not known.
struct Cache {
  std::int64_t level, bytes, line, shared_by;
  const char* type;  // a literal: "data", "instruction" or "unified"
  std::int64_t count;
};
// Adds it to the list, or to the one there that is like it; what exceeds the list is left out.
struct Caches {
  Cache list[24];
  int size = 0;
  void add(const Cache& cache);
};
// The levels in order.
void report_caches(Report& report, const Caches& caches);

// Facts of the machine below Loom, as its system tells them; one file for each system. Files are
// read at most, no socket is opened.
void report_host(Report& report);

#if defined(__linux__)
// Where Linux has its files: tests give others.
struct Roots {
  const char *proc = "/proc", *sys = "/sys", *etc = "/etc";
  std::int64_t page_size = 4096;
};
void report_linux(Report& report, const Roots& roots);
#endif

// What the processor is to Loom's kernels, and how many cores this process may use.
void report_kernels(Report& report);
// The adapter; `device` is "auto", "cpu" (none is opened) or "gpu", which is an error where there
// is none.
Status report_gpus(Report& report, std::string_view device);

}  // namespace loom::audit
