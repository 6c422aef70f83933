// A language model ready to run: its network, its configuration, and its tokenizer where it has
// one. Sessions and generators refer to the network: keep the model where it is while they live.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "formats/gguf/gguf.h"
#include "grid/network.h"
#include "llm/config/config.h"
#include "text/tokenizer.h"

namespace loom {

class PackWatch;  // llm/import/import.h

struct Model {
  std::string name;  // the path it came from
  ModelConfig config;
  Network network;
  // Or why there is none; the model then runs by ids. not_found: it was made without one. Other
  // errors: it has one that cannot be read, and save_model refuses to write it without.
  Result<Tokenizer> tokenizer;
  // Of an .entity file: those that nothing here reads, which go into the next file as they are.
  std::map<std::string, std::string, std::less<>> sections = {};
};

// `model` is a HuggingFace folder (config.json, *.safetensors, tokenizer.json), a .safetensors file
// beside its config.json, a .gguf or .entity file, the name of a model in the local HuggingFace
// cache ("org/name"), or "embedded": the one inside the program. Nothing is downloaded. All or
// nothing; errors name the file and what would be right. `format`: how the matrices run, as
// Network::pack leaves them: packed one by one, no f32 copy. None: those of an .entity file as it
// has them, others as f32; with GgufBlocks::keep, blocks of a GGUF file as they are. With a
// `watch` only matrices that it sees are packed, and an .entity file stays as it is.
Result<Model> load_model(const std::string& model, const std::optional<WeightFormat>& format = {},
                         GgufBlocks blocks = GgufBlocks::decode, PackWatch* watch = nullptr);
// The same of a GGUF or .entity file that is open already; its bytes stay in use where they run as
// they lie.
Result<Model> load_model(SourcePtr source, const std::optional<WeightFormat>& format = {},
                         GgufBlocks blocks = GgufBlocks::decode);
// Of parts that are there: a network that reads ids and gives a value for each of them, and what a
// text of it needs to know; config.vocab_size is the network's. Errors: unsupported for another
// network, invalid_argument for a config or tokenizer that does not fit it.
Result<Model> make_model(std::string name, Network network, Result<Tokenizer> tokenizer,
                         ModelConfig config);
// What load_model would refuse without looking at a weight: an unknown architecture, tensors that
// are missing, left over or of another shape.
Status check_model(const std::string& model);
// The configuration alone, without the weights.
Result<ModelConfig> load_config(const std::string& model);
// The tokenizer alone, also of a tokenizer.json.
Result<Tokenizer> load_tokenizer(const std::string& model);

// From the tokenizer.ggml.* metadata.
Result<Tokenizer> tokenizer_from_gguf(const Gguf& file);

}  // namespace loom
