// A model on its way out, wherever it comes from: its configuration and its tensors with the names
// that files know them by. Internal to this folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llm/export/export.h"
#include "llm/import/found.h"
#include "llm/import/import.h"

namespace loom {

struct OutgoingTensor {
  NamedPlace place;
  std::int64_t rows = 0, cols = 0;
  bool matrix = false;
  TensorInfo values;         // as they are stored, or decoded where no file type is
  std::string from;          // how they are stored, for people
  std::uint64_t bytes = 0;   // stored
  bool own_type = true;      // `values` has the type they are stored in
  bool interleaved = false;  // rows of q and k are in llama.cpp's order
  // A matrix of BitNet: the packed one in memory, or the scale of one in a file.
  std::optional<PackedMatrix> ternary;
  std::optional<TensorInfo> scale;
};

struct Outgoing {
  std::string name;  // where it comes from
  ModelConfig config;
  std::vector<OutgoingTensor> tensors;
  Result<Tokenizer> tokenizer = Status(Code::not_found, "the model has none");
  std::string folder;  // with tokenizer files; "" where there is none
  std::vector<std::string> notes;
};

// Reads no values. Errors: of the readers; unsupported for a network whose cells are not those of
// decoder_topology.
Result<Outgoing> outgoing_of(const FoundModel& found);
Result<Outgoing> outgoing_of(Model& model);

// The configuration whose decoder_topology is the network's. `known`: what else is known of it.
Result<ModelConfig> config_of_network(const Network& network, const ModelConfig& known);
// Whether both describe one computation; else the first setting that differs, as "cell 1: heads".
std::string topology_difference(const Json& a, const Json& b);

struct Target {
  Naming naming;
  bool interleaves;       // q and k in llama.cpp's order
  std::int64_t head_dim;  // of the model
};
// The tensor as the target has it. `error` learns what is lost.
TensorInfo target_tensor(const OutgoingTensor& from, const Target& target, StorageType type,
                         ErrorSum* error);

// "f16" of a dtype that is asked for. Errors: invalid_argument, naming those of the target.
Result<StorageType> wanted_type(const std::string& dtype, ModelTarget target);
// That a tensor cannot be written as it is.
Status needs_dtype(const OutgoingTensor& tensor, std::string_view target, std::string_view types);

// config.json. Errors: unsupported for a setting that transformers' class of the family does not
// have.
Result<Json> hf_config(const ModelConfig& config, std::string_view torch_dtype);
// generation_config.json.
Json hf_generation(const ModelConfig& config);

// A matrix of -1, 0 and 1 times one number as transformers' BitNet has it: four to a byte, and the
// number. Errors: unsupported for rows that differ in scale or are no multiple of 4.
Result<std::pair<TensorInfo, TensorInfo>> ternary_tensors(const OutgoingTensor& from);

Result<ModelExport> write_gguf_model(Outgoing& model, const Destination& out,
                                     const ModelExportOptions& options);
Result<ModelExport> write_hf_folder(Outgoing& model, const std::string& out,
                                    const ModelExportOptions& options);
// One file of the folder, in memory.
Result<std::vector<std::byte>> hf_folder_file(Outgoing& model, const std::string& name,
                                              const ModelExportOptions& options);

}  // namespace loom
