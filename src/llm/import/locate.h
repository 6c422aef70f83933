// Where a model's files are: paths, and names in the local HuggingFace cache.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace loom {

// Errors: of kind_at.
Result<bool> is_folder(const std::string& path);

// The folder that HuggingFace's libraries download to: $HF_HUB_CACHE, $HF_HOME/hub, or
// ~/.cache/huggingface/hub. "" where none is known.
std::string huggingface_cache();
// "org/name" in a cache: the snapshot that refs/main names, or the only one. Not found: the error
// lists the nearest names.
Result<std::string> find_in_cache(const std::string& cache, const std::string& name);

// `model` itself where it is a file or folder, otherwise its snapshot in the cache.
Result<std::string> locate_model(const std::string& model);

}  // namespace loom
