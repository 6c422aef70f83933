// Statistics of cells as scalars for TensorBoard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/json.h"

namespace loom::cli {

class EventScalars {
 public:
  // Makes the folder and a file in it. What cannot be written ends the action as kFailed.
  explicit EventScalars(const std::string& folder);
  ~EventScalars();
  // An event of session_statistics: PATH/mean, /std, /min, /max, /active_share and /nan_count.
  void add(const Json& event);
  void flush();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace loom::cli
