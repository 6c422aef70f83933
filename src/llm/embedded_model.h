// The model inside the program (models/README.md), and how its stories are told wherever they are
// shown or graded.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/files/source.h"
#include "llm/generate/generate.h"

namespace loom {

// What load_model and its kin know it by; a folder of this name is "./embedded".
inline constexpr std::string_view kEmbeddedModel = "embedded";

// Its .entity file. not_found in a build without one.
Result<SourcePtr> embedded_source();

// A story from its beginning: temperature 0.7 and nothing else, to its end or 300 tokens. Same
// seed, same story, everywhere. `on_text`, where given, gets it as it comes. Errors: those of
// Generator; invalid_argument for a model that names no beginning-of-text token.
Status tell_story(Generator& generator, const Model& model, std::uint64_t seed, Generation* story,
                  std::function<void(std::string_view)> on_text = {});

}  // namespace loom
