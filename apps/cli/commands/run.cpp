// loom run: the continuation of a prompt on stdout, as it comes.
#include <iostream>
#include <iterator>

#include "models/generation.h"
#include "support/console.h"
#include "support/memory_history.h"

namespace loom::cli {
namespace {

struct Args {
  ModelOptions model;
  SamplingOptions sampling;
  std::string prompt, memory;
  Option prompt_given;
  std::vector<std::int32_t> ids;
  bool json = false;
};

void bind(CommandLine& c, Args& a) {
  c.add("MODEL", a.model.model,
        "a folder, a file, a name in the local HuggingFace cache, or embedded: the model inside "
        "the program")
      .required();
  a.prompt_given =
      c.add("PROMPT", a.prompt,
            "what to go on from; without it: stdin; \"\" is the beginning-of-text token alone");
  c.add("--ids", a.ids,
        "the prompt as token ids: 1,2,3; a model without a tokenizer answers in ids")
      .delimiter(',')
      .one_value()
      .excludes(a.prompt_given);
  bind_sampling_options(c, a.sampling);
  bind_model_options(c, a.model);
  bind_memory(c, a.memory);
  c.flag("--json", a.json, "one JSON object on stdout, at the end");
}

// All of stdin, without the newline that ends its last line.
std::string read_stdin() {
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

// Bytes: what the plan takes, part by part, and what the process had at most.
Json plan_json(const Memory& memory) {
  Json json = Json::object();
  json.set("weights", memory.weights);
  json.set("prepared", memory.prepared);
  json.set("cache", memory.cache);
  json.set("arena", memory.arena);
  json.set("peak", peak_memory());
  return json;
}

int run(const Args& a) {
  MemoryHistory history(a.memory, {a.model.model});
  const LoadedModel model = load_model(a.model);
  history.step("model");
  check_context(model, a.model.context);
  Generator generator = generator_of(a.model, model);
  const Json made = parsed(generator.info());
  say_note(made);
  history.weights(static_cast<std::int64_t>(memory_of(model, made).weights), made);
  history.step("session");
  std::vector<std::int32_t> ids = a.ids;
  if (ids.empty()) ids = prompt_ids(model, a.prompt_given.given() ? a.prompt : read_stdin());
  const Interrupt interrupt;
  say(status_line(a.model, model, made));

  bool first = true, begun = false;
  const auto write = [&begun](std::string_view text) {
    begun = true;
    if (!print(text)) Interrupt::give_up();  // nobody reads it
  };
  Receivers receivers;
  if (!a.json && model.tokenizer) receivers.on_text = write;
  if (!a.json && !model.tokenizer)
    receivers.on_id = [&](std::int32_t id) {
      write((first ? "" : ",") + std::to_string(id));
      first = false;
    };
  Answer answer;
  history.step("tokens");
  const std::int64_t tokens = a.sampling.tokens == 0 ? kDefaultTokens : a.sampling.tokens;
  try {
    generate(
        generator, [&] { generator.feed(ids); }, start_options(a.sampling, model, tokens),
        receivers, answer);
  } catch (const Error& error) {
    if (!a.json && begun) print("\n");
    throw Exit{problem_text(error), kFailed};
  }
  if (!a.json) print("\n");
  const Json info = parsed(generator.info());
  say(summary_line(info, answer));
  history.finish("loom run " + a.model.model);
  if (a.json) {
    Json json = answer_json(info, answer);
    json.set("memory", plan_json(memory_of(model, info)));
    print(json.dump() + "\n");
  }
  return answer.cancelled() ? Interrupt::code() : kOk;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "run", "continue a text", bind, run);
}

}  // namespace loom::cli
