// Windows: GetLogicalProcessorInformationEx, GlobalMemoryStatusEx and names from the registry.
#include "audit/report.h"

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// windows.h first.
#include <psapi.h>

#include <vector>

namespace loom::audit {
namespace {

void report_text(Report& r, const char* path, const char* folder, const char* name) {
  char value[256] = "";
  DWORD size = sizeof value - 1;
  if (RegGetValueA(HKEY_LOCAL_MACHINE, folder, name, RRF_RT_REG_SZ, nullptr, value, &size) ==
          ERROR_SUCCESS &&
      value[0] != '\0')
    r.text(path, value);
  else r.none(path, "the registry has no %s\\%s", folder, name);
}

std::int64_t cores_of(const GROUP_AFFINITY* masks, WORD groups) {
  std::int64_t cores = 0;
  for (WORD g = 0; g < groups; ++g)
    for (KAFFINITY m = masks[g].Mask; m != 0; m &= m - 1) ++cores;
  return cores;
}

void report_cores(Report& r) {
  DWORD size = 0;
  GetLogicalProcessorInformationEx(RelationAll, nullptr, &size);
  std::vector<char> bytes(size);
  auto* all = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(bytes.data());
  if (size == 0 || !GetLogicalProcessorInformationEx(RelationAll, all, &size)) {
    for (const char* path : {"cpu.logical_cores", "cpu.physical_cores", "caches"})
      r.none(path, "GetLogicalProcessorInformationEx fails");
    return;
  }
  std::int64_t logical = 0, physical = 0;
  Caches caches;
  for (DWORD at = 0; at < size;) {
    const auto& info =
        *reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(bytes.data() + at);
    if (info.Relationship == RelationProcessorCore) {
      ++physical;
      logical += cores_of(info.Processor.GroupMask, info.Processor.GroupCount);
    } else if (info.Relationship == RelationCache) {
      const CACHE_RELATIONSHIP& c = info.Cache;
      caches.add({c.Level, c.CacheSize, c.LineSize, cores_of(&c.GroupMask, 1),
                  c.Type == CacheData          ? "data"
                  : c.Type == CacheInstruction ? "instruction"
                                               : "unified",
                  1});
    }
    at += info.Size;
  }
  r.count("cpu.logical_cores", logical);
  r.count("cpu.physical_cores", physical);
  report_caches(r, caches);
}

void report_memory(Report& r) {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  if (GlobalMemoryStatusEx(&memory)) {
    r.count("memory.total", static_cast<std::int64_t>(memory.ullTotalPhys));
    r.count("memory.available", static_cast<std::int64_t>(memory.ullAvailPhys));
  } else {
    r.none("memory.total", "GlobalMemoryStatusEx fails");
    r.none("memory.available", "GlobalMemoryStatusEx fails");
  }
  r.none("memory.limit", "job objects are not read");
  SYSTEM_INFO system{};
  GetSystemInfo(&system);
  r.count("memory.page_size", static_cast<std::int64_t>(system.dwPageSize));
  PROCESS_MEMORY_COUNTERS own{};
  if (K32GetProcessMemoryInfo(GetCurrentProcess(), &own, sizeof own))
    r.count("memory.resident", static_cast<std::int64_t>(own.WorkingSetSize));
  else r.none("memory.resident", "GetProcessMemoryInfo fails");
}

}  // namespace

void report_host(Report& r) {
  constexpr const char* kVersion = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
  constexpr const char* kProcessor = "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";
  r.text("os.name", "windows");
  report_text(r, "os.version", kVersion, "ProductName");
  report_text(r, "os.kernel", kVersion, "CurrentBuildNumber");
  report_text(r, "cpu.model", kProcessor, "ProcessorNameString");
  report_text(r, "cpu.vendor", kProcessor, "VendorIdentifier");
  report_cores(r);
  GROUP_AFFINITY thread{};
  if (GetThreadGroupAffinity(GetCurrentThread(), &thread))
    r.count("cpu.affinity_cores", cores_of(&thread, 1));
  else r.none("cpu.affinity_cores", "GetThreadGroupAffinity fails");
  r.none("cpu.quota_cores", "job objects are not read");
  report_memory(r);
}

}  // namespace loom::audit

#endif
