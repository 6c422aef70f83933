// Adapters as PEFT keeps them: a folder with adapter_config.json and adapter_model.safetensors, the
// tensors "base_model.model." + module + ".lora_A.weight" [rank, in] and ".lora_B.weight" [out,
// rank] (docs/reference/formats.md).
#pragma once

#include <span>
#include <string>

#include "base/json/json.h"
#include "base/status.h"
#include "grid/adapter.h"

namespace loom {

// What the configuration says of the network under the adapter.
struct AdapterBase {
  std::string name;             // "base_model_name_or_path"; "": null
  bool language_model = false;  // "task_type": "CAUSAL_LM", else null
};

// `places`: all that the network has, so that "target_modules" names the adapted ones and no other.
// After an interrupted save load_adapter reads the old adapter or the new one. The folder is made
// where it is missing.
Status save_adapter(const std::string& folder, const Adapter& adapter,
                    std::span<const AdapterPlace> places, const AdapterBase& base = {});

// The error that save_adapter would end with before its first byte.
Status check_adapter_output(const std::string& folder);

// For a network with these places. Every tensor is accounted for. Errors: not_found and corrupt
// with the name of the missing or wrong tensor; unsupported, by its key, for all but plain LoRA
// (DoRA, trained biases or whole modules, initializations that change the base).
Result<Adapter> load_adapter(const std::string& folder, std::span<const AdapterPlace> places);

}  // namespace loom
