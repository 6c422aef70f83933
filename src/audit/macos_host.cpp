// macOS and iOS: sysctl, and the kernel's counters of memory.
#include "audit/report.h"

#if defined(__APPLE__)

#include <mach/mach.h>
#include <sys/sysctl.h>

#include <string>

namespace loom::audit {
namespace {

void report_text(Report& r, const char* path, const char* name) {
  char value[256] = "";
  std::size_t size = sizeof value - 1;
  if (sysctlbyname(name, value, &size, nullptr, 0) == 0 && value[0] != '\0') r.text(path, value);
  else r.none(path, "sysctl has no %s", name);
}

// Of 4 or 8 bytes; 0 where there is none.
std::int64_t number(const std::string& name) {
  std::int64_t value = 0;
  std::size_t size = sizeof value;
  if (sysctlbyname(name.c_str(), &value, &size, nullptr, 0) != 0 || value < 0) return 0;
  return value;  // little-endian: 4 bytes leave the upper half zero
}

void report_number(Report& r, const char* path, const char* name) {
  const std::int64_t value = number(name);
  if (value > 0) r.count(path, value);
  else r.none(path, "sysctl has no %s", name);
}

// Chips with cores of several kinds have caches for each: hw.perflevel0, the fast ones, and on.
void read_caches(Report& r) {
  Caches caches;
  const std::int64_t kinds = number("hw.nperflevels"), line = number("hw.cachelinesize");
  for (std::int64_t kind = 0; kind < (kinds > 0 ? kinds : 1); ++kind) {
    const std::string at = kinds > 0 ? "hw.perflevel" + std::to_string(kind) + "." : "hw.";
    const std::int64_t cores = number(at + "logicalcpu");
    const auto add = [&](std::int64_t level, const char* type, const char* size,
                         std::int64_t shared_by) {
      const std::int64_t bytes = number(at + size);
      if (bytes > 0)
        caches.add({level, bytes, line, shared_by, type,
                    shared_by > 0 && cores >= shared_by ? cores / shared_by : 1});
    };
    add(1, "data", "l1dcachesize", 1);
    add(1, "instruction", "l1icachesize", 1);
    add(2, "unified", "l2cachesize", number(at + "cpusperl2"));
    add(3, "unified", "l3cachesize", number(at + "cpusperl3"));
  }
  report_caches(r, caches);
}

void report_memory(Report& r) {
  report_number(r, "memory.total", "hw.memsize");
  vm_statistics64_data_t machine{};
  mach_msg_type_number_t size = HOST_VM_INFO64_COUNT;
  if (host_statistics64(mach_host_self(), HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&machine),
                        &size) == KERN_SUCCESS)
    r.count("memory.available", (static_cast<std::int64_t>(machine.free_count) +
                                 static_cast<std::int64_t>(machine.inactive_count)) *
                                    number("hw.pagesize"));
  else r.none("memory.available", "host_statistics64 fails");
  r.none("memory.limit", "this system has no control groups");
  report_number(r, "memory.page_size", "hw.pagesize");
  mach_task_basic_info own{};
  size = MACH_TASK_BASIC_INFO_COUNT;
  if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&own),
                &size) == KERN_SUCCESS)
    r.count("memory.resident", static_cast<std::int64_t>(own.resident_size));
  else r.none("memory.resident", "task_info fails");
}

}  // namespace

void report_host(Report& r) {
  r.text("os.name", "macos");
  report_text(r, "os.version", "kern.osproductversion");
  report_text(r, "os.kernel", "kern.osrelease");
  report_text(r, "cpu.model", "machdep.cpu.brand_string");
#if defined(__aarch64__)
  r.text("cpu.vendor", "Apple");
#else
  report_text(r, "cpu.vendor", "machdep.cpu.vendor");
#endif
  report_number(r, "cpu.logical_cores", "hw.logicalcpu");
  report_number(r, "cpu.physical_cores", "hw.physicalcpu");
  r.none("cpu.affinity_cores", "this system has no affinity");
  r.none("cpu.quota_cores", "this system has no control groups");
  read_caches(r);
  report_memory(r);
}

}  // namespace loom::audit

#endif
