// A small llama as a HuggingFace folder: config.json, model.safetensors, tokenizer.json.
#pragma once

#include <string>

namespace loom::test {

// The folder exists. False: a file could not be written.
bool write_tiny_llama(const std::string& folder);

}  // namespace loom::test
