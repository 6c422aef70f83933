// What the commands that run a model share: its options, loading it, and the line that says what is
// about to run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arguments/machine_options.h"
#include "support/client.h"

namespace loom::cli {

inline constexpr const char* kEmbeddedModel = "embedded";

struct ModelOptions {
  std::string model, dtype, adapter, activations;
  MachineOptions machine;
  std::int64_t context = 0;
};

// --dtype, --adapter, --ctx, --activations, --threads, --isa, --device and --mode; the positional
// MODEL is the caller's. Unknown values are usage errors.
void bind_model_options(CommandLine& command, ModelOptions& options);

struct LoadedModel {
  Model model;
  Json info, network;  // of the model and of its network
  std::optional<Tokenizer> tokenizer;
  std::string no_tokenizer;  // why there is none
};
// The model as the dtype asked for, with its adapter; what is refused ends the action.
LoadedModel load_model(const ModelOptions& options);
// A context that the model was not made for is a usage error.
void check_context(const LoadedModel& model, std::int64_t context);
// body() makes what runs the model; what is refused ends the action.
template <class F>
auto made_of(F body) -> std::invoke_result_t<F> {
  try {
    return body();
  } catch (const Error& error) {
    // The machine that was asked for is refused; its memory fails.
    const bool memory = error.code() == LOOM_OUT_OF_MEMORY || error.code() == LOOM_OUT_OF_RANGE;
    throw Exit{problem_text(error), memory ? kFailed : kRefused};
  }
}
// --ctx, --activations and the machine, as the options of a generator or evaluator.
Json run_options(const ModelOptions& options);
// A generator of it with those.
Generator generator_of(const ModelOptions& options, const LoadedModel& model);

// Bytes that the plan takes.
struct Memory {
  std::uint64_t weights = 0;   // as the file has them, or packed from it
  std::uint64_t prepared = 0;  // forms of them that only run
  std::uint64_t cache = 0;     // states of all sequences
  std::uint64_t arena = 0;     // and scratch
  std::uint64_t total() const { return weights + prepared + cache + arena; }
};
// `runs`: the info of its generator or evaluator.
Memory memory_of(const LoadedModel& model, const Json& runs);

// "hf  safetensors, 1.05 MB f32  ·  0.26 M parameters  ·  needs 3.1 MB of 33.5 GB  ·  numerics:
// portable v1  ·  avx2"; `runs`: the info of its generator or evaluator. Without
// `buffers` their bytes are left out.
std::string status_line(const ModelOptions& options, const LoadedModel& model, const Json& runs,
                        bool buffers = true);

// Ids of a prompt; "" is the beginning-of-text token alone. An error ends the action.
std::vector<std::int32_t> prompt_ids(const LoadedModel& model, const std::string& prompt);

// The last part of a path; of a snapshot in the HuggingFace cache, the model's name.
std::string title_of(const std::string& path);

}  // namespace loom::cli
