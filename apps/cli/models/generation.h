// What the commands that generate text share: sampling options, the text as it comes, and what is
// said about an answer.
#pragma once

#include <functional>

#include "models/loaded_model.h"

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

// Options of generator_start: what was asked for, else what the model recommends. `tokens`: at
// most, 0: until the context is full.
Json start_options(const SamplingOptions& options, const LoadedModel& model, std::int64_t tokens);

// A text as it was generated.
struct Answer {
  std::vector<std::int32_t> ids;  // new ones, the end included
  std::string text;
  std::int32_t finish = LOOM_FINISH_LENGTH;
  bool cancelled() const { return finish == LOOM_FINISH_CANCELLED; }
};
struct Receivers {
  std::function<void(std::string_view text)> on_text = {};
  std::function<void(std::int32_t id)> on_id = {};
};
// Feeds the generator by `feed` and takes a text of it; Ctrl-C cancels both, also while nothing
// came yet. On an error `answer` holds what came before it.
void generate(Generator& generator, const std::function<void()>& feed, const Json& start,
              const Receivers& receivers, Answer& answer);

// "256 tokens, 5120/s  ·  prompt 12 tokens, 9.1 ms  ·  length  ·  ids 3f2a..."; `info`: of the
// generator.
std::string summary_line(const Json& info, const Answer& answer);
// "116 tokens, 5120/s  ·  numerics: portable v1  ·  ids sha256 3f2a...": the last two are the same
// on every machine.
std::string story_line(const Json& info);
Json answer_json(const Json& info, const Answer& answer);

}  // namespace loom::cli
