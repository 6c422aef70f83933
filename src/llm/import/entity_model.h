// Language models in .entity files. save_model writes what load_model, load_config and
// load_tokenizer read. Pure functions of their arguments.
#pragma once

#include <string>

#include "base/files/source.h"
#include "base/json/json.h"
#include "checkpoint/entity.h"
#include "llm/model.h"

namespace loom {

// `provenance`: where the model comes from; null keeps what its own file says. Atomic: the file is
// whole, or as it was. A tokenizer that is there and cannot be read is an error, and no file is
// written: the model would look complete.
Status save_model(const Destination& to, Model& model, const Json& provenance = {});

// What save_model says of a tokenizer that is there and cannot be read.
Status check_tokenizer(const std::string& model, const Status& tokenizer);
// What makes a network's file that of a language model.
Result<EntitySections> model_sections(Model& model, const Json& provenance = {});

// Errors: unsupported for a network that is no language model; those of load_network.
Result<Model> model_from_entity(SourcePtr source);
// What model_from_entity would say before it reads a weight.
Status check_entity_model(SourcePtr source);
Result<ModelConfig> config_from_entity(SourcePtr source);
Result<Tokenizer> tokenizer_from_entity(SourcePtr source);

}  // namespace loom
