// What Loom saves, one object for each kind of file: versions of it, saved and loaded again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace loom::test {

class Saver {
 public:
  virtual ~Saver() = default;
  virtual Status advance() = 0;                  // to the next version; before it there is none
  virtual Status save() = 0;                     // the version
  virtual std::string digest() = 0;              // of the version
  virtual Result<std::string> load() const = 0;  // digest of what lies there
  const std::string& folder() const { return folder_; }

 protected:
  explicit Saver(std::string folder) : folder_(std::move(folder)) {}
  const std::string folder_;
};

// "entity", "checkpoint", "adapter", "adapter_checkpoint", "model", "safetensors", "npy"
const std::vector<std::string>& saver_kinds();
// Everything of it lies in `folder`, which exists.
std::unique_ptr<Saver> make_saver(const std::string& kind, const std::string& folder);

}  // namespace loom::test
