// The adapters of language models: places named as transformers names their modules, so that PEFT
// reads what is saved and its folders are read.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/adapter_file.h"
#include "llm/model.h"

namespace loom {

// The places of a network of decoder_topology, "model.layers.0.self_attn.q_proj" and so on; of a
// model without an architecture: adapter_places.
std::vector<AdapterPlace> adapter_places(Model& model);
// load_adapter for a model, checked against it.
Result<Adapter> load_adapter(const std::string& folder, Model& model);

}  // namespace loom
