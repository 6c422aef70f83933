// loom alone: a story of the model inside the program, and what else there is.
#include "models/generation.h"
#include "support/console.h"

namespace loom::cli {
namespace {

constexpr const char* kMore =
    "loom --seed 2                        another story\n"
    "loom run MODEL \"Once upon a time\"    continue a text: HuggingFace folder, .safetensors, "
    ".gguf, .entity\n"
    "loom chat MODEL                      a conversation\n"
    "loom train SPEC.json --out FILE      train a network\n"
    "loom --help                          everything else";

}  // namespace

int welcome(std::uint64_t seed) {
  ModelOptions options;
  options.model = kEmbeddedModel;
  const LoadedModel model = load_model(options);
  const Interrupt interrupt;
  Generator generator = generator_of(options, model);
  const std::vector<std::int32_t> begin = prompt_ids(model, "");
  // How the model's stories are told everywhere.
  Json start = Json::object();
  start.set("temperature", 0.7);
  start.set("seed", static_cast<std::int64_t>(seed));
  start.set("max_tokens", 300);
  Answer story;
  Receivers receivers;
  receivers.on_text = [](std::string_view text) {
    if (!print(text)) Interrupt::give_up();  // nobody reads it
  };
  try {
    generate(generator, [&] { generator.feed(begin); }, start, receivers, story);
  } catch (const Error&) {
    print("\n");
    throw;
  }
  print("\n");
  if (story.cancelled()) return Interrupt::code();
  say("\n" + story_line(parsed(generator.info())) + "\n");
  say(kMore);
  return kOk;
}

}  // namespace loom::cli
