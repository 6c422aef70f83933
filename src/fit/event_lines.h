// Events of the steps of a training as lines of a file: a JSON object each. One thread.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "exec/observe/observer.h"

namespace loom {

class EventLines : public Observer {
 public:
  // `append`: behind the lines that are there.
  static Result<std::unique_ptr<EventLines>> open(const std::string& path, bool append);
  Status begin(const std::vector<ObservedCell>& cells) override;
  // Whether the file takes the line says flush(): a step does not fail by it.
  Status on_forward(const CellEvent& event) override;
  // Hands the lines to the system. io: not all of them could be written.
  Status flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<ObservedCell> cells_;
};

}  // namespace loom
