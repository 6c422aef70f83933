// A language model ready to run: its network, its configuration, and its tokenizer where it has one. Sessions and generators refer to the
// network: keep the model where it is while they live.
#pragma once

#include <string>

#include "grid/network.h"
#include "llm/config.h"

namespace loom {

struct Model {
  std::string name;  // the path it came from
  ModelConfig config;
  Network network;
};

// MODEL is a HuggingFace folder (config.json, *.safetensors, tokenizer.json), a .safetensors file beside its config.json, a .gguf file, or the
// name of a model in the local HuggingFace cache ("org/name"). Nothing is downloaded. All or nothing; errors name the file and what would be right.
Result<Model> load_model(const std::string& model);

}  // namespace loom
