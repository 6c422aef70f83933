#include "llm/embedded_model.h"

#include "base/message.h"
#include "embedded/embedded.h"

namespace loom {

Result<SourcePtr> embedded_source() {
  LOOM_ASSIGN(const auto bytes, embedded_model());
  return source_from_view(bytes, std::string(kEmbeddedModel));
}

Status tell_story(Generator& generator, const Model& model, std::uint64_t seed, Generation* story,
                  std::function<void(std::string_view)> on_text) {
  if (!model.config.bos)
    return Status(Code::invalid_argument,
                  message(model.name, ": names no beginning-of-text token to begin a story with"));
  GenerateOptions options;
  options.sampling.temperature = 0.7;
  options.sampling.seed = seed;
  options.max_tokens = 300;
  options.on_text = std::move(on_text);
  LOOM_TRY(generator.feed({&*model.config.bos, 1}));
  return generator.generate(options, story);
}

}  // namespace loom
