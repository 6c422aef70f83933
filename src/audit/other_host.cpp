// WebAssembly, whose module sees its own memory alone (the JavaScript package adds what its host
// tells), and systems without a file here.
#include "audit/report.h"

#if !defined(__linux__) && !defined(__APPLE__) && !defined(_WIN32)

namespace loom::audit {

void report_host(Report& r) {
#if defined(__wasm__)
  const char* const name = "wasm";
#else
  const char* const name = "other";
#endif
  r.text("os.name", name);
  for (const char* path :
       {"os.version", "os.kernel", "cpu.model", "cpu.vendor", "cpu.logical_cores",
        "cpu.physical_cores", "cpu.affinity_cores", "cpu.quota_cores", "caches", "memory.total",
        "memory.available", "memory.limit"})
    r.none(path, "%s does not tell", name);
#if defined(__wasm__)
  constexpr std::int64_t kPage = 65536;
  r.count("memory.page_size", kPage);
  r.count("memory.resident",
          static_cast<std::int64_t>(__builtin_wasm_memory_size(0)) * kPage);  // of the module
#endif
}

}  // namespace loom::audit

#endif
