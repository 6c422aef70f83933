// loom_run_op FORWARD BACKWARD [--gpu]: one op "x -> y" and its gradient "x gy -> gx", by name, on
// values that depend on nothing. Prints a SHA-256 of both results in f32, which is the same for
// every instruction set and number of threads, on every target and device; compares the gradient
// with finite differences in f64. Real attributes are 0.75. For ops in the making:
// tests/tooling/new_op.sh.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "base/files/sha256.h"
#include "base/random.h"
#include "base/threads/thread_pool.h"
#include "gpu/device.h"
#include "ops/cpu/isa.h"
#include "ops/executor.h"
#include "ops/program_builder.h"

namespace {

using namespace loom;

constexpr std::uint32_t kRows = 5;
constexpr std::int64_t kCols = 77;
constexpr double kAttribute = 0.75;

const OpInfo* find_op(std::string_view name) {
  for (int id = 0; id < kOpCount; ++id)
    if (info(static_cast<Op>(id)).name == name) return &info(static_cast<Op>(id));
  return nullptr;
}

struct Job {
  const OpInfo *forward = nullptr, *backward = nullptr;
  gpu::Device* device = nullptr;
  std::string_view isa;
  int threads = 1;
};

// y and gx, of all rows.
template <class T>
struct Results {
  std::vector<T> y, gx;
};

template <class T>
Result<Results<T>> run(const Job& job, const std::vector<T>& x, const std::vector<T>& gy) {
  constexpr ValueType kType = sizeof(T) == 4 ? ValueType::f32 : ValueType::f64;
  Program program;
  ProgramBuilder emit(program);
  const Rows rows{1, emit.u32_register("R", kRows), kNone};
  const View in = emit.input("x", kType, rows, kCols), slope = emit.input("gy", kType, rows, kCols);
  const View out = emit.output("y", kType, rows, kCols),
             gradient = emit.output("gx", kType, rows, kCols);
  const ProgramBuilder::Reals reals{kAttribute, kAttribute, kAttribute, kAttribute, kAttribute};
  emit.append(job.forward->op, {in, out}, {}, reals);
  emit.append(job.backward->op, {in, slope, gradient}, {}, reals);
  ThreadPool pool(job.threads);
  const WeightLookup none = [](std::string_view, std::string_view) { return nullptr; };
  LOOM_ASSIGN(auto executor,
              Executor::create(program, none, pool, {.device = job.device, .isa = job.isa}));
  LOOM_TRY(executor->set(0, kRows));
  for (std::uint32_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kCols; ++c) {
      executor->template row<T>(in.buffer, r)[static_cast<std::size_t>(c)] =
          x[static_cast<std::size_t>(r * kCols + c)];
      executor->template row<T>(slope.buffer, r)[static_cast<std::size_t>(c)] =
          gy[static_cast<std::size_t>(r * kCols + c)];
    }
  LOOM_TRY(executor->run());
  Results<T> results;
  for (std::uint32_t r = 0; r < kRows; ++r) {
    const auto y = executor->template row<T>(out.buffer, r),
               gx = executor->template row<T>(gradient.buffer, r);
    results.y.insert(results.y.end(), y.begin(), y.end());
    results.gx.insert(results.gx.end(), gx.begin(), gx.end());
  }
  return results;
}

template <class T>
std::vector<T> values(std::uint64_t stream) {
  RandomStream random(7, stream);
  std::vector<T> list(kRows * kCols);
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = static_cast<T>((static_cast<double>(random.bits(i) >> 8) * 0x1p-24 - 0.5) * 4);
  return list;
}

std::string hash_of(const Results<float>& results) {
  Sha256 hash;
  hash.update_f32(results.y);
  hash.update_f32(results.gx);
  return Sha256::hex(hash.finish());
}

// The largest difference of gx from the slope of the sum of y * gy, relative to the largest
// gradient.
Result<double> gradient_error(const Job& job) {
  const std::vector<double> x = values<double>(1), gy = values<double>(2);
  LOOM_ASSIGN(const Results<double> here, run(job, x, gy));
  constexpr double kStep = 1e-6;
  std::vector<double> up = x, down = x;
  for (double& v : up) v += kStep;
  for (double& v : down) v -= kStep;
  LOOM_ASSIGN(const Results<double> above, run(job, up, gy));
  LOOM_ASSIGN(const Results<double> below, run(job, down, gy));
  double error = 0, largest = 1e-30;
  // Rows do not depend on one another, nor columns where the op is elementwise: all are moved at
  // once.
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double slope = (above.y[i] - below.y[i]) / (2 * kStep) * gy[i];
    error = std::max(error, std::abs(here.gx[i] - slope));
    largest = std::max(largest, std::abs(slope));
  }
  return error / largest;
}

int fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}

int check(Job job, bool on_device) {
  const std::vector<float> x = values<float>(1), gy = values<float>(2);
  std::unique_ptr<gpu::Device> device;
  if (on_device) {
#ifdef __wasm__
    return fail(
        Status(Code::unsupported, "a device is the host's in WebAssembly: run this natively"));
#else
    auto opened = gpu::open_device();
    if (!opened.ok()) return fail(opened.status());
    device = std::move(*opened);
    job.device = device.get();
#endif
  }
  std::string first;
  for (const std::string_view isa :
       on_device ? std::vector<std::string_view>{""} : cpu::available_isas())
    for (const int threads : {1, 3}) {
      job.isa = isa;
      job.threads = threads;
      const auto results = run(job, x, gy);
      if (!results.ok()) return fail(results.status());
      const std::string hash = hash_of(*results);
      if (first.empty()) first = hash;
      if (hash != first)
        return fail(Status(Code::internal, "other bits with " + std::string(isa) + " and " +
                                               std::to_string(threads) + " threads"));
    }
  std::printf("%s\n", first.c_str());
  if (on_device) return 0;
  const auto error = gradient_error(job);
  if (!error.ok()) return fail(error.status());
  if (*error > 1e-6)
    return fail(Status(Code::internal,
                       "the gradient is off by " + std::to_string(*error) + " of the largest"));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  if (argc < 3 || !(job.forward = find_op(argv[1])) || !(job.backward = find_op(argv[2]))) {
    std::fprintf(stderr,
                 "usage: loom_run_op FORWARD BACKWARD [--gpu]: names of ops \"x -> y\" and \"x gy "
                 "-> gx\"\n");
    return 2;
  }
  return check(job, argc > 3 && std::string_view(argv[3]) == "--gpu");
}
