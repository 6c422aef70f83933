// What a model's files hold before a value is read: configuration, tensors, and where the tokenizer
// is. What load_model and the writers of llm/export begin with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/gguf/gguf.h"
#include "formats/sniff.h"
#include "llm/config/config.h"
#include "llm/import/import.h"
#include "text/tokenizer.h"

namespace loom {

// A model's file, and what it is.
struct Opened {
  SourcePtr source;
  FileKind kind;
};

// Everything of a model but its values.
struct FoundModel {
  std::string name;
  SourcePtr entity;  // of an .entity file; the rest is then inside it
  ModelConfig config;
  std::vector<TensorInfo> tensors;
  Naming naming = Naming::hf;
  std::string folder;        // with the tokenizer
  std::optional<Gguf> gguf;  // with the tokenizer
};

// For every model that load_model takes.
Result<FoundModel> find_model(const std::string& model);
// What a file holds, into `found`, whose name is set.
Status take_file(Opened file, FoundModel& found);

Result<Opened> open_model(const std::string& path);
Status no_model(const std::string& path, FileKind kind);
Result<ModelConfig> read_config(const std::string& folder);
Result<ModelConfig> gguf_config(const Gguf& file, const std::string& name);
Result<Tokenizer> tokenizer_of_folder(const std::string& folder);
std::string parent(const std::string& path);

}  // namespace loom
