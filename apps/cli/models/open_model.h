// What the commands that run a model share: its options, opening it, and the line that says what is
// about to run.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "exec/machine.h"
#include "exec/session.h"
#include "internal.h"
#include "llm/model.h"

namespace loom::cli {

struct ModelOptions {
  std::string model, dtype, adapter, isa, device = "cpu", mode;
  std::int64_t context = 0;
  int threads = 0;
};

// --dtype, --adapter, --ctx, --threads, --isa, --device and --mode; the positional MODEL is the
// caller's. Unknown values are usage errors.
void bind_model_options(CommandLine& command, ModelOptions& options);

// The last four alone.
void bind_machine_options(CommandLine& command, int& threads, std::string& isa, std::string& device,
                          std::string& mode);
Option bind_device_option(CommandLine& command, std::string& device);
// The device of --device: null for the CPU. "gpu" fails where there is none, naming what is
// missing; "auto" says so and takes the CPU, which it prefers to a software adapter as well.
Result<webgpu::Choice> device_of(const std::string& device);

// What --mode, --threads, --device and --isa come to.
Result<Machine> open_machine(const std::string& mode, int threads, const std::string& device,
                             const std::string& isa);

struct OpenModel {
  Model model;
  std::shared_ptr<Adapter> adapter;  // of --adapter
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<gpu::Device> device;  // null: the CPU
  Mode mode;
  std::string numerics = "portable";  // what results may claim
};
// Loads the model as the dtype asked for, and opens the device.
Result<OpenModel> open_model(const ModelOptions& options);

// Bytes that the plan takes.
struct Memory {
  std::uint64_t weights = 0;   // as the file has them, or packed from it
  std::uint64_t prepared = 0;  // forms of them that only run
  std::uint64_t cache = 0;     // states of all sequences
  std::uint64_t arena = 0;     // and scratch
  std::uint64_t total() const { return weights + prepared + cache + arena; }
};
Memory memory_of(Model& model, Session* session);

// "hf  safetensors, 1.05 MB f32  ·  0.26 M parameters  ·  needs 3.1 MB of 33.5 GB  ·  numerics:
// portable v1  ·  avx2" Without a session: what its buffers need is left out.
std::string status_line(const ModelOptions& options, OpenModel& opened, Session* session = nullptr);

// Ids of a prompt; "" is the beginning-of-text token alone.
Result<std::vector<std::int32_t>> prompt_ids(const Model& model, const std::string& prompt);

}  // namespace loom::cli
