#include "audit/report.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "ops/cpu/isa.h"
#include "ops/webgpu/probes/probes.h"

namespace loom::audit {
namespace {

constexpr const char* kArchitecture =
#if defined(__x86_64__)
    "x86_64";
#elif defined(__aarch64__)
    "aarch64";
#elif defined(__wasm__)
    "wasm32";
#elif defined(__riscv)
    "riscv64";
#else
    "other";
#endif

// Features of this processor that a kernel of Loom uses.
void add_features(Json& list) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const struct {
    const char* name;
    bool here;
  } features[] = {{"avx2", __builtin_cpu_supports("avx2") != 0},
                  {"fma", __builtin_cpu_supports("fma") != 0},
                  {"avx_vnni", __builtin_cpu_supports("avxvnni") != 0},
                  {"avx512f", __builtin_cpu_supports("avx512f") != 0},
                  {"avx512bw", __builtin_cpu_supports("avx512bw") != 0},
                  {"avx512dq", __builtin_cpu_supports("avx512dq") != 0},
                  {"avx512vl", __builtin_cpu_supports("avx512vl") != 0},
                  {"avx512_vnni", __builtin_cpu_supports("avx512vnni") != 0}};
  for (const auto& feature : features)
    if (feature.here) list.push(feature.name);
  if (cpu::available_isas().front() == "amx") list.push("amx_int8");
#elif defined(__aarch64__)
  list.push("neon");
  if (cpu::available_isas().front() == "dotprod") list.push("dotprod");
#elif defined(__wasm_simd128__)
  list.push("simd128");
#else
  (void)list;
#endif
}

void set_names(Report& r, const char* path, const std::vector<std::string_view>& names) {
  Json json = Json::array();
  for (const std::string_view name : names) json.push(name);
  r.set(path, std::move(json));
}

}  // namespace

void Report::set(const char* path, Json value) {
  const std::string_view whole = path;
  const std::size_t dot = whole.find('.');
  if (dot == std::string_view::npos) {
    json_.set(whole, std::move(value));
    return;
  }
  const std::string_view name = whole.substr(0, dot);
  for (;;) {
    for (auto& [key, section] : json_.as_object())
      if (key == name) {
        section.set(whole.substr(dot + 1), std::move(value));
        return;
      }
    json_.set(name, Json::object());
  }
}

void Report::count(const char* path, std::int64_t value) { set(path, value); }
void Report::real(const char* path, double value) { set(path, value); }
void Report::flag(const char* path, bool value) { set(path, value); }
void Report::text(const char* path, std::string_view value) { set(path, value); }

void Report::none(const char* path, const char* why, ...) {
  char text[1024];
  va_list list;
  va_start(list, why);
  std::vsnprintf(text, sizeof text, why, list);
  va_end(list);
  set(path, {});
  unknown_.set(path, static_cast<const char*>(text));
}

const Json* Report::find(const char* path) const {
  const Json* at = &json_;
  std::string_view rest = path;
  while (at && !rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    at = at->find(rest.substr(0, dot));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  return at && !at->is_null() ? at : nullptr;
}

Json Report::take() {
  json_.set("unknown", std::move(unknown_));
  return std::move(json_);
}

void Caches::add(const Cache& cache) {
  for (int i = 0; i < size; ++i) {
    Cache& c = list[i];
    if (c.level == cache.level && c.bytes == cache.bytes && c.line == cache.line &&
        c.shared_by == cache.shared_by && c.type == cache.type) {
      c.count += cache.count;
      return;
    }
  }
  if (size < static_cast<int>(std::size(list))) list[size++] = cache;
}

void report_caches(Report& r, const Caches& caches) {
  if (caches.size == 0) return r.none("caches", "this system describes none");
  Json list = Json::array();
  for (std::int64_t level = 1; level <= 9; ++level)
    for (int i = 0; i < caches.size; ++i) {
      const Cache& c = caches.list[i];
      if (c.level != level) continue;
      const std::pair<const char*, std::int64_t> numbers[] = {{"level", c.level},
                                                              {"bytes", c.bytes},
                                                              {"line", c.line},
                                                              {"shared_by", c.shared_by},
                                                              {"count", c.count}};
      Json entry = Json::object();
      entry.set("type", c.type ? Json(c.type) : Json());
      for (const auto& [key, value] : numbers) entry.set(key, value > 0 ? Json(value) : Json());
      list.push(std::move(entry));
    }
  r.set("caches", std::move(list));
}

void report_kernels(Report& r) {
  r.text("os.architecture", kArchitecture);
  const Json* cores = r.find("cpu.affinity_cores");
  if (!cores) cores = r.find("cpu.logical_cores");
  if (cores) {
    double usable = cores->as_number();
    // A quota is rounded up: of 1.5 cores two threads have use.
    if (const Json* quota = r.find("cpu.quota_cores"))
      usable = std::min(usable, std::max(1.0, std::ceil(quota->as_number())));
    r.count("cpu.usable_cores", static_cast<std::int64_t>(usable));
  } else {
    r.none("cpu.usable_cores", "no number of cores is known");
  }
  Json features = Json::array();
  add_features(features);
  r.set("cpu.features", std::move(features));
  set_names(r, "cpu.isas", cpu::available_isas());
  set_names(r, "cpu.fast_isas", cpu::fast_isas());
  r.text("cpu.isa", cpu::available_isas().front());
}

// WebGPU's header has no list of adapters: the one that it prefers is reported.
Status report_gpus(Report& r, std::string_view device) {
  if (device == "cpu") {
    r.none("gpus", "not looked for: the device is cpu");
    return {};
  }
  const auto opened = gpu::open_device();
  if (!opened.ok()) {
    if (device == "gpu" || opened.status().code() != Code::unsupported) return opened.status();
    r.none("gpus", "%s", opened.status().message().c_str());
    return {};
  }
  LOOM_ASSIGN(const webgpu::SelfTest test, webgpu::known_self_test(**opened));
  const gpu::DeviceInfo& info = (*opened)->info();
  const gpu::Limits& l = (*opened)->limits();
  Report entry;
  const auto count = [&](const char* path, std::uint64_t n) {
    entry.count(path, static_cast<std::int64_t>(std::min<std::uint64_t>(n, INT64_MAX)));
  };
  entry.text("name", info.name);
  entry.text("vendor", info.vendor);
  entry.text("driver", info.driver);
  entry.text("backend", info.backend);
  entry.text("library", info.library);
  entry.flag("software", info.software);
  entry.text("numerics", test.label());
  count("limits.buffer_bytes", l.buffer_bytes);
  count("limits.binding_bytes", l.binding_bytes);
  count("limits.offset_alignment", l.offset_alignment);
  count("limits.storage_buffers", l.storage_buffers);
  count("limits.groups_per_dimension", l.groups_per_dimension);
  count("limits.threads_per_group", l.threads_per_group);
  count("limits.group_bytes", l.group_bytes);
  entry.flag("limits.subgroups", l.subgroups);
  entry.flag("limits.matrix_units", test.matrix_units);
  Json list = Json::array();
  list.push(entry.values());
  r.set("gpus", std::move(list));
  return {};
}

}  // namespace loom::audit
