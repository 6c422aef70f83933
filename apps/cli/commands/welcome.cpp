// loom alone: a story of the model inside the program, and what else there is.
#include "console.h"
#include "generation.h"
#include "internal.h"
#include "llm/embedded_model.h"

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
  LOOM_OR_EXIT(OpenModel opened, open_model(options), kRefused);
  const Interrupt interrupt;
  LOOM_OR_EXIT(Generator generator,
               Generator::create(opened.model, *opened.pool, generator_options_of(options, opened)),
               kFailed);
  Generation story;
  const Status status =
      tell_story(generator, opened.model, seed, &story, [](std::string_view text) {
        if (!print(text)) Interrupt::give_up();  // nobody reads it
      });
  print("\n");
  if (status.code() == Code::cancelled || story.finish == Finish::cancelled)
    return Interrupt::code();
  if (!status.ok()) return fail(status, kFailed);
  say("\n" + story_line(generator.statistics(), story) + "\n");
  say(kMore);
  return kOk;
}

}  // namespace loom::cli
