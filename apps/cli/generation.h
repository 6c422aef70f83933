// What the commands that generate text share: sampling options and what is said about an answer.
#pragma once

#include "base/json/json.h"
#include "llm/generate/generate.h"
#include "models/open_model.h"

namespace loom::cli {

inline constexpr std::int64_t kDefaultTokens = 256;

struct SamplingOptions {
  std::int64_t tokens = 0;  // 0: not given
  bool greedy = false;
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<std::int64_t> top_k;
  std::uint64_t seed = 0;
  std::vector<std::string> stop;
};

void bind_sampling_options(CommandLine& command, SamplingOptions& options);

// With a clock, and cancelled by Ctrl-C.
GeneratorOptions generator_options_of(const ModelOptions& options, const OpenModel& opened);
// What was asked for, else what the model's authors recommend, else temperature 0.7 and top-p 0.9.
GenerateOptions generate_options_of(const SamplingOptions& options, const Model& model);

// "256 tokens, 5120/s  ·  prompt 12 tokens, 9.1 ms  ·  length  ·  ids 3f2a..."
std::string summary_line(const Statistics& statistics, const Generation& answer);
// "116 tokens, 5120/s  ·  numerics: portable v1  ·  ids sha256 3f2a...": the last two are the same
// on every machine.
std::string story_line(const Statistics& statistics, const Generation& story);
Json answer_json(const Statistics& statistics, const Generation& answer);

}  // namespace loom::cli
