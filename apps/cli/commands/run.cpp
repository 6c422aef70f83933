// loom run: the continuation of a prompt on stdout, as it comes.
#include <iostream>
#include <iterator>

#include "console.h"
#include "generation.h"

namespace loom::cli {
namespace {

struct Args {
  ModelOptions model;
  SamplingOptions sampling;
  std::string prompt;
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
Json memory_json(const Memory& memory) {
  Json json = Json::object();
  json.set("weights", memory.weights);
  json.set("prepared", memory.prepared);
  json.set("cache", memory.cache);
  json.set("arena", memory.arena);
  json.set("peak", peak_memory());
  return json;
}

int run(const Args& a) {
  LOOM_OR_EXIT(OpenModel opened, open_model(a.model), kRefused);
  if (const Status c = check_context(opened.model.config, a.model.context); !c.ok())
    return fail(c.at("--ctx"), kUsage);
  std::vector<std::int32_t> ids = a.ids;
  if (ids.empty()) {
    LOOM_OR_EXIT(ids, prompt_ids(opened.model, a.prompt_given.given() ? a.prompt : read_stdin()),
                 kFailed);
  }
  const Interrupt interrupt;
  GeneratorOptions generator_options = generator_options_of(a.model, opened);
  LOOM_OR_EXIT(Generator generator,
               Generator::create(opened.model, *opened.pool, generator_options), kFailed);
  say(status_line(a.model, opened, &generator.session()));

  GenerateOptions options = generate_options_of(a.sampling, opened.model);
  if (a.sampling.tokens == 0) options.max_tokens = kDefaultTokens;
  bool first = true, begun = false;
  const auto write = [&begun](std::string_view text) {
    begun = true;
    if (!print(text)) Interrupt::give_up();  // nobody reads it
  };
  if (!a.json) {
    if (opened.model.tokenizer.ok()) options.on_text = write;
    else
      options.on_token = [&](std::int32_t id) {
        write((first ? "" : ",") + std::to_string(id));
        first = false;
      };
  }
  Generation answer;
  Status status = generator.feed(ids);
  if (status.ok()) status = generator.generate(options, &answer);
  if (!a.json && (begun || status.ok() || status.code() == Code::cancelled)) print("\n");
  if (!status.ok() && status.code() != Code::cancelled) return fail(status, kFailed);
  const bool stopped = status.code() == Code::cancelled || answer.finish == Finish::cancelled;
  say(summary_line(generator.statistics(), answer));
  if (a.json) {
    Json json = answer_json(generator.statistics(), answer);
    json.set("memory", memory_json(memory_of(opened.model, &generator.session())));
    print(json.dump() + "\n");
  }
  return stopped ? Interrupt::code() : kOk;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  add_command<Args>(app, action, "run", "continue a text", bind, run);
}

}  // namespace loom::cli
