// What this machine offers to Loom.
#include <algorithm>
#include <chrono>
#include <vector>

#include "audit/read_bandwidth.h"
#include "audit/report.h"
#include "base/numerics_version.h"
#include "c_api/call.h"
#include "c_api/options/options.h"
#include "embedded/embedded.h"

using namespace loom;
using namespace loom::c_api;

namespace {

// Operations per second of one thread that multiplies 256 rows by a matrix of 512 x 512 of this
// format, the fastest of ten; 0 where that fails. Through the interface itself, which is small.
double product_rate(std::string_view format) {
  constexpr std::string_view kTopology =
      R"({"format":"loom-topology","version":3,"input":{"width":512},"cells":[{"at":[0,0,0,0],)"
      R"("type":"dense","out":512,"bias":false}]})";
  constexpr std::string_view kOptions = R"({"threads":1,"max_rows":256})";
  constexpr std::int64_t kSize = 512, kRows = 256;
  using Clock = std::chrono::steady_clock;
  loom_network network = 0;
  loom_session session = 0;
  double rate = 0;
  constexpr std::size_t kCount = kRows * kSize;
  std::vector<float> values(2 * kCount, 0.5f);
  float *const x = values.data(), *const y = x + kCount;
  if (loom_network_create(kTopology.data(), kTopology.size(), &network, nullptr) == LOOM_OK &&
      loom_network_initialize(network, 1, nullptr) == LOOM_OK &&
      loom_network_morph(network, format.data(), format.size(), nullptr, 0, nullptr) == LOOM_OK &&
      loom_session_create(network, kOptions.data(), kOptions.size(), &session, nullptr) == LOOM_OK)
    for (int i = 0; i < 10; ++i) {
      const Clock::time_point start = Clock::now();
      if (loom_session_run(session, kRows, x, kCount, y, kCount, nullptr) != LOOM_OK) break;
      const double s = std::chrono::duration<double>(Clock::now() - start).count();
      if (s > 0) rate = std::max(rate, 2.0 * static_cast<double>(kSize * kSize * kRows) / s);
    }
  loom_release(session, nullptr);
  loom_release(network, nullptr);
  return rate;
}

// At most a quarter of the memory that is free is read.
Status report_speeds(audit::Report& r) {
#if defined(__wasm__)
  double bytes = 64 << 20;  // memory that a module takes stays with it
#else
  double bytes = static_cast<double>(audit::kReadBytes);
#endif
  for (const char* path : {"memory.available", "memory.limit"})
    if (const Json* limit = r.find(path)) bytes = std::min(bytes, limit->as_number() / 4);
  const std::uint64_t whole = std::max<std::uint64_t>(static_cast<std::uint64_t>(bytes), 1 << 20);
  ThreadPool pool(0);
  LOOM_ASSIGN(const double read, audit::read_bandwidth(pool, 5, whole));
  r.count("measured.threads", pool.size());
  r.count("measured.read_bytes", static_cast<std::int64_t>(whole));
  r.real("measured.read_bytes_per_second", read);
  r.real("measured.f32_flops", product_rate("f32"));
  r.real("measured.i8_ops", product_rate("i8"));
  return {};
}

}  // namespace

extern "C" int32_t loom_audit(const char* options, size_t options_size, loom_bytes* report,
                              loom_error* error) {
  return call(error, [&]() -> Status {
    LOOM_TRY(want(report));
    Audit o;
    LOOM_TRY(read_options(options, options_size, o));
    audit::Report r;
    audit::report_host(r);
    audit::report_kernels(r);
    LOOM_TRY(audit::report_gpus(r, o.device));
    if (o.measure) LOOM_TRY(report_speeds(r));
    else r.none("measured", "not asked for: measure is false");
    r.text("loom.version", LOOM_VERSION);
    r.count("loom.abi_version", LOOM_ABI_VERSION);
    r.count("loom.numerics_version", LOOM_NUMERICS_VERSION);
    r.count("loom.threads", ThreadPool::hardware_threads());
    r.count("loom.dtypes", kDTypeCount);
    r.flag("loom.embedded_model", has_embedded_model());
    *report = new_json(r.take());
    return {};
  });
}
