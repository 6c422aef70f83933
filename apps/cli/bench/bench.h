// What the parts of `loom bench` share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/threads/thread_pool.h"
#include "exec/mode.h"
#include "ops/webgpu/probes/probes.h"
#include "support/internal.h"

namespace loom::cli {

struct BenchArgs {
  std::string what = "llm", model = "smollm2-135m", dtype = "i4", isa, activations, device = "cpu",
              spec, out;
  int threads = 0, repeats = 0, context = 0;
  std::vector<std::string> layers, dtypes, modes;
  bool json = false, quick = false, fp8 = false;
};

double median(std::vector<double> seconds);  // precondition: not empty
double median_seconds(int repeats, const std::function<void()>& work);

// A mode with what runs it: a team of threads, and the device of the modes that have one.
struct BenchMode {
  Mode mode;
  std::unique_ptr<ThreadPool> pool;
  gpu::Device* device = nullptr;
};
// Those of --modes, else cpu-sc, cpu-mc and gpu-mc; modes without their device are left out and
// said on stderr, with the reason in `missing`.
struct BenchModes {
  std::vector<BenchMode> list;
  webgpu::Choice gpu;
  std::vector<std::string> missing;
};
Result<BenchModes> bench_modes(const BenchArgs& args);

// The object of --json: "bench", the figures, "missing" modes, "rows"; returns the exit code.
int print_bench(const char* what, Json figures, const BenchModes& modes, Json rows);

// Whether --layers has this name, in any case of its letters, or none at all.
bool wanted(const std::vector<std::string>& list, std::string_view name);

// Layers alone: forward and backward of each, in every dtype and mode.
std::vector<std::string> bench_layer_names();
int bench_layers(const BenchArgs& args);
// Six small networks that learn.
std::vector<std::string> bench_network_names();
int bench_training(const BenchArgs& args);
// The CPU, a device and auto over the width of a layer.
int bench_crossover(const BenchArgs& args);
// Step meshes of 1,000 to 1,000,000 cells.
int bench_mesh(const BenchArgs& args);
// A table of costs of this machine for a search of networks.
int bench_costs(const BenchArgs& args);

}  // namespace loom::cli
