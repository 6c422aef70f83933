// Any file of weights as a network: by the names and shapes of its tensors and what the caller says
// of the rest, or by a topology whose cells have the names of modules (docs/reference/weights.md).
#pragma once

#include <optional>
#include <span>

#include "base/json/json.h"
#include "convert/model_file.h"
#include "formats/safetensors/safetensors.h"
#include "grid/network.h"

namespace loom {

struct WeightsReport {
  // strip, modules: [{path, tensors: [{name, dtype, shape}], type, certain, assumed, questions:
  // [{key, text, choices}]}], questions (of the whole file), open (how many questions there are),
  // order, left, topology (null while questions are open).
  Json json;
  std::optional<Network> network;  // filled; none while questions are open
};

// What the file is. Errors: invalid_argument for settings that are none or name what is not there,
// not_found for tensors that nothing takes and parameters that nothing fills, unsupported for
// integers and adapters; those of the topology and of reading.
Result<WeightsReport> read_weights(std::span<const TensorInfo> tensors, const Metadata& metadata,
                                   const Json& settings);

// Its network; open questions are an error (invalid_argument) that lists them.
Result<WeightsReport> network_from_weights(std::span<const TensorInfo> tensors,
                                           const Metadata& metadata, const Json& settings);

// Either of a file that was opened, with its name in errors. Errors also: unsupported for one that
// has no tensors to be read.
enum class OpenQuestions : std::uint8_t { report, refuse };
Result<WeightsReport> weights_of(const ModelFile& file, const Json& settings, OpenQuestions open);

}  // namespace loom
